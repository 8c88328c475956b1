/* SPDX-License-Identifier: Apache-2.0 */
/* Types, nodes and graphs of an ONNX model. */
#include <config.h>

#include "ingest/onnx/decode_internal.h"

#include <string.h>

#include "ingest/onnx/onnx.pb.h"

enum { MAX_DEPTH = 16 }; /* of graphs in attributes of nodes */

static bool decode_dim(pb_istream_t *stream, const pb_field_t *field,
                       void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_info *info = t->to;
    mo_onnx_pb_Dimension m = mo_onnx_pb_Dimension_init_zero;
    const char *name = NULL;
    mo_onnx_target to_name = { t->d, &name };

    (void) field;
    m.dim_param.funcs.decode = mo_onnx_decode_text;
    m.dim_param.arg = &to_name;
    if (!pb_decode(stream, mo_onnx_pb_Dimension_fields, &m))
        return false;
    if (info->shape.rank == MO_MAX_RANK)
        return mo_onnx_decode_fail(t->d, MO_E_LIMIT,
                                   "has a tensor of more than 16 dimensions");
    if (name && name[0] && !info->dim_names) {
        info->dim_names =
            mo_arena_array(t->d->arena, MO_MAX_RANK, sizeof *info->dim_names);
        if (!info->dim_names)
            return mo_onnx_decode_fail_memory(t->d);
    }
    if (name && name[0])
        info->dim_names[info->shape.rank] = name;
    info->shape.dims[info->shape.rank++] =
        m.has_dim_value && m.dim_value >= 0 ? m.dim_value : MO_DYNAMIC;
    return true;
}

static bool decode_shape(pb_istream_t *stream, const pb_field_t *field,
                         void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_info *info = t->to;
    mo_onnx_pb_TensorShapeProto m = mo_onnx_pb_TensorShapeProto_init_zero;

    (void) field;
    info->shape.rank = 0;
    m.dim.funcs.decode = decode_dim;
    m.dim.arg = *arg;
    return pb_decode(stream, mo_onnx_pb_TensorShapeProto_fields, &m);
}

static bool decode_tensor_type(pb_istream_t *stream, const pb_field_t *field,
                               void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_info *info = t->to;
    mo_onnx_pb_TensorTypeProto m = mo_onnx_pb_TensorTypeProto_init_zero;

    (void) field;
    m.shape.funcs.decode = decode_shape;
    m.shape.arg = *arg;
    if (!pb_decode(stream, mo_onnx_pb_TensorTypeProto_fields, &m))
        return false;
    info->is_tensor = true;
    info->type = m.elem_type;
    return true;
}

static bool decode_type(pb_istream_t *stream, const pb_field_t *field,
                        void **arg)
{
    mo_onnx_pb_TypeProto m = mo_onnx_pb_TypeProto_init_zero;

    (void) field;
    m.tensor_type.funcs.decode = decode_tensor_type;
    m.tensor_type.arg = *arg;
    return pb_decode(stream, mo_onnx_pb_TypeProto_fields, &m);
}

typedef struct info_list {
    mo_onnx_info *items;
    size_t n;
} info_list;

static bool decode_info(pb_istream_t *stream, const pb_field_t *field,
                        void **arg)
{
    const mo_onnx_target *t = *arg;
    info_list *list = t->to;
    mo_onnx_info *info = MO_ONNX_APPEND(t->d, list->items, list->n);
    mo_onnx_pb_ValueInfoProto m = mo_onnx_pb_ValueInfoProto_init_zero;
    mo_onnx_target name, type;

    (void) field;
    if (!info)
        return false;
    info->name = "";
    info->shape.rank = MO_DYNAMIC;
    name = (mo_onnx_target){ t->d, &info->name };
    type = (mo_onnx_target){ t->d, info };
    m.name.funcs.decode = mo_onnx_decode_text;
    m.name.arg = &name;
    m.type.funcs.decode = decode_type;
    m.type.arg = &type;
    return pb_decode(stream, mo_onnx_pb_ValueInfoProto_fields, &m);
}

bool mo_onnx_decode_attribute(pb_istream_t *stream, const pb_field_t *field,
                              void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_decoder *d = t->d;
    mo_onnx_attribute_list *list = t->to;
    mo_onnx_attribute *a = MO_ONNX_APPEND(d, list->items, list->n);
    mo_onnx_pb_AttributeProto m = mo_onnx_pb_AttributeProto_init_zero;
    mo_onnx_number_list numbers = { .n_ints = 0 };
    mo_onnx_text_list strings = { NULL, 0 };
    mo_onnx_target to_name, to_reference, to_s, to_t, to_g, to_strings;
    mo_onnx_target to_numbers = { d, &numbers };

    (void) field;
    if (!a)
        return false;
    a->name = a->reference = "";
    to_name = (mo_onnx_target){ d, &a->name };
    to_reference = (mo_onnx_target){ d, &a->reference };
    to_s = (mo_onnx_target){ d, &a->s };
    to_t = (mo_onnx_target){ d, &a->t };
    to_g = (mo_onnx_target){ d, &a->g };
    to_strings = (mo_onnx_target){ d, &strings };
    m.name.funcs.decode = m.ref_attr_name.funcs.decode = m.s.funcs.decode =
        mo_onnx_decode_text;
    m.name.arg = &to_name;
    m.ref_attr_name.arg = &to_reference;
    m.s.arg = &to_s;
    m.t.funcs.decode = mo_onnx_decode_tensor;
    m.t.arg = &to_t;
    m.g.funcs.decode = mo_onnx_decode_graph;
    m.g.arg = &to_g;
    m.floats.funcs.decode = mo_onnx_decode_floats;
    m.ints.funcs.decode = mo_onnx_decode_ints;
    m.floats.arg = m.ints.arg = &to_numbers;
    m.strings.funcs.decode = mo_onnx_decode_texts;
    m.strings.arg = &to_strings;
    if (!pb_decode(stream, mo_onnx_pb_AttributeProto_fields, &m))
        return false;
    a->type = m.type;
    a->f = (double) m.f;
    a->i = m.i;
    a->floats = numbers.reals;
    a->n_floats = numbers.n_reals;
    a->ints = numbers.ints;
    a->n_ints = numbers.n_ints;
    a->strings = strings.items;
    a->n_strings = strings.n;
    return true;
}

bool mo_onnx_decode_node(pb_istream_t *stream, const pb_field_t *field,
                         void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_decoder *d = t->d;
    mo_onnx_node_list *list = t->to;
    mo_onnx_node *node = MO_ONNX_APPEND(d, list->items, list->n);
    mo_onnx_pb_NodeProto m = mo_onnx_pb_NodeProto_init_zero;
    mo_onnx_text_list inputs = { NULL, 0 }, outputs = { NULL, 0 };
    mo_onnx_attribute_list attributes = { NULL, 0 };
    mo_onnx_target to_inputs = { d, &inputs }, to_outputs = { d, &outputs };
    mo_onnx_target to_attributes = { d, &attributes }, to_name, to_type,
                   to_domain;

    (void) field;
    if (!node)
        return false;
    node->name = node->op_type = node->domain = "";
    to_name = (mo_onnx_target){ d, &node->name };
    to_type = (mo_onnx_target){ d, &node->op_type };
    to_domain = (mo_onnx_target){ d, &node->domain };
    m.name.funcs.decode = m.op_type.funcs.decode = m.domain.funcs.decode =
        mo_onnx_decode_text;
    m.name.arg = &to_name;
    m.op_type.arg = &to_type;
    m.domain.arg = &to_domain;
    m.input.funcs.decode = m.output.funcs.decode = mo_onnx_decode_texts;
    m.input.arg = &to_inputs;
    m.output.arg = &to_outputs;
    m.attribute.funcs.decode = mo_onnx_decode_attribute;
    m.attribute.arg = &to_attributes;
    if (!pb_decode(stream, mo_onnx_pb_NodeProto_fields, &m))
        return false;
    node->inputs = inputs.items;
    node->n_inputs = inputs.n;
    node->outputs = outputs.items;
    node->n_outputs = outputs.n;
    node->attributes = attributes.items;
    node->n_attributes = attributes.n;
    d->model->n_nodes++;
    return true;
}

typedef struct tensor_list {
    mo_onnx_tensor *items;
    size_t n;
} tensor_list;

static bool decode_initializer(pb_istream_t *stream, const pb_field_t *field,
                               void **arg)
{
    const mo_onnx_target *t = *arg;
    tensor_list *list = t->to;
    mo_onnx_tensor *tensor = MO_ONNX_APPEND(t->d, list->items, list->n);

    (void) field;
    return tensor && mo_onnx_decode_tensor_into(t->d, stream, tensor);
}

static bool decode_sparse(pb_istream_t *stream, const pb_field_t *field,
                          void **arg)
{
    const mo_onnx_target *t = *arg;

    (void) field;
    *(bool *) t->to = true;
    return mo_onnx_decode_skip(stream);
}

static bool read_graph(mo_onnx_decoder *d, pb_istream_t *stream,
                       mo_onnx_graph *graph)
{
    mo_onnx_pb_GraphProto m = mo_onnx_pb_GraphProto_init_zero;
    mo_onnx_node_list nodes = { NULL, 0 };
    tensor_list weights = { NULL, 0 };
    info_list inputs = { NULL, 0 }, outputs = { NULL, 0 }, infos = { NULL, 0 };
    mo_onnx_target to_nodes = { d, &nodes }, to_weights = { d, &weights };
    mo_onnx_target to_inputs = { d, &inputs }, to_outputs = { d, &outputs };
    mo_onnx_target to_infos = { d, &infos }, to_name = { d, &graph->name };
    mo_onnx_target to_sparse = { d, &graph->is_sparse };

    graph->name = "";
    m.node.funcs.decode = mo_onnx_decode_node;
    m.node.arg = &to_nodes;
    m.name.funcs.decode = mo_onnx_decode_text;
    m.name.arg = &to_name;
    m.initializer.funcs.decode = decode_initializer;
    m.initializer.arg = &to_weights;
    m.input.funcs.decode = m.output.funcs.decode = m.value_info.funcs.decode =
        decode_info;
    m.input.arg = &to_inputs;
    m.output.arg = &to_outputs;
    m.value_info.arg = &to_infos;
    m.sparse_initializer.funcs.decode = decode_sparse;
    m.sparse_initializer.arg = &to_sparse;
    if (!pb_decode(stream, mo_onnx_pb_GraphProto_fields, &m))
        return false;
    graph->nodes = nodes.items;
    graph->n_nodes = nodes.n;
    graph->initializers = weights.items;
    graph->n_initializers = weights.n;
    graph->inputs = inputs.items;
    graph->n_inputs = inputs.n;
    graph->outputs = outputs.items;
    graph->n_outputs = outputs.n;
    graph->infos = infos.items;
    graph->n_infos = infos.n;
    return true;
}

bool mo_onnx_decode_graph(pb_istream_t *stream, const pb_field_t *field,
                          void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_decoder *d = t->d;
    mo_onnx_graph *graph = mo_arena_alloc(d->arena, sizeof *graph);
    bool good;

    (void) field;
    if (!graph)
        return mo_onnx_decode_fail_memory(d);
    if (d->depth == MAX_DEPTH)
        return mo_onnx_decode_fail(d, MO_E_LIMIT,
                                   "has graphs nested more than 16 deep");
    d->depth++;
    good = read_graph(d, stream, graph);
    d->depth--;
    *(const mo_onnx_graph **) t->to = graph;
    return good;
}
