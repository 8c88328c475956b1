/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/fused_attention.h"

/*
 * Few queries are cut into many blocks whose warps share the keys; with many
 * queries, a warp takes more of them, since every key it reads then serves
 * twice.
 */
enum { MOST_REGISTERS = 208, MOST_WARPS = 8, MOST_SPAN = 8 };

static int64_t up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int least(int64_t a, int64_t b)
{
    return (int) (a < b ? a : b);
}

/* What a thread holds of queries, sums and scores, and of a turn's keys and
 * values. */
static int64_t registers(const mo_call_attention *c, int deep, int span)
{
    int64_t chunks = up(c->width, 16), tiles = up(c->v_width, 8);

    return deep * (8 * chunks + 4 * tiles + 4 * span) +
           span * (4 * chunks + 2 * tiles);
}

/* As many keys in a turn as registers allow, of those that each of the warps
 * has. */
static int span_for(const mo_call_attention *c, int deep, int warps)
{
    int span = least(MOST_SPAN, up(c->keys, 8 * warps));

    while (span > 1 && registers(c, deep, span) > MOST_REGISTERS)
        span--;
    /* Whole turns need no care at the end. */
    for (int whole = span; whole > span / 2 && whole > 0; whole--)
        if (c->keys % (8 * whole) == 0)
            return whole;
    return span < 1 ? 1 : span;
}

/* Warps for the keys: no more than there are turns. */
static int along_for(const mo_call_attention *c, int span, int most)
{
    int64_t turns = up(c->keys, 8 * span);
    int along = 1;

    while (2 * along <= most && 2 * along <= turns)
        along *= 2;
    return along;
}

/* The keys of a query shared by so many warps, if there are enough. */
static mo_cuda_attention_tiling cut_of(const mo_call_attention *c, int deep,
                                       int warps)
{
    mo_cuda_attention_tiling cut = { .across = 1, .deep = deep };

    cut.span = span_for(c, deep, warps);
    cut.along = along_for(c, cut.span, warps);
    /* With no keys to share, warps with other queries find them in the cache.
     */
    if (cut.along == 1)
        cut.across = least(4, up(c->queries, 16 * deep));
    return cut;
}

static bool is_same(const mo_cuda_attention_tiling *a,
                    const mo_cuda_attention_tiling *b)
{
    return a->across == b->across && a->along == b->along &&
           a->deep == b->deep && a->span == b->span;
}

static int add(mo_cuda_attention_tiling *cuts, int n,
               mo_cuda_attention_tiling cut)
{
    for (int i = 0; i < n; i++)
        if (is_same(&cuts[i], &cut))
            return n;
    cuts[n] = cut;
    return n + 1;
}

int mo_cuda_attention_find_tilings(
    const mo_cuda_attention_problem *task, int sms,
    mo_cuda_attention_tiling cuts[MO_CUDA_ATTENTION_MAX_TILINGS])
{
    const mo_call_attention *c = &task->call->u.attention;
    bool deep_fits = registers(c, 2, 1) <= MOST_REGISTERS && c->queries > 16;
    bool many = task->batches * up(c->queries, 16) >= 2 * (int64_t) sms;
    bool short_rows = c->keys <= 8 * span_for(c, 1, 1);
    int first = deep_fits && many && !short_rows ? 2 : 1;
    int n = 0;

    if (short_rows)
        n = add(cuts, n, cut_of(c, 1, 1));
    n = add(cuts, n, cut_of(c, first, MOST_WARPS / 2));
    n = add(cuts, n, cut_of(c, first, MOST_WARPS));
    if (first == 2 || deep_fits)
        n = add(cuts, n, cut_of(c, 3 - first, MOST_WARPS / 2));
    return n;
}
