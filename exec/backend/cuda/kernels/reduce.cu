/* SPDX-License-Identifier: Apache-2.0 */
/* Reduction over any set of dimensions, in a fixed order, with double or 64-bit
 * integer accumulators.  Long reductions of few results are split over SPLITS
 * blocks; join adds up their partial results. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
#define RESULTS 4096LL
#define FOLDED 1024LL
#define BY_ROWS 1
#define LANES 32
#define OUTPUTS 4
#define BLOCK (LANES * OUTPUTS)
#define SPLITS 2
#define SHARE 128LL
MO_DEVICE PLACE in_of(PLACE o) { return o * 1024; }
MO_DEVICE PLACE out_of(PLACE o) { return o; }
MO_DEVICE PLACE step_of(PLACE r) { return r; }
typedef double A;
#define NOTHING 0
MO_DEVICE A part_of(A x) { return x; }
MO_DEVICE A both(A a, A b) { return a + b; }
MO_DEVICE A end_of(A a) { return a; }
/* example:end */
/* embed: fold_source */
/* Accumulators are doubles, or integers of 64 bits, as on the CPU. The order
 * of reduction in a block, and in join, is fixed. */
MO_KERNEL_OF(reduce, BLOCK)(const T *in, void *to, struct mo_extra p)
{
    MO_SHARED A cells[BLOCK];
    const int self = (int) threadIdx.x;
    const int lane = BY_ROWS ? self % LANES : self / OUTPUTS;
    const int step = BY_ROWS ? 1 : OUTPUTS;
    const PLACE o = (PLACE) blockIdx.x * OUTPUTS +
                    (BY_ROWS ? self / LANES : self % OUTPUTS);
    const PLACE first = (PLACE) blockIdx.y * SHARE;
    const PLACE rest = (PLACE) (FOLDED / WIDTH) - first;
    const PLACE count = rest < (PLACE) SHARE ? rest : (PLACE) SHARE;
    A a = NOTHING;
    MO_BEGIN();
    if (o < (PLACE) RESULTS) {
        const T *from = in + in_of(o);
#pragma unroll 4
        for (PLACE r = lane; r < count; r += LANES) {
            const WIDE w =
                read_wide(from + step_of((first + r) * WIDTH));
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                a = both(a, part_of((A) load(w.x[i])));
        }
    }
    cells[self] = a;
    for (int half = LANES / 2; half; half /= 2) {
        MO_SYNC();
        if (lane < half)
            cells[self] = both(cells[self], cells[self + half * step]);
    }
    if (lane == 0 && o < (PLACE) RESULTS) {
#if SPLITS > 1
        ((A *) to)[(PLACE) blockIdx.y * (PLACE) RESULTS + o] =
            cells[self];
#else
        const R v = (R) end_of(cells[self]);
        finish1(out_of(o), &v, p, (T *) to);
#endif
    }
}
/* embed: join_source */
MO_KERNEL(join)(const A *parts, T *out, struct mo_extra p)
{
    const PLACE o = (PLACE) blockIdx.x * blockDim.x + threadIdx.x;
    A a = NOTHING;
    MO_BEGIN();
    if (o >= (PLACE) RESULTS)
        return;
#pragma unroll 8
    for (int s = 0; s < SPLITS; s++)
        a = both(a, parts[s * (PLACE) RESULTS + o]);
    const R v = (R) end_of(a);
    finish1(out_of(o), &v, p, out);
}
