/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers: one launch for each step.  A warp computes one hidden unit
 * of ROWS rows of the batch, its lanes over the elements of the state; weights
 * come from the L2 cache after the first step.  States are floats in the
 * workspace. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
typedef long long LENGTH;
#define CELL 2
#define GATES 4
#define WAYS 1
#define REVERSE 0
#define AFTER 0
#define STEPS 200
#define BATCH 4
#define HIDDEN 256
#define HAS_BIAS 1
#define HAS_STATE 1
#define HAS_CELL 1
#define HAS_LENGTHS 0
#define HAS_PEEPHOLE 0
#define HAS_ALL 1
#define HAS_LAST 1
#define HAS_LAST_CELL 1
#define PRODUCT_STEP 4096LL
#define PRODUCT_BATCH 1024LL
#define PRODUCT_WAY 1024LL
#define ALL_STEP 1024LL
#define ALL_BATCH 256LL
#define ALL_WAY 1024LL
#define STATE_BATCH 256LL
#define STATE_WAY 1024LL
#define BIAS_WAY 2048LL
MO_DEVICE float bounded(float x) { return x; }
MO_DEVICE float act_f(int way, float x) { return 1 / (1 + expf(-x)); }
MO_DEVICE float act_g(int way, float x) { return tanhf(x); }
MO_DEVICE float act_h(int way, float x) { return tanhf(x); }
MO_DEVICE int block_of(int gate) { return gate; }
MO_DEVICE long long input_bias_at(int gate) { return gate * 256LL; }
MO_DEVICE long long state_bias_at(int gate) { return gate * 256LL + 1024; }
MO_DEVICE T narrow(float x) { return x; }
#define WARPS 4
#define ROWS 4
/* example:end */
/* embed: common_source */
#define UNITS ((long long) WAYS * BATCH * HIDDEN)
MO_DEVICE long long length_of(const LENGTH *lengths, int row)
{
#if HAS_LENGTHS
    const long long n = (long long) lengths[row];
    return n < 0 ? 0 : n > STEPS ? STEPS : n;
#else
    return STEPS;
#endif
}
MO_DEVICE float bias_of(const T *bias, int way, int unit, long long at)
{
#if HAS_BIAS
    return at < 0 ? 0 : (float) load(bias[way * BIAS_WAY + at + unit]);
#else
    return 0;
#endif
}
MO_DEVICE long long state_at(int way, int row, int unit)
{
    return ((long long) way * BATCH + row) * HIDDEN + unit;
}
MO_KERNEL_OF(rnn_begin, 128)(const T *state, const T *cell, float *work)
{
    const long long n = (long long) blockIdx.x * 128 + (int) threadIdx.x;
    const int unit = (int) (n % HIDDEN), row = (int) (n / HIDDEN % BATCH);
    const int way = (int) (n / HIDDEN / BATCH);
    const long long at = way * STATE_WAY + row * STATE_BATCH + unit;
    MO_BEGIN();
    if (n >= UNITS)
        return;
    work[n] = HAS_STATE ? (float) load(state[at]) : 0;
    work[2 * UNITS + n] = HAS_CELL ? (float) load(cell[at]) : 0;
}
MO_KERNEL_OF(rnn_end, 128)(const LENGTH *lengths, const float *work, T *all,
                           T *last, T *last_cell)
{
    const long long n = (long long) blockIdx.x * 128 + (int) threadIdx.x;
    const int unit = (int) (n % HIDDEN), row = (int) (n / HIDDEN % BATCH);
    const int way = (int) (n / HIDDEN / BATCH);
    const long long at = way * STATE_WAY + row * STATE_BATCH + unit;
    MO_BEGIN();
    if (n >= UNITS)
        return;
    if (HAS_LAST)
        last[at] = narrow(work[STEPS % 2 * UNITS + n]);
    if (HAS_LAST_CELL)
        last_cell[at] = narrow(work[2 * UNITS + n]);
    for (long long t = length_of(lengths, row); HAS_ALL && t < STEPS; t++)
        all[t * ALL_STEP + row * ALL_BATCH + way * ALL_WAY + unit] = narrow(0);
}
/* embed: step_source */
/* Sums of ROWS rows of from with the weights of gates first, ..., end - 1. */
MO_DEVICE void multiply(const T *weights, const float *from, int way, int row,
                        int unit, int first, int end, float sums[GATES][ROWS])
{
    for (int g = 0; g < GATES; g++)
        for (int r = 0; r < ROWS; r++)
            sums[g][r] = 0;
    for (int k = MO_LANE; k < HIDDEN; k += 32) {
        float x[ROWS];
        for (int r = 0; r < ROWS; r++)
            x[r] = row + r < BATCH ? from[state_at(way, row + r, k)] : 0;
#pragma unroll
        for (int g = 0; g < GATES; g++)
            if (g >= first && g < end) {
                const long long line =
                    ((long long) way * GATES + block_of(g)) * HIDDEN + unit;
                const float w = (float) load(weights[line * HIDDEN + k]);
                for (int r = 0; r < ROWS; r++)
                    sums[g][r] += w * x[r];
            }
    }
    for (int g = 0; g < GATES; g++)
        for (int r = 0; r < ROWS; r++)
            sums[g][r] = mo_warp_sum_f(sums[g][r]);
}
/* Part 0 is the whole step, or of a GRU that resets its state the gates of
 * update and reset; part 1 is the rest of that. */
MO_KERNEL_OF(rnn_step, 32 * WARPS)(const T *products, const T *weights,
                                   const T *bias, const LENGTH *lengths,
                                   const T *peephole, float *work, T *all,
                                   long long step, int part)
{
    const int unit = (int) blockIdx.x * WARPS + MO_WARP;
    const int row = (int) blockIdx.y * ROWS, way = (int) blockIdx.z;
    const float *old = work + step % 2 * UNITS;
    float *made = work + (step + 1) % 2 * UNITS;
    float *cells = work + 2 * UNITS, *update = work + 3 * UNITS;
    float *reset = work + 4 * UNITS;
    const int in_parts = CELL == 1 && !AFTER;
    float sums[GATES][ROWS], own[GATES];
    MO_BEGIN();
    if (unit >= HIDDEN)
        return;
    multiply(weights, part ? reset : old, way, row, unit, part ? 2 : 0,
             in_parts && !part ? 2 : GATES, sums);
    for (int g = 0; g < GATES; g++)
        for (int r = 0; r < ROWS; r++)
            own[g] = r == MO_LANE || r == 0 ? sums[g][r] : own[g];
    if (MO_LANE >= ROWS || row + MO_LANE >= BATCH)
        return;
    const int b = row + MO_LANE;
    const long long length = length_of(lengths, b), n = state_at(way, b, unit);
    const long long t =
        REVERSE || way == 1 ? length - 1 - step : step;
    const T *input = products + t * PRODUCT_STEP + b * PRODUCT_BATCH +
                     way * PRODUCT_WAY + unit;
    float state = old[n], x[GATES];
    if (step >= length) {
        made[n] = state;
        return;
    }
    for (int g = 0; g < GATES; g++) {
        x[g] = (float) load(input[(long long) block_of(g) * HIDDEN]) +
               bias_of(bias, way, unit, input_bias_at(g));
        if (CELL != 1 || g != 2 || !AFTER)
            x[g] += own[g] + bias_of(bias, way, unit, state_bias_at(g));
    }
#if CELL == 0
    state = act_f(way, bounded(x[0]));
#elif CELL == 1
    if (in_parts && !part) {
        update[n] = act_f(way, bounded(x[0]));
        reset[n] = act_f(way, bounded(x[1])) * state;
        return;
    }
    const float z = in_parts ? update[n] : act_f(way, bounded(x[0]));
    if (AFTER)
        x[2] += act_f(way, bounded(x[1])) *
                (own[2] + bias_of(bias, way, unit, state_bias_at(2)));
    state = (1 - z) * act_g(way, bounded(x[2])) + z * state;
#else
    float cell = cells[n];
    const long long eye = (long long) way * 3 * HIDDEN + unit;
    if (HAS_PEEPHOLE) {
        x[0] += (float) load(peephole[eye]) * cell;
        x[1] += (float) load(peephole[eye + 2 * HIDDEN]) * cell;
    }
    cell = act_f(way, bounded(x[1])) * cell +
           act_f(way, bounded(x[0])) * act_g(way, bounded(x[2]));
    if (HAS_PEEPHOLE)
        x[3] += (float) load(peephole[eye + HIDDEN]) * cell;
    state = act_f(way, bounded(x[3])) * act_h(way, cell);
    cells[n] = cell;
#endif
    made[n] = state;
    if (HAS_ALL)
        all[t * ALL_STEP + b * ALL_BATCH + way * ALL_WAY + unit] =
            narrow(state);
}
