/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/direct.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/jit/codegen.h"

/* Integers wrap around, in 32 bits where that is enough. */
static const char *sum_type(mo_elem elem)
{
    if (mo_elem_is_float(elem))
        return elem == MO_ELEM_F64 ? "double" : "float";
    return mo_elem_size(elem) == sizeof(int64_t) ? "unsigned long long"
                                                 : "unsigned";
}

static void add_side(mo_cuda_source *code, const mo_call_matmul *c,
                     const mo_call_matmul_operand *side, const char *name)
{
    mo_cuda_emit_offset_function(code, name, c->extent, side->batch,
                                 c->n_batch);
}

#include "exec/backend/cuda/algo/direct_matmul.inc"

static void add_functions(mo_cuda_source *code, const mo_call_matmul *c,
                          mo_elem elem)
{
    mo_cuda_source_printf(
        code,
        "typedef %s A;\n#define A_ROW %lldLL\n#define A_COLUMN %lldLL\n"
        "#define B_ROW %lldLL\n#define B_COLUMN %lldLL\n"
        "#define C_ROW %lldLL\n#define C_COLUMN %lldLL\n",
        sum_type(elem), (long long) c->a.row, (long long) c->a.column,
        (long long) c->b.row, (long long) c->b.column, (long long) c->c.row,
        (long long) c->c.column);
    add_side(code, c, &c->a, "a_of");
    add_side(code, c, &c->b, "b_of");
    add_side(code, c, &c->c, "c_of");
    mo_cuda_source_append(code, matmul_source);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

mo_status mo_cuda_emit_direct_matmul(mo_backend_unit *unit,
                                     const mo_cuda_algo_problem *task,
                                     mo_cuda_source *code,
                                     mo_cuda_direct_algo *way, mo_error *err)
{
    const mo_call_matmul *c = &task->call->u.matmul;
    mo_cuda_tiled_gemm tiles = { .z = 1,
                                 .m = c->m,
                                 .n = c->n,
                                 .k = c->k,
                                 .left_by_k = c->a.column == 1,
                                 .right_by_k = c->b.row == 1,
                                 .to_by_m = c->c.column != 1 && c->c.row == 1 };
    int64_t elements =
        larger(mo_tensor_desc_elements(&task->out[0]),
               larger(mo_tensor_desc_elements(&task->in[0].desc),
                      mo_tensor_desc_elements(&task->in[1].desc)));

    for (int d = 0; d < c->n_batch; d++)
        tiles.z *= c->extent[d];
    mo_cuda_emit_types(code, task->out[0].elem, 1, elements);
    mo_cuda_emit_epilogue(code, task->call, &task->out[0], 1);
    add_functions(code, c, task->out[0].elem);
    return mo_cuda_emit_tiled_gemm(unit, &tiles, code, &way->grid, err);
}
