/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/openvino/ir_graph.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/out.h"
#include "graph/build.h"
#include "graph/shape.h"
#include "ingest/operator.h"

/* State of the conversion of a model to a graph. */
typedef struct conversion {
    const mo_ir *ir;
    const mo_ir_constness *folds;
    const char *bin; /* name of the file of the constants */
    mo_builder *builder;
    mo_out *out;       /* buffer for texts */
    int *slots;        /* of the layers, in the builder */
    int *first_output; /* outputs of all layers are numbered consecutively */
    int *last_reader;  /* of each output: the last consumer that counted its
                          bytes */
    int n_parameters, n_results; /* so far */
} conversion;

/* Stores the text in c->out in the graph, which owns it. */
static mo_status keep_text(conversion *c, const char **kept, mo_error *err)
{
    size_t length;
    char *text = mo_out_take(c->out, &length);
    mo_status status;

    if (!text)
        return mo_fail_memory(err);
    status = mo_builder_text(c->builder, text, length, kept, err);
    free(text);
    return status;
}

static mo_status keep_string(conversion *c, const char *text, const char **kept,
                             mo_error *err)
{
    return mo_builder_text(c->builder, text, strlen(text), kept, err);
}

static void write_shape(mo_out *out, const mo_shape *shape)
{
    char text[MO_SHAPE_TEXT_SIZE];

    mo_out_bytes(out, text, mo_shape_write(shape, text));
}

static mo_status keep_shapes(conversion *c, const mo_ir_layer *layer, mo_op *op,
                             mo_error *err)
{
    if (layer->n_outputs == 0)
        return MO_OK;
    for (int i = 0; i < layer->n_outputs; i++) {
        if (i > 0)
            mo_out_char(c->out, ';');
        write_shape(c->out, &layer->outputs[i].shape);
    }
    return keep_text(c, &op->shape, err);
}

static mo_status keep_dtypes(conversion *c, const mo_ir_layer *layer, mo_op *op,
                             mo_error *err)
{
    bool any = false;

    for (int i = 0; i < layer->n_outputs; i++)
        any = any || layer->outputs[i].dtype;
    if (!any)
        return MO_OK;
    for (int i = 0; i < layer->n_outputs; i++) {
        const char *dtype = layer->outputs[i].dtype;

        if (i > 0)
            mo_out_char(c->out, ';');
        mo_out_text(c->out, dtype ? dtype : "");
    }
    return keep_text(c, &op->dtype, err);
}

/* The parameters of the layer, its opset, and the index of inputs and outputs
 * of the model. */
static mo_status keep_attrs(conversion *c, const mo_ir_layer *layer, int index,
                            mo_op *op, mo_error *err)
{
    const char *attrs = layer->attrs;
    const char *between = "";
    size_t length;

    mo_out_char(c->out, '{');
    if (attrs) {
        mo_out_bytes(c->out, attrs + 1, strlen(attrs) - 2);
        between = ",";
    }
    if (layer->version && !(attrs && mo_json_find(attrs, "opset", &length))) {
        mo_out_text(c->out, between);
        mo_out_text(c->out, "\"opset\":");
        mo_out_json(c->out, layer->version);
        between = ",";
    }
    if (index >= 0)
        mo_out_printf(c->out, "%s\"index\":%d", between, index);
    mo_out_char(c->out, '}');
    return keep_text(c, &op->attrs, err);
}

/* A folded ShapeOf is a Const with its value in its attributes. */
static mo_status keep_shape_value(conversion *c, const mo_ir_layer *layer,
                                  mo_op *op, mo_error *err)
{
    const mo_ir_port *input = &layer->inputs[0];
    const mo_ir_layer *source = &c->ir->layers[input->source_layer];
    const mo_shape *value = &source->outputs[input->source_port].shape;
    const mo_ir_port *output = &layer->outputs[0];

    if (output->shape.rank != 1 || output->shape.dims[0] != value->rank)
        return mo_fail_at(err, MO_E_INPUT, c->ir->file, layer->line,
                          "ShapeOf '%.80s' has not as many elements as its "
                          "input has dimensions (%d): the file is damaged, "
                          "export the model again",
                          layer->name, value->rank);
    mo_out_text(c->out, "{\"element_type\":");
    mo_out_json(c->out, output->dtype ? output->dtype : "i64");
    mo_out_text(c->out, ",\"shape\":\"");
    write_shape(c->out, &output->shape);
    mo_out_text(c->out, "\",\"value\":\"");
    write_shape(c->out, value);
    mo_out_text(c->out, "\"}");
    return keep_text(c, &op->attrs, err);
}

static mo_status keep_weights(conversion *c, const mo_ir_layer *layer,
                              mo_op *op, mo_error *err)
{
    const mo_ir_port *output;

    if (layer->offset < 0)
        return MO_OK;
    output = &layer->outputs[0];
    mo_out_text(c->out, layer->file ? layer->file : c->bin);
    mo_out_char(c->out, ':');
    mo_out_int(c->out, layer->offset);
    mo_out_char(c->out, ':');
    mo_out_int(c->out, layer->size);
    mo_out_char(c->out, ':');
    mo_out_text(c->out, output->dtype ? output->dtype : "");
    mo_out_char(c->out, ':');
    write_shape(c->out, &output->shape);
    return keep_text(c, &op->weights, err);
}

/* The index of layer among the model's inputs or outputs, or -1. */
static int next_index(conversion *c, const mo_ir_layer *layer)
{
    if (strcmp(layer->type, "Parameter") == 0)
        return c->n_parameters++;
    if (strcmp(layer->type, "Result") == 0)
        return c->n_results++;
    return -1;
}

static int64_t output_bytes(const mo_ir_layer *layer)
{
    int64_t sum = 0;

    for (int i = 0; i < layer->n_outputs; i++) {
        const mo_ir_port *port = &layer->outputs[i];
        int64_t bytes = mo_shape_bytes(&port->shape, port->dtype);

        if (bytes < 0 || !mo_int64_add(sum, bytes, &sum))
            return MO_UNKNOWN;
    }
    return sum;
}

static bool is_constant(mo_ir_constness fold)
{
    return fold == MO_IR_CONSTNESS_CONSTANT || fold == MO_IR_CONSTNESS_SHAPE;
}

/* The bytes of the constants that layer number i reads, each counted once. */
static int64_t weight_bytes(conversion *c, int i)
{
    const mo_ir_layer *layer = &c->ir->layers[i];
    int64_t sum = 0;

    for (int k = 0; k < layer->n_inputs; k++) {
        const mo_ir_port *input = &layer->inputs[k];
        int from = input->source_layer;
        int *reader =
            &c->last_reader[c->first_output[from] + input->source_port];
        const mo_ir_port *output;
        int64_t bytes;

        if (!is_constant(c->folds[from]) || *reader == i + 1)
            continue;
        *reader = i + 1;
        output = &c->ir->layers[from].outputs[input->source_port];
        bytes = mo_shape_bytes(&output->shape, output->dtype);
        if (bytes > 0 && !mo_int64_add(sum, bytes, &sum))
            return MO_UNKNOWN;
    }
    return sum;
}

/* Stores all texts of the op. */
static mo_status keep_texts(conversion *c, int i, mo_op *op, mo_error *err)
{
    const mo_ir_layer *layer = &c->ir->layers[i];
    bool is_shape = c->folds[i] == MO_IR_CONSTNESS_SHAPE;
    int index = next_index(c, layer);
    mo_status status = keep_shapes(c, layer, op, err);

    if (status == MO_OK)
        status = keep_dtypes(c, layer, op, err);
    if (status == MO_OK)
        status =
            keep_string(c, is_shape ? "Const" : layer->type, &op->type, err);
    if (status == MO_OK)
        status = is_shape ? keep_shape_value(c, layer, op, err)
                          : keep_attrs(c, layer, index, op, err);
    if (status == MO_OK)
        status = keep_weights(c, layer, op, err);
    return status;
}

static mo_status add_op(conversion *c, int i, mo_error *err)
{
    const mo_ir_layer *layer = &c->ir->layers[i];
    mo_op texts = { .name = NULL }, *op;
    mo_status status = keep_texts(c, i, &texts, err);

    if (status == MO_OK)
        status = mo_builder_slot(c->builder, layer->name, strlen(layer->name),
                                 layer->line, &c->slots[i], err);
    if (status == MO_OK)
        status =
            mo_builder_define(c->builder, c->slots[i], layer->line, &op, err);
    if (status != MO_OK)
        return status;
    op->type = texts.type;
    op->shape = texts.shape;
    op->dtype = texts.dtype;
    op->attrs = texts.attrs;
    op->weights = texts.weights;
    op->output_bytes = output_bytes(layer);
    if (is_constant(c->folds[i])) {
        mo_builder_mark_constant(c->builder, c->slots[i]);
        return MO_OK;
    }
    op->weight_bytes = weight_bytes(c, i);
    op->workspace_bytes = 0;
    return MO_OK;
}

static mo_status add_layers(conversion *c, mo_error *err)
{
    int n = c->ir->n_layers;
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        if (c->folds[i] != MO_IR_CONSTNESS_DEAD)
            status = add_op(c, i, err);
    for (int i = 0; i < n && status == MO_OK; i++)
        if (c->folds[i] != MO_IR_CONSTNESS_DEAD &&
            c->folds[i] != MO_IR_CONSTNESS_SHAPE) {
            const mo_ir_layer *layer = &c->ir->layers[i];

            for (int k = 0; k < layer->n_inputs && status == MO_OK; k++) {
                const mo_ir_port *input = &layer->inputs[k];
                const mo_ir_layer *source = &c->ir->layers[input->source_layer];
                const mo_ir_port *output = &source->outputs[input->source_port];
                mo_builder_edge edge = {
                    .from = c->slots[input->source_layer],
                    .to = c->slots[i],
                    .src_port = input->source_port,
                    .dst_port = k,
                    .bytes = mo_shape_bytes(&output->shape, output->dtype),
                    .line = layer->line,
                };
                int number;

                status = mo_builder_add_edge(c->builder, &edge, &number, err);
            }
        }
    return status;
}

static mo_status number_outputs(conversion *c, mo_error *err)
{
    size_t n = (size_t) c->ir->n_layers, sum = 0;

    c->slots = calloc(n + 1, sizeof *c->slots);
    c->first_output = calloc(n + 1, sizeof *c->first_output);
    if (!c->slots || !c->first_output)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        c->first_output[i] = (int) sum;
        sum += (size_t) c->ir->layers[i].n_outputs;
        if (sum > INT_MAX)
            return mo_fail_at(err, MO_E_LIMIT, c->ir->file, 0,
                              "more than %d tensors", INT_MAX);
    }
    c->last_reader = calloc(sum + 1, sizeof *c->last_reader);
    return c->last_reader ? MO_OK : mo_fail_memory(err);
}

mo_status mo_ir_to_graph(const mo_ir *ir, const mo_ir_constness *folds,
                         const char *bin, mo_graph **graph, mo_error *err)
{
    const char *slash = strrchr(bin, '/');
    conversion c = { .ir = ir, .folds = folds, .bin = slash ? slash + 1 : bin };
    mo_status status = number_outputs(&c, err);

    if (status == MO_OK)
        status = mo_out_memory(&c.out, err);
    if (status == MO_OK)
        status = mo_builder_new(ir->file, &c.builder, err);
    if (status == MO_OK) {
        const char *name = NULL;

        if (c.ir->name)
            status = keep_string(&c, c.ir->name, &name, err);
        if (status == MO_OK)
            mo_builder_name(c.builder, name);
    }
    if (status == MO_OK)
        status = add_layers(&c, err);
    if (status == MO_OK)
        status = mo_builder_finish(c.builder, graph, err);
    if (status == MO_OK)
        mo_operator_resolve(*graph);
    mo_builder_free(c.builder);
    mo_out_abandon(c.out);
    free(c.last_reader);
    free(c.first_output);
    free(c.slots);
    return status;
}
