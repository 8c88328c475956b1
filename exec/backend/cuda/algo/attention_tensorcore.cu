/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fused attention on tensor cores with an online softmax (FlashAttention, Dao
 * et al. 2022). A warp has 16 DEEP queries and iterates over TURN keys at a
 * time; ACROSS warps of a block have other queries, ALONG of them other keys,
 * and so have the CLUSTER blocks of a cluster. Keys and values may be of a
 * smaller type than queries: a cache. All operands are loaded directly into the
 * registers of the mma fragments:
 *
 *     scores    a thread holds 4 neighbours of a row of q and of k, which are
 *               k = t and t + 4 of two steps: the sum may be in any order that
 *               is the same on both sides
 *     weights   replace the scores; fragment columns t and t + 4 are keys 2t
 *               and 2t + 1
 *     result    column n of its tile j is column n TILES + j: a thread loads
 *               neighbours of v, and holds neighbours of the result
 *
 * (t: the lane within its group of four, g: the group). The partial results of
 * the warps are combined in shared memory, of all blocks of a cluster, which
 * also restores the order of rows for storing.
 */
/* example:begin */
#include "exec/backend/cuda/algo/attention_example.cuh"
#define ACROSS 4
#define ALONG 1
#define DEEP 1
#define SPAN 4
#define EXACT 0
#define READ 4
#define READ_BITS uint4
#define K_READ 4
#define K_BITS uint4
#define V_READ 4
#define V_BITS uint4
#define CLUSTER 1
typedef T KV;
#define LOAD_KV load
/* example:end */
#define CHUNKS ((DEPTH + 15) / 16)
#define TILES ((COLUMNS + 7) / 8)
#define ROWS (16 * DEEP * ACROSS)
#define TURN (8 * SPAN)
#define PITCH (8 * TILES + 4)
#define PARTS (CLUSTER * ALONG)

typedef struct {
    float q[DEEP][CHUNKS][8];
    float sum[DEEP][TILES][4];
    float most[DEEP][2], weight[DEEP][2];
} warp;

typedef union { READ_BITS bits; T x[READ]; } some;
typedef union { K_BITS bits; KV x[K_READ]; } k_some;
typedef union { V_BITS bits; KV x[V_READ]; } v_some;

/* Rows beyond the end are loaded from a valid row and ignored: that avoids a
 * dependent load. */
MO_DEVICE int some_query(int i)
{
    return QUERIES % ROWS == 0 ? i : mo_min_i(i, QUERIES - 1);
}
MO_DEVICE int some_key(int j)
{
    return KEYS % TURN == 0 ? j : mo_min_i(j, KEYS - 1);
}

#define READ_FOUR(name, type, some, bits_of, read, load_of) \
    MO_DEVICE void name(const type *row, int d, float *x) \
    { \
        _Pragma("unroll") \
        for (int e = 0; e < 4; e += read) { \
            int there = DEPTH % 16 == 0 || d + e < DEPTH; \
            some w; \
            w.bits = *(const bits_of *) (row + (there ? d + e : 0)); \
            _Pragma("unroll") \
            for (int i = 0; i < read; i++) \
                x[e + i] = there ? load_of(w.x[i]) : 0; \
        } \
    }
READ_FOUR(read_query, T, some, READ_BITS, READ, load)
READ_FOUR(read_key, KV, k_some, K_BITS, K_READ, LOAD_KV)

MO_DEVICE void read_values(const KV *row, int d, float *x)
{
#pragma unroll
    for (int e = 0; e < TILES; e += V_READ) {
        int there = COLUMNS % 8 == 0 || d + e < COLUMNS;
        v_some w;
        w.bits = *(const V_BITS *) (row + (there ? d + e : 0));
#pragma unroll
        for (int i = 0; i < V_READ; i++)
            x[e + i] = LOAD_KV(w.x[i]);
    }
}

/* EXACT: three products of rounded parts and remainders, as good as f32. */
MO_DEVICE void multiply(float *d, const float *a, const float *b)
{
    unsigned a_high[4], b_high[2];
#pragma unroll
    for (int i = 0; i < 4; i++)
        a_high[i] = mo_tf32(a[i]);
#pragma unroll
    for (int i = 0; i < 2; i++)
        b_high[i] = mo_tf32(b[i]);
#if EXACT
    unsigned a_low[4], b_low[2];
#pragma unroll
    for (int i = 0; i < 4; i++)
        a_low[i] = mo_tf32(a[i] - mo_float_of(a_high[i]));
#pragma unroll
    for (int i = 0; i < 2; i++)
        b_low[i] = mo_tf32(b[i] - mo_float_of(b_high[i]));
    mo_mma_tf32_16x8x8(d, a_low, b_high);
    mo_mma_tf32_16x8x8(d, a_high, b_low);
#endif
    mo_mma_tf32_16x8x8(d, a_high, b_high);
}

MO_DEVICE void begin_warp(warp *w, const T *q, int first, int g, int t)
{
#pragma unroll
    for (int a = 0; a < DEEP; a++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int i = some_query(first + 16 * a + 8 * h + g);
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                float x[4];
                read_query(q + (PLACE) i * Q_ROW, 16 * c + 4 * t, x);
#pragma unroll
                for (int e = 0; e < 4; e++)
                    w->q[a][c][2 * e + h] = x[e];
            }
            w->most[a][h] = -MO_INF;
            w->weight[a][h] = 0;
        }
#pragma unroll
        for (int j = 0; j < TILES; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                w->sum[a][j][e] = 0;
    }
}

MO_DEVICE void look(head h, int first, int key, int g, int t,
                    sight (*seen)[SPAN][4])
{
#pragma unroll
    for (int a = 0; a < DEEP; a++)
#pragma unroll
        for (int n = 0; n < SPAN; n++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                seen[a][n][e] =
                    see(h, some_query(first + 16 * a + g + 8 * (e >> 1)),
                        some_key(key + 8 * n + 2 * t + (e & 1)));
}

/* Returns whether a query of the warp has a key: else the turn is left out. */
MO_DEVICE int sees_any(sight (*seen)[SPAN][4])
{
    int any = 0;
#pragma unroll
    for (int a = 0; a < DEEP; a++)
#pragma unroll
        for (int n = 0; n < SPAN; n++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                any |= is_visible(seen[a][n][e]);
    return mo_ballot(any) != 0;
}

/* In units of log 2; nothing where the mask hides the key. */
MO_DEVICE float weigh_score(sight seen, int i, int j, float x)
{
    int live = (QUERIES % ROWS == 0 || i < QUERIES) &&
               (KEYS % TURN == 0 || j < KEYS) && (!CAUSAL || j <= i);
    x = score(seen, x) * 1.44269504f;
    return live ? x : -MO_INF;
}

MO_DEVICE void find_scores(const warp *w, sight (*seen)[SPAN][4], int first,
                           int key, int g, int t, float (*k)[CHUNKS][4],
                           float (*s)[SPAN][4])
{
#pragma unroll
    for (int a = 0; a < DEEP; a++)
#pragma unroll
        for (int n = 0; n < SPAN; n++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                s[a][n][e] = 0;
#pragma unroll
            for (int c = 0; c < CHUNKS; c++) {
                multiply(s[a][n], w->q[a][c], k[n][c]);
                multiply(s[a][n], w->q[a][c] + 4, k[n][c] + 2);
            }
#pragma unroll
            for (int e = 0; e < 4; e++)
                s[a][n][e] = weigh_score(
                    seen[a][n][e], first + 16 * a + g + 8 * (e >> 1),
                    key + 8 * n + 2 * t + (e & 1), s[a][n][e]);
        }
}

/* Turns the scores of one row into weights; previous sums are rescaled to the
 * new maximum. */
MO_DEVICE void weigh_row(warp *w, int a, int h, float (*s)[4])
{
    float most = w->most[a][h], base, shrink, weight = 0;
#pragma unroll
    for (int n = 0; n < SPAN; n++)
        most = fmaxf(most, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
    most = fmaxf(most, mo_shfl_xor_f(most, 1));
    most = fmaxf(most, mo_shfl_xor_f(most, 2));
    base = most == -MO_INF ? 0 : most;
    shrink = mo_exp2(w->most[a][h] - base);
    w->most[a][h] = most;
#pragma unroll
    for (int n = 0; n < SPAN; n++)
#pragma unroll
        for (int e = 2 * h; e < 2 * h + 2; e++) {
            s[n][e] = mo_exp2(s[n][e] - base);
            weight += s[n][e];
        }
    w->weight[a][h] = w->weight[a][h] * shrink + weight;
#pragma unroll
    for (int j = 0; j < TILES; j++) {
        w->sum[a][j][2 * h] *= shrink;
        w->sum[a][j][2 * h + 1] *= shrink;
    }
}

MO_DEVICE void add_values(warp *w, float (*s)[SPAN][4],
                          float (*v)[2][TILES])
{
#pragma unroll
    for (int n = 0; n < SPAN; n++)
#pragma unroll
        for (int a = 0; a < DEEP; a++) {
            float p[4] = { s[a][n][0], s[a][n][2], s[a][n][1], s[a][n][3] };
#pragma unroll
            for (int j = 0; j < TILES; j++) {
                float b[2] = { v[n][0][j], v[n][1][j] };
                multiply(w->sum[a][j], p, b);
            }
        }
}

MO_DEVICE void take_turn(warp *w, sight (*seen)[SPAN][4], const KV *k,
                         const KV *v, int first, int key, int g, int t)
{
    float keys[SPAN][CHUNKS][4], values[SPAN][2][TILES], s[DEEP][SPAN][4];
#pragma unroll
    for (int n = 0; n < SPAN; n++) {
        int j = some_key(key + 8 * n + g);
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
            read_key(k + (PLACE) j * K_ROW, 16 * c + 4 * t, keys[n][c]);
    }
#pragma unroll
    for (int n = 0; n < SPAN; n++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int j = some_key(key + 8 * n + 2 * t + e);
            read_values(v + (PLACE) j * V_ROW, TILES * g, values[n][e]);
        }
    find_scores(w, seen, first, key, g, t, keys, s);
#pragma unroll
    for (int a = 0; a < DEEP; a++) {
        weigh_row(w, a, 0, s[a]);
        weigh_row(w, a, 1, s[a]);
    }
    add_values(w, s, values);
}

/* sums: [ALONG][ROWS][PITCH], then the largest scores and the weights of
 * [ALONG][ROWS]. */
MO_DEVICE void hand_over(const warp *w, float *sums, int along, int row,
                         int g, int t)
{
    float *most = sums + ALONG * ROWS * PITCH;
    float *weights = most + ALONG * ROWS;
#pragma unroll
    for (int a = 0; a < DEEP; a++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int at = along * ROWS + row + 16 * a + 8 * h + g;
            float weight = w->weight[a][h];
            weight += mo_shfl_xor_f(weight, 1);
            weight += mo_shfl_xor_f(weight, 2);
            if (t == 0) {
                most[at] = w->most[a][h];
                weights[at] = weight;
            }
#pragma unroll
            for (int e = 0; e < 2; e++)
#pragma unroll
                for (int j = 0; j < TILES; j++)
                    sums[at * PITCH + TILES * (2 * t + e) + j] =
                        w->sum[a][j][2 * h + e];
        }
}

/* A number of the partial results of a part of the keys. */
MO_DEVICE float part_of(const float *own, int part)
{
#if CLUSTER > 1
    return mo_cluster_load_f(own, part / ALONG);
#else
    (void) part;
    return *own;
#endif
}

/* The factors of the partial sums of each part of the keys: [PARTS][ROWS]. */
MO_DEVICE void share_row(const float *sums, float *shares, int row)
{
    const float *most = sums + ALONG * ROWS * PITCH + row;
    const float *weights = most + ALONG * ROWS;
    float largest = -MO_INF, weight = 0;
    for (int l = 0; l < PARTS; l++) {
        shares[l * ROWS + row] = part_of(most + l % ALONG * ROWS, l);
        largest = fmaxf(largest, shares[l * ROWS + row]);
    }
    /* Then all factors are 0. */
    if (ZERO_IF_MASKED && largest == -MO_INF) {
        largest = 0;
        weight = 1;
    }
    for (int l = 0; l < PARTS; l++) {
        shares[l * ROWS + row] = mo_exp2(shares[l * ROWS + row] - largest);
        weight += shares[l * ROWS + row] *
                  part_of(weights + l % ALONG * ROWS, l);
    }
    for (int l = 0; l < PARTS; l++)
        shares[l * ROWS + row] /= weight;
}

/* Each block of a cluster stores some columns. */
MO_DEVICE void store_rows(const float *sums, const float *shares, head h,
                          int first, T *out, struct mo_extra extra)
{
    int at = ((int) blockIdx.z * THREADS + (int) threadIdx.x) * WIDTH;
    for (int e = at; e < ROWS * COLUMNS; e += CLUSTER * THREADS * WIDTH) {
        int row = e / COLUMNS, d = e % COLUMNS;
        float x[WIDTH];
        if (QUERIES % ROWS != 0 && first + row >= QUERIES)
            continue;
#pragma unroll
        for (int i = 0; i < WIDTH; i++)
            x[i] = 0;
#pragma unroll
        for (int l = 0; l < PARTS; l++)
#pragma unroll
            for (int i = 0; i < WIDTH; i++)
                x[i] += shares[l * ROWS + row] *
                        part_of(sums + (l % ALONG * ROWS + row) * PITCH + d +
                                    i, l);
        finish(h.out + (PLACE) (first + row) * OUT_ROW + d, x, extra, out);
    }
}

MO_DEVICE void wait_for_all(void)
{
#if CLUSTER > 1
    mo_cluster_sync();
#else
    MO_SYNC();
#endif
}

/* Causal: the longest rows come first. Constant biases are loaded while the
 * previous kernel still runs. */
#define EARLY (CONSTANT && KEYS <= PARTS * TURN)
MO_KERNEL_OF(attention, THREADS)
(const T *q, const KV *k, const KV *v, T *out, struct shown shown,
 struct mo_extra extra)
{
    MO_DYNAMIC_SHARED(float, sums);
    int tile = (int) (blockIdx.x / BATCHES);
    int block = (CAUSAL ? (QUERIES + ROWS - 1) / ROWS - 1 - tile : tile) *
                ROWS;
    float *shares = sums + ALONG * ROWS * (PITCH + 2);
    int along = MO_WARP / ACROSS, row = MO_WARP % ACROSS * 16 * DEEP;
    int part = (int) blockIdx.z * ALONG + along;
    int first = block + row, g = MO_LANE >> 2, t = MO_LANE & 3;
    int end = CAUSAL ? mo_min_i(KEYS, first + 16 * DEEP) : KEYS;
    head h = head_of((int) (blockIdx.x % BATCHES), shown);
    sight seen[DEEP][SPAN][4];
    warp w;
    MO_NEXT();
    if (EARLY)
        look(h, first, part * TURN, g, t, seen);
    MO_BEGIN();
    begin_warp(&w, q + h.q, first, g, t);
    for (int key = part * TURN; key < end; key += PARTS * TURN) {
        if (!EARLY)
            look(h, first, key, g, t, seen);
        if (sees_any(seen))
            take_turn(&w, seen, k + h.k, v + h.v, first, key, g, t);
    }
    hand_over(&w, sums, along, row, g, t);
    wait_for_all();
    for (int i = (int) threadIdx.x; i < ROWS; i += THREADS)
        share_row(sums, shares, i);
    MO_SYNC();
    store_rows(sums, shares, h, block, out, extra);
#if CLUSTER > 1
    mo_cluster_sync();
#endif
}
