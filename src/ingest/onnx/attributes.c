/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the next layer, as a JSON object. */
#include "ingest/onnx/builder_internal.h"

#include <math.h>

#include "ingest/infer/value_text.h"

static void begin_attribute(mo_onnx_builder *b, const char *key)
{
    mo_out_char(b->attrs, b->n_attrs++ > 0 ? ',' : '{');
    mo_out_json(b->attrs, key);
    mo_out_char(b->attrs, ':');
}

void mo_onnx_set_int(mo_onnx_builder *b, const char *key, int64_t value)
{
    begin_attribute(b, key);
    mo_out_int(b->attrs, value);
}

void mo_onnx_set_ints(mo_onnx_builder *b, const char *key,
                      const int64_t *values, int n)
{
    begin_attribute(b, key);
    mo_out_char(b->attrs, '"');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_char(b->attrs, ',');
        mo_out_int(b->attrs, values[i]);
    }
    mo_out_char(b->attrs, '"');
}

void mo_onnx_set_real(mo_onnx_builder *b, const char *key, double value)
{
    const char *quote = isfinite(value) ? "" : "\"";

    begin_attribute(b, key);
    mo_out_text(b->attrs, quote);
    mo_infer_real_write(value, b->attrs);
    mo_out_text(b->attrs, quote);
}

void mo_onnx_set_reals(mo_onnx_builder *b, const char *key,
                       const double *values, int n)
{
    begin_attribute(b, key);
    mo_out_char(b->attrs, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_char(b->attrs, ',');
        mo_out_double(b->attrs, isfinite(values[i]) ? values[i] : 0);
    }
    mo_out_char(b->attrs, ']');
}

void mo_onnx_set_texts(mo_onnx_builder *b, const char *key,
                       const char *const *values, int n)
{
    begin_attribute(b, key);
    mo_out_char(b->attrs, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            mo_out_char(b->attrs, ',');
        mo_out_json(b->attrs, values[i]);
    }
    mo_out_char(b->attrs, ']');
}

void mo_onnx_set_bool(mo_onnx_builder *b, const char *key, bool value)
{
    begin_attribute(b, key);
    mo_out_text(b->attrs, value ? "true" : "false");
}

void mo_onnx_set_text(mo_onnx_builder *b, const char *key, const char *value)
{
    begin_attribute(b, key);
    mo_out_json(b->attrs, value);
}

/* Takes the attributes that were set; NULL: none, or without memory. */
const char *mo_onnx_take_attributes(mo_onnx_builder *b)
{
    const char *text, *kept;
    size_t size;

    if (b->n_attrs == 0)
        return NULL;
    mo_out_char(b->attrs, '}');
    b->n_attrs = 0;
    text = mo_out_borrow(b->attrs, &size);
    kept = text ? mo_arena_text(b->ir->arena, text, size) : NULL;
    if (!kept)
        mo_onnx_fail_memory(b);
    return kept;
}
