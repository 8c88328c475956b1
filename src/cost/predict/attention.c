/* SPDX-License-Identifier: Apache-2.0 */
/* Time of fused attention: scores, softmax and weighted sum in one kernel. */
#include <math.h>

#include "base/minmax.h"
#include "cost/predict/kernel_traffic.h"

/*
 * A tile of queries passes over the keys (Dao et al., FlashAttention, 2022):
 * for every pair 4 head_size flops and one exponential. With many queries a
 * tile is 128 rows of a head. With a few, as in the generation of a token, the
 * heads that share keys make one tile of 16 rows, and the keys are split into
 * parts, so that all multiprocessors load (flash decoding, 2023). Causal tiles
 * have unequal work and are scheduled as multiprocessors become free: the time
 * is the mean load, and no less than the longest tile.
 */
enum {
    TILE_ROWS = 128,
    FEW_ROWS = MO_ATTENTION_FEW_QUERIES,
    LATENCY_BYTES = 2000000
};

static const double part_counts[] = { 1, 2, 4, 8, 16, 32, 64 };
enum { N_PARTS = sizeof part_counts / sizeof *part_counts };

typedef struct query_tiles {
    double n, rows;       /* tiles, rows of each */
    double keys, longest; /* of a tile on average, of the last one */
} query_tiles;

static bool has_few_queries(const mo_attention *a)
{
    return a->queries <= FEW_ROWS;
}

static query_tiles tiles_of(const mo_attention *a)
{
    query_tiles t = { .keys = a->keys, .longest = a->keys };

    if (has_few_queries(a)) {
        double rows = a->queries * a->heads / a->kv_heads;

        t.n = a->batch * a->kv_heads * ceil(rows / FEW_ROWS);
        t.rows = FEW_ROWS;
        return t;
    }
    t.n = a->batch * a->heads * ceil(a->queries / TILE_ROWS);
    t.rows = mo_min_double(TILE_ROWS, FEW_ROWS * ceil(a->queries / FEW_ROWS));
    if (a->is_causal && a->queries > TILE_ROWS && a->queries <= a->keys)
        t.keys = a->keys - (a->queries - TILE_ROWS) / 2;
    return t;
}

static double bytes_of(const mo_attention *a)
{
    return 2 * a->batch * a->head_size *
           (a->kv_bytes * a->kv_heads * a->keys +
            a->element_bytes * a->heads * a->queries);
}

/* Returns the time with the keys split into n parts. */
static double split_us(const mo_attention *a, const query_tiles *t, double n,
                       const mo_kernel_device *d,
                       const mo_attention_constants *c)
{
    double pair = 4 * a->head_size * d->sms / (c->compute * d->gflops * 1e3) +
                  c->exp_clocks / d->clock_mhz;
    double key = pair * t->rows;
    double longest = t->longest / n * key + c->tile_us;
    double total = t->n * (t->keys * key + n * c->tile_us);
    double bytes = bytes_of(a);
    double loaders = mo_min_double(d->sms, t->n * n);
    double load = bytes / loaders / (c->cache_bytes * d->clock_mhz);

    return mo_kernel_norm4(mo_max_double(total / d->sms, longest),
                           mo_kernel_traffic_us(bytes, d, c->memory,
                                                c->resident, c->latency_us,
                                                LATENCY_BYTES),
                           load) +
           (n > 1 ? c->split_us : 0);
}

double mo_attention_us(const mo_attention *attention,
                       const mo_kernel_device *device,
                       const mo_attention_constants *constants)
{
    query_tiles t = tiles_of(attention);
    int n = has_few_queries(attention) ? N_PARTS : 1;
    double best = INFINITY;

    if (bytes_of(attention) <= 0)
        return constants->launch_us;
    for (int i = 0; i < n; i++)
        best = mo_min_double(
            best, split_us(attention, &t, part_counts[i], device, constants));
    return constants->launch_us + best;
}
