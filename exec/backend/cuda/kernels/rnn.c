/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent layers (rnn.cu): a launch for each step, two where a GRU resets its
 * state, between one that loads the first states and one that stores the last.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

enum { WARPS = 4, ROWS = 4, FLAT_THREADS = 128, BUFFERS = 5 };

#include "exec/backend/cuda/kernels/rnn.inc"

typedef struct rnn_kernel {
    mo_backend_kernel base;
    mo_call_rnn rnn;
    mo_cuda_function *begin, *step, *end; /* NULL: there are no states */
    mo_cuda_grid flat, grid;
} rnn_kernel;

/* Expressions of x with alpha a and beta b. */
static const char *const expressions[MO_CALL_RNN_FUNCTIONS] = {
    [MO_CALL_RNN_SIGMOID] = "1 / (1 + expf(-x))",
    [MO_CALL_RNN_TANH] = "tanhf(x)",
    [MO_CALL_RNN_RELU] = "x < 0 ? 0 : x",
    [MO_CALL_RNN_AFFINE] = "a * x + b",
    [MO_CALL_RNN_LEAKY_RELU] = "x < 0 ? a * x : x",
    [MO_CALL_RNN_THRESHOLDED_RELU] = "x > a ? x : 0",
    [MO_CALL_RNN_SCALED_TANH] = "a * tanhf(b * x)",
    [MO_CALL_RNN_HARD_SIGMOID] =
        "a * x + b < 0 ? 0 : a * x + b > 1 ? 1 : a * x + b",
    [MO_CALL_RNN_ELU] = "x < 0 ? a * expm1f(x) : x",
    [MO_CALL_RNN_SOFTSIGN] = "x / (1 + fabsf(x))",
    [MO_CALL_RNN_SOFTPLUS] = "(x > 0 ? x : 0) + log1pf(expf(-fabsf(x)))",
};

static void emit_activation(mo_cuda_source *code, const mo_call_rnn *rnn, int k)
{
    mo_cuda_source_printf(code, "MO_DEVICE float act_%c(int way, float x)\n{\n",
                          "fgh"[k]);
    for (int d = rnn->directions; d-- > 0;) {
        const mo_call_rnn_activation *f = &rnn->activations[d][k];

        mo_cuda_source_printf(
            code, "%s{\nconst float a = ", d ? "if (way == 1) " : "");
        mo_cuda_emit_real(code, f->alpha, false);
        mo_cuda_source_append(code, ", b = ");
        mo_cuda_emit_real(code, f->beta, false);
        mo_cuda_source_printf(code, ";\n(void) a;\n(void) b;\nreturn %s;\n}\n",
                              expressions[f->function]);
    }
    mo_cuda_source_append(code, "}\n");
}

/* A function from gate to one of the numbers. */
static void emit_choice(mo_cuda_source *code, const char *type,
                        const char *name, int n, const int64_t *numbers)
{
    mo_cuda_source_printf(code, "MO_DEVICE %s %s(int gate)\n{\nreturn ", type,
                          name);
    for (int i = 0; i + 1 < n; i++)
        mo_cuda_source_printf(code, "gate == %d ? %lldLL : ", i,
                              (long long) numbers[i]);
    mo_cuda_source_printf(code, "%lldLL;\n}\n", (long long) numbers[n - 1]);
}

static void emit_rnn(mo_cuda_source *code, const mo_call_rnn *rnn, mo_elem elem,
                     mo_elem length_elem)
{
    int64_t blocks[MO_CALL_RNN_MAX_GATES];
    char stored[MO_CUDA_EXPR_SIZE];

    mo_cuda_emit_types(code, elem, 1,
                       rnn->steps * rnn->batch * rnn->product_direction);
    mo_cuda_source_printf(code, "typedef %s LENGTH;\n",
                          mo_cuda_elem_type_name(length_elem));
    mo_cuda_stored_expr(elem, "x", stored);
    mo_cuda_source_printf(
        code, "MO_DEVICE T narrow(float x)\n{\nreturn %s;\n}\n", stored);
    mo_cuda_source_append(code, "MO_DEVICE float bounded(float x)\n{\n");
    if (rnn->clip > 0) {
        mo_cuda_source_append(code, "const float c = ");
        mo_cuda_emit_real(code, rnn->clip, false);
        mo_cuda_source_append(code, ";\nx = x < -c ? -c : x > c ? c : x;\n");
    }
    mo_cuda_source_append(code, "return x;\n}\n");
    for (int k = 0; k < 3; k++)
        emit_activation(code, rnn, k);
    for (int g = 0; g < rnn->n_gates; g++)
        blocks[g] = rnn->block[g];
    emit_choice(code, "int", "block_of", rnn->n_gates, blocks);
    emit_choice(code, "long long", "input_bias_at", rnn->n_gates,
                rnn->input_bias);
    emit_choice(code, "long long", "state_bias_at", rnn->n_gates,
                rnn->state_bias);
    mo_cuda_source_printf(
        code,
        "#define CELL %d\n#define GATES %d\n#define WAYS %d\n"
        "#define REVERSE %d\n#define AFTER %d\n#define STEPS %lldLL\n"
        "#define BATCH %lld\n#define HIDDEN %lld\n",
        (int) rnn->cell, rnn->n_gates, rnn->directions, rnn->reverse,
        rnn->linear_before_reset, (long long) rnn->steps,
        (long long) rnn->batch, (long long) rnn->hidden);
    mo_cuda_source_printf(
        code,
        "#define HAS_BIAS %d\n#define HAS_STATE %d\n#define HAS_CELL %d\n"
        "#define HAS_LENGTHS %d\n#define HAS_PEEPHOLE %d\n"
        "#define HAS_ALL %d\n#define HAS_LAST %d\n"
        "#define HAS_LAST_CELL %d\n",
        rnn->bias >= 0, rnn->state >= 0, rnn->cell_state >= 0,
        rnn->lengths >= 0, rnn->peephole >= 0, rnn->all >= 0, rnn->last >= 0,
        rnn->last_cell >= 0);
    mo_cuda_source_printf(
        code,
        "#define PRODUCT_STEP %lldLL\n#define PRODUCT_BATCH %lldLL\n"
        "#define PRODUCT_WAY %lldLL\n#define ALL_STEP %lldLL\n"
        "#define ALL_BATCH %lldLL\n#define ALL_WAY %lldLL\n"
        "#define STATE_BATCH %lldLL\n#define STATE_WAY %lldLL\n"
        "#define BIAS_WAY %lldLL\n#define WARPS %d\n#define ROWS %d\n",
        (long long) rnn->product_step, (long long) rnn->product_batch,
        (long long) rnn->product_direction, (long long) rnn->all_step,
        (long long) rnn->all_batch, (long long) rnn->all_direction,
        (long long) rnn->state_batch, (long long) rnn->state_direction,
        (long long) rnn->bias_direction, WARPS, ROWS);
    mo_cuda_source_append(code, common_source);
    mo_cuda_source_append(code, step_source);
}

static mo_status set_workspace(rnn_kernel *made, mo_error *err)
{
    const mo_call_rnn *rnn = &made->rnn;
    int64_t states = rnn->directions * rnn->batch * rnn->hidden, bytes;

    if (!mo_int64_mul(states, BUFFERS * (int64_t) sizeof(float), &bytes))
        return mo_fail(err, MO_E_LIMIT, "%lld states of a recurrent layer",
                       (long long) states);
    made->base.workspace = (size_t) bytes;
    made->grid = (mo_cuda_grid){
        .blocks = { (unsigned) ((rnn->hidden + WARPS - 1) / WARPS),
                    (unsigned) ((rnn->batch + ROWS - 1) / ROWS),
                    (unsigned) rnn->directions },
        .threads = { 32 * WARPS, 1, 1 }
    };
    return mo_cuda_grid_1d(states, FLAT_THREADS, FLAT_THREADS, &made->flat,
                           err);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    enum { MAX_BLOCKS = 65535 };
    const mo_call_rnn *rnn = &call->u.rnn;
    mo_status status = mo_backend_check_rnn(call, in, out, err);
    rnn_kernel *made;

    if (status == MO_OK && rnn->batch > (int64_t) MAX_BLOCKS * ROWS)
        return mo_fail(err, MO_E_LIMIT,
                       "a batch of %lld rows is too large for the GPU",
                       (long long) rnn->batch);
    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->rnn = *rnn;
    status = set_workspace(made, err);
    if (status == MO_OK && made->base.workspace > 0) {
        mo_elem length_elem =
            rnn->lengths < 0 ? MO_ELEM_I64 : in[rnn->lengths].desc.elem;
        static const char *const names[] = { "rnn_begin", "rnn_step",
                                             "rnn_end" };
        mo_cuda_function **const functions[] = { &made->begin, &made->step,
                                                 &made->end };

        for (int i = 0; i < 3 && status == MO_OK; i++) {
            mo_cuda_source code = { 0 };

            emit_rnn(&code, &made->rnn, in[0].desc.elem, length_elem);
            status = mo_cuda_jit_request_source(unit, &code, names[i],
                                                functions[i], err);
        }
    }
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static const void *input_or_null(const void *const *in, int i)
{
    return i < 0 ? NULL : in[i];
}

static void *output_or_null(void *const *out, int i)
{
    return i < 0 ? NULL : out[i];
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const rnn_kernel *made = (const rnn_kernel *) kernel;
    const mo_call_rnn *rnn = &made->rnn;
    const void *products = in[0], *weights = in[1];
    const void *bias = input_or_null(in, rnn->bias);
    const void *state = input_or_null(in, rnn->state);
    const void *cell = input_or_null(in, rnn->cell_state);
    const void *lengths = input_or_null(in, rnn->lengths);
    const void *peephole = input_or_null(in, rnn->peephole);
    void *all = output_or_null(out, rnn->all);
    void *last = output_or_null(out, rnn->last);
    void *last_cell = output_or_null(out, rnn->last_cell);
    void *begin_args[] = { &state, &cell, &workspace };
    void *end_args[] = { &lengths, &workspace, &all, &last, &last_cell };
    int parts =
        rnn->cell == MO_CALL_RNN_GRU && !rnn->linear_before_reset ? 2 : 1;
    mo_status status;

    if (!made->step)
        return MO_OK;
    status =
        mo_cuda_launch(unit, made->begin, &made->flat, stream, begin_args, err);
    for (int64_t i = 0; i < rnn->steps * parts && status == MO_OK; i++) {
        long long step = i / parts;
        int part = (int) (i % parts);
        void *args[] = { &products,  &weights, &bias, &lengths, &peephole,
                         &workspace, &all,     &step, &part };

        status =
            mo_cuda_launch(unit, made->step, &made->grid, stream, args, err);
    }
    if (status == MO_OK)
        status =
            mo_cuda_launch(unit, made->end, &made->flat, stream, end_args, err);
    return status;
}

const mo_cuda_kernel_class mo_cuda_rnn_kernel = { prepare, NULL, enqueue,
                                                  mo_cuda_kernel_free };
