/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/op/interp_taps.h"

/*
 * A thread makes one element: the sum over the taps of all dimensions that are
 * resized, whose weights are multiplied.  Taps are one table of words: for each
 * such dimension where an element's taps begin, then their indices, then their
 * weights.  The nearest neighbour is one tap, whatever the type.
 */
enum { BLOCK = 128 };

/* Where the parts of a dimension are in the table. */
typedef struct tap_places {
    int64_t first, index, weight;
} tap_places;

typedef struct tap_table {
    int32_t *words;
    size_t n, room;
    tap_places places[MO_MAX_RANK];
} tap_table;

/* ---- table */

static mo_status add_word(tap_table *table, int32_t word, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(table->words, table->n, table->room, err);

    if (status == MO_OK)
        table->words[table->n++] = word;
    return status;
}

static mo_status add_numbers(tap_table *table, const int64_t *numbers,
                             int64_t n, int64_t *place, mo_error *err)
{
    mo_status status = MO_OK;

    *place = (int64_t) table->n;
    for (int64_t i = 0; i < n && status == MO_OK; i++)
        status = add_word(table, (int32_t) numbers[i], err);
    return status;
}

static mo_status add_weights(tap_table *table, const float *weights, int64_t n,
                             int64_t *place, mo_error *err)
{
    mo_status status = MO_OK;

    *place = (int64_t) table->n;
    for (int64_t i = 0; i < n && status == MO_OK; i++) {
        int32_t word;

        memcpy(&word, &weights[i], sizeof word);
        status = add_word(table, word, err);
    }
    return status;
}

static mo_status add_taps(const mo_call_interpolate *call, int d,
                          tap_table *table, mo_error *err)
{
    tap_places *places = &table->places[d];
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
            add_numbers(table, taps.first, taps.n + 1, &places->first, err);
    if (status == MO_OK)
        status = add_numbers(table, taps.index, n, &places->index, err);
    if (status == MO_OK)
        status = add_weights(table, taps.weight, n, &places->weight, err);
    mo_call_interp_taps_clear(&taps);
    return status;
}

/* A dimension of which nothing moves has no taps; the table is never empty, so
 * that there is one. */
static mo_status make_table(const mo_call_interpolate *call, tap_table *table,
                            mo_error *err)
{
    mo_status status = add_word(table, 0, err);

    for (int d = 0; d < call->rank && status == MO_OK; d++)
        if (call->moves[d])
            status = add_taps(call, d, table, err);
    return status;
}

/* ---- code */

static int64_t in_stride(const mo_call_interpolate *call, int d)
{
    int64_t stride = 1;

    for (int i = d + 1; i < call->rank; i++)
        stride *= call->in[i];
    return stride;
}

/* A name of the loop over dimension d; "a" before the first. */
static const char *name_of(char name[16], char letter, int d)
{
    if (d < 0)
        snprintf(name, 16, "%c", letter);
    else
        snprintf(name, 16, "%c%d", letter, d);
    return name;
}

/* The loop over the taps of dimension d, inside of that of dimension outer: a
 * is where a tap is so far, w its weight. */
static void add_loop(mo_cuda_source *code, const tap_places *places, int d,
                     int outer, int64_t stride, bool weighs)
{
    char a[16], w[16];

    mo_cuda_source_printf(
        code,
        "const int end%d = taps[%lld + i%d];\n"
        "for (int t%d = taps[%lld + i%d]; t%d < end%d; t%d++) {\n",
        d, (long long) places->first + 1, d, d, (long long) places->first, d, d,
        d, d);
    mo_cuda_source_printf(
        code,
        "const PLACE a%d = %s + (PLACE) taps[%lld + t%d] * (PLACE) "
        "%lldLL;\n",
        d, name_of(a, 'a', outer), (long long) places->index, d,
        (long long) stride);
    if (weighs)
        mo_cuda_source_printf(
            code,
            "const float w%d = %s * ((const float *) taps)[%lld + t%d];\n", d,
            name_of(w, 'w', outer), (long long) places->weight, d);
}

static const char kernel_head[] =
    "MO_KERNEL_OF(interpolate, BLOCK)(const T *in, T *out, const int *taps, "
    "struct mo_extra p)\n"
    "{\n"
    "    const PLACE self = (PLACE) blockIdx.x * BLOCK + (int) threadIdx.x;\n"
    "    MO_BEGIN();\n"
    "    if (self >= (PLACE) ELEMENTS)\n"
    "        return;\n";

/* What is not resized is where it was. */
static void add_start(mo_cuda_source *code, const mo_call_interpolate *call)
{
    mo_cuda_emit_indices(code, "self", call->out, call->rank);
    mo_cuda_source_append(code, "const PLACE a = 0");
    for (int d = 0; d < call->rank; d++)
        if (!call->moves[d])
            mo_cuda_source_printf(code, " + (PLACE) i%d * (PLACE) %lldLL", d,
                                  (long long) in_stride(call, d));
    mo_cuda_source_append(code, ";\n");
}

static void add_kernel(mo_cuda_source *code, const mo_call_interpolate *call,
                       const tap_table *table, int64_t elements)
{
    bool nearest = call->mode == MO_CALL_INTERPOLATE_NEAREST;
    int last = -1, loops = 0;
    char a[16], w[16];

    mo_cuda_source_printf(code, "#define BLOCK %d\n#define ELEMENTS %lldLL\n",
                          BLOCK, (long long) elements);
    mo_cuda_source_append(code, kernel_head);
    add_start(code, call);
    if (!nearest)
        mo_cuda_source_append(code, "const float w = 1;\nR v = 0;\n");
    for (int d = 0; d < call->rank; d++)
        if (call->moves[d]) {
            add_loop(code, &table->places[d], d, last, in_stride(call, d),
                     !nearest);
            last = d;
            loops++;
        }
    if (nearest)
        mo_cuda_source_printf(code, "out[self] = in[%s];\n",
                              name_of(a, 'a', last));
    else
        mo_cuda_source_printf(code, "v += %s * load(in[%s]);\n",
                              name_of(w, 'w', last), name_of(a, 'a', last));
    while (loops-- > 0)
        mo_cuda_source_append(code, "}\n");
    mo_cuda_source_append(code,
                          nearest ? "}\n" : "finish1(self, &v, p, out);\n}\n");
}

/* ---- kernel */

static mo_status make(mo_backend_unit *unit, const mo_call *call,
                      const mo_backend_operand *in, const mo_tensor_desc *out,
                      const tap_table *table, mo_backend_kernel **kernel,
                      mo_error *err)
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
    add_kernel(&draft.code, &call->u.interpolate, table, elements);
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
    status = make_table(&call->u.interpolate, &table, err);
    if (status == MO_OK)
        status = make(unit, call, in, out, &table, kernel, err);
    free(table.words);
    return status;
}

const mo_cuda_kernel_class mo_cuda_interpolate_kernel = {
    prepare, NULL, mo_cuda_single_kernel_enqueue, mo_cuda_single_kernel_free
};
