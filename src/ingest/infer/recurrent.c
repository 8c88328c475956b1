/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of recurrent cells and sequences: RNN, GRU, LSTM.
 */
#include <string.h>

#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

static mo_status read_hidden(const mo_infer_rule_op *op, int64_t *hidden,
                             mo_error *err)
{
    mo_status status = mo_infer_arg_int(op, "hidden_size", 0, hidden, err);

    if (status == MO_OK && *hidden < 1)
        return mo_fail(err, MO_E_INPUT, "attribute 'hidden_size' is missing");
    return status;
}

/* The weights, out x in for each direction, stand behind the states and, in a
 * sequence, the lengths. */
static mo_status check_weights(const mo_infer_rule_op *op, int input,
                               mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *weights = &op->inputs[input].shape;

    if (weights->rank >= 1 &&
        weights->dims[weights->rank - 1] == data->dims[data->rank - 1] &&
        op->inputs[1].shape.rank >= 1 &&
        op->inputs[1].shape.dims[0] == data->dims[0])
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "data of %s, a state of %s and weights of %s do not fit "
                   "together",
                   mo_dims_format(data).text,
                   mo_dims_format(&op->inputs[1].shape).text,
                   mo_dims_format(weights).text);
}

static int count_states(const mo_infer_rule_op *op)
{
    return strncmp(op->type, "LSTM", 4) == 0 ? 2 : 1;
}

/* One step: batch, hidden for each state. */
mo_status mo_infer_shape_rnn_cell(const mo_infer_rule_op *op, mo_shape *outputs,
                                  mo_error *err)
{
    int64_t hidden;
    mo_status status = mo_infer_arg_rank(op, 0, 2, 2, err);

    if (status == MO_OK)
        status = check_weights(op, 1 + count_states(op), err);
    if (status == MO_OK)
        status = read_hidden(op, &hidden, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < op->n_outputs; i++)
        outputs[i] =
            (mo_shape){ .rank = 2,
                        .dims = { op->inputs[0].shape.dims[0], hidden } };
    return MO_OK;
}

/* Every step, in one direction or two: all of them, then the last states. */
mo_status mo_infer_shape_rnn_sequence(const mo_infer_rule_op *op,
                                      mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t ways = mo_infer_arg_is(op, "direction", "bidirectional") ? 2 : 1;
    int64_t hidden;
    mo_status status = mo_infer_arg_rank(op, 0, 3, 3, err);

    if (status == MO_OK)
        status = check_weights(op, 2 + count_states(op), err);
    if (status == MO_OK)
        status = read_hidden(op, &hidden, err);
    if (status != MO_OK)
        return status;
    outputs[0] =
        (mo_shape){ .rank = 4,
                    .dims = { data->dims[0], ways, data->dims[1], hidden } };
    for (int i = 1; i < op->n_outputs; i++)
        outputs[i] =
            (mo_shape){ .rank = 3, .dims = { data->dims[0], ways, hidden } };
    return MO_OK;
}

/* ONNX: data, W [directions, gates * hidden, features], R; all states, then the
 * last ones.  layout 1 has the batch first. */
mo_status mo_infer_shape_onnx_rnn(const mo_infer_rule_op *op, mo_shape *outputs,
                                  mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape, *w = &op->inputs[1].shape;
    const mo_shape *r = &op->inputs[2].shape;
    int64_t ways = mo_infer_arg_is(op, "direction", "bidirectional") ? 2 : 1;
    int64_t layout = 0, hidden, steps, batch;
    mo_status status = mo_infer_arg_rank(op, 0, 3, 3, err);

    for (int i = 1; i < 3 && status == MO_OK; i++)
        status = mo_infer_arg_rank(op, i, 3, 3, err);
    if (status == MO_OK)
        status = mo_infer_arg_int(op, "layout", 0, &layout, err);
    if (status != MO_OK)
        return status;
    if (layout < 0 || layout > 1 || w->dims[0] != ways || r->dims[0] != ways ||
        w->dims[1] != r->dims[1] || w->dims[2] != data->dims[2])
        return mo_fail(err, MO_E_INPUT,
                       "data of %s and weights of %s and %s do not fit "
                       "together",
                       mo_dims_format(data).text, mo_dims_format(w).text,
                       mo_dims_format(r).text);
    hidden = r->dims[2];
    steps = data->dims[layout];
    batch = data->dims[1 - layout];
    outputs[0] = layout ? (mo_shape){ 4, { batch, steps, ways, hidden } }
                        : (mo_shape){ 4, { steps, ways, batch, hidden } };
    for (int i = 1; i < op->n_outputs; i++)
        outputs[i] = layout ? (mo_shape){ 3, { batch, ways, hidden } }
                            : (mo_shape){ 3, { ways, batch, hidden } };
    return MO_OK;
}
