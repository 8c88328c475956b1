/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/rnn_cell.h"

#include <stddef.h>

#include "exec/backend/cpu/pointwise/math_f32.h"

/* x[i] = f(x[i]), with EXPRESSION of x, alpha a and beta b. */
#define EACH(EXPRESSION)                                                       \
    MO_CPU_IVDEP                                                               \
    for (int64_t i = 0; i < n; i++) {                                          \
        float x = values[i];                                                   \
        values[i] = EXPRESSION;                                                \
    }                                                                          \
    break

MO_CPU_MULTIVERSION
static void apply_activation(const mo_call_rnn_activation *f, float *values,
                             int64_t n)
{
    float a = f->alpha, b = f->beta;

    switch (f->function) {
    case MO_CALL_RNN_SIGMOID:
        EACH(mo_cpu_sigmoid_f32(x));
    case MO_CALL_RNN_TANH:
        EACH(mo_cpu_tanh_f32(x));
    case MO_CALL_RNN_RELU:
        EACH(x < 0.0f ? 0.0f : x);
    case MO_CALL_RNN_AFFINE:
        EACH(a * x + b);
    case MO_CALL_RNN_LEAKY_RELU:
        EACH(x < 0.0f ? a * x : x);
    case MO_CALL_RNN_THRESHOLDED_RELU:
        EACH(x > a ? x : 0.0f);
    case MO_CALL_RNN_SCALED_TANH:
        EACH(a * mo_cpu_tanh_f32(b * x));
    case MO_CALL_RNN_HARD_SIGMOID:
        EACH(a * x + b < 0.0f ? 0.0f : a * x + b > 1.0f ? 1.0f : a * x + b);
    case MO_CALL_RNN_ELU:
        EACH(x < 0.0f ? a * mo_cpu_expm1_f32(x) : x);
    case MO_CALL_RNN_SOFTSIGN:
        EACH(x / (1.0f + mo_cpu_abs_f32(x)));
    case MO_CALL_RNN_SOFTPLUS:
        EACH(mo_cpu_softplus_f32(x));
    default:
        break;
    }
}

static void apply_gate(const mo_cpu_rnn_row *row, int function, float *gate)
{
    const mo_call_rnn *rnn = row->rnn;

    for (int64_t i = 0; rnn->clip > 0 && i < rnn->hidden; i++) {
        gate[i] = gate[i] < -rnn->clip ? -rnn->clip : gate[i];
        gate[i] = gate[i] > rnn->clip ? rnn->clip : gate[i];
    }
    apply_activation(&rnn->activations[row->direction][function], gate,
                     rnn->hidden);
}

MO_CPU_MULTIVERSION
static void add_terms(float *gates, const float *input, const float *bias,
                      int64_t n)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        gates[i] += input[i] + bias[i];
}

MO_CPU_MULTIVERSION
static void add_product(float *gate, const float *weights, const float *cell,
                        int64_t n)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        gate[i] += weights[i] * cell[i];
}

/* cell = forget * cell + input * candidate; also to copy. */
MO_CPU_MULTIVERSION
static void update_cell(float *cell, float *copy, const float *forget,
                        const float *input, const float *candidate, int64_t n)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++) {
        cell[i] = forget[i] * cell[i] + input[i] * candidate[i];
        copy[i] = cell[i];
    }
}

MO_CPU_MULTIVERSION
static void multiply_into(float *to, const float *a, const float *b, int64_t n)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        to[i] = a[i] * b[i];
}

/* state = (1 - update) * candidate + update * state. */
MO_CPU_MULTIVERSION
static void blend_state(float *state, const float *update,
                        const float *candidate, int64_t n)
{
    MO_CPU_IVDEP
    for (int64_t i = 0; i < n; i++)
        state[i] = (1.0f - update[i]) * candidate[i] + update[i] * state[i];
}

void mo_cpu_rnn_plain_step(const mo_cpu_rnn_row *row)
{
    int64_t n = row->rnn->hidden;

    add_terms(row->gates, row->input, row->bias, n);
    apply_gate(row, 0, row->gates);
    for (int64_t i = 0; i < n; i++)
        row->state[i] = row->gates[i];
}

static float *gate_at(const mo_cpu_rnn_row *row, int gate)
{
    return row->gates + row->rnn->block[gate] * row->rnn->hidden;
}

void mo_cpu_rnn_lstm_step(const mo_cpu_rnn_row *row)
{
    int64_t n = row->rnn->hidden;
    float *input = gate_at(row, MO_CALL_RNN_GATE_INPUT);
    float *forget = gate_at(row, MO_CALL_RNN_GATE_FORGET);
    float *candidate = gate_at(row, MO_CALL_RNN_GATE_CELL);
    float *output = gate_at(row, MO_CALL_RNN_GATE_OUTPUT);

    add_terms(row->gates, row->input, row->bias, 4 * n);
    if (row->peephole) {
        add_product(input, row->peephole, row->cell, n);
        add_product(forget, row->peephole + 2 * n, row->cell, n);
    }
    apply_gate(row, 0, input);
    apply_gate(row, 0, forget);
    apply_gate(row, 1, candidate);
    update_cell(row->cell, candidate, forget, input, candidate, n);
    if (row->peephole)
        add_product(output, row->peephole + n, row->cell, n);
    apply_gate(row, 0, output);
    apply_activation(&row->rnn->activations[row->direction][2], candidate, n);
    multiply_into(row->state, output, candidate, n);
}

void mo_cpu_rnn_gru_reset(const mo_cpu_rnn_row *row)
{
    int64_t n = row->rnn->hidden;
    float *reset = gate_at(row, MO_CALL_RNN_GATE_RESET);

    add_terms(row->gates, row->input, row->bias, 2 * n);
    apply_gate(row, 0, row->gates);
    apply_gate(row, 0, reset);
    if (!row->rnn->linear_before_reset)
        multiply_into(row->reset, reset, row->state, n);
}

void mo_cpu_rnn_gru_step(const mo_cpu_rnn_row *row)
{
    int64_t n = row->rnn->hidden;
    float *reset = gate_at(row, MO_CALL_RNN_GATE_RESET);
    float *hidden = gate_at(row, MO_CALL_RNN_GATE_HIDDEN);

    if (row->rnn->linear_before_reset)
        for (int64_t i = 0; i < n; i++)
            hidden[i] = reset[i] * (hidden[i] + row->state_bias[i]);
    add_terms(hidden, row->input + 2 * n, row->bias + 2 * n, n);
    apply_gate(row, 1, hidden);
    blend_state(row->state, row->gates, hidden, n);
}
