/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and constants of a phase, by name. */
#include "ingest/llm/decoder_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mo_llm_run_fail(mo_llm_run *m, mo_status status, const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (m->status != MO_OK)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    m->status =
        mo_fail_at(m->err, status, m->decoder->model->file, 0, "%s", text);
}

void mo_llm_run_name(const mo_llm_run *m, const char *role, const char *part,
                     char name[MO_LLM_RUN_NAME])
{
    char layer[64] = "";

    if (role && m->layer != MO_LLM_NO_LAYER)
        snprintf(layer, sizeof layer, "%s%d.", m->decoder->model->layer_prefix,
                 m->layer);
    snprintf(name, MO_LLM_RUN_NAME, "%s%s%s%s", layer, role ? role : "",
             part ? "/" : "", part ? part : "");
}

static const char *keep(mo_llm_run *m, const char *text)
{
    const char *kept = NULL;

    if (text && m->status == MO_OK)
        m->status =
            mo_builder_text(m->builder, text, strlen(text), &kept, m->err);
    return kept;
}

/* Returns the slot of a new op, or 0 after a failure. */
static int define(mo_llm_run *m, const char *name, bool is_constant, mo_op **op)
{
    int slot = 0;

    if (m->status == MO_OK)
        m->status =
            mo_builder_slot(m->builder, name, strlen(name), 0, &slot, m->err);
    if (m->status == MO_OK)
        m->status = mo_builder_define(m->builder, slot, 0, op, m->err);
    if (m->status == MO_OK && is_constant)
        mo_builder_mark_constant(m->builder, slot);
    return m->status == MO_OK ? slot : 0;
}

static void write_shape(const mo_shape *shape,
                        char text[MO_SHAPE_TEXT_SIZE + 1])
{
    text[mo_shape_write(shape, text)] = '\0';
}

int mo_llm_run_add(mo_llm_run *m, const mo_llm_run_op *d)
{
    char name[MO_LLM_RUN_NAME], shape[MO_SHAPE_TEXT_SIZE + 1];
    char shapes[2 * MO_SHAPE_TEXT_SIZE + 2];
    mo_op *op,
        filled = { .type = keep(m, d->type), .attrs = keep(m, d->attrs) };
    int slot;

    write_shape(&d->shape, shape);
    snprintf(shapes, sizeof shapes, "%s;%s", shape, shape);
    filled.shape = keep(m, d->n_out > 1 ? shapes : shape);
    filled.dtype = keep(m, d->dtype ? d->dtype : "f32");
    filled.state = keep(m, d->state);
    mo_llm_run_name(m, d->role, d->part, name);
    slot = define(m, name, d->is_constant, &op);
    if (m->status != MO_OK)
        return 0;
    op->type = filled.type;
    op->attrs = filled.attrs;
    op->shape = filled.shape;
    op->dtype = filled.dtype;
    op->state = filled.state;
    for (int i = 0; i < d->n_in && m->status == MO_OK; i++) {
        const mo_builder_edge edge = { .from = d->in[i],
                                       .to = slot,
                                       .src_port = i == 0 ? d->port : 0,
                                       .dst_port = i,
                                       .bytes = MO_UNKNOWN };

        m->status = mo_builder_add_edge(m->builder, &edge, NULL, m->err);
    }
    return slot;
}

mo_shape mo_llm_run_shape(int rank, const int64_t *dims)
{
    mo_shape shape = { .rank = rank };

    memcpy(shape.dims, dims, (size_t) rank * sizeof *dims);
    return shape;
}

int mo_llm_run_add_f32(mo_llm_run *m, const char *role, const char *part,
                       const char *type, mo_shape shape, int a, int b)
{
    return mo_llm_run_add(m, &(mo_llm_run_op){ .role = role,
                                               .part = part,
                                               .type = type,
                                               .shape = shape,
                                               .in = { a, b },
                                               .n_in = b < 0 ? 1 : 2 });
}

/*
 * Constants.
 */

int mo_llm_run_add_numbers(mo_llm_run *m, const char *part, const char *dtype,
                           int n, const double *numbers)
{
    enum { EACH = 26 };
    char name[MO_LLM_RUN_NAME], *text;
    size_t used = 0;
    mo_llm_run_op d = { .part = part,
                        .type = "Const",
                        .dtype = dtype,
                        .shape = MO_LLM_SHAPE(n),
                        .is_constant = true };
    int slot;

    mo_llm_run_name(m, NULL, part, name);
    slot = mo_builder_find(m->builder, name, strlen(name));
    if (slot >= 0 || m->status != MO_OK)
        return slot;
    text = malloc((size_t) n * EACH + 32);
    if (!text) {
        m->status = mo_fail_memory(m->err);
        return 0;
    }
    for (int i = 0; i < n; i++)
        used += (size_t) sprintf(text + used, "%s%.17g",
                                 i > 0 ? "," : "{\"value\":\"", numbers[i]);
    strcpy(text + used, "\"}");
    d.attrs = text;
    slot = mo_llm_run_add(m, &d);
    free(text);
    return slot;
}

int mo_llm_run_add_number(mo_llm_run *m, const char *part, const char *dtype,
                          double number)
{
    return mo_llm_run_add_numbers(m, part, dtype, 1, &number);
}

int mo_llm_run_add_int(mo_llm_run *m, int64_t number)
{
    char part[32];

    snprintf(part, sizeof part, "%" PRId64, number);
    return mo_llm_run_add_number(m, part, "i64", (double) number);
}

int mo_llm_run_add_range(mo_llm_run *m, const char *part, int64_t n)
{
    return mo_llm_run_add(m,
                          &(mo_llm_run_op){ .part = part,
                                            .type = "Range",
                                            .dtype = "i64",
                                            .shape = MO_LLM_SHAPE(n),
                                            .in = { mo_llm_run_add_int(m, 0),
                                                    mo_llm_run_add_int(m, n),
                                                    mo_llm_run_add_int(m, 1) },
                                            .n_in = 3,
                                            .is_constant = true });
}

static int compare_names(const void *name, const void *weight)
{
    return strcmp(name, ((const mo_llm_weight *) weight)->name);
}

mo_llm_weight *mo_llm_run_find_named(const mo_llm_decoder *d, const char *name)
{
    return bsearch(name, d->weights, d->n_weights, sizeof *d->weights,
                   compare_names);
}

mo_llm_weight *mo_llm_run_find(const mo_llm_run *m, const char *role,
                               const char *suffix)
{
    char name[MO_LLM_RUN_NAME], whole[MO_LLM_RUN_NAME + 16];

    mo_llm_run_name(m, role, NULL, name);
    snprintf(whole, sizeof whole, "%s%s", name, suffix);
    return mo_llm_run_find_named(m->decoder, whole);
}

mo_llm_weight *mo_llm_run_find_weight(mo_llm_run *m, const char *role)
{
    static mo_llm_weight none;
    mo_llm_weight *w = mo_llm_run_find(m, role, ".weight");
    char name[MO_LLM_RUN_NAME];

    if (w)
        return w;
    mo_llm_run_name(m, role, NULL, name);
    mo_llm_run_fail(m, MO_E_INPUT, "has no tensor '%s.weight'", name);
    none = (mo_llm_weight){ .name = "",
                            .file = "",
                            .type = mo_llm_type_find("f32"),
                            .dims = { 1, 1, 1, 1 } };
    return &none;
}

bool mo_llm_run_is_quantized(const mo_llm_weight *w)
{
    return w->type->block > 1;
}

int mo_llm_run_add_weight(mo_llm_run *m, mo_llm_weight *w)
{
    static const char *const types[] = { "f32", "f16", "bf16", "q8_0", "q4_0" };
    int slot = mo_builder_find(m->builder, w->name, strlen(w->name));
    int64_t row = mo_llm_run_is_quantized(w)
                      ? w->bytes / w->dims[1] / w->dims[2]
                      : w->dims[0];
    const mo_shape shape = w->dims[2] > 1
                               ? MO_LLM_SHAPE(w->dims[2], w->dims[1], row)
                           : w->dims[1] > 1 ? MO_LLM_SHAPE(w->dims[1], row)
                                            : MO_LLM_SHAPE(row);
    char sizes[MO_SHAPE_TEXT_SIZE + 1], text[1024];
    const char *weights;
    bool runs = false;
    mo_op *op;

    w->is_used = true;
    if (slot >= 0 || m->status != MO_OK)
        return slot;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        runs = runs || strcmp(types[i], w->type->name) == 0;
    if (!runs || w->dims[3] > 1)
        mo_llm_run_fail(
            m, MO_E_SUPPORT,
            "tensor '%.80s' is of type %s, which cannot be run; convert the "
            "model to f32, f16, bf16, q8_0 or q4_0",
            w->name, w->type->name);
    write_shape(&shape, sizes);
    snprintf(text, sizeof text, "%.300s:%" PRId64 ":%" PRId64 ":%s:%s", w->file,
             w->offset, w->bytes,
             mo_llm_run_is_quantized(w) ? "u8" : w->type->name, sizes);
    weights = keep(m, text);
    slot = define(m, w->name, true, &op);
    if (m->status == MO_OK)
        op->weights = weights;
    return slot;
}

int mo_llm_run_add_vector(mo_llm_run *m, mo_llm_weight *w)
{
    if (strcmp(w->type->name, "f32") != 0)
        mo_llm_run_fail(m, MO_E_SUPPORT,
                        "tensor '%.80s' is of type %s, and not of f32", w->name,
                        w->type->name);
    return mo_llm_run_add_weight(m, w);
}

/* Of n elements: others would be broadcast. */
static int add_vector_of(mo_llm_run *m, mo_llm_weight *w, int64_t n)
{
    if (w->dims[0] != n || w->dims[1] != 1)
        mo_llm_run_fail(m, MO_E_INPUT,
                        "tensor '%.80s' has not the %" PRId64 " elements that "
                        "the other tensors need",
                        w->name, n);
    return mo_llm_run_add_vector(m, w);
}

const char *mo_llm_run_block_format(const mo_llm_weight *w,
                                    char attrs[MO_LLM_RUN_FORMAT])
{
    snprintf(attrs, MO_LLM_RUN_FORMAT, "{\"format\":\"%s\"}", w->type->name);
    return mo_llm_run_is_quantized(w) ? attrs : NULL;
}

int mo_llm_run_add_reshape(mo_llm_run *m, const char *role, const char *part,
                           int x, const char *dtype, mo_shape shape)
{
    return mo_llm_run_add(m, &(mo_llm_run_op){ .role = role,
                                               .part = part,
                                               .type = "Reshape",
                                               .dtype = dtype,
                                               .shape = shape,
                                               .in = { x },
                                               .n_in = 1 });
}

/* [1, a, b, c] becomes [1, b, a, c], which is a view where a or b is 1.
 */
int mo_llm_run_add_swap(mo_llm_run *m, const char *role, const char *part,
                        int x, const char *dtype, const int64_t sizes[3])
{
    const double order[] = { 0, 2, 1, 3 };
    const mo_shape shape = MO_LLM_SHAPE(1, sizes[1], sizes[0], sizes[2]);

    if (sizes[0] == 1 || sizes[1] == 1)
        return mo_llm_run_add_reshape(m, role, part, x, dtype, shape);
    return mo_llm_run_add(
        m, &(mo_llm_run_op){ .role = role,
                             .part = part,
                             .type = "Transpose",
                             .dtype = dtype,
                             .shape = shape,
                             .in = { x, mo_llm_run_add_numbers(
                                            m, "swapped", "i64", 4, order) },
                             .n_in = 2 });
}

int mo_llm_run_add_gather(mo_llm_run *m, const mo_llm_run_op *what, int x,
                          int at, int axis)
{
    mo_llm_run_op d = *what;

    d.type = "Gather";
    d.n_in = 3;
    d.in[0] = x;
    d.in[1] = at;
    d.in[2] = mo_llm_run_add_int(m, axis);
    return mo_llm_run_add(m, &d);
}

int mo_llm_run_add_slice(mo_llm_run *m, const char *role, const char *part,
                         int x, int64_t begin, mo_shape shape)
{
    int axis = shape.rank - 1;

    return mo_llm_run_add(
        m, &(mo_llm_run_op){
               .role = role,
               .part = part,
               .type = "Slice",
               .shape = shape,
               .in = { x, mo_llm_run_add_int(m, begin),
                       mo_llm_run_add_int(m, begin + shape.dims[axis]),
                       mo_llm_run_add_int(m, 1), mo_llm_run_add_int(m, axis) },
               .n_in = 5 });
}

int mo_llm_run_add_rounding(mo_llm_run *m, const char *role,
                            const char *const parts[2], int x,
                            const char *dtype, mo_shape shape)
{
    if (strcmp(dtype, "f16") != 0 && strcmp(dtype, "bf16") != 0)
        return x;
    x = mo_llm_run_add(m, &(mo_llm_run_op){ .role = role,
                                            .part = parts[0],
                                            .type = "Convert",
                                            .dtype = dtype,
                                            .shape = shape,
                                            .in = { x },
                                            .n_in = 1 });
    return mo_llm_run_add_f32(m, role, parts[1], "Convert", shape, x, -1);
}

int mo_llm_run_add_product(mo_llm_run *m, const char *role, mo_llm_weight *w,
                           int x, int64_t rows)
{
    static const char *const parts[] = { "narrow", "data" };
    mo_llm_weight *bias = mo_llm_run_find(m, role, ".bias");
    char attrs[MO_LLM_RUN_FORMAT];
    mo_llm_run_op d = { .role = role,
                        .type = "Linear",
                        .attrs = mo_llm_run_block_format(w, attrs),
                        .shape = MO_LLM_SHAPE(1, rows, w->dims[1]),
                        .in = { mo_llm_run_add_rounding(
                                    m, role, parts, x, w->type->name,
                                    MO_LLM_SHAPE(1, rows, w->dims[0])),
                                mo_llm_run_add_weight(m, w) },
                        .n_in = 2 };

    if (bias)
        d.in[d.n_in++] = add_vector_of(m, bias, w->dims[1]);
    return mo_llm_run_add(m, &d);
}

int mo_llm_run_add_linear(mo_llm_run *m, const char *role, int x)
{
    return mo_llm_run_add_product(m, role, mo_llm_run_find_weight(m, role), x,
                                  m->tokens);
}

int mo_llm_run_add_norm(mo_llm_run *m, const char *role, int x, mo_shape shape)
{
    char attrs[64];

    snprintf(attrs, sizeof attrs, "{\"epsilon\":%.9g}", m->decoder->eps);
    return mo_llm_run_add(
        m, &(mo_llm_run_op){
               .role = role,
               .type = "RMS",
               .attrs = attrs,
               .shape = shape,
               .in = { x, add_vector_of(m, mo_llm_run_find_weight(m, role),
                                        shape.dims[shape.rank - 1]) },
               .n_in = 2 });
}

int mo_llm_run_add_optional_norm(mo_llm_run *m, const char *role, int x,
                                 mo_shape shape)
{
    char name[MO_LLM_RUN_NAME];
    bool in_first, here = mo_llm_run_find(m, role, ".weight");

    snprintf(name, sizeof name, "%s0.%s.weight",
             m->decoder->model->layer_prefix, role);
    in_first = mo_llm_run_find_named(m->decoder, name);
    if (here != in_first)
        mo_llm_run_fail(m, MO_E_INPUT,
                        "layer %d has %s tensor '%s.weight', and layer 0 has",
                        m->layer, here ? "the" : "no", role);
    return here ? mo_llm_run_add_norm(m, role, x, shape) : x;
}
