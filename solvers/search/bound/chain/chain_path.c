/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/chain_bound.h"

#include <stdlib.h>
#include <string.h>

/*
 * The chain of a kind begins and ends with its u and v, where it has them,
 * since those are clean cuts of its instance: they are the v of some segment.
 * There the way is held to the devices that the ends are on.
 */

typedef struct walk {
    const mo_chain_blocks *blocks;
    const mo_decomp_class *cls;
    const mo_chain_partition *chained;
    int64_t *const *tables;
    int64_t *now, *next; /* by device: the least end of the chain's op there */
    int *from;           /* NULL, or by segment and device behind: before it */
} walk;

static mo_status begin(walk *w, const mo_chain_blocks *blocks, int cls,
                       int64_t *const *tables, mo_error *err)
{
    size_t n_devices = (size_t) blocks->classes->x->n_devices;

    *w = (walk){ .blocks = blocks,
                 .cls = &blocks->classes->classes[cls],
                 .chained = &blocks->chained[cls],
                 .tables = tables };
    w->now = malloc(n_devices * sizeof *w->now);
    w->next = malloc(n_devices * sizeof *w->next);
    return w->now && w->next ? MO_OK : mo_fail_memory(err);
}

static void end(walk *w)
{
    free(w->now);
    free(w->next);
    free(w->from);
}

static const int64_t *table_of(const walk *w, int segment)
{
    int block = w->chained->block[segment];

    return w->tables ? w->tables[block] : w->blocks->blocks[block].lower_ns;
}

/* now becomes the ends of the segment's v, with u of the piece on device a. */
static void pass_segment(walk *w, int segment, int a)
{
    const mo_bound_segment *s = &w->chained->chain->segments[segment];
    const mo_instance *x = w->cls->part->x;
    const int64_t *table = table_of(w, segment);
    int n = x->n_devices;
    int64_t *next = w->next;

    for (int k = 0; k < n; k++) {
        int before = -1;

        next[k] = INT64_MAX;
        if (s->v != MO_FREE && s->v == w->cls->u && k != a)
            continue;
        for (int j = 0; j < n; j++)
            if (w->now[j] != INT64_MAX && table[j * n + k] != INT64_MAX &&
                w->now[j] + table[j * n + k] < next[k]) {
                next[k] = w->now[j] + table[j * n + k];
                before = j;
            }
        if (s->v != MO_FREE && next[k] != INT64_MAX)
            next[k] += mo_instance_p_ns(x, s->v, k);
        if (w->from)
            w->from[segment * n + k] = before;
    }
    w->next = w->now;
    w->now = next;
}

static void begin_at(walk *w)
{
    for (int k = 0; k < w->cls->part->x->n_devices; k++)
        w->now[k] = k == 0 ? 0 : INT64_MAX;
}

/* The pairs that begin with a. */
static void add_up_from(walk *w, int a, int64_t *times_ns)
{
    int n = w->cls->part->x->n_devices;

    begin_at(w);
    for (int s = 0; s < w->chained->chain->n; s++) {
        pass_segment(w, s, a);
        if (w->cls->v != MO_FREE &&
            w->chained->chain->segments[s].v == w->cls->v)
            memcpy(times_ns + (size_t) a * (size_t) n, w->now,
                   (size_t) n * sizeof *times_ns);
    }
    if (w->cls->v == MO_FREE)
        times_ns[a * n] = w->now[0];
}

mo_status mo_chain_blocks_min_times(const mo_chain_blocks *blocks, int cls,
                                    int64_t *const *tables, int64_t *times_ns,
                                    mo_error *err)
{
    int n = blocks->classes->x->n_devices;
    walk w = { 0 };
    mo_status status = begin(&w, blocks, cls, tables, err);

    for (int boundary = 0; boundary < n * n; boundary++)
        times_ns[boundary] = INT64_MAX;
    for (int a = 0; a < n && status == MO_OK; a++)
        if (a == 0 || w.cls->u != MO_FREE)
            add_up_from(&w, a, times_ns);
    end(&w);
    return status;
}

/* From the last segment back. */
static void trace_back(const walk *w, int b, int *boundaries)
{
    const mo_bound_chain *chain = w->chained->chain;
    int n = w->cls->part->x->n_devices, device = 0;

    for (int s = chain->n - 1; s >= 0; s--) {
        int v = chain->segments[s].v, before;

        if (v != MO_FREE && v == w->cls->v)
            device = b;
        before = w->from[s * n + device];
        boundaries[s] = before < 0 ? 0 : before * n + device;
        device = before < 0 ? 0 : before;
    }
}

mo_status mo_chain_blocks_shortest_path(const mo_chain_blocks *blocks, int cls,
                                        int boundary, int64_t *const *tables,
                                        int *boundaries, mo_error *err)
{
    int n = blocks->classes->x->n_devices;
    walk w = { 0 };
    mo_status status = begin(&w, blocks, cls, tables, err);

    if (status == MO_OK) {
        size_t size = (size_t) w.chained->chain->n * (size_t) n;

        w.from = malloc(size * sizeof *w.from);
        status = w.from ? MO_OK : mo_fail_memory(err);
    }
    if (status == MO_OK) {
        begin_at(&w);
        for (int s = 0; s < w.chained->chain->n; s++)
            pass_segment(&w, s, boundary / n);
        trace_back(&w, boundary % n, boundaries);
    }
    end(&w);
    return status;
}

static int64_t op_end(const mo_instance *x, const mo_schedule *s, int op)
{
    return s->start_ns[op] + mo_instance_p_ns(x, op, s->device[op]);
}

static int64_t last_end(const mo_instance *x, const mo_schedule *s,
                        const mo_bound_segment *segment, int64_t least_ns)
{
    for (int i = 0; i < segment->n; i++) {
        int64_t end_ns = op_end(x, s, segment->ops[i]);

        least_ns = end_ns > least_ns ? end_ns : least_ns;
    }
    return least_ns;
}

void mo_chain_blocks_record_schedule(mo_chain_blocks *blocks, int cls,
                                     const mo_schedule *schedule)
{
    const mo_instance *x = blocks->classes->classes[cls].part->x;
    const mo_chain_partition *chained = &blocks->chained[cls];

    for (int s = 0; s < chained->chain->n; s++) {
        const mo_bound_segment *segment = &chained->chain->segments[s];
        int u = segment->u, v = segment->v;
        int a = u == MO_FREE ? 0 : schedule->device[u];
        int b = v == MO_FREE ? 0 : schedule->device[v];
        int64_t begin_ns = u == MO_FREE ? 0 : op_end(x, schedule, u);
        int64_t until_ns = v == MO_FREE
                               ? last_end(x, schedule, segment, begin_ns)
                               : schedule->start_ns[v];
        int64_t *seen_ns =
            &blocks->blocks[chained->block[s]].seen_ns[a * x->n_devices + b];

        if (until_ns - begin_ns < *seen_ns)
            *seen_ns = until_ns - begin_ns;
    }
}
