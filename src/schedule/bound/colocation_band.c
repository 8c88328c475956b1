/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_band.h"

#include <math.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "schedule/schedule.h"

enum {
    MIN_WIDTH = 48,    /* less is not worth its memory */
    MIN_NODES = 20,    /* fewer find nothing */
    MAX_NODES = 10000, /* more find little */
    SEARCHES = 8       /* by op and width: half the pairs, both cases, sizes,
                          and as many nodes for what follows */
};

/* Returns the least transfer between two devices that are allowed. */
static int64_t least_transfer_ns(const mo_allowed_devices *d, int flow)
{
    int from = d->x->flows[flow].from, to = d->x->flows[flow].to;
    int64_t least = MO_COLOC_NEVER_NS;

    if (d->x->group[from] != MO_FREE && d->x->group[from] == d->x->group[to])
        return least;
    for (int k = 0; k < d->x->n_devices; k++)
        for (int l = 0; l < d->x->n_devices; l++)
            if (k != l && mo_allowed_devices_has(d, from, k) &&
                mo_allowed_devices_has(d, to, l))
                least = mo_min_i64(
                    least, mo_schedule_flow_ns(d->x, &d->regime, flow, k, l));
    return least;
}

/* Chooses the width of the band: ops by width squared are the work. */
static mo_status allocate_band(mo_coloc_band *b, const mo_coloc_effort *effort,
                               mo_error *err)
{
    double n = b->x->n;
    double each = (n + b->x->n_flows) *
                  (1 + mo_coloc_test_class_data(b->test)->n_classes);
    double width = fmin(n, sqrt(effort->work / (each + 1)));
    size_t size;

    b->width = width < fmin(n, MIN_WIDTH) || n < 2 ? 2 : (int) width;
    b->nodes_left = effort->nodes;
    b->max_nodes = (int64_t) fmin(effort->nodes / (SEARCHES * n * b->width + 1),
                                  MAX_NODES);
    if (b->max_nodes < MIN_NODES || mo_ablated(MO_ABLATION_colocation_search))
        b->max_nodes = 0;
    if (!mo_size_mul((size_t) b->x->n + 1, (size_t) b->width, &size))
        return mo_fail_memory(err);
    b->same_from = malloc(size * sizeof *b->same_from);
    b->apart_from = malloc(size * sizeof *b->apart_from);
    b->same_to = malloc(size * sizeof *b->same_to);
    b->apart_to = malloc(size * sizeof *b->apart_to);
    b->search_level = calloc(size, sizeof *b->search_level);
    if (!b->same_from || !b->apart_from || !b->same_to || !b->apart_to ||
        !b->search_level)
        return mo_fail_memory(err);
    for (size_t i = 0; i < size; i++)
        b->same_from[i] = b->apart_from[i] = b->same_to[i] = b->apart_to[i] =
            MO_COLOC_NO_INTERVAL;
    return MO_OK;
}

static mo_status allocate_ops(mo_coloc_band *b, mo_error *err)
{
    size_t n = (size_t) b->x->n + 1;

    b->p_ns = calloc(n, sizeof *b->p_ns);
    b->edge_ns = calloc((size_t) b->x->n_flows + 1, sizeof *b->edge_ns);
    b->head_ns = calloc(n, sizeof *b->head_ns);
    b->tail_ns = calloc(n, sizeof *b->tail_ns);
    b->ops = calloc(n, sizeof *b->ops);
    b->member = calloc(n, sizeof *b->member);
    b->interval_head_ns = calloc(n, sizeof *b->interval_head_ns);
    b->interval_tail_ns = calloc(n, sizeof *b->interval_tail_ns);
    if (!b->p_ns || !b->edge_ns || !b->head_ns || !b->tail_ns || !b->ops ||
        !b->member || !b->interval_head_ns || !b->interval_tail_ns)
        return mo_fail_memory(err);
    for (int i = 0; i < b->x->n; i++) {
        b->p_ns[i] = MO_COLOC_NEVER_NS;
        for (int k = 0; k < b->x->n_devices; k++)
            if (mo_allowed_devices_has(b->domains, i, k))
                b->p_ns[i] =
                    mo_min_i64(b->p_ns[i], mo_instance_p_ns(b->x, i, k));
        b->member[i] = -1;
    }
    for (int q = 0; q < b->x->n_flows; q++)
        b->edge_ns[q] = least_transfer_ns(b->domains, q);
    return MO_OK;
}

mo_status mo_coloc_band_open(const mo_allowed_devices *domains,
                             const mo_coloc_effort *effort, mo_coloc_band *b,
                             mo_error *err)
{
    mo_status status;

    *b =
        (mo_coloc_band){ .domains = domains,
                         .x = domains->x,
                         .has_ports = !mo_ablated(MO_ABLATION_colocation_ports),
                         .has_test = !mo_ablated(MO_ABLATION_colocation_test),
                         .has_backjumps =
                             !mo_ablated(MO_ABLATION_colocation_backjumping) };
    status = mo_coloc_test_new(domains, &b->test, err);
    if (status == MO_OK)
        status = allocate_ops(b, err);
    return status == MO_OK ? allocate_band(b, effort, err) : status;
}

void mo_coloc_band_close(mo_coloc_band *b)
{
    mo_coloc_test_free(b->test);
    mo_mincut_clear(&b->network);
    free(b->p_ns);
    free(b->edge_ns);
    free(b->same_from);
    free(b->apart_from);
    free(b->same_to);
    free(b->apart_to);
    free(b->search_level);
    free(b->head_ns);
    free(b->tail_ns);
    free(b->ops);
    free(b->member);
    free(b->interval_head_ns);
    free(b->interval_tail_ns);
}

/*
 * The test of the interval.
 */

void mo_coloc_band_add_op(mo_coloc_band *b, int op, int64_t head_ns,
                          int64_t tail_ns)
{
    b->ops[b->n_ops++] = op;
    b->interval_head_ns[op] = head_ns;
    b->interval_tail_ns[op] = tail_ns;
}

void mo_coloc_band_add_members(mo_coloc_band *b)
{
    const mo_instance *x = b->x;

    mo_coloc_test_begin(b->test);
    for (int i = 0; i < b->n_ops; i++) {
        int op = b->ops[i];

        b->member[op] =
            mo_coloc_test_add(b->test, op, b->interval_head_ns[op],
                              b->interval_tail_ns[op], op != b->last);
        for (int e = x->in_start[op]; e < x->in_start[op + 1]; e++) {
            int from = x->flows[x->in_flows[e]].from;

            if (b->member[from] >= 0)
                mo_coloc_test_raise_delivery(b->test, b->member[from],
                                             b->interval_tail_ns[op]);
        }
    }
}

void mo_coloc_band_forget_members(const mo_coloc_band *b)
{
    for (int i = 0; i < b->n_ops; i++)
        b->member[b->ops[i]] = -1;
}

/* Returns the least time of the interval with the flow from y to z cut. */
static int64_t cut_time_ns(const mo_coloc_band *b, mo_coloc_case which, int y,
                           int z)
{
    int64_t same_y, apart_y, same_z, apart_z;

    if (which != MO_COLOC_SAME)
        return b->interval_head_ns[y] + b->interval_tail_ns[z];
    same_y = b->same_from[mo_coloc_band_at(b, b->first, y - b->first)];
    apart_y = b->apart_from[mo_coloc_band_at(b, b->first, y - b->first)];
    same_z = b->same_to[mo_coloc_band_at(b, b->last, b->last - z)];
    apart_z = b->apart_to[mo_coloc_band_at(b, b->last, b->last - z)];
    return mo_min_i64(apart_y + mo_min_i64(same_z, apart_z), same_y + apart_z);
}

/* Joins ops with the ends of an interval on one device, or on two. */
static mo_status join_ends(mo_coloc_band *b, mo_coloc_case which,
                           int64_t from_ns, mo_error *err)
{
    const int64_t *same_u = b->same_from + mo_coloc_band_at(b, b->first, 0);
    const int64_t *apart_u = b->apart_from + mo_coloc_band_at(b, b->first, 0);
    const int64_t *same_v = b->same_to + mo_coloc_band_at(b, b->last, 0);
    const int64_t *apart_v = b->apart_to + mo_coloc_band_at(b, b->last, 0);
    int u = b->member[b->first], v = b->member[b->last];
    mo_status status = MO_OK;

    for (int i = 1; i < b->n_ops - 1 && status == MO_OK; i++) {
        int y = b->ops[i], to = y - b->first, from = b->last - y;
        int64_t at_neither = apart_u[to] + apart_v[from];
        int64_t not_u = at_neither, not_v = at_neither;

        if (which == MO_COLOC_APART) {
            not_u = mo_min_i64(not_u, apart_u[to] + same_v[from]);
            not_v = mo_min_i64(not_v, same_u[to] + apart_v[from]);
        }
        if (not_u > from_ns)
            status = mo_coloc_test_join(b->test,
                                        mo_min_i64(not_u, MO_COLOC_NEVER_NS),
                                        b->member[y], u, err);
        if (not_v > from_ns && which == MO_COLOC_APART && status == MO_OK)
            status = mo_coloc_test_join(b->test,
                                        mo_min_i64(not_v, MO_COLOC_NEVER_NS),
                                        b->member[y], v, err);
    }
    if (which == MO_COLOC_SAME && status == MO_OK)
        status = mo_coloc_test_join(b->test, MO_COLOC_NEVER_NS, u, v, err);
    return status;
}

mo_status mo_coloc_band_raise_interval(mo_coloc_band *b, mo_coloc_case which,
                                       int64_t *least_ns, mo_error *err)
{
    bool two = which == MO_COLOC_APART;
    mo_status status;

    if (*least_ns >= MO_COLOC_NEVER_NS || !b->has_test)
        return MO_OK;
    mo_coloc_test_clear_pairs(b->test);
    int64_t from_ns = *least_ns;
    const mo_instance *x = b->x;
    status = MO_OK;

    for (int i = 0; i < b->n_ops; i++) {
        int z = b->ops[i];

        for (int e = x->in_start[z]; e < x->in_start[z + 1]; e++) {
            int flow = x->in_flows[e], y = x->flows[flow].from;
            int64_t ns;

            if (b->member[y] < 0)
                continue;
            ns = cut_time_ns(b, which, y, z) + b->p_ns[y] + b->edge_ns[flow];
            if (ns > from_ns && status == MO_OK)
                status = mo_coloc_test_join(b->test,
                                            mo_min_i64(ns, MO_COLOC_NEVER_NS),
                                            b->member[y], b->member[z], err);
        }
    }
    if (status == MO_OK && which != MO_COLOC_ANY)
        status = join_ends(b, which, *least_ns, err);
    if (status == MO_OK)
        *least_ns = mo_coloc_test_least_ns(b->test, *least_ns,
                                           two ? b->member[b->first] : -1,
                                           two ? b->member[b->last] : -1);
    return status;
}

bool mo_coloc_band_collect(mo_coloc_band *b, int u, int v)
{
    const mo_instance *x = b->x;
    const int64_t *same_u = b->same_from + mo_coloc_band_at(b, u, 0);
    const int64_t *apart_u = b->apart_from + mo_coloc_band_at(b, u, 0);
    const int64_t *same_v = b->same_to + mo_coloc_band_at(b, v, 0);
    const int64_t *apart_v = b->apart_to + mo_coloc_band_at(b, v, 0);
    bool precedes = false;

    for (int e = x->in_start[v]; e < x->in_start[v + 1] && !precedes; e++) {
        int y = x->flows[x->in_flows[e]].from;

        precedes = y == u || (y > u && same_u[y - u] >= 0);
    }
    if (!precedes)
        return false;
    b->first = u;
    b->last = v;
    b->n_ops = 0;
    mo_coloc_band_add_op(b, u, 0, 0);
    for (int y = u + 1; y < v; y++)
        if (same_u[y - u] >= 0 && same_v[v - y] >= 0)
            mo_coloc_band_add_op(b, y,
                                 mo_min_i64(same_u[y - u], apart_u[y - u]),
                                 mo_min_i64(same_v[v - y], apart_v[v - y]));
    mo_coloc_band_add_op(b, v, 0, 0);
    return true;
}

void mo_coloc_band_store(mo_coloc_band *b, mo_coloc_times t)
{
    int distance = b->last - b->first;
    int64_t from = mo_coloc_band_at(b, b->first, distance);
    int64_t to = mo_coloc_band_at(b, b->last, distance);

    b->same_from[from] = b->same_to[to] =
        mo_min_i64(t.same_ns, MO_COLOC_NEVER_NS);
    b->apart_from[from] = b->apart_to[to] =
        mo_min_i64(t.apart_ns, MO_COLOC_NEVER_NS);
}

/*
 * Intervals where transfers exclude each other at ports: what is on the device
 * of an end of the interval adds up there, and what is not passes its ports.
 *
 * S is the set of ops of the interval that are on one device, that of u or of
 * v.  Within the time T from the start of u to that of v
 *
 *     processing times of S            <= T
 *     transfers that leave S           <= T - first_out - last_out
 *     transfers that enter S           <= T - first_in - last_in
 *
 * since each device processes one op, sends one tensor and receives one tensor
 * at a time; no transfer starts before the end of u, nor ends after the rest
 * that its reader is away from v.  For any weights of the three rows T is at
 * least their weighted mean, and the least of that over all S is a minimum cut:
 * an op in S costs its processing time, a flow across the border its transfer.
 *
 * With u and v on one device there is a transfer at all only if some op is not
 * on it; else T is the sum of all processing times.
 */

enum { MAX_PORT_OPS = 40 };

/* Which ends of the interval are in S. */
typedef enum port_case { BOTH_ENDS, FIRST_END, LAST_END } port_case;

enum { N_PORT_WEIGHTS = 3 };

/* By case; zeros are left out. */
typedef struct port_weights {
    int compute, out, in;
} port_weights;

static const port_weights case_weights[][N_PORT_WEIGHTS] = {
    [BOTH_ENDS] = { { 4, 1, 1 }, { 2, 1, 1 }, { 1, 1, 1 } },
    [FIRST_END] = { { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 0 } },
    [LAST_END] = { { 1, 0, 1 }, { 0, 0, 1 }, { 0, 0, 0 } }
};

/* Nodes: the ops, source, sink, and two for each tensor of an op. */
static int source_node(const mo_coloc_band *b)
{
    return b->n_ops;
}

static int sink_node(const mo_coloc_band *b)
{
    return b->n_ops + 1;
}

/* A flow from a node inside S to one outside costs out, the other way round
 * in. */
static mo_status add_flow(const mo_coloc_band *b, mo_mincut *c, int flow,
                          const port_weights *w, mo_error *err)
{
    int from = b->member[b->x->flows[flow].from];
    int to = b->member[b->x->flows[flow].to];
    int64_t ns = mo_min_i64(b->edge_ns[flow], MO_MAX_TIME_NS);
    mo_status status = mo_mincut_add_arc(c, from, to, w->out * ns, err);

    return status == MO_OK ? mo_mincut_add_arc(c, to, from, w->in * ns, err)
                           : status;
}

/* The same for all readers of a tensor, which is sent once to a device. */
static mo_status add_tensor(const mo_coloc_band *b, mo_mincut *c, int first,
                            int last, const port_weights *w, int node,
                            mo_error *err)
{
    int from = b->member[b->x->flows[first].from];
    int64_t ns = MO_MAX_TIME_NS;
    mo_status status = MO_OK;

    for (int q = first; q < last && status == MO_OK; q++) {
        int to = b->member[b->x->flows[q].to];

        if (to < 0)
            continue;
        ns = mo_min_i64(ns, b->edge_ns[q]);
        status = mo_mincut_add_arc(c, node, to, MO_MAX_TOTAL_NS, err);
        if (status == MO_OK)
            status = mo_mincut_add_arc(c, to, node + 1, MO_MAX_TOTAL_NS, err);
    }
    if (status == MO_OK)
        status = mo_mincut_add_arc(c, from, node, w->out * ns, err);
    if (status == MO_OK)
        status = mo_mincut_add_arc(c, node + 1, from, w->in * ns, err);
    return status;
}

static mo_status add_flows(const mo_coloc_band *b, mo_mincut *c,
                           const port_weights *w, mo_error *err)
{
    const mo_instance *x = b->x;
    bool once = b->domains->regime.tensors == MO_TENSORS_ONCE;
    int node = b->n_ops + 2;
    mo_status status = MO_OK;

    for (int i = 0; i < b->n_ops; i++) {
        int q = x->out_start[b->ops[i]], end = x->out_start[b->ops[i] + 1];

        while (q < end && status == MO_OK) {
            int next = q + 1;

            while (once && next < end &&
                   x->flows[next].tensor == x->flows[q].tensor)
                next++;
            if (once && node + 2 <= c->n) {
                status = add_tensor(b, c, q, next, w, node, err);
                node += 2;
            } else if (!once && b->member[x->flows[q].to] >= 0) {
                status = add_flow(b, c, q, w, err);
            }
            q = next;
        }
    }
    return status;
}

/* Returns the number of tensors of the interval's ops. */
static int count_tensors(const mo_coloc_band *b)
{
    const mo_instance *x = b->x;
    int n = 0;

    for (int i = 0; i < b->n_ops; i++)
        for (int q = x->out_start[b->ops[i]]; q < x->out_start[b->ops[i] + 1];
             q++)
            n += q == x->out_start[b->ops[i]] ||
                 x->flows[q].tensor != x->flows[q - 1].tensor;
    return n;
}

/* Sets *cut_ns to the least weighted sum over the sets of the case. */
static mo_status find_least_set(const mo_coloc_band *b, mo_mincut *c,
                                port_case which, const port_weights *w,
                                int64_t *cut_ns, mo_error *err)
{
    bool once = b->domains->regime.tensors == MO_TENSORS_ONCE;
    int u = 0, v = b->n_ops - 1;
    int n = b->n_ops + 2 + (once ? 2 * count_tensors(b) : 0);
    mo_status status = mo_mincut_init(c, n, err);

    for (int i = 0; i < v && status == MO_OK; i++)
        status = mo_mincut_add_arc(c, i, sink_node(b),
                                   w->compute * b->p_ns[b->ops[i]], err);
    if (status == MO_OK)
        status = add_flows(b, c, w, err);
    if (status == MO_OK && which != LAST_END)
        status = mo_mincut_add_arc(c, source_node(b), u, MO_MAX_TOTAL_NS, err);
    else if (status == MO_OK)
        status = mo_mincut_add_arc(c, u, sink_node(b), MO_MAX_TOTAL_NS, err);
    if (status == MO_OK && which != FIRST_END)
        status = mo_mincut_add_arc(c, source_node(b), v, MO_MAX_TOTAL_NS, err);
    else if (status == MO_OK)
        status = mo_mincut_add_arc(c, v, sink_node(b), MO_MAX_TOTAL_NS, err);
    if (status == MO_OK)
        *cut_ns = mo_mincut_solve(c, source_node(b), sink_node(b));
    return status;
}

/* The time that no transfer of the port can use. */
typedef struct port_margins {
    int64_t out_ns, in_ns;
} port_margins;

/* With both ends on the device a transfer leaves it to an op apart from v, and
 * enters it from an op apart from u. */
static port_margins find_margins(const mo_coloc_band *b, port_case which)
{
    int64_t p_ns = b->p_ns[b->first];
    port_margins m = { MO_COLOC_NEVER_NS, MO_COLOC_NEVER_NS };

    if (which == FIRST_END)
        return (port_margins){ p_ns, 0 };
    if (which == LAST_END)
        return (port_margins){ 0, p_ns };
    for (int i = 1; i < b->n_ops - 1; i++) {
        int y = b->ops[i];
        int64_t to = b->apart_from[mo_coloc_band_at(b, b->first, y - b->first)];
        int64_t from = b->apart_to[mo_coloc_band_at(b, b->last, b->last - y)];

        m.out_ns = mo_min_i64(m.out_ns, p_ns + from);
        m.in_ns = mo_min_i64(m.in_ns, to + b->p_ns[y]);
    }
    return m;
}

/* Raises *least_ns for the sets of the case, up to most_ns. */
static mo_status raise_case(mo_coloc_band *b, port_case which, int64_t most_ns,
                            int64_t *least_ns, mo_error *err)
{
    port_margins m = find_margins(b, which);
    mo_status status = MO_OK;

    for (int i = 0;
         i < N_PORT_WEIGHTS && status == MO_OK && *least_ns < most_ns; i++) {
        const port_weights *w = &case_weights[which][i];
        int64_t cut_ns = 0, mean_ns;

        if (w->out + w->in == 0)
            break;
        status = find_least_set(b, &b->network, which, w, &cut_ns, err);
        /* Ends that cannot be so: other cases remain. */
        if (cut_ns >= MO_MAX_TOTAL_NS || m.out_ns >= MO_MAX_TOTAL_NS ||
            m.in_ns >= MO_MAX_TOTAL_NS)
            continue;
        mean_ns = (cut_ns + w->out * m.out_ns + w->in * m.in_ns) /
                  (w->compute + w->out + w->in);
        *least_ns = mo_max_i64(*least_ns, mo_min_i64(mean_ns, most_ns));
    }
    return status;
}

mo_status mo_coloc_band_raise_by_ports(mo_coloc_band *b, int64_t *same_ns,
                                       int64_t *apart_ns, mo_error *err)
{
    int64_t all_ns = 0;
    mo_status status;

    if (!b->has_ports || b->domains->regime.congestion != MO_CONGESTION_PORT ||
        b->n_ops < 4 || b->n_ops > MAX_PORT_OPS)
        return MO_OK;
    for (int i = 0; i < b->n_ops - 1; i++)
        all_ns += b->p_ns[b->ops[i]];
    status = raise_case(b, BOTH_ENDS, all_ns, same_ns, err);
    if (status == MO_OK)
        status = raise_case(b, FIRST_END, MO_MAX_TOTAL_NS, apart_ns, err);
    if (status == MO_OK)
        status = raise_case(b, LAST_END, MO_MAX_TOTAL_NS, apart_ns, err);
    return status;
}
