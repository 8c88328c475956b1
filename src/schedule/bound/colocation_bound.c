/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_bound.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "schedule/bound/colocation_band.h"
#include "schedule/bound/colocation_search.h"

/*
 * For ops u and v, u before v, same(u, v) and apart(u, v) are lower bounds on
 * the time from the start of u to the start of v when they are on one device,
 * or on two.  Over an op y between them
 *
 *     same(u, v)  >= min(same(u, y) + same(y, v), apart(u, y) + apart(y, v))
 *     apart(u, v) >= min(same(u, y) + apart(y, v), apart(u, y) + same(y, v),
 *                        apart(u, y) + apart(y, v))
 *
 * and a flow from y to z that is cut takes its transfer besides.  So the time
 * below which y and z, or y and u, cannot be separated is known from shorter
 * intervals, and a test of these pairs (colocation_test.h) raises both values.
 * So does a search over the placements of a few ops (colocation_search.h):
 * first of all intervals, then, with ever more nodes, of the critical ones,
 * whose head, length and tail add up to about the bound.
 *
 * Intervals are kept in a band: v less than `width` ops behind u.  The start
 * and the end of the schedule have no device; head and tail of an op are the
 * intervals from the one and to the other.
 */

enum {
    COST_PART = 200,    /* penalty of each interval in a chain: 1/200 of the
                           bound, so that chains have few intervals */
    RAISED_PART = 16,   /* an interval is not raised beyond 1/16 above the bound
                           at once */
    OPS_PER_NODE = 200, /* composition steps that take as long as a node */
    FIRST_SEARCH_LEVEL = 4, /* at most, while some interval can be searched */
    /* The cost of an interval that is not searched is doubled while a longest
     * chain has no other; then the level rises. */
    MAX_SKIP_COST = 16,
    LAST_SKIP_COST = 64 /* at the highest level */
};

mo_coloc_pair_bound mo_coloc_pair_bound_of(const mo_allowed_devices *d, int u,
                                           int v, const int64_t *table)
{
    mo_coloc_pair_bound known = { u, v, MO_MAX_TOTAL_NS, MO_MAX_TOTAL_NS };
    int n = d->x->n_devices;

    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            int64_t *least = a == b ? &known.same_ns : &known.apart_ns;

            if (mo_allowed_devices_has(d, u, a) &&
                mo_allowed_devices_has(d, v, b))
                *least = mo_min_i64(*least, table[a * n + b]);
        }
    return known;
}

/* Whether two ops share a device in some placement, or in each. */
static bool can_share_device(const mo_coloc_band *b, int u, int v)
{
    for (int k = 0; k < b->x->n_devices; k++)
        if (mo_allowed_devices_has(b->domains, u, k) &&
            mo_allowed_devices_has(b->domains, v, k))
            return true;
    return false;
}

static bool must_share_device(const mo_coloc_band *b, int u, int v)
{
    int group = b->x->group[u];

    if (group != MO_FREE && group == b->x->group[v])
        return true;
    for (int k = 0; k < b->x->n_devices; k++)
        for (int l = 0; l < b->x->n_devices; l++)
            if (k != l && mo_allowed_devices_has(b->domains, u, k) &&
                mo_allowed_devices_has(b->domains, v, l))
                return false;
    return true;
}

/* Known intervals that begin with the present u or before. */
typedef struct known_list {
    const mo_coloc_pair_bound *known;
    size_t n;
} known_list;

/* Both values by composition over the ops between. */
static void compose_over_ops(const mo_coloc_band *b, mo_coloc_times *t)
{
    int u = b->first, v = b->last;
    const int64_t *same_u = b->same_from + mo_coloc_band_at(b, u, 0);
    const int64_t *apart_u = b->apart_from + mo_coloc_band_at(b, u, 0);
    const int64_t *same_v = b->same_to + mo_coloc_band_at(b, v, 0);
    const int64_t *apart_v = b->apart_to + mo_coloc_band_at(b, v, 0);

    for (int i = 1; i < b->n_ops - 1; i++) {
        int to = b->ops[i] - u, from = v - b->ops[i];
        int64_t both = apart_u[to] + apart_v[from];
        int64_t one =
            mo_min_i64(same_u[to] + apart_v[from], apart_u[to] + same_v[from]);

        t->same_ns =
            mo_max_i64(t->same_ns, mo_min_i64(same_u[to] + same_v[from], both));
        t->apart_ns = mo_max_i64(t->apart_ns, mo_min_i64(one, both));
    }
}

/* An interval with one flow more at an end: on one device, or on two. */
static void append_flow(int64_t same_ns, int64_t apart_ns, int64_t edge_ns,
                        mo_coloc_times *t)
{
    t->same_ns =
        mo_max_i64(t->same_ns, mo_min_i64(same_ns, apart_ns + edge_ns));
    t->apart_ns =
        mo_max_i64(t->apart_ns, mo_min_i64(same_ns + edge_ns, apart_ns));
}

/* And over the flows at its ends. */
static void compose_over_flows(const mo_coloc_band *b, mo_coloc_times *t)
{
    const mo_instance *x = b->x;
    int u = b->first, v = b->last;

    for (int e = x->in_start[v]; e < x->in_start[v + 1]; e++) {
        int flow = x->in_flows[e], y = x->flows[flow].from;
        int64_t at = mo_coloc_band_at(b, u, y - u);

        if (y >= u && b->same_from[at] >= 0)
            append_flow(b->same_from[at] + b->p_ns[y],
                        b->apart_from[at] + b->p_ns[y], b->edge_ns[flow], t);
    }
    for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++) {
        int z = x->flows[q].to;
        int64_t at = mo_coloc_band_at(b, v, v - z);

        if (z <= v && b->same_to[at] >= 0)
            append_flow(b->same_to[at] + b->p_ns[u],
                        b->apart_to[at] + b->p_ns[u], b->edge_ns[q], t);
    }
}

/* And by what is known. */
static void compose_known(const mo_coloc_band *b, const known_list *list,
                          mo_coloc_times *t)
{
    for (size_t i = list->n; i-- > 0 && list->known[i].u == b->first;) {
        const mo_coloc_pair_bound *known = &list->known[i];

        if (known->v != b->last)
            continue;
        t->same_ns =
            mo_max_i64(t->same_ns, known->same_ns >= MO_MAX_TOTAL_NS
                                       ? MO_COLOC_NEVER_NS
                                       : known->same_ns + b->p_ns[known->u]);
        t->apart_ns =
            mo_max_i64(t->apart_ns, known->apart_ns >= MO_MAX_TOTAL_NS
                                        ? MO_COLOC_NEVER_NS
                                        : known->apart_ns + b->p_ns[known->u]);
    }
}

static mo_status bound_interval(mo_coloc_band *b, const known_list *list,
                                mo_error *err)
{
    int u = b->first, v = b->last;
    mo_coloc_times t = { can_share_device(b, u, v) ? 0 : MO_COLOC_NEVER_NS,
                         must_share_device(b, u, v) ? MO_COLOC_NEVER_NS : 0 };
    int64_t any_ns;
    mo_status status;

    compose_over_ops(b, &t);
    compose_over_flows(b, &t);
    compose_known(b, list, &t);
    mo_coloc_band_add_members(b);
    status = mo_coloc_band_raise_by_ports(b, &t.same_ns, &t.apart_ns, err);
    any_ns = mo_min_i64(t.same_ns, t.apart_ns);
    if (status == MO_OK)
        status = mo_coloc_band_raise_interval(b, MO_COLOC_ANY, &any_ns, err);
    t.same_ns = mo_max_i64(t.same_ns, any_ns);
    t.apart_ns = mo_max_i64(t.apart_ns, any_ns);
    if (status == MO_OK)
        status =
            mo_coloc_band_raise_interval(b, MO_COLOC_SAME, &t.same_ns, err);
    if (status == MO_OK)
        status =
            mo_coloc_band_raise_interval(b, MO_COLOC_APART, &t.apart_ns, err);
    mo_coloc_band_forget_members(b);
    mo_coloc_search_raise(b, MO_COLOC_SAME, &t.same_ns);
    mo_coloc_search_raise(b, MO_COLOC_APART, &t.apart_ns);
    if (status == MO_OK)
        mo_coloc_band_store(b, t);
    return status;
}

static mo_status raise_open_interval(mo_coloc_band *b, int64_t *least_ns,
                                     mo_error *err)
{
    mo_status status;

    mo_coloc_band_add_members(b);
    status = mo_coloc_band_raise_interval(b, MO_COLOC_ANY, least_ns, err);
    mo_coloc_band_forget_members(b);
    mo_coloc_search_raise(b, MO_COLOC_ANY, least_ns);
    return status;
}

static mo_status find_head(mo_coloc_band *b, int v, mo_error *err)
{
    const mo_instance *x = b->x;
    const int64_t *same = b->same_to + mo_coloc_band_at(b, v, 0);
    const int64_t *apart = b->apart_to + mo_coloc_band_at(b, v, 0);
    int64_t head = b->head_ns[v];

    b->first = MO_FREE;
    b->last = v;
    b->n_ops = 0;
    for (int e = x->in_start[v]; e < x->in_start[v + 1]; e++) {
        int y = x->flows[x->in_flows[e]].from;

        head = mo_max_i64(head, b->head_ns[y] + b->p_ns[y]);
    }
    for (int y = mo_max_int(0, v - b->width + 1); y < v; y++) {
        int64_t tail_ns = mo_min_i64(same[v - y], apart[v - y]);

        if (tail_ns < 0)
            continue;
        mo_coloc_band_add_op(b, y, b->head_ns[y], tail_ns);
        head = mo_max_i64(head, b->head_ns[y] + tail_ns);
    }
    b->head_ns[v] = mo_min_i64(head, MO_COLOC_NEVER_NS);
    mo_coloc_band_add_op(b, v, b->head_ns[v], 0);
    return raise_open_interval(b, &b->head_ns[v], err);
}

static mo_status find_tail(mo_coloc_band *b, int u, mo_error *err)
{
    const mo_instance *x = b->x;
    const int64_t *same = b->same_from + mo_coloc_band_at(b, u, 0);
    const int64_t *apart = b->apart_from + mo_coloc_band_at(b, u, 0);
    int end = mo_min_int(x->n, u + b->width);
    int64_t tail = mo_max_i64(b->tail_ns[u], b->p_ns[u]);

    b->first = u;
    b->last = MO_FREE;
    b->n_ops = 0;
    mo_coloc_band_add_op(b, u, 0, 0);
    for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++)
        tail = mo_max_i64(tail, b->p_ns[u] + b->tail_ns[x->flows[q].to]);
    for (int y = u + 1; y < end; y++) {
        int64_t head_ns = mo_min_i64(same[y - u], apart[y - u]);

        if (head_ns < 0)
            continue;
        mo_coloc_band_add_op(b, y, head_ns, b->tail_ns[y]);
        tail = mo_max_i64(tail, head_ns + b->tail_ns[y]);
    }
    b->tail_ns[u] = mo_min_i64(tail, MO_COLOC_NEVER_NS);
    b->interval_tail_ns[u] = b->tail_ns[u];
    return raise_open_interval(b, &b->tail_ns[u], err);
}

/* The whole schedule, by heads and tails. */
static mo_status bound_whole(mo_coloc_band *b, int64_t *bound_ns, mo_error *err)
{
    b->first = b->last = MO_FREE;
    b->n_ops = 0;
    for (int i = 0; i < b->x->n; i++) {
        mo_coloc_band_add_op(b, i, b->head_ns[i], b->tail_ns[i]);
        *bound_ns = mo_max_i64(*bound_ns, b->head_ns[i] + b->tail_ns[i]);
    }
    return raise_open_interval(b, bound_ns, err);
}

static mo_status bound_schedule(mo_coloc_band *b, int64_t *bound_ns,
                                mo_error *err)
{
    mo_status status = MO_OK;

    for (int v = 0; v < b->x->n && status == MO_OK; v++)
        status = find_head(b, v, err);
    for (int u = b->x->n - 1; u >= 0 && status == MO_OK; u--)
        status = find_tail(b, u, err);
    return status == MO_OK ? bound_whole(b, bound_ns, err) : status;
}

/* Raises all intervals by what is known of those within them. */
static void compose_intervals(mo_coloc_band *b)
{
    for (int u = b->x->n - 1; u >= 0; u--)
        for (int v = u + 1; v < mo_min_int(b->x->n, u + b->width); v++)
            if (mo_coloc_band_collect(b, u, v)) {
                int64_t at = mo_coloc_band_at(b, u, v - u);
                mo_coloc_times t = { b->same_from[at], b->apart_from[at] };

                compose_over_ops(b, &t);
                compose_over_flows(b, &t);
                mo_coloc_band_store(b, t);
            }
}

/*
 * Critical intervals: chains whose head, lengths and tail add up to about the
 * bound, and their refinement.
 */

enum {
    MAX_LEVEL = 6,
    LEAST_SKIP_COST = 8,
    FIRST_SPAN = 48, /* ops of an interval, while the skip cost is least */
    MAX_SPAN = 160,
    FIRST_NODES = 2000, /* of an interval of a chain, then four times as many */
    CLOSED = MAX_LEVEL + 1 /* more nodes do not raise it further */
};

/* Intervals are searched up to a level; others cost skip_cost in a chain. */
typedef struct search_limits {
    int level, skip_cost;
} search_limits;

/* Finds the chain of intervals with the largest sum, less cost_ns for each and
 * for each search of it.  before[v] becomes the op before v of the chain that
 * ends in v, MO_FREE: none; most_ns, by op, is scratch.  Returns the last op.
 */
static int find_chain(const mo_coloc_band *b, int64_t cost_ns,
                      const search_limits *limits, int64_t *most_ns,
                      int *before)
{
    int span = limits->skip_cost > LEAST_SKIP_COST ? MAX_SPAN : FIRST_SPAN;
    int64_t sum_ns = INT64_MIN;
    int last = 0;

    for (int v = 0; v < b->x->n; v++) {
        most_ns[v] = b->head_ns[v];
        before[v] = MO_FREE;
        for (int u = mo_max_int(0, v - mo_min_int(span, b->width) + 1); u < v;
             u++) {
            int64_t at = mo_coloc_band_at(b, u, v - u);
            int64_t ns = mo_min_i64(b->same_from[at], b->apart_from[at]);

            ns = mo_min_i64(ns + most_ns[u], MO_MAX_TOTAL_NS) -
                 cost_ns * (b->search_level[at] <= limits->level
                                ? 1 + b->search_level[at]
                                : limits->skip_cost);
            if (b->same_from[at] >= 0 &&
                (before[v] == MO_FREE || ns > most_ns[v])) {
                most_ns[v] = ns;
                before[v] = u;
            }
        }
        if (b->x->out_start[v] == b->x->out_start[v + 1] &&
            most_ns[v] + b->tail_ns[v] > sum_ns) {
            sum_ns = most_ns[v] + b->tail_ns[v];
            last = v;
        }
    }
    return last;
}

/* Searches the intervals of the chain that ends in v, up to the level, with
 * more nodes than before and up to most_ns; returns whether any was open. */
static bool refine_chain(mo_coloc_band *b, int level, const int *before, int v,
                         int64_t most_ns)
{
    bool any = false;

    for (; before[v] != MO_FREE; v = before[v])
        if (b->search_level[mo_coloc_band_at(b, before[v], v - before[v])] <=
            level) {
            int u = before[v];
            int64_t at = mo_coloc_band_at(b, u, v - u);
            int64_t rest_ns = b->head_ns[u] + b->tail_ns[v];
            mo_coloc_times t = { b->same_from[at], b->apart_from[at] };
            bool closed = true;

            if (mo_coloc_band_collect(b, u, v)) {
                b->max_nodes = (int64_t) FIRST_NODES
                               << (2 * b->search_level[at]);
                if (rest_ns + t.same_ns < most_ns)
                    closed =
                        mo_coloc_search_raise(b, MO_COLOC_SAME, &t.same_ns);
                if (rest_ns + t.apart_ns < most_ns)
                    closed &=
                        mo_coloc_search_raise(b, MO_COLOC_APART, &t.apart_ns);
                mo_coloc_band_store(b, t);
                if (closed)
                    b->search_level[at] = CLOSED;
                else
                    b->search_level[at]++;
            }
            any = true;
        }
    return any;
}

#define NS_PER_TEST 1.0 /* units of mo_stop_spend() per unit of effort */

struct mo_coloc_bound {
    mo_coloc_band band;
    int64_t bound_ns;
    int next_first;    /* op whose intervals come next; -1: all have bounds */
    int64_t test_work; /* of these (mo_stop_spend), about */
    search_limits limits;
    int64_t *most_ns; /* scratch, by op: of the longest chain */
    int *before;
};

/* Bounds the intervals that have no bound yet, and the schedule. */
static mo_status bound_intervals(mo_coloc_bound *c,
                                 const mo_coloc_pair_bound *known, size_t n,
                                 mo_error *err)
{
    known_list list = { known, n };
    mo_status status = MO_OK;

    while (c->next_first >= 0 && status == MO_OK &&
           !mo_stop_spend(c->band.stop, c->test_work)) {
        /* All intervals that begin with u, after those that begin behind it. */
        int u = c->next_first--;
        int end = mo_min_int(c->band.x->n, u + c->band.width);
        status = MO_OK;

        while (list.n > 0 && list.known[list.n - 1].u > u)
            list.n--;
        c->band.same_from[mo_coloc_band_at(&c->band, u, 0)] =
            c->band.same_to[mo_coloc_band_at(&c->band, u, 0)] = 0;
        c->band.apart_from[mo_coloc_band_at(&c->band, u, 0)] =
            c->band.apart_to[mo_coloc_band_at(&c->band, u, 0)] =
                MO_COLOC_NEVER_NS;
        for (int v = u + 1; v < end && status == MO_OK; v++)
            if (mo_coloc_band_collect(&c->band, u, v))
                status = bound_interval(&c->band, &list, err);
    }
    return status == MO_OK ? bound_schedule(&c->band, &c->bound_ns, err)
                           : status;
}

mo_status mo_coloc_bound_new(const mo_allowed_devices *domains,
                             const mo_coloc_pair_bound *known, size_t n,
                             const mo_coloc_effort *effort, const mo_stop *stop,
                             mo_coloc_bound **bound, mo_error *err)
{
    mo_coloc_bound *c = calloc(1, sizeof *c);
    mo_status status;

    if (!c)
        return mo_fail_memory(err);
    c->test_work = (int64_t) (NS_PER_TEST * effort->work / (domains->x->n + 1));
    status = mo_coloc_band_open(domains, effort, &c->band, err);
    c->band.stop = stop;
    c->next_first = domains->x->n - 1;
    c->limits = (search_limits){ FIRST_SEARCH_LEVEL, LEAST_SKIP_COST };
    c->most_ns = calloc((size_t) domains->x->n + 1, sizeof *c->most_ns);
    c->before = calloc((size_t) domains->x->n + 1, sizeof *c->before);
    if (status == MO_OK && (!c->most_ns || !c->before))
        status = mo_fail_memory(err);
    if (mo_ablated(MO_ABLATION_bound_colocation))
        c->next_first = -1;
    if (c->next_first < 0 || mo_ablated(MO_ABLATION_colocation_chain))
        c->limits.level = MAX_LEVEL + 1;
    if (status == MO_OK && !mo_ablated(MO_ABLATION_bound_colocation))
        status = bound_intervals(c, known, n, err);
    if (status == MO_OK)
        *bound = c;
    else
        mo_coloc_bound_free(c);
    return status;
}

void mo_coloc_bound_free(mo_coloc_bound *c)
{
    if (!c)
        return;
    mo_coloc_band_close(&c->band);
    free(c->most_ns);
    free(c->before);
    free(c);
}

bool mo_coloc_bound_is_closed(const mo_coloc_bound *c)
{
    return c->limits.level > MAX_LEVEL || c->bound_ns >= MO_MAX_TOTAL_NS;
}

int64_t mo_coloc_bound_ns(const mo_coloc_bound *c)
{
    return c->bound_ns < MO_MAX_TOTAL_NS ? c->bound_ns : 0;
}

mo_status mo_coloc_bound_refine(mo_coloc_bound *c,
                                const mo_coloc_pair_bound *known, size_t n,
                                double nodes, const mo_stop *stop,
                                mo_error *err)
{
    mo_coloc_band *b = &c->band;
    double work = (double) b->x->n * b->width * b->width / OPS_PER_NODE;
    mo_status status = MO_OK;

    b->stop = stop;
    b->nodes_left = nodes;
    if (c->next_first >= 0)
        status = bound_intervals(c, known, n, err);
    for (size_t i = 0; i < n; i++) {
        const known_list one = { &known[i], 1 };
        int u = known[i].u, v = known[i].v;
        int64_t at = mo_coloc_band_at(b, u, v - u);

        if (v - u < b->width && mo_coloc_band_collect(b, u, v)) {
            mo_coloc_times t = { b->same_from[at], b->apart_from[at] };

            compose_known(b, &one, &t);
            mo_coloc_band_store(b, t);
        }
    }
    while (c->next_first < 0 && !mo_coloc_bound_is_closed(c) &&
           b->nodes_left > 0 && status == MO_OK && !mo_stop_reached(b->stop)) {
        int64_t most_ns = c->bound_ns + c->bound_ns / RAISED_PART;
        int v = find_chain(b, c->bound_ns / COST_PART, &c->limits, c->most_ns,
                           c->before);

        if (!refine_chain(b, c->limits.level, c->before, v, most_ns)) {
            c->limits.skip_cost *= 2;
            if (c->limits.skip_cost >
                (c->limits.level < MAX_LEVEL ? MAX_SKIP_COST : LAST_SKIP_COST))
                c->limits =
                    (search_limits){ c->limits.level + 1, LEAST_SKIP_COST };
            continue;
        }
        compose_intervals(b);
        b->nodes_left -= work + 1;
        b->max_nodes = 0;
        status = bound_schedule(b, &c->bound_ns, err);
    }
    return status;
}

mo_status mo_bound_colocation(const mo_allowed_devices *domains,
                              const mo_coloc_pair_bound *known, size_t n,
                              const mo_coloc_effort *effort,
                              const mo_stop *stop, int64_t *bound_ns,
                              mo_error *err)
{
    mo_coloc_bound *c = NULL;
    mo_status status =
        mo_coloc_bound_new(domains, known, n, effort, stop, &c, err);

    *bound_ns = 0;
    if (status == MO_OK)
        status =
            mo_coloc_bound_refine(c, NULL, 0, c->band.nodes_left, stop, err);
    if (status == MO_OK)
        *bound_ns = mo_coloc_bound_ns(c);
    mo_coloc_bound_free(c);
    return status;
}
