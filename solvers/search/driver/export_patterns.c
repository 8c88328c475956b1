/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export of the schedules and lower bounds of segments as patterns of a model
 * (models/patterns).
 *
 * A pattern is left out where the shortest schedule through it, by the
 * shortest patterns of all other segments, is longer than the slack of the set
 * allows (reduced cost fixing, by dynamic programming forwards and backwards
 * over the boundary devices).  The parts of the incumbent are always there.
 */
#include "solvers/search/driver/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "solvers/search/decomp/compose.h"

/* Most terms of a model's rows by patterns: some 15 MB as LP. */
enum { MAX_TERMS = 600000 };

/* A pattern of a class, or a direct transfer where it has no part. */
typedef struct candidate {
    int segment, boundary;
    const mo_schedule *schedule; /* of the class; NULL: direct */
    int64_t ns;
    int64_t through_ns; /* shortest schedule with it */
} candidate;

typedef struct export
{
    const mo_search_state *s;
    mo_pattern_set *set;
    candidate *candidates; /* by segment */
    size_t n, room;
    int64_t *before_ns, *after_ns; /* by cut and state: shortest to its end, and
                                      from there */
    int *device;                   /* scratch, by op */
    int64_t *start_ns;
    mo_transfer *transfers;
}
export;

static const mo_decomp_class *class_of(const export *e, int segment)
{
    return &e->s->classes->classes[e->s->segments->cls[segment]];
}

static mo_status add_candidate(export *e, const candidate *c, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(e->candidates, e->n, e->room, err);

    if (status == MO_OK)
        e->candidates[e->n++] = *c;
    return status;
}

static mo_status list_boundary(export *e, int segment, int boundary,
                               mo_error *err)
{
    const mo_decomp_class *cls = class_of(e, segment);
    const mo_decomp_boundary *b;
    candidate c = { segment, boundary, NULL, cls->upper_ns[boundary], 0 };
    mo_status status = MO_OK;

    if (!cls->part)
        return c.ns < INT64_MAX ? add_candidate(e, &c, err) : MO_OK;
    b = &cls->boundaries[boundary];
    if (b->best && !b->variants) {
        c.schedule = b->best;
        return add_candidate(e, &c, err);
    }
    for (int i = 0; b->variants && i < e->s->classes->n_variants; i++) {
        c.schedule = b->variants[i].schedule;
        if (!c.schedule || status != MO_OK)
            continue;
        c.ns = c.schedule->makespan_ns;
        status = add_candidate(e, &c, err);
    }
    return status;
}

/* Extends shortest times by one segment: from the states of its entry to those
 * of its exit, or back. */
static void extend(const export *e, size_t first, int segment, bool forwards)
{
    int n = e->s->states.n;
    int64_t *from = forwards ? e->before_ns + (int64_t) segment * n
                             : e->after_ns + (int64_t) (segment + 1) * n;
    int64_t *to = forwards ? from + n : from - n;

    for (int a = 0; a < n; a++)
        to[a] = INT64_MAX;
    for (size_t i = first; i < e->n && e->candidates[i].segment == segment;
         i++) {
        const candidate *c = &e->candidates[i];
        int a = forwards ? c->boundary / n : c->boundary % n,
            b = forwards ? c->boundary % n : c->boundary / n;

        if (from[a] < INT64_MAX)
            to[b] = mo_min_i64(to[b], from[a] + c->ns);
    }
}

/* Sets through_ns of all candidates. */
static mo_status find_through(export *e, mo_error *err)
{
    int n = e->s->states.n, n_segments = e->s->segments->n;
    size_t layers = ((size_t) n_segments + 1) * (size_t) n, at = 0;
    size_t *first = calloc((size_t) n_segments + 1, sizeof *first);

    e->before_ns = calloc(layers, sizeof *e->before_ns);
    e->after_ns = calloc(layers, sizeof *e->after_ns);
    if (!first || !e->before_ns || !e->after_ns) {
        free(first);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < n_segments; i++) {
        first[i] = at;
        while (at < e->n && e->candidates[at].segment == i)
            at++;
        extend(e, first[i], i, true);
    }
    for (int i = n_segments - 1; i >= 0; i--)
        extend(e, first[i], i, false);
    for (size_t i = 0; i < e->n; i++) {
        candidate *c = &e->candidates[i];
        int64_t before_ns =
            e->before_ns[(int64_t) c->segment * n + c->boundary / n];
        int64_t after_ns =
            e->after_ns[(int64_t) (c->segment + 1) * n + c->boundary % n];

        c->through_ns = before_ns == INT64_MAX || after_ns == INT64_MAX
                            ? INT64_MAX
                            : before_ns + c->ns + after_ns;
    }
    free(first);
    return MO_OK;
}

static int compare_through(const void *a, const void *b)
{
    const candidate *c = a, *d = b;

    if (c->through_ns != d->through_ns)
        return c->through_ns < d->through_ns ? -1 : 1;
    if (c->segment != d->segment)
        return c->segment < d->segment ? -1 : 1;
    if (c->boundary != d->boundary)
        return c->boundary < d->boundary ? -1 : 1;
    return (c->ns > d->ns) - (c->ns < d->ns);
}

static mo_status add_direct(export *e, const candidate *c, mo_pattern *p,
                            mo_error *err)
{
    const mo_instance *x = e->s->x;
    const mo_regime *regime = &e->s->regime;
    int u = mo_decomp_segment_entry(e->s->segments, c->segment),
        v = mo_decomp_segment_exit(e->s->segments, c->segment);
    int64_t at_ns = 0;

    if (v == MO_FREE)
        return mo_pattern_set_add(e->set, c->segment, p, err);
    e->device[0] = p->to;
    for (int q = u == MO_FREE ? 0 : x->out_start[u];
         u != MO_FREE && p->from != p->to && q < x->out_start[u + 1]; q++) {
        mo_transfer *t = &e->transfers[p->n_transfers++];

        *t = (mo_transfer){ .item = regime->tensors == MO_TENSORS_ONCE
                                        ? x->flows[q].tensor
                                        : q,
                            .from = p->from,
                            .to = p->to,
                            .start_ns = at_ns };
        t->end_ns = at_ns + mo_schedule_flow_ns(x, regime, q, p->from, p->to);
        if (mo_decomp_direct_transfers_serialize(x, regime, p->from, p->to))
            at_ns = t->end_ns;
    }
    e->start_ns[0] = p->ns - mo_instance_p_ns(x, v, p->to);
    return mo_pattern_set_add(e->set, c->segment, p, err);
}

static mo_status add_pattern(export *e, const candidate *c, mo_error *err)
{
    const mo_decomp_states *states = &e->s->states;
    const mo_decomp_class *cls = class_of(e, c->segment);
    int skip = cls->u == MO_FREE ? 0 : 1; /* u is of the segment before */
    const mo_schedule *s = c->schedule;
    mo_pattern p = { .ns = c->ns,
                     .device = e->device,
                     .start_ns = e->start_ns,
                     .transfers = e->transfers };

    if (mo_decomp_segment_entry(e->s->segments, c->segment) != MO_FREE)
        p.from = states->device[c->boundary / states->n];
    if (mo_decomp_segment_exit(e->s->segments, c->segment) != MO_FREE)
        p.to = states->device[c->boundary % states->n];
    if (!s)
        return add_direct(e, c, &p, err);
    for (int i = skip; i < s->n; i++) {
        e->device[i - skip] = s->device[i];
        e->start_ns[i - skip] = s->start_ns[i];
    }
    for (int i = 0; i < s->n_transfers; i++) {
        e->transfers[i] = s->transfers[i];
        e->transfers[i].item = mo_decomp_whole_item(e->s->classes, c->segment,
                                                    s->transfers[i].item);
    }
    p.n_transfers = s->n_transfers;
    return mo_pattern_set_add(e->set, c->segment, &p, err);
}

/* Those on the shortest schedules first, as many as the rows have room for:
 * places, starts and transfers are a term each. */
static mo_status add_candidates(export *e, mo_error *err)
{
    double limit_ns = (double) mo_search_upper_ns(e->s) * e->set->slack;
    int64_t left = MAX_TERMS;
    mo_status status = MO_OK;

    if (e->n > 0)
        qsort(e->candidates, e->n, sizeof *e->candidates, compare_through);
    for (size_t i = 0; i < e->n && status == MO_OK; i++) {
        const candidate *c = &e->candidates[i];

        if (c->through_ns == INT64_MAX || (double) c->through_ns > limit_ns)
            break;
        left -= c->schedule ? 2 * c->schedule->n + c->schedule->n_transfers : 2;
        if (left < 0)
            break;
        status = add_pattern(e, c, err);
    }
    return status;
}

/* Adds the parts of the incumbent, whose transfers are in the order of their
 * producers. */
static mo_status add_known(export *e, mo_error *err)
{
    const mo_instance *x = e->s->x;
    const mo_decomp_segments *segments = e->s->segments;
    const mo_schedule *s = e->s->best;
    mo_status status = MO_OK;
    int t = 0;

    for (int i = 0; i < segments->n && status == MO_OK; i++) {
        int u = mo_decomp_segment_entry(segments, i),
            v = mo_decomp_segment_exit(segments, i), first = e->set->first[i],
            end = e->set->first[i + 1];
        int64_t begin_ns =
            u == MO_FREE
                ? 0
                : s->start_ns[u] + mo_instance_p_ns(x, u, s->device[u]);
        mo_pattern p = { .from = u == MO_FREE ? 0 : s->device[u],
                         .to = v == MO_FREE ? 0 : s->device[v],
                         .is_known = true,
                         .device = s->device + first,
                         .start_ns = e->start_ns,
                         .transfers = e->transfers };

        p.ns = v == MO_FREE
                   ? s->makespan_ns - begin_ns
                   : s->start_ns[v] + mo_instance_p_ns(x, v, s->device[v]) -
                         begin_ns;
        for (int j = first; j < end; j++)
            e->start_ns[j - first] = s->start_ns[j] - begin_ns;
        for (; t < s->n_transfers; t++) {
            int item = s->transfers[t].item;
            int from = s->regime.tensors == MO_TENSORS_ONCE
                           ? x->tensor_from[item]
                           : x->flows[item].from;
            mo_transfer *to = &e->transfers[p.n_transfers];

            if (v != MO_FREE && from >= v)
                break;
            *to = s->transfers[t];
            to->start_ns -= begin_ns;
            to->end_ns -= begin_ns;
            p.n_transfers++;
        }
        status = mo_pattern_set_add(e->set, i, &p, err);
    }
    e->set->has_known = status == MO_OK;
    return status;
}

static mo_status export_lower(export *e, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < e->s->segments->n && status == MO_OK; i++)
        if (e->s->states.all)
            status =
                mo_pattern_set_lower(e->set, i, class_of(e, i)->lower_ns, err);
    return status;
}

static mo_status export_all(export *e, mo_error *err)
{
    const mo_instance *x = e->s->x;
    const mo_decomp_segments *segments = e->s->segments;
    int n_boundaries = e->s->states.n * e->s->states.n;
    mo_status status =
        mo_pattern_set_cut(e->set, segments->cut, segments->n - 1, err);

    e->device = calloc((size_t) x->n + 1, sizeof *e->device);
    e->start_ns = calloc((size_t) x->n + 1, sizeof *e->start_ns);
    e->transfers = calloc((size_t) x->n_flows + 1, sizeof *e->transfers);
    if (status == MO_OK && (!e->device || !e->start_ns || !e->transfers))
        status = mo_fail_memory(err);
    if (status == MO_OK && e->s->best)
        status = add_known(e, err);
    for (int i = 0; i < segments->n; i++)
        for (int b = 0; b < n_boundaries && status == MO_OK && e->s->best; b++)
            status = list_boundary(e, i, b, err);
    if (status == MO_OK)
        status = find_through(e, err);
    if (status == MO_OK)
        status = add_candidates(e, err);
    if (status == MO_OK)
        status = export_lower(e, err);
    return status;
}

mo_status mo_search_export_patterns(const mo_search_state *s,
                                    mo_pattern_set *set, mo_error *err)
{
    export e = { .s = s, .set = set };
    mo_status status = export_all(&e, err);

    free(e.candidates);
    free(e.before_ns);
    free(e.after_ns);
    free(e.device);
    free(e.start_ns);
    free(e.transfers);
    return status;
}
