/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An example of the device code that codegen.h and codegen_epilogue.h generate
 * in front of a kernel: element type float, 4 elements per vector, no epilogue.
 * Never compiled into the program: kernels include it in their example blocks
 * (embed.awk), so that an editor and nvcc can read each of them alone.
 */
#pragma once

#include "exec/backend/cuda/jit/prelude_mma.cuh"

typedef float T;
typedef float R;
typedef int PLACE;
#define WIDTH 4
MO_DEVICE R load(T x)
{
    return (R) x;
}
#define MATH(name)  name##f
#define SHUFFLE_XOR mo_shfl_xor_f

typedef union {
    uint4 q[1];
    float x[4];
} WIDE;
MO_DEVICE WIDE read_wide(const T *from)
{
    WIDE w;
    w.q[0] = ((const uint4 *) (from))[0];
    return w;
}

struct mo_extra {
    const void *pointers[8];
};
typedef struct {
    int none;
} FINISH_READ;
MO_DEVICE void finish_load_constants(PLACE to, struct mo_extra p,
                                     FINISH_READ *r)
{
}
MO_DEVICE void finish_read(PLACE to, struct mo_extra p, FINISH_READ *r)
{
}
MO_DEVICE void finish_with(PLACE to, const R *u, const FINISH_READ *r,
                           struct mo_extra p, T *out)
{
    WIDE w;
    for (int i = 0; i < WIDTH; i++)
        w.x[i] = u[i];
    ((uint4 *) (out + to))[0] = w.q[0];
}
MO_DEVICE void finish(PLACE to, const R *u, struct mo_extra p, T *out)
{
    FINISH_READ r;
    finish_with(to, u, &r, p, out);
}
MO_DEVICE void finish1(PLACE to, const R *u, struct mo_extra p, T *out)
{
    out[to] = u[0];
}

/* A 3x3 window with padding 1 over 56 x 56 places (mo_cuda_emit_window). */
#define I0   ((PLACE) 1)
#define O0   ((PLACE) 1)
#define K0   ((PLACE) 1)
#define S0   ((PLACE) 1)
#define D0   ((PLACE) 1)
#define P0   ((PLACE) 0)
#define I1   ((PLACE) 56)
#define O1   ((PLACE) 56)
#define K1   ((PLACE) 3)
#define S1   ((PLACE) 1)
#define D1   ((PLACE) 1)
#define P1   ((PLACE) 1)
#define I2   ((PLACE) 56)
#define O2   ((PLACE) 56)
#define K2   ((PLACE) 3)
#define S2   ((PLACE) 1)
#define D2   ((PLACE) 1)
#define P2   ((PLACE) 1)
#define I    (I0 * I1 * I2)
#define O    (O0 * O1 * O2)
#define TAPS (K0 * K1 * K2)
