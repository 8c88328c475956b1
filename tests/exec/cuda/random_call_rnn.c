/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/cuda/random_call.h"

static int add_operand(random_call *r, mo_elem elem, mo_shape shape)
{
    int number = r->c.call.n_in;

    case_in(&r->c, elem, shape, r->seed + 20 + (uint64_t) number);
    return number;
}

static int maybe_operand(random_call *r, mo_random *random, mo_elem elem,
                         mo_shape shape)
{
    return mo_random_below(random, 2) ? add_operand(r, elem, shape) : -1;
}

static void choose_activations(mo_random *random, mo_call_rnn *rnn)
{
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 3; k++) {
            mo_call_rnn_activation *f = &rnn->activations[d][k];

            f->function = k ? MO_CALL_RNN_TANH : MO_CALL_RNN_SIGMOID;
            if (mo_random_below(random, 2))
                f->function = (mo_call_rnn_function) mo_random_below(
                    random, MO_CALL_RNN_FUNCTIONS);
            f->alpha = 0.5f;
            f->beta = 0.25f;
        }
}

static void set_gates(mo_random *random, mo_call_rnn *rnn)
{
    int turn = rnn->cell == MO_CALL_RNN_LSTM ? mo_random_below(random, 4) : 0;

    for (int gate = 0; gate < rnn->n_gates; gate++) {
        rnn->block[gate] = (gate + turn) % rnn->n_gates;
        rnn->input_bias[gate] = rnn->block[gate] * rnn->hidden;
        rnn->state_bias[gate] = (rnn->n_gates + rnn->block[gate]) * rnn->hidden;
    }
}

void random_rnn(random_call *r, mo_random *random, mo_elem elem)
{
    mo_call_rnn *rnn = &r->c.call.u.rnn;
    int64_t n, b, h, d;
    mo_shape states;

    rnn->cell = (mo_call_rnn_cell) mo_random_below(random, 3);
    rnn->n_gates = rnn->cell == MO_CALL_RNN_LSTM  ? 4
                   : rnn->cell == MO_CALL_RNN_GRU ? 3
                                                  : 1;
    rnn->directions = 1 + mo_random_below(random, 2);
    rnn->reverse = rnn->directions == 1 && mo_random_below(random, 2);
    rnn->linear_before_reset =
        rnn->cell == MO_CALL_RNN_GRU && mo_random_below(random, 2);
    rnn->clip = mo_random_below(random, 3) ? 0 : 0.7f;
    rnn->steps = n = random_from(random, 1, 7);
    rnn->batch = b = random_from(random, 1, 6);
    rnn->hidden = h = random_from(random, 1, 40);
    d = rnn->directions;
    rnn->product_direction = rnn->n_gates * h;
    rnn->product_batch = d * rnn->n_gates * h;
    rnn->product_step = b * d * rnn->n_gates * h;
    rnn->all_batch = h;
    rnn->all_direction = b * h;
    rnn->all_step = d * b * h;
    rnn->state_batch = d * h;
    rnn->state_direction = h;
    rnn->bias_direction = 2 * rnn->n_gates * h;
    choose_activations(random, rnn);
    set_gates(random, rnn);
    states = shape_of(3, b, d, h);
    add_operand(r, elem, shape_of(3, n, b, d * rnn->n_gates * h));
    add_operand(r, elem, shape_of(3, d, rnn->n_gates * h, h));
    rnn->bias =
        maybe_operand(r, random, elem, shape_of(2, d, rnn->bias_direction));
    rnn->state = maybe_operand(r, random, elem, states);
    rnn->cell_state = maybe_operand(r, random, elem, states);
    rnn->lengths = maybe_operand(r, random, MO_ELEM_I32, shape_of(1, b));
    rnn->peephole = maybe_operand(r, random, elem, shape_of(2, d, 3 * h));
    r->c.constant = mo_random_below(random, 2) ? 2 : 0;
    case_out(&r->c, elem, shape_of(4, n, d, b, h));
    case_out(&r->c, elem, states);
    rnn->last = 1;
    rnn->last_cell = -1;
    if (rnn->cell == MO_CALL_RNN_LSTM) {
        case_out(&r->c, elem, states);
        rnn->last_cell = 2;
    }
    r->c.call.first_extra = r->c.call.n_in;
}
