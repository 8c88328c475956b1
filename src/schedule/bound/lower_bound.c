/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/lower_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "schedule/bound/colocation_bound.h"
#include "schedule/bound/head_tail.h"
#include "schedule/bound/load_bound.h"
#include "schedule/bound/op_chain.h"
#include "schedule/bound/priced_chain.h"
#include "schedule/bound/segment_bound.h"
#include "schedule/bound/segment_classes.h"
#include "schedule/serial_makespan.h"

/*
 * Path and load consider the whole graph: head, own time and tail of each op
 * on its best device (critical path); then the load, which has to fit between
 * heads and tails, and into memory (infeasibility_test.h).
 *
 * The chain sums over segments.  Along ops u1, u2, ... each of which succeeds
 * the one before it, all that lies between two of them runs between the end of
 * the first and the start of the second, so that the segments' lower bounds
 * add up along the chain, for whatever devices its ops are on: a shortest path
 * over those.  Where memory binds, the same with prices of memory.
 */

enum { MAX_WORK = 1 << 23 }; /* ops by devices to the third: seconds */

struct lower {
    const mo_stop *stop;
    mo_allowed_devices domains;
    int64_t most_ns;
    int64_t *head_ns, *tail_ns; /* heads and tails by op and device */
    int64_t *at;                /* by device */
    int64_t *start, *next;      /* by device, of the chain's op */
    int64_t *table;             /* by two devices */
    int64_t *tables;            /* by class of segments, the same */
    const int64_t **table_of;   /* by class */
    int *ops;                   /* all of them */
    mo_bound_segments *segments;
    mo_lower_bound found;
};

static void keep_best(struct lower *l, int64_t bound_ns, const char *which)
{
    if (bound_ns > l->found.bound_ns || !l->found.which)
        l->found = (mo_lower_bound){ bound_ns, which };
}

/* The whole graph as one segment. */
static void find_load_bound(struct lower *l)
{
    const mo_bound_segment whole = { MO_FREE, MO_FREE, l->ops,
                                     l->domains.x->n };

    if (mo_ablated(MO_ABLATION_bound_load))
        return;
    keep_best(l, mo_bound_load_ns(&l->domains, 0, whole.n, l->next), "load");
    mo_bound_segments_table(l->segments, &whole, l->most_ns, l->table);
    keep_best(l, l->table[0], "load");
}

/* Intervals between any two ops (colocation_bound.h), with what is known of n
 * of them. */
static mo_status find_colocation_bound(struct lower *l,
                                       const mo_coloc_pair_bound *known,
                                       size_t n, mo_error *err)
{
    const mo_coloc_effort effort = { MO_COLOC_WORK, 0 };
    int64_t bound_ns = 0;
    mo_status status = MO_OK;

    if (l->domains.x->n_devices > 1) /* else the load is the optimum */
        status = mo_bound_colocation(&l->domains, known, n, &effort, l->stop,
                                     &bound_ns, err);
    if (status == MO_OK)
        keep_best(l, bound_ns, "colocation");
    return status;
}

/* Shortest-path step: start[b] becomes the least start of the segment's v on
 * b, or of the end on 0, given those of its u. */
static void advance_segment(struct lower *l, const mo_bound_segment *segment,
                            const int64_t *table)
{
    const mo_instance *x = l->domains.x;
    int64_t *start = l->start, *next = l->next;
    int n_devices = x->n_devices;

    for (int b = 0; b < n_devices; b++) {
        next[b] = INT64_MAX;
        if (segment->v == MO_FREE
                ? b > 0
                : !mo_allowed_devices_has(&l->domains, segment->v, b))
            continue;
        for (int a = 0; a < n_devices; a++) {
            int64_t end_ns = segment->u == MO_FREE ? 0 : start[a];
            if (start[a] == INT64_MAX)
                continue;
            if (segment->u != MO_FREE)
                end_ns += mo_instance_p_ns(x, segment->u, a);
            if (end_ns + table[a * n_devices + b] < next[b])
                next[b] = end_ns + table[a * n_devices + b];
        }
    }
    memcpy(start, next, (size_t) n_devices * sizeof *start);
}

/* Tables of all classes of segments, in l->tables. */
static mo_status fill_tables(struct lower *l, const mo_bound_chain *chain,
                             const mo_bound_segment_classes *classes,
                             mo_error *err)
{
    size_t n_devices = (size_t) l->domains.x->n_devices;

    l->tables = calloc((size_t) classes->n + 1,
                       n_devices * n_devices * sizeof *l->tables);
    l->table_of = calloc((size_t) classes->n + 1, sizeof *l->table_of);
    if (!l->tables || !l->table_of)
        return mo_fail_memory(err);
    for (int c = 0; c < classes->n; c++) {
        int64_t *table = l->tables + (size_t) c * n_devices * n_devices;

        mo_bound_segments_table(l->segments,
                                &chain->segments[classes->first[c]], l->most_ns,
                                table);
        l->table_of[c] = table;
    }
    return MO_OK;
}

/* The segments of the chain as known intervals. */
static mo_status colocate_chain(struct lower *l, const mo_bound_chain *chain,
                                const mo_bound_segment_classes *classes,
                                mo_error *err)
{
    mo_coloc_pair_bound *known = calloc((size_t) chain->n + 1, sizeof *known);
    size_t n = 0;
    mo_status status;

    if (!known)
        return mo_fail_memory(err);
    for (int s = 0; s < chain->n; s++)
        if (chain->segments[s].u != MO_FREE && chain->segments[s].v != MO_FREE)
            known[n++] = mo_coloc_pair_bound_of(
                &l->domains, chain->segments[s].u, chain->segments[s].v,
                l->table_of[classes->of[s]]);
    status = find_colocation_bound(l, known, n, err);
    free(known);
    return status;
}

/* The chain with prices of memory (priced_chain.h). */
static mo_status price_memory(struct lower *l, const mo_bound_chain *chain,
                              const mo_bound_segment_classes *classes,
                              mo_error *err)
{
    const mo_priced_chain_tables tables = {
        .segments = chain->segments,
        .n = chain->n,
        .cls = classes->of,
        .n_classes = classes->n,
        .first = classes->first,
        .table = l->table_of,
    };
    mo_priced_chain *priced = NULL;
    int64_t bound_ns = 0;
    mo_status status;

    if (!mo_priced_chain_pays(&l->domains) || mo_stop_reached(l->stop))
        return MO_OK;
    status = mo_priced_chain_new(&l->domains, &tables, &priced, err);
    if (status == MO_OK)
        status = mo_priced_chain_raise(priced, 0, l->stop, &bound_ns, err);
    if (status == MO_OK)
        keep_best(l, bound_ns, "memory");
    mo_priced_chain_free(priced);
    return status;
}

static mo_status find_chain_bound(struct lower *l, mo_error *err)
{
    mo_bound_chain *chain = NULL;
    mo_status status = mo_bound_chain_find(&l->domains, &chain, err);

    if (status == MO_OK) {
        mo_bound_segment_classes *classes = NULL;

        status =
            mo_bound_segment_classes_find(&l->domains, chain, &classes, err);
        if (status == MO_OK)
            status = fill_tables(l, chain, classes, err);
        l->start[0] = 0;
        for (int k = 1; k < l->domains.x->n_devices; k++)
            l->start[k] = INT64_MAX;
        for (int s = 0; s < chain->n && status == MO_OK; s++)
            advance_segment(l, &chain->segments[s],
                            l->table_of[classes->of[s]]);
        if (status == MO_OK) {
            keep_best(l, l->start[0], "chain");
            status = colocate_chain(l, chain, classes, err);
        }
        if (status == MO_OK)
            status = price_memory(l, chain, classes, err);
        mo_bound_segment_classes_free(classes);
    }
    mo_bound_chain_free(chain);
    return status;
}

static mo_status find_bounds(struct lower *l, mo_error *err)
{
    mo_status status = mo_allowed_devices_find(&l->domains, err);

    if (status == MO_OK)
        status = mo_serial_makespan(l->domains.x, &l->domains.regime,
                                    &l->most_ns, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < l->domains.x->n; i++)
        l->ops[i] = i;
    mo_head_tail before = { .domains = &l->domains,
                            .time_ns = l->head_ns,
                            .arrival_ns = l->at,
                            .stop = l->stop };
    mo_head_tail after = { .domains = &l->domains,
                           .backward = true,
                           .time_ns = l->tail_ns,
                           .arrival_ns = l->at,
                           .stop = l->stop };
    int64_t most = 0;

    for (int i = 0; i < l->domains.x->n; i++)
        mo_head_tail_propagate(&before, i);
    for (int i = l->domains.x->n - 1; i >= 0; i--)
        mo_head_tail_propagate(&after, i);
    for (int i = 0; i < l->domains.x->n; i++) {
        int64_t least = INT64_MAX;

        for (int k = 0; k < l->domains.x->n_devices; k++) {
            int64_t at = mo_allowed_devices_index(&l->domains, i, k);
            int64_t way = l->head_ns[at] +
                          mo_instance_p_ns(l->domains.x, i, k) + l->tail_ns[at];
            if (l->domains.allowed[at] && way < least)
                least = way;
        }
        mo_head_tail_raise(&most, least);
    }
    keep_best(l, mo_ablated(MO_ABLATION_bound_path) ? 0 : most, "path");
    status = find_colocation_bound(l, NULL, 0, err);
    if (status != MO_OK)
        return status;
    status = mo_bound_segments_new(&l->domains, &l->segments, err);
    if (status != MO_OK)
        return status;
    mo_bound_segments_set_stop(l->segments, l->stop);
    find_load_bound(l);
    int64_t n = l->domains.x->n, n_devices = l->domains.x->n_devices;
    if (!(n_devices <= 64 &&
          n * n_devices * n_devices * n_devices <= MAX_WORK) ||
        mo_stop_reached(l->stop) || mo_ablated(MO_ABLATION_bound_chain))
        return MO_OK;
    return find_chain_bound(l, err);
}

static mo_status allocate_buffers(struct lower *l, mo_error *err)
{
    size_t n = (size_t) l->domains.x->n + 1;
    size_t n_devices = (size_t) l->domains.x->n_devices, size;

    if (!mo_size_mul(n, n_devices, &size))
        return mo_fail_memory(err);
    l->domains.allowed = calloc(size, sizeof *l->domains.allowed);
    l->head_ns = calloc(size, sizeof *l->head_ns);
    l->tail_ns = calloc(size, sizeof *l->tail_ns);
    l->at = calloc(n_devices + 1, sizeof *l->at);
    l->start = calloc(n_devices + 1, sizeof *l->start);
    l->next = calloc(n_devices + 1, sizeof *l->next);
    l->table = calloc(n_devices + 1, n_devices * sizeof *l->table);
    l->ops = calloc(n, sizeof *l->ops);
    if (!l->domains.allowed || !l->head_ns || !l->tail_ns || !l->at ||
        !l->start || !l->next || !l->table || !l->ops)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_bound_lower(const mo_instance *x, const mo_regime *regime,
                         mo_lower_bound *lower, mo_error *err)
{
    return mo_bound_lower_until(x, regime, NULL, lower, err);
}

mo_status mo_bound_lower_until(const mo_instance *x, const mo_regime *regime,
                               const mo_stop *stop, mo_lower_bound *lower,
                               mo_error *err)
{
    struct lower l = { .domains = { x, *regime, NULL }, .stop = stop };
    mo_status status = allocate_buffers(&l, err);

    if (status == MO_OK)
        status = find_bounds(&l, err);
    if (status == MO_OK)
        *lower = l.found;
    mo_bound_segments_free(l.segments);
    free(l.domains.allowed);
    free(l.head_ns);
    free(l.tail_ns);
    free(l.at);
    free(l.start);
    free(l.next);
    free(l.table);
    free(l.tables);
    free(l.table_of);
    free(l.ops);
    return status;
}
