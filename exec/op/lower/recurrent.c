/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of recurrent layers and cells: ONNX's LSTM, GRU and RNN, OpenVINO's
 * sequences and cells.  The products of all steps with the input weights are
 * one MATMUL, the recurrence is one RNN.
 *
 * An optional input of no elements counts as absent, so that later ones keep
 * their places.
 */
#include <string.h>

#include "exec/op/lower/lowerings.h"
#include "exec/op/lower/recurrent_attrs.h"

/* Inputs by role; -1: absent. */
typedef struct rnn_inputs {
    int weights, recurrence, bias, lengths, state, cell_state, peephole;
} rnn_inputs;

typedef enum rnn_form { FORM_ONNX, FORM_SEQUENCE, FORM_CELL } rnn_form;

static mo_call_rnn_cell cell_of(const char *type)
{
    if (strncmp(type, "LSTM", 4) == 0)
        return MO_CALL_RNN_LSTM;
    return strncmp(type, "GRU", 3) == 0 ? MO_CALL_RNN_GRU : MO_CALL_RNN_PLAIN;
}

static rnn_form form_of(const char *type)
{
    if (strstr(type, "Sequence"))
        return FORM_SEQUENCE;
    return strstr(type, "Cell") ? FORM_CELL : FORM_ONNX;
}

static int input_at(const mo_op_site *site, int i)
{
    return i >= 0 && i < site->n_in && mo_tensor_desc_elements(&site->in[i]) > 0
               ? i
               : -1;
}

static rnn_inputs find_inputs(const mo_op_site *site, rnn_form form, bool lstm)
{
    rnn_inputs at = { .weights = 1,
                      .recurrence = 2,
                      .cell_state = -1,
                      .peephole = -1,
                      .lengths = -1 };

    if (form == FORM_ONNX) {
        at.bias = input_at(site, 3);
        at.lengths = input_at(site, 4);
        at.state = input_at(site, 5);
        at.cell_state = input_at(site, lstm ? 6 : -1);
        at.peephole = input_at(site, lstm ? 7 : -1);
        return at;
    }
    at.state = 1;
    at.cell_state = lstm ? 2 : -1;
    at.weights = 2 + lstm;
    if (form == FORM_SEQUENCE)
        at.lengths = at.weights++;
    at.recurrence = at.weights + 1;
    at.bias = input_at(site, at.weights + 2);
    return at;
}

/* Order of the gates in memory, and where their biases are. */
static void set_gates(rnn_form form, mo_call_rnn *rnn)
{
    /* By input, forget, cell, output: ONNX has i o f c, OpenVINO f i c o. */
    static const int onnx[] = { 0, 2, 3, 1 }, openvino[] = { 1, 0, 2, 3 };
    bool lstm = rnn->cell == MO_CALL_RNN_LSTM;

    rnn->n_gates = lstm ? 4 : rnn->cell == MO_CALL_RNN_GRU ? 3 : 1;
    rnn->bias_direction = rnn->n_gates * rnn->hidden;
    for (int gate = 0; gate < rnn->n_gates; gate++) {
        int block = !lstm               ? gate
                    : form == FORM_ONNX ? onnx[gate]
                                        : openvino[gate];

        rnn->block[gate] = block;
        rnn->input_bias[gate] = block * rnn->hidden;
        rnn->state_bias[gate] =
            form == FORM_ONNX ? (rnn->n_gates + block) * rnn->hidden : -1;
    }
    if (form == FORM_ONNX)
        rnn->bias_direction *= 2;
    else if (rnn->linear_before_reset) {
        rnn->state_bias[MO_CALL_RNN_GATE_HIDDEN] = rnn->bias_direction;
        rnn->bias_direction += rnn->hidden;
    }
}

/* Sizes and strides; time_major: steps before the batch. */
static void set_strides(rnn_form form, bool time_major, mo_call_rnn *rnn)
{
    int64_t hidden = rnn->hidden, ways = rnn->directions;
    int64_t columns = ways * rnn->n_gates * hidden;

    rnn->product_direction = rnn->n_gates * hidden;
    rnn->product_step = (time_major ? rnn->batch : 1) * columns;
    rnn->product_batch = (time_major ? 1 : rnn->steps) * columns;
    rnn->state_batch = time_major ? hidden : ways * hidden;
    rnn->state_direction = time_major ? rnn->batch * hidden : hidden;
    if (time_major) {
        rnn->all_batch = hidden;
        rnn->all_direction = rnn->batch * hidden;
        rnn->all_step = ways * rnn->batch * hidden;
    } else if (form == FORM_ONNX) {
        rnn->all_direction = hidden;
        rnn->all_step = ways * hidden;
        rnn->all_batch = rnn->steps * ways * hidden;
    } else {
        rnn->all_step = hidden;
        rnn->all_direction = rnn->steps * hidden;
        rnn->all_batch = ways * rnn->steps * hidden;
    }
}

static mo_status check_weights(const mo_op_site *site, const rnn_inputs *at,
                               const mo_call_rnn *rnn, int64_t features,
                               mo_error *err)
{
    int64_t rows = (int64_t) rnn->directions * rnn->n_gates * rnn->hidden;
    const mo_tensor_desc *w = &site->in[at->weights];
    const mo_tensor_desc *r = &site->in[at->recurrence];

    if (mo_tensor_desc_elements(w) == rows * features &&
        mo_tensor_desc_elements(r) == rows * rnn->hidden &&
        w->elem == site->in[0].elem && r->elem == site->in[0].elem &&
        mo_elem_is_float(w->elem))
        return MO_OK;
    return mo_op_site_fail(site, MO_E_INPUT, err,
                           "its weights are not %lld rows for %lld features "
                           "and for %lld hidden units, of its data's type",
                           (long long) rows, (long long) features,
                           (long long) rnn->hidden);
}

/* The products of all steps: a row for each step of each row of the batch. */
static mo_status add_products(const mo_op_site *site, const rnn_inputs *at,
                              const mo_call_rnn *rnn, int64_t features,
                              int *products, mo_arena *arena,
                              mo_lower_result *lowered, mo_error *err)
{
    int64_t columns = (int64_t) rnn->directions * rnn->n_gates * rnn->hidden;
    mo_tensor_desc desc = { site->in[0].elem,
                            { .rank = 2,
                              .dims = { rnn->steps * rnn->batch, columns } } };
    mo_call *call;
    mo_status status =
        mo_lower_add_temp(lowered, arena, site, &desc, products, err);

    if (status == MO_OK)
        status =
            mo_lower_add_call(lowered, arena, MO_CALL_MATMUL, 2, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->in[1] = at->weights;
    call->out[0] = *products;
    call->first_extra = 2;
    call->u.matmul = (mo_call_matmul){ .m = rnn->steps * rnn->batch,
                                       .n = columns,
                                       .k = features,
                                       .a = { .row = features, .column = 1 },
                                       .b = { .row = 1, .column = features },
                                       .c = { .row = columns, .column = 1 } };
    return MO_OK;
}

/* Appends an operand, if there is one; returns its number in the call. */
static int push_input(mo_call *call, int input)
{
    if (input < 0)
        return -1;
    call->in[call->n_in] = input;
    return call->n_in++;
}

static int push_output(const mo_op_site *site, mo_call *call, int output)
{
    if (output < 0 || output >= site->n_out)
        return -1;
    call->out[call->n_out] = site->n_in + output;
    return call->n_out++;
}

static mo_status add_recurrence(const mo_op_site *site, const rnn_inputs *at,
                                mo_call_rnn rnn, rnn_form form, int products,
                                mo_arena *arena, mo_lower_result *lowered,
                                mo_error *err)
{
    enum { MAX_IN = 7, MAX_OUT = 3 };
    int first = form == FORM_CELL ? -1 : 0;
    mo_call *call;
    mo_status status = mo_lower_add_call(lowered, arena, MO_CALL_RNN, MAX_IN,
                                         MAX_OUT, &call, err);

    if (status != MO_OK)
        return status;
    call->n_in = call->n_out = 0;
    push_input(call, products);
    push_input(call, at->recurrence);
    rnn.bias = push_input(call, at->bias);
    rnn.state = push_input(call, at->state);
    rnn.cell_state = push_input(call, at->cell_state);
    rnn.lengths = push_input(call, at->lengths);
    rnn.peephole = push_input(call, at->peephole);
    rnn.all = push_output(site, call, first);
    rnn.last = push_output(site, call, first + 1);
    rnn.last_cell =
        rnn.cell == MO_CALL_RNN_LSTM ? push_output(site, call, first + 2) : -1;
    call->first_extra = call->n_in;
    call->u.rnn = rnn;
    return MO_OK;
}

mo_status mo_lower_recurrent(const mo_op_site *site, mo_arena *arena,
                             mo_lower_result *lowered, mo_error *err)
{
    const mo_shape *data = &site->in[0].shape;
    rnn_form form = form_of(site->type);
    mo_call_rnn rnn = { .cell = cell_of(site->type), .steps = 1 };
    bool lstm = rnn.cell == MO_CALL_RNN_LSTM, time_major = false;
    rnn_inputs at = find_inputs(site, form, lstm);
    int64_t features;
    int products = 0;
    mo_status status = mo_lower_recurrent_read_attrs(site, &rnn, err);

    if (status != MO_OK)
        return status;
    if (site->n_in <= at.recurrence ||
        data->rank != (form == FORM_CELL ? 2 : 3) ||
        site->in[at.recurrence].shape.rank < 1)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has no data and weights of a recurrent layer");
    if (form == FORM_CELL && site->n_in > at.weights + 3)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "its peephole weights cannot be run");
    if (form == FORM_ONNX)
        time_major = !mo_op_site_attr_bool(site, "layout", false);
    rnn.batch = data->dims[time_major ? 1 : 0];
    if (form != FORM_CELL)
        rnn.steps = data->dims[time_major ? 0 : 1];
    features = data->dims[data->rank - 1];
    rnn.hidden = site->in[at.recurrence]
                     .shape.dims[site->in[at.recurrence].shape.rank - 1];
    set_gates(form, &rnn);
    set_strides(form, time_major, &rnn);
    status = check_weights(site, &at, &rnn, features, err);
    if (status == MO_OK)
        status = add_products(site, &at, &rnn, features, &products, arena,
                              lowered, err);
    if (status == MO_OK)
        status =
            add_recurrence(site, &at, rnn, form, products, arena, lowered, err);
    return status;
}
