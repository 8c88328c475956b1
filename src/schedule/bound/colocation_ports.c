/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_ports.h"

#include "base/minmax.h"

/*
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

typedef struct port_weights {
    int compute, out, in;
} port_weights;

static const port_weights same_weights[] = { { 4, 1, 1 },
                                             { 2, 1, 1 },
                                             { 1, 1, 1 } };
static const port_weights first_weights[] = { { 1, 1, 0 }, { 0, 1, 0 } };
static const port_weights last_weights[] = { { 1, 0, 1 }, { 0, 0, 1 } };

/* Which ends of the interval are in S. */
typedef enum port_case { BOTH_ENDS, FIRST_END, LAST_END } port_case;

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
static mo_status raise_case(const mo_coloc_band *b, mo_mincut *c,
                            port_case which, const port_weights *weights, int n,
                            int64_t most_ns, int64_t *least_ns, mo_error *err)
{
    port_margins m = find_margins(b, which);
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK && *least_ns < most_ns; i++) {
        const port_weights *w = &weights[i];
        int64_t cut_ns = 0, mean_ns;

        status = find_least_set(b, c, which, w, &cut_ns, err);
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

mo_status mo_coloc_ports_raise(mo_coloc_band *b, int64_t *same_ns,
                               int64_t *apart_ns, mo_error *err)
{
    mo_mincut *c = &b->network;
    int64_t all_ns = 0;
    mo_status status = MO_OK;

    if (b->domains->regime.congestion != MO_CONGESTION_PORT || b->n_ops < 4 ||
        b->n_ops > MAX_PORT_OPS)
        return MO_OK;
    for (int i = 0; i < b->n_ops - 1; i++)
        all_ns += b->p_ns[b->ops[i]];
    status = raise_case(b, c, BOTH_ENDS, same_weights, 3, all_ns, same_ns, err);
    if (status == MO_OK)
        status = raise_case(b, c, FIRST_END, first_weights, 2, MO_MAX_TOTAL_NS,
                            apart_ns, err);
    if (status == MO_OK)
        status = raise_case(b, c, LAST_END, last_weights, 2, MO_MAX_TOTAL_NS,
                            apart_ns, err);
    return status;
}
