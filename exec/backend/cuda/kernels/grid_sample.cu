/* SPDX-License-Identifier: Apache-2.0 */
/* Grid sampling: a thread for each element of the result, which computes its
 * taps by itself; neighbouring threads are neighbouring points. */
/* example:begin */
#include "exec/backend/cuda/jit/example.cuh"
#define MODE 1
#define PADDING 0
#define ALIGN 0
#define SPATIAL 2
#define CHANNELS 3
#define POINTS 100LL
#define SIZE0 9
#define SIZE1 8
#define SIZE2 1
#define ELEMENTS 300LL
#define BLOCK 128
/* example:end */
/* embed: kernel_source */
#define TAPS (MODE == 0 ? 1 : MODE == 1 ? 2 : 4)
MO_DEVICE long long pad_index(long long i, long long size)
{
    if (i >= 0 && i < size)
        return i;
    if (PADDING == 0)
        return -1;
    if (PADDING == 1)
        return i < 0 ? 0 : size - 1;
    if (ALIGN) {
        if (size == 1)
            return 0;
        i = (i < 0 ? -i : i) % (2 * (size - 1));
        return i < size ? i : 2 * (size - 1) - i;
    }
    i = (i < 0 ? -1 - i : i) % (2 * size);
    return i < size ? i : 2 * size - 1 - i;
}
MO_DEVICE void find_taps(float x, long long size, long long *at, float *w)
{
    const float far = 1073741824.0f, a = -0.75f;
    float place = ALIGN ? (x + 1) / 2 * (float) (size - 1)
                        : ((x + 1) * (float) size - 1) / 2;
    place = place > -far ? place : -far;
    place = place < far ? place : far;
    const float base = MODE == 0 ? rintf(place) : floorf(place);
    const float t = place - base, u = 1 - t;
    long long first = (long long) base;
    w[0] = MODE == 0 ? 1 : u;
    if (MODE == 1)
        w[1] = t;
    if (MODE == 2) {
        first--;
        w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
        w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
        w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
        w[3] = ((a * (u + 1) - 5 * a) * (u + 1) + 8 * a) * (u + 1) - 4 * a;
    }
    for (int i = 0; i < TAPS; i++)
        at[i] = pad_index(first + i, size);
}
MO_KERNEL_OF(grid_sample, BLOCK)(const T *in, const T *grid, T *out,
                                 struct mo_extra p)
{
    const long long self =
        (long long) blockIdx.x * BLOCK + (int) threadIdx.x;
    const long long image = self / POINTS, point = self % POINTS;
    const T *x = grid + (image / CHANNELS * POINTS + point) * SPATIAL;
    long long at0[4], at1[4], at2[4];
    float w0[4], w1[4], w2[4];
    R sum = 0;
    MO_BEGIN();
    if (self >= ELEMENTS)
        return;
    in += image * ((long long) SIZE0 * SIZE1 * SIZE2);
    find_taps((float) load(x[SPATIAL - 1]), SIZE0, at0, w0);
    if (SPATIAL > 1)
        find_taps((float) load(x[SPATIAL > 1 ? SPATIAL - 2 : 0]), SIZE1, at1,
                  w1);
    if (SPATIAL > 2)
        find_taps((float) load(x[0]), SIZE2, at2, w2);
    for (int i = 0; i < TAPS; i++)
        for (int j = 0; j < (SPATIAL > 1 ? TAPS : 1); j++)
            for (int k = 0; k < (SPATIAL > 2 ? TAPS : 1); k++) {
                const long long b = SPATIAL > 1 ? at1[j] : 0;
                const long long c = SPATIAL > 2 ? at2[k] : 0;
                const float w = w0[i] * (SPATIAL > 1 ? w1[j] : 1) *
                                (SPATIAL > 2 ? w2[k] : 1);
                if (at0[i] >= 0 && b >= 0 && c >= 0)
                    sum += w * load(in[(at0[i] * SIZE1 + b) * SIZE2 + c]);
            }
    finish1((PLACE) self, &sum, p, out);
}
