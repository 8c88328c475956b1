/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/op_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

/*
 * Chain of ops whose segments give the best sum of bounds, by dynamic
 * programming over a critical path.
 *
 * A longest path gives the candidates, numbered along it.  An op off the path
 * that succeeds the path's number `lo` and precedes its number `hi`, both as
 * close as possible, lies between any two of the path that enclose these,
 *
 *        lo           hi
 *     ---o--o--o--o---o---      in the segment of the first and the last,
 *         \---w----- /          lost where one between them is chosen.
 *
 * Where no op is lost, a candidate is always chosen: that is where a clean cut
 * lies.  From one such position to the next those are chosen for which the
 * segments are worth most together: the larger of their path and half of their
 * work, or all of it where they are so small that bounds are nearly exact.
 */

enum {
    MAX_CANDIDATES = 512, /* between two positions where nothing is lost */
    LOAD_DIVISOR = 2      /* devices over which work may be divided, roughly */
};

typedef struct chain_dp {
    const mo_allowed_devices *domains;
    int64_t *work_ns;      /* by op, on its fastest device */
    int *path, n_path;     /* ops, how many */
    int *lo, *hi;          /* by op: -1 and m where there is none */
    int *by_hi, *hi_start; /* ops with hi = j: [hi_start[j], ...[j + 1]) */
    int64_t *until_ns;     /* by position on the path: its length up to there */
    int64_t *lost_ns;      /* by position: the work lost by choosing it */
    bool *chosen;          /* by position */
    int64_t *value_ns;     /* by candidate: of the best chain up to there */
    int *candidates, *from; /* positions; predecessor on that chain */
    int64_t *scratch;
} chain_dp;

/* Longest path; fills path from its end, with lo and scratch as buffers of
 * predecessors and lengths. */
static void find_path(chain_dp *c)
{
    const mo_instance *x = c->domains->x;
    int64_t *length_ns = c->scratch;
    int *before = c->lo, last = 0;

    for (int i = 0; i < x->n; i++) {
        length_ns[i] = 0;
        before[i] = -1;
        for (int e = x->in_start[i]; e < x->in_start[i + 1]; e++) {
            int from = x->flows[x->in_flows[e]].from;
            if (before[i] < 0 || length_ns[from] > length_ns[i]) {
                length_ns[i] = length_ns[from];
                before[i] = from;
            }
        }
        length_ns[i] += c->work_ns[i];
        if (length_ns[i] >= length_ns[last])
            last = i;
    }
    c->n_path = 0;
    for (int i = last; i >= 0; i = before[i])
        c->path[c->n_path++] = i;
    for (int a = 0, b = c->n_path - 1; a < b; a++, b--) {
        int kept = c->path[a];
        c->path[a] = c->path[b];
        c->path[b] = kept;
    }
}

/* An op of the path is both to itself. */
static void find_lo_and_hi(chain_dp *c)
{
    const mo_instance *x = c->domains->x;

    for (int i = 0; i < x->n; i++) {
        c->lo[i] = -1;
        c->hi[i] = c->n_path;
    }
    for (int j = 0; j < c->n_path; j++)
        c->lo[c->path[j]] = c->hi[c->path[j]] = j;
    for (int q = 0; q < x->n_flows; q++) { /* sorted by from */
        int to = x->flows[q].to;
        if (c->lo[x->flows[q].from] > c->lo[to])
            c->lo[to] = c->lo[x->flows[q].from];
    }
    for (int q = x->n_flows - 1; q >= 0; q--) {
        int from = x->flows[q].from;
        if (c->hi[x->flows[q].to] < c->hi[from])
            c->hi[from] = c->hi[x->flows[q].to];
    }
}

static void sort_by_hi(chain_dp *c)
{
    int n = c->domains->x->n;

    memset(c->hi_start, 0, ((size_t) c->n_path + 2) * sizeof *c->hi_start);
    for (int i = 0; i < n; i++)
        c->hi_start[c->hi[i] + 1]++;
    for (int j = 0; j <= c->n_path; j++)
        c->hi_start[j + 1] += c->hi_start[j];
    for (int i = n - 1; i >= 0;
         i--) /* counting sort: the start becomes the end and back */
        c->by_hi[--c->hi_start[c->hi[i] + 1]] = i;
    memmove(c->hi_start, c->hi_start + 1,
            ((size_t) c->n_path + 1) * sizeof *c->hi_start);
    c->hi_start[c->n_path + 1] = n;
}

static void find_losses(chain_dp *c)
{
    int n = c->domains->x->n;

    memset(c->lost_ns, 0, ((size_t) c->n_path + 2) * sizeof *c->lost_ns);
    for (int i = 0; i < n; i++)
        if (c->lo[i] + 1 < c->hi[i]) {
            c->lost_ns[c->lo[i] + 1] += c->work_ns[i];
            c->lost_ns[c->hi[i]] -= c->work_ns[i];
        }
    for (int j = 1; j < c->n_path; j++)
        c->lost_ns[j] += c->lost_ns[j - 1];
    c->until_ns[0] = 0;
    for (int j = 0; j < c->n_path; j++)
        c->until_ns[j + 1] = c->until_ns[j] + c->work_ns[c->path[j]];
}

static int compare_ns(const void *a, const void *b)
{
    int64_t s = *(const int64_t *) a, t = *(const int64_t *) b;

    return (s > t) - (s < t);
}

/* The largest loss of a candidate between the two positions. */
static int64_t loss_limit(const chain_dp *c, int first, int last)
{
    int n = last - first - 1;

    if (n <= MAX_CANDIDATES)
        return INT64_MAX;
    memcpy(c->scratch, c->lost_ns + first + 1, (size_t) n * sizeof *c->scratch);
    qsort(c->scratch, (size_t) n, sizeof *c->scratch, compare_ns);
    return c->scratch[MAX_CANDIDATES - 1];
}

/* until_ns including the op of the position itself. */
static int64_t path_ns_until(const chain_dp *c, int place)
{
    return c->until_ns[place < c->n_path ? place + 1 : c->n_path];
}

/* DP step: values of the segments from candidate i to all behind it. */
static void extend_from(chain_dp *c, int i, int n)
{
    int first = c->candidates[i];
    int64_t work_ns = 0;
    int n_ops = 0; /* with the candidate at the end */

    for (int j = i + 1; j < n; j++) {
        int last = c->candidates[j];
        int64_t value_ns = path_ns_until(c, last) - path_ns_until(c, first);

        for (int at = c->hi_start[c->candidates[j - 1] + 1];
             at < c->hi_start[last + 1]; at++)
            if (c->lo[c->by_hi[at]] >= first && c->hi[c->by_hi[at]] > first) {
                work_ns += c->work_ns[c->by_hi[at]];
                n_ops++;
            }
        value_ns = mo_max_i64(value_ns, n_ops <= MO_BOUND_FEW_OPS + 1
                                            ? work_ns
                                            : work_ns / LOAD_DIVISOR);
        value_ns += c->value_ns[i];
        if (c->from[j] < 0 || value_ns >= c->value_ns[j]) {
            c->value_ns[j] = value_ns;
            c->from[j] = i;
        }
    }
}

static void choose_between(chain_dp *c, int first, int last)
{
    int64_t limit = loss_limit(c, first, last);
    int n = 0;

    c->candidates[n++] = first;
    for (int j = first + 1; j < last && n <= MAX_CANDIDATES; j++)
        if (c->lost_ns[j] <= limit)
            c->candidates[n++] = j;
    c->candidates[n++] = last;

    for (int i = 0; i < n; i++) {
        c->value_ns[i] = 0;
        c->from[i] = -1;
    }
    for (int i = 0; i + 1 < n; i++)
        extend_from(c, i, n);
    for (int i = c->from[n - 1]; i > 0; i = c->from[i])
        c->chosen[c->candidates[i]] = true;
}

/* Returns the segment that contains op, or -1. */
static int segment_of_op(const chain_dp *c, const mo_bound_chain *chain,
                         const int *segment_of, int op)
{
    int at = c->lo[op] < 0 ? 0 : segment_of[c->lo[op]];
    int v = chain->segments[at].v;

    if (c->lo[op] == c->hi[op] && c->chosen[c->lo[op]])
        return -1;
    return v == MO_FREE || c->hi[op] <= c->lo[v] ? at : -1;
}

static mo_status make_chain(const chain_dp *c, mo_bound_chain **chain,
                            mo_error *err)
{
    mo_bound_chain *made = calloc(1, sizeof *made);
    int *segment_of = calloc((size_t) c->n_path + 1, sizeof *segment_of);

    if (made) {
        made->segments = calloc((size_t) c->n_path + 2, sizeof *made->segments);
        made->ops = calloc((size_t) c->domains->x->n + 1, sizeof *made->ops);
    }
    if (!segment_of || !made || !made->segments || !made->ops) {
        free(segment_of);
        mo_bound_chain_free(made);
        return mo_fail_memory(err);
    }
    /* segment_of: by position, the segment that begins at or before it; 0 is
     * before the first chosen op. */
    int n = 0;

    made->segments[0] = (mo_bound_segment){ .u = MO_FREE, .v = MO_FREE };
    for (int j = 0; j < c->n_path; j++) {
        if (c->chosen[j]) {
            made->segments[n++].v = c->path[j];
            made->segments[n] =
                (mo_bound_segment){ c->path[j], MO_FREE, NULL, 0 };
        }
        segment_of[j] = n;
    }
    made->n = n + 1;
    int n_ops = c->domains->x->n, at = 0;

    for (int i = 0; i < n_ops; i++) {
        int s = segment_of_op(c, made, segment_of, i);
        if (s >= 0)
            made->segments[s].n++;
    }
    for (int s = 0; s < made->n; s++) {
        made->segments[s].ops = made->ops + at;
        at += made->segments[s].n;
        made->segments[s].n = 0;
    }
    for (int i = 0; i < n_ops; i++) {
        int s = segment_of_op(c, made, segment_of, i);
        if (s >= 0)
            made->ops[made->segments[s].ops - made->ops +
                      made->segments[s].n++] = i;
    }
    free(segment_of);
    *chain = made;
    return MO_OK;
}

void mo_bound_chain_free(mo_bound_chain *chain)
{
    if (!chain)
        return;
    free(chain->segments);
    free(chain->ops);
    free(chain);
}

mo_status mo_bound_chain_find(const mo_allowed_devices *domains,
                              mo_bound_chain **chain, mo_error *err)
{
    size_t n = (size_t) domains->x->n + 3;
    chain_dp c = { .domains = domains };
    int64_t *times = calloc(n, 5 * sizeof *times);
    int *numbers = calloc(n, 7 * sizeof *numbers);
    mo_status status;
    int first = -1; /* of those chosen before */

    c.chosen = calloc(n, sizeof *c.chosen);
    c.work_ns = times;
    c.path = numbers;
    if (times && numbers && c.chosen) {
        c.until_ns = times + n;
        c.lost_ns = times + 2 * n;
        c.value_ns = times + 3 * n;
        c.scratch = times + 4 * n;
        c.lo = numbers + n;
        c.hi = numbers + 2 * n;
        c.by_hi = numbers + 3 * n;
        c.hi_start = numbers + 4 * n;
        c.candidates = numbers + 5 * n;
        c.from = numbers + 6 * n;
        for (int i = 0; i < c.domains->x->n; i++) {
            c.work_ns[i] = INT64_MAX;
            for (int k = 0; k < c.domains->x->n_devices; k++)
                if (mo_allowed_devices_has(c.domains, i, k) &&
                    mo_instance_p_ns(c.domains->x, i, k) < c.work_ns[i])
                    c.work_ns[i] = mo_instance_p_ns(c.domains->x, i, k);
        }
        if (c.domains->x->n > 0)
            find_path(&c);
        find_lo_and_hi(&c);
        sort_by_hi(&c);
        find_losses(&c);
        for (int j = 0; j < c.n_path; j++) {
            c.chosen[j] = c.lost_ns[j] == 0;
            if (!c.chosen[j])
                continue;
            if (j - first > 1)
                choose_between(&c, first, j);
            first = j;
        }
        if (c.n_path - first > 1)
            choose_between(&c, first, c.n_path);
        status = make_chain(&c, chain, err);
    } else {
        status = mo_fail_memory(err);
    }
    free(times);
    free(numbers);
    free(c.chosen);
    return status;
}

const mo_bound_segment *mo_bound_chain_largest(const mo_bound_chain *chain)
{
    const mo_bound_segment *largest = &chain->segments[0];

    for (int s = 1; s < chain->n; s++)
        if (chain->segments[s].n > largest->n)
            largest = &chain->segments[s];
    return largest;
}
