/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent layers (RNN, GRU, LSTM).
 *
 * A job is a direction and up to ROWS rows of the batch: it runs through all
 * steps, each one a product of the rows' states with the recurrence weights,
 * packed as for GEMM (constants once), and the cell's own arithmetic while the
 * gates are in cache.  Rows that have ended keep their state.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cpu/gemm/packed_gemm.h"
#include "exec/backend/cpu/pointwise/math_f32.h"
#include "exec/backend/cpu/pointwise/steps.h"
#include "exec/backend/cpu/unit/cpu_unit.h"

/* One row of a step; floats. */
typedef struct rnn_row {
    const mo_call_rnn *rnn;
    int direction;
    float *gates;       /* [gates][hidden] by block: product of the state on
                           entry, scratch on return */
    const float *input; /* product of the data */
    const float *bias;  /* of the gates */
    const float *state_bias; /* GRU with linear_before_reset: that of the
                                hidden gate's product of the state */
    const float *peephole;   /* [3][hidden], or NULL */
    float *state, *cell;     /* updated */
    float *reset;            /* GRU: scratch */
} rnn_row;

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

static void apply_gate(const rnn_row *row, int function, float *gate)
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

/* Steps of one row: activations and the new state, behind the products of the
 * gates. */

static void step_plain(const rnn_row *row)
{
    int64_t n = row->rnn->hidden;

    add_terms(row->gates, row->input, row->bias, n);
    apply_gate(row, 0, row->gates);
    for (int64_t i = 0; i < n; i++)
        row->state[i] = row->gates[i];
}

static float *gate_at(const rnn_row *row, int gate)
{
    return row->gates + row->rnn->block[gate] * row->rnn->hidden;
}

static void step_lstm(const rnn_row *row)
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

/* A GRU has two parts: gates of update and reset; then, with the hidden gate's
 * product of row->reset where that was reset first, the state. */
static void reset_gru(const rnn_row *row)
{
    int64_t n = row->rnn->hidden;
    float *reset = gate_at(row, MO_CALL_RNN_GATE_RESET);

    add_terms(row->gates, row->input, row->bias, 2 * n);
    apply_gate(row, 0, row->gates);
    apply_gate(row, 0, reset);
    if (!row->rnn->linear_before_reset)
        multiply_into(row->reset, reset, row->state, n);
}

static void step_gru(const rnn_row *row)
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

enum { ROWS = 32, PARTS = 2 };

typedef struct rnn_kernel {
    mo_cpu_kernel base;
    mo_call_rnn rnn;
    mo_elem elem, length_elem;
    mo_cpu_store_fn *store;
    /* Columns of the products of a step, one or two of them: a GRU needs the
     * reset gate before the last third, unless that is reset afterwards. */
    int64_t columns[PARTS];
    int64_t panels_at[PARTS + 1]; /* floats of a direction's panels, by part */
    float *panels;                /* of constant weights, or NULL */
    int64_t n_rows;               /* of a job */
    size_t share_bytes;
} rnn_kernel;

typedef struct rnn_run {
    const rnn_kernel *kernel;
    const mo_cpu_micro_kernels *micro_kernels;
    const void *const *in;
    void *const *out;
    const float *panels;
    char *shares;
} rnn_run;

/* Scratch of a worker, in floats but for the pointers. */
typedef struct rnn_share {
    const float *rows[ROWS];
    int64_t lengths[ROWS];
    float *state, *cell, *reset, *gates; /* by row */
    float *input, *bias, *state_bias, *peephole;
} rnn_share;

static int64_t gate_columns(const mo_call_rnn *rnn)
{
    return rnn->n_gates * rnn->hidden;
}

static size_t share_floats(const rnn_kernel *kernel)
{
    int64_t hidden = kernel->rnn.hidden, gates = gate_columns(&kernel->rnn);

    return (size_t) (kernel->n_rows * (3 * hidden + gates) + 2 * gates +
                     4 * hidden);
}

static rnn_share *divide_share(const rnn_run *run, int worker)
{
    const rnn_kernel *kernel = run->kernel;
    int64_t hidden = kernel->rnn.hidden, gates = gate_columns(&kernel->rnn);
    int64_t states = kernel->n_rows * hidden;
    rnn_share *share =
        mo_cpu_worker_scratch(run->shares, kernel->share_bytes, worker);
    float *at = (float *) (void *) ((char *) share +
                                    mo_cpu_round_to_line(sizeof *share));

    share->state = at;
    share->cell = share->state + states;
    share->reset = share->cell + states;
    share->gates = share->reset + states;
    share->input = share->gates + kernel->n_rows * gates;
    share->bias = share->input + gates;
    share->state_bias = share->bias + gates;
    share->peephole = share->state_bias + hidden;
    return share;
}

static void load_operand(const rnn_run *run, int operand, int64_t at, int64_t n,
                         float *to)
{
    if (operand >= 0)
        mo_cpu_load_f32(run->in[operand], run->kernel->elem, at, 1, n, to);
    else
        memset(to, 0, (size_t) n * sizeof *to);
}

/* The biases of both products of a gate are added once, but for the part that
 * a GRU resets. */
static void load_biases(const rnn_run *run, int direction, rnn_share *share)
{
    const mo_call_rnn *rnn = &run->kernel->rnn;
    int64_t first = direction * rnn->bias_direction, n = rnn->hidden;

    memset(share->state_bias, 0, (size_t) n * sizeof(float));
    for (int gate = 0; gate < rnn->n_gates; gate++) {
        float *bias = share->bias + rnn->block[gate] * n;
        bool apart =
            rnn->linear_before_reset && gate == MO_CALL_RNN_GATE_HIDDEN;

        load_operand(run, rnn->input_bias[gate] < 0 ? -1 : rnn->bias,
                     first + rnn->input_bias[gate], n, bias);
        if (rnn->bias < 0 || rnn->state_bias[gate] < 0)
            continue;
        load_operand(run, rnn->bias, first + rnn->state_bias[gate], n,
                     apart ? share->state_bias : share->input);
        for (int64_t i = 0; !apart && i < n; i++)
            bias[i] += share->input[i];
    }
    if (rnn->peephole >= 0)
        load_operand(run, rnn->peephole, (int64_t) direction * 3 * n, 3 * n,
                     share->peephole);
}

static int64_t length_of(const rnn_run *run, int64_t row)
{
    const rnn_kernel *kernel = run->kernel;
    int64_t length;

    if (kernel->rnn.lengths < 0)
        return kernel->rnn.steps;
    mo_cpu_load_fn_for(kernel->length_elem, true)(run->in[kernel->rnn.lengths],
                                                  row, 1, &length, 1);
    return mo_call_rnn_clamp_length(&kernel->rnn, length);
}

/* One product of a step: rows times part of the weights. */
static void multiply_rows(const rnn_run *run, int direction, int part,
                          const float *from, int64_t n_rows, rnn_share *share)
{
    const rnn_kernel *kernel = run->kernel;
    int64_t hidden = kernel->rnn.hidden, gates = gate_columns(&kernel->rnn);
    mo_cpu_gemm product = {
        .micro_kernels = run->micro_kernels,
        .rows = share->rows,
        .n_rows = n_rows,
        .taps = 1,
        .depth = hidden,
        .panels = run->panels + direction * kernel->panels_at[PARTS] +
                  kernel->panels_at[part],
        .columns = kernel->columns[part],
        .c = share->gates + (part ? kernel->columns[0] : 0),
        .pitch = gates,
    };

    for (int64_t r = 0; r < n_rows; r++)
        share->rows[r] = from + r * hidden;
    mo_cpu_gemm_run(&product);
}

/* The row of a step, and where its result belongs. */
static rnn_row row_of(const rnn_run *run, int direction, int64_t first,
                      int64_t r, int64_t t, rnn_share *share)
{
    const rnn_kernel *kernel = run->kernel;
    const mo_call_rnn *rnn = &kernel->rnn;
    int64_t hidden = rnn->hidden, gates = gate_columns(rnn);
    int64_t at = t * rnn->product_step + (first + r) * rnn->product_batch +
                 direction * rnn->product_direction;
    rnn_row row = {
        .rnn = rnn,
        .direction = direction,
        .gates = share->gates + r * gates,
        .input = share->input,
        .bias = share->bias,
        .state_bias = share->state_bias,
        .peephole = rnn->peephole >= 0 ? share->peephole : NULL,
        .state = share->state + r * hidden,
        .cell = share->cell + r * hidden,
        .reset = share->reset + r * hidden,
    };

    if (kernel->elem == MO_ELEM_F32)
        row.input = (const float *) run->in[0] + at;
    else
        load_operand(run, 0, at, gates, share->input);
    return row;
}

static void store_row(const rnn_run *run, int output, int64_t at,
                      const float *from)
{
    enum { AT_ONCE = 1 << 20 };
    int64_t n = run->kernel->rnn.hidden;

    for (int64_t i = 0; output >= 0 && i < n; i += AT_ONCE)
        run->kernel->store(from + i, run->out[output], at + i,
                           (int) mo_min_i64(n - i, AT_ONCE));
}

static int64_t place_of(const mo_call_rnn *rnn, int direction, int64_t row,
                        int64_t t)
{
    return t * rnn->all_step + row * rnn->all_batch +
           direction * rnn->all_direction;
}

/* Step number of a row to the index of the data. */
static int64_t time_of(const mo_call_rnn *rnn, int direction, int64_t step,
                       int64_t length)
{
    return direction == 1 || rnn->reverse ? length - 1 - step : step;
}

static void run_step(const rnn_run *run, int direction, int64_t step,
                     int64_t first, int64_t n_rows, rnn_share *share)
{
    const mo_call_rnn *rnn = &run->kernel->rnn;
    bool two_parts = run->kernel->columns[1] > 0;

    multiply_rows(run, direction, 0, share->state, n_rows, share);
    for (int64_t r = 0; two_parts && r < n_rows; r++) {
        int64_t length = share->lengths[r];
        rnn_row row;

        if (step >= length)
            continue;
        row = row_of(run, direction, first, r,
                     time_of(rnn, direction, step, length), share);
        reset_gru(&row);
    }
    if (two_parts)
        multiply_rows(run, direction, 1, share->reset, n_rows, share);
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t length = share->lengths[r];
        int64_t t = time_of(rnn, direction, step, length);
        rnn_row row;

        if (step >= length)
            continue;
        row = row_of(run, direction, first, r, t, share);
        if (rnn->cell == MO_CALL_RNN_LSTM)
            step_lstm(&row);
        else if (rnn->cell == MO_CALL_RNN_PLAIN)
            step_plain(&row);
        else if (!two_parts)
            reset_gru(&row);
        if (rnn->cell == MO_CALL_RNN_GRU)
            step_gru(&row);
        store_row(run, rnn->all, place_of(rnn, direction, first + r, t),
                  row.state);
    }
}

static void run_job(void *context, int job, int worker)
{
    const rnn_run *run = context;
    const mo_call_rnn *rnn = &run->kernel->rnn;
    rnn_share *share = divide_share(run, worker);
    int direction = job % rnn->directions;
    int64_t first = job / rnn->directions * run->kernel->n_rows;
    int64_t n_rows = mo_min_i64(run->kernel->n_rows, rnn->batch - first);
    int64_t most = 0;

    load_biases(run, direction, share);
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t at =
            (first + r) * rnn->state_batch + direction * rnn->state_direction;

        share->lengths[r] = length_of(run, first + r);
        most = mo_max_i64(most, share->lengths[r]);
        load_operand(run, rnn->state, at, rnn->hidden,
                     share->state + r * rnn->hidden);
        load_operand(run, rnn->cell_state, at, rnn->hidden,
                     share->cell + r * rnn->hidden);
    }
    memset(share->reset, 0,
           (size_t) (run->kernel->n_rows * rnn->hidden) * sizeof(float));
    for (int64_t step = 0; step < most; step++)
        run_step(run, direction, step, first, n_rows, share);
    memset(share->input, 0, (size_t) rnn->hidden * sizeof(float));
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t at =
            (first + r) * rnn->state_batch + direction * rnn->state_direction;

        /* Results behind the end of a row are 0. */
        for (int64_t t = share->lengths[r]; rnn->all >= 0 && t < rnn->steps;
             t++)
            store_row(run, rnn->all, place_of(rnn, direction, first + r, t),
                      share->input);
        store_row(run, rnn->last, at, share->state + r * rnn->hidden);
        store_row(run, rnn->last_cell, at, share->cell + r * rnn->hidden);
    }
}

static void pack_direction(const rnn_kernel *kernel,
                           const mo_cpu_micro_kernels *micro_kernels,
                           const void *weights, int direction, float *panels)
{
    int64_t hidden = kernel->rnn.hidden;
    int64_t column = direction * gate_columns(&kernel->rnn);

    for (int part = 0; part < PARTS; column += kernel->columns[part++]) {
        mo_cpu_matrix_view view = { weights, kernel->elem, column * hidden, 1,
                                    hidden };

        mo_cpu_gemm_pack_panels(micro_kernels, &view, hidden,
                                kernel->columns[part], 0, hidden,
                                panels + direction * kernel->panels_at[PARTS] +
                                    kernel->panels_at[part]);
    }
}

static void set_parts(const mo_cpu_micro_kernels *micro_kernels,
                      rnn_kernel *kernel)
{
    const mo_call_rnn *rnn = &kernel->rnn;

    kernel->columns[0] = gate_columns(rnn);
    if (rnn->cell == MO_CALL_RNN_GRU && !rnn->linear_before_reset) {
        kernel->columns[0] = 2 * rnn->hidden;
        kernel->columns[1] = rnn->hidden;
    }
    for (int part = 0; part < PARTS; part++)
        kernel->panels_at[part + 1] =
            kernel->panels_at[part] +
            mo_cpu_gemm_panel_columns(micro_kernels, kernel->columns[part]) *
                rnn->hidden;
}

static mo_status prepare_rnn(mo_cpu_unit *unit, const mo_call *call,
                             const mo_backend_operand *in,
                             const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                             size_t *workspace, mo_error *err)
{
    const mo_call_rnn *rnn = &call->u.rnn;
    mo_status status = mo_backend_check_rnn(call, in, out, err);
    rnn_kernel *made;

    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->rnn = *rnn;
    made->elem = in[0].desc.elem;
    made->length_elem =
        rnn->lengths < 0 ? MO_ELEM_I64 : in[rnn->lengths].desc.elem;
    made->store = mo_cpu_store_fn_for(made->elem, false);
    made->n_rows = mo_min_i64(ROWS, mo_max_i64(rnn->batch, 1));
    set_parts(unit->micro_kernels, made);
    made->share_bytes = mo_cpu_round_to_line(sizeof(rnn_share)) +
                        share_floats(made) * sizeof(float);
    *workspace = mo_cpu_workspace_size(unit, made->share_bytes);
    if (!in[1].constant) {
        *workspace +=
            (size_t) (rnn->directions * made->panels_at[PARTS]) * sizeof(float);
    } else {
        status = mo_cpu_gemm_panels_new(unit, rnn->directions,
                                        made->panels_at[PARTS] + 1,
                                        &made->panels, err);
        for (int d = 0;
             status == MO_OK && d < rnn->directions && !unit->sizes_only; d++)
            pack_direction(made, unit->micro_kernels, in[1].constant, d,
                           made->panels);
        made->base.consumed |= (uint64_t) 1 << 1;
    }
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_rnn(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, mo_error *err)
{
    const rnn_kernel *made = (const rnn_kernel *) kernel;
    const mo_call_rnn *rnn = &made->rnn;
    rnn_run run = {
        made, unit->micro_kernels, in, out, made->panels, workspace
    };
    int64_t blocks = (rnn->batch + made->n_rows - 1) / made->n_rows;

    (void) err;
    if (!made->panels) {
        float *panels =
            (float *) (void *) ((char *) workspace +
                                mo_cpu_workspace_size(unit, made->share_bytes));

        for (int d = 0; d < rnn->directions; d++)
            pack_direction(made, unit->micro_kernels, in[1], d, panels);
        run.panels = panels;
    }
    mo_cpu_thread_pool_run(unit->pool, (int) (blocks * rnn->directions),
                           run_job, &run);
    return MO_OK;
}

static void free_rnn(mo_cpu_kernel *kernel)
{
    free(((rnn_kernel *) kernel)->panels);
    free(kernel);
}

const mo_cpu_kernel_class mo_cpu_rnn = { prepare_rnn, run_rnn, free_rnn };
