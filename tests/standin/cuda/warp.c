/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warp-wide operations of the stand-in. The last thread to arrive computes the
 * results of all, before any can arrive at the next operation.
 */
#include <config.h>

#include <string.h>

#include "exec/tensor/half.h"
#include "tests/standin/cuda/kernel_builtins.h"

static const unsigned all_lanes = 0xffffffffu;

static void act_nothing(standin_exchange *lanes[STANDIN_WARP])
{
    (void) lanes;
}

void mo_cpu_sync_warp(void)
{
    standin_exchange e = { .act = act_nothing, .mask = all_lanes };

    standin_meet(&e);
}

/* a: the value of a lane, and the index of the lane that it reads. */
static void act_shuffle(standin_exchange *lanes[STANDIN_WARP])
{
    for (int i = 0; i < STANDIN_WARP; i++)
        lanes[i]->c[0] = lanes[lanes[i]->a[1] % STANDIN_WARP]->a[0];
}

unsigned mo_cpu_shuffle(unsigned x, int lane)
{
    standin_exchange e = { .act = act_shuffle,
                           .mask = all_lanes,
                           .a = { x, (unsigned) lane } };

    standin_meet(&e);
    return e.c[0];
}

static void act_ballot(standin_exchange *lanes[STANDIN_WARP])
{
    uint32_t bits = 0;

    for (int i = 0; i < STANDIN_WARP; i++)
        bits |= (uint32_t) (lanes[i]->a[0] != 0) << i;
    for (int i = 0; i < STANDIN_WARP; i++)
        lanes[i]->c[0] = bits;
}

unsigned mo_cpu_ballot(int x)
{
    standin_exchange e = { .act = act_ballot,
                           .mask = all_lanes,
                           .a = { x != 0 } };

    standin_meet(&e);
    return e.c[0];
}

enum { ROWS = 16, COLUMNS = 8, MOST_DEPTH = 16 };

typedef struct matrices {
    float a[ROWS][MOST_DEPTH], b[MOST_DEPTH][COLUMNS], d[ROWS][COLUMNS];
} matrices;

/* Lane i holds of d rows i / 4 and i / 4 + 8, of each two columns. */
static void take_d(matrices *m, standin_exchange *lanes[STANDIN_WARP])
{
    for (int i = 0; i < STANDIN_WARP; i++)
        for (int k = 0; k < 4; k++)
            m->d[i / 4 + k / 2 * 8][i % 4 * 2 + k % 2] =
                mo_f32_from_bits(lanes[i]->c[k]);
}

static void give_d(const matrices *m, standin_exchange *lanes[STANDIN_WARP])
{
    for (int i = 0; i < STANDIN_WARP; i++)
        for (int k = 0; k < 4; k++)
            lanes[i]->c[k] =
                mo_f32_to_bits(m->d[i / 4 + k / 2 * 8][i % 4 * 2 + k % 2]);
}

static void multiply(matrices *m, int depth)
{
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < depth; k++)
            for (int column = 0; column < COLUMNS; column++)
                m->d[row][column] += m->a[row][k] * m->b[k][column];
}

/* Tensor cores ignore the low bits. */
static float tf32_of(uint32_t bits)
{
    return mo_f32_from_bits(bits & 0xffffe000u);
}

static void act_mma_tf32(standin_exchange *lanes[STANDIN_WARP])
{
    matrices m;

    for (int i = 0; i < STANDIN_WARP; i++) {
        for (int k = 0; k < 4; k++)
            m.a[i / 4 + k % 2 * 8][i % 4 + k / 2 * 4] = tf32_of(lanes[i]->a[k]);
        for (int k = 0; k < 2; k++)
            m.b[i % 4 + k * 4][i / 4] = tf32_of(lanes[i]->b[k]);
    }
    take_d(&m, lanes);
    multiply(&m, 8);
    give_d(&m, lanes);
}

static void act_mma_half(standin_exchange *lanes[STANDIN_WARP],
                         float (*real)(uint16_t half))
{
    matrices m;

    for (int i = 0; i < STANDIN_WARP; i++)
        for (int h = 0; h < 2; h++) {
            int at = i % 4 * 2 + h;

            for (int k = 0; k < 4; k++)
                m.a[i / 4 + k % 2 * 8][at + k / 2 * 8] =
                    real((uint16_t) (lanes[i]->a[k] >> h * 16));
            for (int k = 0; k < 2; k++)
                m.b[at + k * 8][i / 4] =
                    real((uint16_t) (lanes[i]->b[k] >> h * 16));
        }
    take_d(&m, lanes);
    multiply(&m, 16);
    give_d(&m, lanes);
}

static void act_mma_f16(standin_exchange *lanes[STANDIN_WARP])
{
    act_mma_half(lanes, mo_f16_to_f32);
}

static void act_mma_bf16(standin_exchange *lanes[STANDIN_WARP])
{
    act_mma_half(lanes, mo_bf16_to_f32);
}

static void mma(void (*act)(standin_exchange *lanes[STANDIN_WARP]), float *d,
                const unsigned *a, const unsigned *b)
{
    standin_exchange e = { .act = act, .mask = all_lanes };

    memcpy(e.a, a, sizeof e.a);
    memcpy(e.b, b, sizeof e.b);
    memcpy(e.c, d, sizeof e.c);
    standin_meet(&e);
    memcpy(d, e.c, sizeof e.c);
}

void mo_cpu_mma_tf32(float *d, const unsigned *a, const unsigned *b)
{
    mma(act_mma_tf32, d, a, b);
}

void mo_cpu_mma_f16(float *d, const unsigned *a, const unsigned *b)
{
    mma(act_mma_f16, d, a, b);
}

void mo_cpu_mma_bf16(float *d, const unsigned *a, const unsigned *b)
{
    mma(act_mma_bf16, d, a, b);
}

/* Lane i passes the address of row i % 8 of matrix i / 8, of 8 halves; it
 * receives two neighbours of each matrix: in row i / 4, or transposed, in
 * column i / 4. */
static void act_ldmatrix(standin_exchange *lanes[STANDIN_WARP])
{
    int n = lanes[0]->how / 2;
    bool turned = lanes[0]->how % 2;
    uint16_t rows[STANDIN_WARP][8];

    for (int i = 0; i < n * 8; i++)
        memcpy(rows[i], lanes[i]->from, sizeof rows[i]);
    for (int i = 0; i < STANDIN_WARP; i++)
        for (int k = 0; k < n; k++) {
            uint16_t(*matrix)[8] = &rows[k * 8];
            int at = i % 4 * 2, line = i / 4;
            uint32_t low = turned ? matrix[at][line] : matrix[line][at];
            uint32_t high =
                turned ? matrix[at + 1][line] : matrix[line][at + 1];

            lanes[i]->c[k] = low | high << 16;
        }
}

void mo_cpu_ldmatrix(unsigned *r, const void *row, int n, int turned)
{
    standin_exchange e = { .act = act_ldmatrix,
                           .mask = all_lanes,
                           .how = n * 2 + (turned != 0),
                           .from = row };

    standin_meet(&e);
    memcpy(r, e.c, (size_t) n * sizeof *r);
}
