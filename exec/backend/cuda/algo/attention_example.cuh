/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An example of the device code that attention_source.c generates in front of
 * both attention kernels: 12 heads of 64 columns, 128 queries and keys, causal.
 * Never compiled into the program (embed.awk).
 */
#pragma once

#include "exec/backend/cuda/jit/example.cuh"

#define QUERIES  128
#define KEYS     128
#define DEPTH    64
#define COLUMNS  64
#define BATCHES  12
#define CAUSAL   1
#define ZERO_IF_MASKED 0
#define CONSTANT 0
#define Q_ROW    64
#define K_ROW    64
#define V_ROW    64
#define OUT_ROW  64
#define THREADS  128

struct shown {
    const void *pointers[4];
};
typedef struct {
    PLACE q, k, v, out;
} head;
MO_DEVICE head head_of(int batch, struct shown shown)
{
    head h;
    h.q = h.k = h.v = h.out = (PLACE) batch * (QUERIES * 64);
    return h;
}
typedef struct {
    int none;
} sight;
MO_DEVICE sight see(head h, int i, int j)
{
    sight s;
    s.none = 0;
    return s;
}
MO_DEVICE int is_visible(sight s)
{
    return 1;
}
MO_DEVICE float score(sight s, float x)
{
    return x * 0.125f;
}
