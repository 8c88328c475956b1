/* SPDX-License-Identifier: Apache-2.0 */
/* Constants: bytes in a file, or literals in the graph. */
#include "ingest/onnx/builder_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "ingest/infer/value_text.h"

static const mo_shape scalar_shape = { .rank = 0 };

static mo_onnx_ref add_constant(mo_onnx_builder *b, const char *name,
                                const mo_shape *shape, const char *dtype)
{
    int index = mo_onnx_append_layer(b, "Const", mo_onnx_unique_name(b, name),
                                     NULL, 0, 1);

    if (index < 0)
        return MO_ONNX_NONE;
    b->layers[index].outputs[0] =
        (mo_ir_port){ .shape = *shape, .dtype = dtype, .source_layer = -1 };
    return (mo_onnx_ref){ index, 0 };
}

mo_onnx_ref mo_onnx_stored(mo_onnx_builder *b, const char *name,
                           const mo_onnx_location *where, const mo_shape *shape,
                           const char *dtype, const mo_infer_value *value)
{
    mo_onnx_ref made = add_constant(b, name, shape, dtype);
    const char *file = NULL;

    if (made.layer < 0)
        return made;
    if (where->file) {
        file = mo_arena_text(b->ir->arena, where->file, strlen(where->file));
        if (!file)
            return mo_onnx_fail_memory(b);
    }
    b->layers[made.layer].file = file;
    b->layers[made.layer].offset = where->offset;
    b->layers[made.layer].size = where->size;
    b->known[made.layer] = value;
    return made;
}

mo_onnx_ref mo_onnx_literal(mo_onnx_builder *b, const mo_infer_value *value)
{
    char name[40];
    size_t size;
    int before = mo_intern_count(b->literals), number;
    const char *text;
    mo_onnx_ref made;

    if (b->error.status != MO_OK)
        return MO_ONNX_NONE;
    mo_infer_value_write_literal(value, b->text);
    text = mo_out_borrow(b->text, &size);
    if (!text ||
        mo_intern_put(b->literals, text, size, &number, &b->error) != MO_OK)
        return mo_onnx_fail_memory(b);
    if (number < before)
        return (mo_onnx_ref){ b->literal_layers[number], 0 };
    if (mo_array_reserve((void **) &b->literal_layers, &b->literals_room,
                         (size_t) number + 1, sizeof *b->literal_layers,
                         &b->error) != MO_OK)
        return MO_ONNX_NONE;
    snprintf(name, sizeof name, "%.16s constant", value->dtype);
    made = add_constant(b, name, &value->shape, value->dtype);
    if (made.layer < 0)
        return made;
    b->literal_layers[number] = made.layer;
    b->layers[made.layer].attrs = mo_intern_text(b->literals, number);
    b->known[made.layer] = value;
    return made;
}

mo_onnx_ref mo_onnx_numbers(mo_onnx_builder *b, const double *values,
                            const mo_shape *shape, const char *dtype)
{
    mo_infer_value *value = NULL;

    if (b->error.status == MO_OK && mo_infer_value_supports(dtype))
        value = mo_infer_value_new(b->ir->arena, shape, dtype);
    else if (b->error.status == MO_OK)
        return mo_onnx_refuse(b, "has elements of type %s", dtype);
    if (!value)
        return mo_onnx_fail_memory(b);
    for (int64_t i = 0; i < value->count; i++)
        value->items[i] = mo_infer_value_cast(
            (mo_infer_scalar){ .r = values[i] }, "f64", dtype);
    return mo_onnx_literal(b, value);
}

mo_onnx_ref mo_onnx_number(mo_onnx_builder *b, double value, const char *dtype)
{
    return mo_onnx_numbers(b, &value, &scalar_shape, dtype);
}

static mo_onnx_ref add_ints(mo_onnx_builder *b, const int64_t *values,
                            const mo_shape *shape)
{
    mo_infer_value *value = mo_infer_value_new(b->ir->arena, shape, "i64");

    if (!value)
        return mo_onnx_fail_memory(b);
    for (int64_t i = 0; i < value->count; i++)
        value->items[i].i = values[i];
    return mo_onnx_literal(b, value);
}

mo_onnx_ref mo_onnx_ints(mo_onnx_builder *b, const int64_t *values, int n)
{
    mo_shape shape = { .rank = 1, .dims = { n } };

    return add_ints(b, values, &shape);
}

mo_onnx_ref mo_onnx_int(mo_onnx_builder *b, int64_t value)
{
    return add_ints(b, &value, &scalar_shape);
}

mo_onnx_ref mo_onnx_constant_view(mo_onnx_builder *b, mo_onnx_ref constant,
                                  const mo_shape *shape)
{
    const mo_infer_value *known = mo_onnx_known(b, constant);
    const mo_ir_layer *layer = &b->layers[constant.layer];
    mo_onnx_location where = { layer->file, layer->offset, layer->size };
    mo_infer_value *value = NULL;

    if (known) {
        value = mo_arena_alloc(b->ir->arena, sizeof *value);
        if (!value)
            return mo_onnx_fail_memory(b);
        *value = *known;
        value->shape = *shape;
        if (layer->offset < 0)
            return mo_onnx_literal(b, value);
    }
    return mo_onnx_stored(b, layer->name, &where, shape,
                          layer->outputs[0].dtype, value);
}
