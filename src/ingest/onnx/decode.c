/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder of ONNX models (protocol buffers) on nanopb. Every message has one
 * function, which nanopb calls with a stream limited to the message. */
#include <config.h>

#include "ingest/onnx/decode_internal.h"

#include <string.h>

#include "ingest/onnx/onnx.pb.h"

typedef struct opset_list {
    mo_onnx_opset *items;
    size_t n;
} opset_list;

static bool decode_opset(pb_istream_t *stream, const pb_field_t *field,
                         void **arg)
{
    const mo_onnx_target *t = *arg;
    opset_list *list = t->to;
    mo_onnx_opset *opset = MO_ONNX_APPEND(t->d, list->items, list->n);
    mo_onnx_pb_OperatorSetIdProto m = mo_onnx_pb_OperatorSetIdProto_init_zero;
    mo_onnx_target to_domain;

    (void) field;
    if (!opset)
        return false;
    opset->domain = "";
    to_domain = (mo_onnx_target){ t->d, &opset->domain };
    m.domain.funcs.decode = mo_onnx_decode_text;
    m.domain.arg = &to_domain;
    if (!pb_decode(stream, mo_onnx_pb_OperatorSetIdProto_fields, &m))
        return false;
    opset->version = m.version;
    return true;
}

typedef struct function_list {
    mo_onnx_function *items;
    size_t n;
} function_list;

static bool decode_function(pb_istream_t *stream, const pb_field_t *field,
                            void **arg)
{
    const mo_onnx_target *t = *arg;
    mo_onnx_decoder *d = t->d;
    function_list *list = t->to;
    mo_onnx_function *f = MO_ONNX_APPEND(d, list->items, list->n);
    mo_onnx_pb_FunctionProto m = mo_onnx_pb_FunctionProto_init_zero;
    mo_onnx_text_list inputs = { NULL, 0 }, outputs = { NULL, 0 };
    mo_onnx_node_list nodes = { NULL, 0 };
    opset_list opsets = { NULL, 0 };
    mo_onnx_attribute_list defaults = { NULL, 0 };
    mo_onnx_target to_inputs = { d, &inputs }, to_outputs = { d, &outputs };
    mo_onnx_target to_nodes = { d, &nodes }, to_opsets = { d, &opsets };
    mo_onnx_target to_defaults = { d, &defaults }, to_name, to_domain;

    (void) field;
    if (!f)
        return false;
    f->name = f->domain = "";
    to_name = (mo_onnx_target){ d, &f->name };
    to_domain = (mo_onnx_target){ d, &f->domain };
    m.name.funcs.decode = m.domain.funcs.decode = mo_onnx_decode_text;
    m.name.arg = &to_name;
    m.domain.arg = &to_domain;
    m.input.funcs.decode = m.output.funcs.decode = mo_onnx_decode_texts;
    m.input.arg = &to_inputs;
    m.output.arg = &to_outputs;
    m.node.funcs.decode = mo_onnx_decode_node;
    m.node.arg = &to_nodes;
    m.opset_import.funcs.decode = decode_opset;
    m.opset_import.arg = &to_opsets;
    m.attribute_proto.funcs.decode = mo_onnx_decode_attribute;
    m.attribute_proto.arg = &to_defaults;
    if (!pb_decode(stream, mo_onnx_pb_FunctionProto_fields, &m))
        return false;
    f->inputs = inputs.items;
    f->n_inputs = inputs.n;
    f->outputs = outputs.items;
    f->n_outputs = outputs.n;
    f->nodes = nodes.items;
    f->n_nodes = nodes.n;
    f->opsets = opsets.items;
    f->n_opsets = opsets.n;
    f->defaults = defaults.items;
    f->n_defaults = defaults.n;
    return true;
}

mo_status mo_onnx_decode(mo_input *input, mo_arena *arena, mo_onnx_model *model,
                         mo_error *err)
{
    mo_onnx_decoder d = {
        .input = input, .arena = arena, .model = model, .err = err
    };
    pb_istream_t stream = { .callback = mo_onnx_decode_bytes,
                            .state = &d,
                            .bytes_left = SIZE_MAX };
    opset_list opsets = { NULL, 0 };
    function_list functions = { NULL, 0 };
    mo_onnx_target to_graph = { &d, &model->graph };
    mo_onnx_target to_opsets = { &d, &opsets },
                   to_functions = { &d, &functions };
    mo_onnx_pb_ModelProto m = mo_onnx_pb_ModelProto_init_zero;

    *model = (mo_onnx_model){ .ir_version = 0 };
    d.top = &stream;
    m.graph.funcs.decode = mo_onnx_decode_graph;
    m.graph.arg = &to_graph;
    m.opset_import.funcs.decode = decode_opset;
    m.opset_import.arg = &to_opsets;
    m.functions.funcs.decode = decode_function;
    m.functions.arg = &to_functions;
    if (!pb_decode(&stream, mo_onnx_pb_ModelProto_fields, &m))
        return d.status != MO_OK
                   ? d.status
                   : mo_fail_at(err, MO_E_SYNTAX, mo_input_name(input), 0,
                                "is cut short or damaged at byte %lld, or no "
                                "ONNX model; save or copy it again",
                                (long long) d.offset);
    model->ir_version = m.ir_version;
    model->opsets = opsets.items;
    model->n_opsets = opsets.n;
    model->functions = functions.items;
    model->n_functions = functions.n;
    return MO_OK;
}
