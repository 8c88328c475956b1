/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpolation. A thread computes one element: the sum over the taps of all
 * resized dimensions, with the product of their weights. The taps are a table
 * of 32-bit words: for each resized dimension the first tap of every element,
 * then the indices of the taps, then their weights. Nearest neighbour has one
 * tap, for any element type.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/op/interp_taps.h"

enum { BLOCK = 128 };

/* Offsets of the parts of a dimension in the table. */
typedef struct tap_offsets {
    int64_t first, index, weight;
} tap_offsets;

typedef struct tap_table {
    int32_t *words;
    size_t n, room;
    tap_offsets offsets[MO_MAX_RANK];
} tap_table;

static mo_status append_word(tap_table *table, int32_t word, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(table->words, table->n, table->room, err);

    if (status == MO_OK)
        table->words[table->n++] = word;
    return status;
}

static mo_status append_numbers(tap_table *table, const int64_t *numbers,
                                int64_t n, int64_t *place, mo_error *err)
{
    mo_status status = MO_OK;

    *place = (int64_t) table->n;
    for (int64_t i = 0; i < n && status == MO_OK; i++)
        status = append_word(table, (int32_t) numbers[i], err);
    return status;
}

static mo_status append_taps(const mo_call_interpolate *call, int d,
                             tap_table *table, mo_error *err)
{
    tap_offsets *offsets = &table->offsets[d];
    mo_call_interp_taps taps = { 0 };
    int64_t n = 0;
    mo_status status = mo_call_interp_taps_init(call, d, &taps, err);

    if (status == MO_OK)
        n = taps.first[taps.n];
    if (status == MO_OK && (n > INT32_MAX || call->in[d] > INT32_MAX))
        status = mo_fail(err, MO_E_LIMIT,
                         "an interpolation from %lld to %lld elements",
                         (long long) call->in[d], (long long) call->out[d]);
    if (status == MO_OK)
        status =
            append_numbers(table, taps.first, taps.n + 1, &offsets->first, err);
    if (status == MO_OK)
        status = append_numbers(table, taps.index, n, &offsets->index, err);
    if (status == MO_OK) {
        int64_t *place = &offsets->weight;
        status = MO_OK;

        *place = (int64_t) table->n;
        for (int64_t i = 0; i < n && status == MO_OK; i++) {
            int32_t word;

            memcpy(&word, &taps.weight[i], sizeof word);
            status = append_word(table, word, err);
        }
    }
    mo_call_interp_taps_clear(&taps);
    return status;
}

static int64_t input_stride(const mo_call_interpolate *call, int d)
{
    int64_t stride = 1;

    for (int i = d + 1; i < call->rank; i++)
        stride *= call->in[i];
    return stride;
}

/* Returns the name of a variable of the loop over dimension d; "a" before the
 * first. */
static const char *loop_variable(char name[16], char letter, int d)
{
    if (d < 0)
        snprintf(name, 16, "%c", letter);
    else
        snprintf(name, 16, "%c%d", letter, d);
    return name;
}

/* The loop over the taps of dimension d, inside of that of dimension outer: a
 * is the partial offset, w the partial weight. */
static void emit_loop(mo_cuda_source *code, const tap_offsets *offsets, int d,
                      int outer, int64_t stride, bool weighs)
{
    char a[16], w[16];

    mo_cuda_source_printf(
        code,
        "const int end%d = taps[%lld + i%d];\n"
        "for (int t%d = taps[%lld + i%d]; t%d < end%d; t%d++) {\n",
        d, (long long) offsets->first + 1, d, d, (long long) offsets->first, d,
        d, d, d);
    mo_cuda_source_printf(
        code,
        "const PLACE a%d = %s + (PLACE) taps[%lld + t%d] * (PLACE) "
        "%lldLL;\n",
        d, loop_variable(a, 'a', outer), (long long) offsets->index, d,
        (long long) stride);
    if (weighs)
        mo_cuda_source_printf(
            code,
            "const float w%d = %s * ((const float *) taps)[%lld + t%d];\n", d,
            loop_variable(w, 'w', outer), (long long) offsets->weight, d);
}

static const char kernel_head[] =
    "MO_KERNEL_OF(interpolate, BLOCK)(const T *in, T *out, const int *taps, "
    "struct mo_extra p)\n"
    "{\n"
    "    const PLACE self = (PLACE) blockIdx.x * BLOCK + (int) threadIdx.x;\n"
    "    MO_BEGIN();\n"
    "    if (self >= (PLACE) ELEMENTS)\n"
    "        return;\n";

static void emit_kernel(mo_cuda_source *code, const mo_call_interpolate *call,
                        const tap_table *table, int64_t elements)
{
    bool nearest = call->mode == MO_CALL_INTERPOLATE_NEAREST;
    int last = -1, loops = 0;
    char a[16], w[16];

    mo_cuda_source_printf(code, "#define BLOCK %d\n#define ELEMENTS %lldLL\n",
                          BLOCK, (long long) elements);
    mo_cuda_source_append(code, kernel_head);
    mo_cuda_emit_indices(code, "self", call->out, call->rank);
    /* The offset along the dimensions that are not resized. */
    mo_cuda_source_append(code, "const PLACE a = 0");
    for (int d = 0; d < call->rank; d++)
        if (!call->moves[d])
            mo_cuda_source_printf(code, " + (PLACE) i%d * (PLACE) %lldLL", d,
                                  (long long) input_stride(call, d));
    mo_cuda_source_append(code, ";\n");
    if (!nearest)
        mo_cuda_source_append(code, "const float w = 1;\nR v = 0;\n");
    for (int d = 0; d < call->rank; d++)
        if (call->moves[d]) {
            emit_loop(code, &table->offsets[d], d, last, input_stride(call, d),
                      !nearest);
            last = d;
            loops++;
        }
    if (nearest)
        mo_cuda_source_printf(code, "out[self] = in[%s];\n",
                              loop_variable(a, 'a', last));
    else
        mo_cuda_source_printf(code, "v += %s * load(in[%s]);\n",
                              loop_variable(w, 'w', last),
                              loop_variable(a, 'a', last));
    while (loops-- > 0)
        mo_cuda_source_append(code, "}\n");
    mo_cuda_source_append(code,
                          nearest ? "}\n" : "finish1(self, &v, p, out);\n}\n");
}

static mo_status prepare_interpolate(mo_backend_unit *unit, const mo_call *call,
                                     const mo_backend_operand *in,
                                     const mo_tensor_desc *out,
                                     const tap_table *table,
                                     mo_backend_kernel **kernel, mo_error *err)
{
    int64_t elements = mo_tensor_desc_elements(&out[0]);
    int64_t most = mo_tensor_desc_elements(&in[0].desc);
    mo_cuda_single_kernel_spec draft = { .name = "interpolate" };
    mo_status status =
        mo_cuda_grid_1d(elements, BLOCK, BLOCK, &draft.grid, err);

    if (status != MO_OK)
        return status;
    mo_cuda_emit_types(&draft.code, out[0].elem, 1,
                       elements > most ? elements : most);
    mo_cuda_emit_epilogue(&draft.code, call, &out[0], 1);
    emit_kernel(&draft.code, &call->u.interpolate, table, elements);
    status = mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
    if (status == MO_OK)
        status = mo_cuda_single_kernel_set_table(
            unit, *kernel, table->words, table->n * sizeof *table->words, err);
    if (status != MO_OK && *kernel) {
        mo_cuda_single_kernel_free(unit, *kernel);
        *kernel = NULL;
    }
    return status;
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    tap_table table = { 0 };
    mo_status status = mo_backend_check_interpolate(call, in, out, err);

    if (status != MO_OK)
        return status;

    /* Dimensions that are not resized have no taps; the table has at least one
     * word, so that it can be allocated. */
    status = append_word(&table, 0, err);

    for (int d = 0; d < call->u.interpolate.rank && status == MO_OK; d++)
        if (call->u.interpolate.moves[d])
            status = append_taps(&call->u.interpolate, d, &table, err);
    if (status == MO_OK)
        status = prepare_interpolate(unit, call, in, out, &table, kernel, err);
    free(table.words);
    return status;
}

const mo_cuda_kernel_class mo_cuda_interpolate_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
