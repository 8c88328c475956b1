/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

/*
 * Many lines, or short ones: a thread for each, side by side.  Few long ones: a
 * block for each, which goes along it chunk by chunk.  Sums of reals are
 * doubles on the way.
 */
enum { BLOCK = 256, PER = 4, SHORT = 64 };

static const char common_source[] =
    "MO_DEVICE A add(A a, A b) { return ADD; }\n"
    /* Where step i of a line is; its first element is at from. */
    "#define AT(i) (from + (REVERSE ? (PLACE) COUNT - 1 - (i) : (i)) * \\\n"
    "                      (PLACE) INNER)\n"
    "#define FROM(line) ((line) / (PLACE) INNER * (PLACE) COUNT * \\\n"
    "                        (PLACE) INNER + (line) % (PLACE) INNER)\n";

static const char thread_source[] =
    "MO_KERNEL_OF(cumsum, BLOCK)(const T *in, T *out, struct mo_extra p)\n"
    "{\n"
    "    const PLACE line = (PLACE) blockIdx.x * BLOCK + (int) threadIdx.x;\n"
    "    const PLACE from = FROM(line);\n"
    "    A sum = 0;\n"
    "    MO_BEGIN();\n"
    "    if (line >= (PLACE) LINES)\n"
    "        return;\n"
    "#pragma unroll 4\n"
    "    for (PLACE i = 0; i < (PLACE) COUNT; i++) {\n"
    "        const A before = sum;\n"
    "        sum = add(sum, (A) load(in[AT(i)]));\n"
    "        const R v = (R) (EXCLUSIVE ? before : sum);\n"
    "        finish1(AT(i), &v, p, out);\n"
    "    }\n"
    "}\n";

static const char block_source[] =
    /* Of all threads before this one, and of the whole block. */
    "MO_DEVICE A scan(A x, A *total)\n"
    "{\n"
    "    MO_SHARED A cells[BLOCK / 32];\n"
    "    A sum = x, before = 0;\n"
    "    for (int by = 1; by < 32; by *= 2) {\n"
    "        const A other = SHUFFLE_UP(sum, by);\n"
    "        sum = MO_LANE >= by ? add(other, sum) : sum;\n"
    "    }\n"
    "    MO_SYNC();\n"
    "    if (MO_LANE == 31)\n"
    "        cells[MO_WARP] = sum;\n"
    "    MO_SYNC();\n"
    "    *total = 0;\n"
    "    for (int w = 0; w < BLOCK / 32; w++) {\n"
    "        before = w == MO_WARP ? *total : before;\n"
    "        *total = add(*total, cells[w]);\n"
    "    }\n"
    "    sum = SHUFFLE_UP(sum, 1);\n"
    "    return MO_LANE > 0 ? add(before, sum) : before;\n"
    "}\n"
    "MO_KERNEL_OF(cumsum, BLOCK)(const T *in, T *out, struct mo_extra p)\n"
    "{\n"
    "    const PLACE from = FROM((PLACE) blockIdx.x);\n"
    "    A carry = 0;\n"
    "    MO_BEGIN();\n"
    "    for (PLACE chunk = 0; chunk < (PLACE) COUNT; chunk += BLOCK * PER) {\n"
    "        const PLACE first = chunk + (int) threadIdx.x * PER;\n"
    "        A x[PER], mine = 0, total, sum;\n"
    "        for (int j = 0; j < PER; j++) {\n"
    "            x[j] = first + j < (PLACE) COUNT ? (A) load(in[AT(first + "
    "j)])\n"
    "                                             : 0;\n"
    "            mine = add(mine, x[j]);\n"
    "        }\n"
    "        sum = add(carry, scan(mine, &total));\n"
    "        for (int j = 0; j < PER && first + j < (PLACE) COUNT; j++) {\n"
    "            const A before = sum;\n"
    "            sum = add(sum, x[j]);\n"
    "            const R v = (R) (EXCLUSIVE ? before : sum);\n"
    "            finish1(AT(first + j), &v, p, out);\n"
    "        }\n"
    "        carry = add(carry, total);\n"
    "    }\n"
    "}\n";

static void add_numbers(mo_cuda_source *code, const mo_call_cumsum *cumsum,
                        bool real)
{
    mo_cuda_source_printf(
        code,
        "typedef %s A;\n#define ADD %s\n#define SHUFFLE_UP %s\n"
        "#define LINES %lldLL\n#define COUNT %lldLL\n"
        "#define INNER %lldLL\n#define EXCLUSIVE %d\n"
        "#define REVERSE %d\n#define BLOCK %d\n#define PER %d\n",
        real ? "double" : "long long", real ? "a + b" : "mo_add_l(a, b)",
        real ? "mo_shfl_up_d" : "mo_shfl_up_l",
        (long long) (cumsum->outer * cumsum->inner), (long long) cumsum->count,
        (long long) cumsum->inner, cumsum->exclusive, cumsum->reverse, BLOCK,
        PER);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    const mo_call_cumsum *cumsum = &call->u.cumsum;
    int64_t lines = cumsum->outer * cumsum->inner;
    bool alone = cumsum->count <= SHORT || lines > (int64_t) unit->sms * BLOCK;
    mo_cuda_single_kernel_spec draft = { .name = "cumsum" };
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    if (status == MO_OK)
        status = mo_cuda_grid_1d(cumsum->count > 0 ? lines : 0,
                                 alone ? BLOCK : 1, BLOCK, &draft.grid, err);
    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(&draft.code, out[0].elem, 1,
                       mo_tensor_desc_elements(&out[0]));
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], 1);
    add_numbers(&draft.code, cumsum, mo_elem_is_float(out[0].elem));
    mo_cuda_source_append(&draft.code, common_source);
    mo_cuda_source_append(&draft.code, alone ? thread_source : block_source);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

const mo_cuda_kernel_class mo_cuda_cumsum_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
