/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of recurrent layers and cells: ONNX's LSTM, GRU and RNN, OpenVINO's
 * sequences and cells.  The products of all steps with the input weights are
 * one MATMUL, the recurrence is one RNN.
 *
 * An optional input of no elements counts as absent, so that later ones keep
 * their places.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "exec/op/lower/lowerings.h"
#include "graph/op_attrs.h"

enum { MAX_FUNCTIONS = 6, MAX_NAME = 32 };

/* Activations of ONNX; alpha and beta where they take them. */
static const struct {
    const char *name;
    mo_call_rnn_function function;
    bool has_alpha, has_beta;
    float alpha, beta;
} functions[] = {
    { "sigmoid", MO_CALL_RNN_SIGMOID, false, false, 0, 0 },
    { "tanh", MO_CALL_RNN_TANH, false, false, 0, 0 },
    { "relu", MO_CALL_RNN_RELU, false, false, 0, 0 },
    { "affine", MO_CALL_RNN_AFFINE, true, true, 1, 0 },
    { "leakyrelu", MO_CALL_RNN_LEAKY_RELU, true, false, 0.01f, 0 },
    { "thresholdedrelu", MO_CALL_RNN_THRESHOLDED_RELU, true, false, 1, 0 },
    { "scaledtanh", MO_CALL_RNN_SCALED_TANH, true, true, 1, 1 },
    { "hardsigmoid", MO_CALL_RNN_HARD_SIGMOID, true, true, 0.2f, 0.5f },
    { "elu", MO_CALL_RNN_ELU, true, false, 1, 0 },
    { "softsign", MO_CALL_RNN_SOFTSIGN, false, false, 0, 0 },
    { "softplus", MO_CALL_RNN_SOFTPLUS, false, false, 0, 0 },
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* The items of a list as it is written: names or numbers between commas,
 * brackets, quotes and spaces. */
typedef struct word_list {
    const char *at, *end;
} word_list;

static word_list words_of(const mo_op_site *site, const char *key,
                          const char *other)
{
    const mo_attr *attr = mo_attr_find(site->attrs, key);

    if (!attr)
        attr = mo_attr_find(site->attrs, other);
    return attr ? (word_list){ attr->text, attr->text + attr->length }
                : (word_list){ NULL, NULL };
}

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '[' || c == ']' || c == '"' ||
           c == '\'' || c == '\\';
}

/* Takes the next word; its length is 0 behind the last. */
static size_t take_word(word_list *list, const char **word)
{
    while (list->at < list->end && is_separator(*list->at))
        list->at++;
    *word = list->at;
    while (list->at < list->end && !is_separator(*list->at))
        list->at++;
    return (size_t) (list->at - *word);
}

/* Takes the next number of the list, if there is one. */
static mo_status take_number(const mo_op_site *site, word_list *list,
                             float *number, mo_error *err)
{
    const char *word;
    size_t length = take_word(list, &word);
    double value;

    if (length == 0)
        return MO_OK;
    if (mo_number_read_double(word, length, &value) != MO_NUMBER_OK ||
        !isfinite(value))
        return mo_op_site_fail(
            site, MO_E_INPUT, err, "'%.*s' is no parameter of an activation",
            (int) (length < MAX_NAME ? length : MAX_NAME), word);
    *number = (float) value;
    return MO_OK;
}

/* Reads names into made; *count: how many. */
static mo_status read_functions(const mo_op_site *site,
                                mo_call_rnn_activation *made, int *count,
                                mo_error *err)
{
    word_list names = words_of(site, "activations", "activations");
    word_list alphas = words_of(site, "activation_alpha", "activations_alpha");
    word_list betas = words_of(site, "activation_beta", "activations_beta");
    mo_status status = MO_OK;
    const char *word;
    size_t length;

    *count = 0;
    while (status == MO_OK && (length = take_word(&names, &word)) > 0) {
        int i = 0;

        while (i < N_FUNCTIONS &&
               (strlen(functions[i].name) != length ||
                strncasecmp(functions[i].name, word, length) != 0))
            i++;
        if (i == N_FUNCTIONS || *count == MAX_FUNCTIONS)
            return mo_op_site_fail(
                site, MO_E_SUPPORT, err, "activation '%.*s' cannot be run",
                (int) (length < MAX_NAME ? length : MAX_NAME), word);
        made[*count] =
            (mo_call_rnn_activation){ functions[i].function, functions[i].alpha,
                                      functions[i].beta };
        if (functions[i].has_alpha)
            status = take_number(site, &alphas, &made[*count].alpha, err);
        if (status == MO_OK && functions[i].has_beta)
            status = take_number(site, &betas, &made[*count].beta, err);
        ++*count;
    }
    return status;
}

static mo_status read_activations(const mo_op_site *site, mo_call_rnn *rnn,
                                  mo_error *err)
{
    static const mo_call_rnn_function usual[3] = { MO_CALL_RNN_SIGMOID,
                                                   MO_CALL_RNN_TANH,
                                                   MO_CALL_RNN_TANH };
    mo_call_rnn_activation made[MAX_FUNCTIONS];
    int n = rnn->cell == MO_CALL_RNN_LSTM  ? 3
            : rnn->cell == MO_CALL_RNN_GRU ? 2
                                           : 1;
    int count = 0;
    mo_status status = read_functions(site, made, &count, err);

    if (status != MO_OK)
        return status;
    if (count != 0 && count != n && count != n * rnn->directions)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d activations, not %d for each direction",
                               count, n);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < n; k++) {
            mo_call_rnn_activation *to = &rnn->activations[d][k];

            if (count == 0)
                to->function = rnn->cell == MO_CALL_RNN_PLAIN ? MO_CALL_RNN_TANH
                                                              : usual[k];
            else
                *to = made[(d * n + k) % count];
        }
    return MO_OK;
}

/* Reads direction, clip, linear_before_reset and the activations with their
 * alphas and betas, in the names of ONNX and of OpenVINO, into *rnn, whose cell
 * is set. */
static mo_status read_attrs(const mo_op_site *site, mo_call_rnn *rnn,
                            mo_error *err)
{
    double clip = 0;
    mo_status status = mo_op_site_attr_real(site, "clip", 0, &clip, err);

    if (status != MO_OK)
        return status;
    if (mo_op_site_attr_bool(site, "input_forget", false))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "input_forget cannot be run");
    rnn->clip = isfinite(clip) && clip > 0 ? (float) clip : 0;
    rnn->directions =
        mo_op_site_attr_equals(site, "direction", "bidirectional") ? 2 : 1;
    rnn->reverse = mo_op_site_attr_equals(site, "direction", "reverse");
    rnn->linear_before_reset =
        rnn->cell == MO_CALL_RNN_GRU &&
        mo_op_site_attr_bool(site, "linear_before_reset", false);
    return read_activations(site, rnn, err);
}

/* Inputs by role; -1: absent. */
typedef struct rnn_inputs {
    int weights, recurrence, bias, lengths, state, cell_state, peephole;
} rnn_inputs;

typedef enum rnn_form { FORM_ONNX, FORM_SEQUENCE, FORM_CELL } rnn_form;

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
                              int *products, mo_lower_result *lowered,
                              mo_error *err)
{
    int64_t columns = (int64_t) rnn->directions * rnn->n_gates * rnn->hidden;
    mo_tensor_desc desc = { site->in[0].elem,
                            { .rank = 2,
                              .dims = { rnn->steps * rnn->batch, columns } } };
    mo_call *call;
    mo_status status = mo_lower_add_temp(lowered, site, &desc, products, err);

    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_MATMUL, 2, 1, &call, err);
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
                                mo_lower_result *lowered, mo_error *err)
{
    enum { MAX_IN = 7, MAX_OUT = 3 };
    int first = form == FORM_CELL ? -1 : 0;
    mo_call *call;
    mo_status status =
        mo_lower_add_call(lowered, MO_CALL_RNN, MAX_IN, MAX_OUT, &call, err);

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

mo_status mo_lower_recurrent(const mo_op_site *site, mo_lower_result *lowered,
                             mo_error *err)
{
    const mo_shape *data = &site->in[0].shape;
    rnn_form form = strstr(site->type, "Sequence") ? FORM_SEQUENCE
                    : strstr(site->type, "Cell")   ? FORM_CELL
                                                   : FORM_ONNX;
    mo_call_rnn rnn = { .cell = strncmp(site->type, "LSTM", 4) == 0
                                    ? MO_CALL_RNN_LSTM
                                : strncmp(site->type, "GRU", 3) == 0
                                    ? MO_CALL_RNN_GRU
                                    : MO_CALL_RNN_PLAIN,
                        .steps = 1 };
    bool lstm = rnn.cell == MO_CALL_RNN_LSTM, time_major = false;
    rnn_inputs at = find_inputs(site, form, lstm);
    int64_t features;
    int products = 0;
    mo_status status = read_attrs(site, &rnn, err);

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
        status =
            add_products(site, &at, &rnn, features, &products, lowered, err);
    if (status == MO_OK)
        status = add_recurrence(site, &at, rnn, form, products, lowered, err);
    return status;
}
