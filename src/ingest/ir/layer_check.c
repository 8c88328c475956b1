/* SPDX-License-Identifier: Apache-2.0 */
/* Validation and completion of a layer of an OpenVINO model. */
#include "ingest/ir/ir_internal.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/json.h"
#include "graph/dtype.h"

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncasecmp(word, text, length) == 0;
}

mo_status mo_ir_read_dtype(const mo_ir *ir, const char *name, size_t length,
                           int line, const char **dtype, mo_error *err)
{
    *dtype = mo_dtype_find(name, length);
    if (*dtype || is_word("dynamic", name, length) ||
        is_word("undefined", name, length) ||
        is_word("unspecified", name, length))
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, ir->file, line,
                      "'%.*s' is not an element type (f32, FP16, i64, ...)",
                      (int) (length < 80 ? length : 80), name);
}

const char *mo_ir_attribute(const mo_ir_layer *layer, const char *name,
                            size_t *length)
{
    const char *value =
        layer->attrs ? mo_json_find(layer->attrs, name, length) : NULL;

    if (!value || *length < 2 || value[0] != '"')
        return NULL;
    *length -= 2;
    return value + 1;
}

/* Ascending ids are distinct; others are compared pairwise. */
static mo_status check_ports(const mo_ir *ir, const mo_ir_layer *layer,
                             const mo_ir_port *ports, int n, const char *kind,
                             mo_error *err)
{
    bool ascending = true;

    for (int i = 1; i < n; i++)
        ascending = ascending && ports[i].id > ports[i - 1].id;
    if (ascending)
        return MO_OK;
    if (n > MO_IR_MAX_UNORDERED_PORTS)
        return mo_fail_at(err, MO_E_LIMIT, ir->file, layer->line,
                          "layer '%.80s' has more than %d %s ports that are "
                          "not in ascending order",
                          layer->name, MO_IR_MAX_UNORDERED_PORTS, kind);
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++)
            if (ports[i].id == ports[k].id)
                return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                                  "layer '%.80s' has two %s ports with the id "
                                  "%d: the file is damaged, export the model "
                                  "again",
                                  layer->name, kind, ports[i].id);
    return MO_OK;
}

/* The type given in <data>, for an output without a precision. */
static mo_status read_data_dtype(const mo_ir *ir, const mo_ir_layer *layer,
                                 const char **dtype, mo_error *err)
{
    size_t length;
    const char *type = mo_ir_attribute(layer, "element_type", &length);

    if (!type)
        type = mo_ir_attribute(layer, "destination_type", &length);
    if (!type)
        return MO_OK;
    return mo_ir_read_dtype(ir, type, length, layer->line, dtype, err);
}

static mo_status check_const_size(const mo_ir *ir, const mo_ir_layer *layer,
                                  mo_error *err)
{
    const mo_ir_port *port = &layer->outputs[0];
    int64_t bytes, end;
    char shape[MO_SHAPE_TEXT_SIZE + 1];

    if (!mo_shape_is_static(&port->shape))
        return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                          "the shape of Const '%.80s' is dynamic: a constant "
                          "has a size",
                          layer->name);
    if (!mo_int64_add(layer->offset, layer->size, &end))
        return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                          "Const '%.80s' ends behind any file: its offset and "
                          "size are wrong, export the model again",
                          layer->name);
    /* Strings and unknown types have no size to check; and OpenVINO writes one
     * byte for an empty tensor. */
    bytes = mo_shape_bytes(&port->shape, port->dtype);
    if (bytes <= 0 || bytes == layer->size)
        return MO_OK;
    shape[mo_shape_write(&port->shape, shape)] = '\0';
    return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                      "Const '%.80s' has %" PRId64 " bytes, but its shape "
                      "[%s] of %s needs %" PRId64 ": the file is damaged, "
                      "export the model again",
                      layer->name, layer->size, shape, port->dtype, bytes);
}

/* The <data> repeats the port's type and shape; a difference is an error,
 * since either may be wrong. */
static mo_status check_const_data(const mo_ir *ir, const mo_ir_layer *layer,
                                  mo_error *err)
{
    const mo_ir_port *port = &layer->outputs[0];
    size_t length;
    const char *text = mo_ir_attribute(layer, "shape", &length);
    mo_shape shape;

    if (text && (mo_shape_read(text, length, &shape) != MO_SHAPE_OK ||
                 !mo_shape_equal(&shape, &port->shape)))
        return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                          "the shape of Const '%.80s' is another in its <data> "
                          "than in its port",
                          layer->name);
    text = mo_ir_attribute(layer, "element_type", &length);
    if (text && port->dtype && mo_dtype_find(text, length) != port->dtype)
        return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                          "the element type of Const '%.80s' is another in its "
                          "<data> than in its port",
                          layer->name);
    return MO_OK;
}

static mo_status check_const(const mo_ir *ir, const mo_ir_layer *layer,
                             mo_error *err)
{
    mo_status status;

    if (layer->offset < 0)
        return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                          "Const '%.80s' has no <data> that says where it is "
                          "in the .bin: export the model again",
                          layer->name);
    status = check_const_data(ir, layer, err);
    return status == MO_OK ? check_const_size(ir, layer, err) : status;
}

/* Numbers of ports of the layers that later steps rely on. */
static const struct arity {
    const char *type;
    int inputs, outputs;
} arities[] = {
    { "Const", 0, 1 },
    { "Parameter", 0, 1 },
    { "Result", 1, -1 }, /* some exporters give it an output */
    { "ShapeOf", 1, 1 },
};

static mo_status check_arity(const mo_ir *ir, const mo_ir_layer *layer,
                             mo_error *err)
{
    const struct arity *need = NULL;

    for (size_t i = 0; i < sizeof arities / sizeof *arities; i++)
        if (strcmp(layer->type, arities[i].type) == 0)
            need = &arities[i];
    if (!need || (layer->n_inputs == need->inputs &&
                  (need->outputs < 0 || layer->n_outputs == need->outputs)))
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, ir->file, layer->line,
                      "%s '%.80s' has %d inputs and %d outputs, which no %s "
                      "has: the file is damaged, export the model again",
                      layer->type, layer->name, layer->n_inputs,
                      layer->n_outputs, layer->type);
}

mo_status mo_ir_complete_layer(const mo_ir *ir, mo_ir_layer *layer,
                               mo_error *err)
{
    mo_status status =
        check_ports(ir, layer, layer->inputs, layer->n_inputs, "input", err);

    if (status == MO_OK)
        status = check_ports(ir, layer, layer->outputs, layer->n_outputs,
                             "output", err);
    if (status == MO_OK)
        status = check_arity(ir, layer, err);
    if (status == MO_OK) {
        const char *dtype = NULL;
        bool asked = false;

        for (int i = 0; i < layer->n_outputs && status == MO_OK; i++) {
            if (layer->outputs[i].dtype)
                continue;
            if (!asked)
                status = read_data_dtype(ir, layer, &dtype, err);
            asked = true;
            layer->outputs[i].dtype = dtype;
        }
    }
    if (status == MO_OK && strcmp(layer->type, "Const") == 0)
        status = check_const(ir, layer, err);
    if (status == MO_OK && strcmp(layer->type, "Parameter") == 0) {
        size_t length;
        const char *text = mo_ir_attribute(layer, "shape", &length);

        /* A port cannot express a dynamic rank; the <data> does. */
        if (text && is_word("...", text, length))
            layer->outputs[0].shape.rank = MO_DYNAMIC;
    }
    return status;
}
