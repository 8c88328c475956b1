/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/cut_bound.h"

#include <stdlib.h>

#include "base/array.h"
#include "graph/mincut.h"

/*
 * Minimum cuts: the inner ops of a cut are u, w, and all descendants of u that
 * are ancestors of w, so that every flow among them is sent after u has ended
 * and has arrived before w starts. Those on a are one side of a cut, with u
 * and without w; the flows that cross it leave a. The same holds for those
 * that are not on b, and the flows that enter b. A transfer takes at least the
 * time to the best other device.
 */

enum { MAX_CUTS = 256 };

typedef struct cut_builder {
    const mo_allowed_devices *places;
    int *number;  /* by op: node number from 1 on, u first and w second */
    bool *before; /* by op: ancestor of w */
    mo_mincut network;
} cut_builder;

/* Numbers the ops from u to w; returns how many. */
static int number_inner_ops(cut_builder *f, int u, int w)
{
    const mo_instance *x = f->places->x;
    int n = 2;

    for (int i = u; i <= w; i++) {
        f->number[i] = 0;
        f->before[i] = i == w;
    }
    for (int i = w - 1; i >= u; i--)
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            if (x->flows[q].to <= w && f->before[x->flows[q].to])
                f->before[i] = true;
    f->number[u] = 1;
    for (int i = u; i < w; i++)
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++) {
            int to = x->flows[q].to;

            if (f->number[i] > 0 && to < w && f->before[to] &&
                f->number[to] == 0)
                f->number[to] = ++n;
        }
    f->number[w] = 2;
    return n;
}

/* Returns the transfer time from the device to the best other one, or to it
 * from there. */
static int64_t min_transfer_ns(const mo_instance *x, int row, int device,
                               bool enters)
{
    int64_t least = INT64_MAX;

    for (int k = 0; k < x->n_devices; k++) {
        int64_t ns = enters ? mo_instance_row_ns(x, row, k, device)
                            : mo_instance_row_ns(x, row, device, k);

        if (k != device && ns < least)
            least = ns;
    }
    return least == INT64_MAX ? 0 : least;
}

static bool is_inside(const cut_builder *f, int u, int w, int op)
{
    return op >= u && op <= w && f->number[op] > 0;
}

/* A tensor that is sent once crosses a cut once: a node of its own, with arcs
 * of infinite capacity behind it. */
static mo_status add_tensor_node(cut_builder *f, int u, int w, int tensor,
                                 int64_t ns, int node, mo_error *err)
{
    const mo_instance *x = f->places->x;
    int from = f->number[x->tensor_from[tensor]] - 1;
    mo_status status = mo_mincut_add_arc(&f->network, from, node, ns, err);

    for (int q = x->tensor_start[tensor];
         q < x->tensor_start[tensor + 1] && status == MO_OK; q++)
        if (is_inside(f, u, w, x->flows[q].to))
            status = mo_mincut_add_arc(&f->network, node,
                                       f->number[x->flows[q].to] - 1,
                                       MO_MAX_TOTAL_NS, err);
    return status;
}

static mo_status add_flow_arcs(cut_builder *f, int u, int w, int op, int device,
                               bool enters, mo_error *err)
{
    const mo_instance *x = f->places->x;
    mo_status status = MO_OK;

    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++)
        if (is_inside(f, u, w, x->flows[q].to))
            status = mo_mincut_add_arc(
                &f->network, f->number[op] - 1, f->number[x->flows[q].to] - 1,
                min_transfer_ns(x, x->flow_row[q], device, enters), err);
    return status;
}

static int last_tensor(const mo_instance *x, int op)
{
    return x->out_start[op] < x->out_start[op + 1]
               ? x->flows[x->out_start[op + 1] - 1].tensor
               : -1;
}

static int first_tensor(const mo_instance *x, int op)
{
    return x->out_start[op] < x->out_start[op + 1]
               ? x->flows[x->out_start[op]].tensor
               : 0;
}

static int count_tensors(const cut_builder *f, int u, int w)
{
    const mo_instance *x = f->places->x;
    int n = 0;

    for (int i = u; i < w; i++)
        if (f->number[i] > 0)
            n += last_tensor(x, i) - first_tensor(x, i) + 1;
    return n;
}

static mo_status min_crossing_ns(cut_builder *f, const mo_chain_cut *cut, int n,
                                 int device, bool enters, int64_t *ns,
                                 mo_error *err)
{
    const mo_instance *x = f->places->x;
    bool once = f->places->regime.tensors == MO_TENSORS_ONCE;
    int node = n, u = cut->u, w = cut->w;
    mo_status status =
        mo_mincut_init(&f->network, once ? n + count_tensors(f, u, w) : n, err);

    for (int i = u; i < w && status == MO_OK; i++) {
        if (f->number[i] == 0)
            continue;
        if (!once)
            status = add_flow_arcs(f, u, w, i, device, enters, err);
        for (int t = first_tensor(x, i);
             once && t <= last_tensor(x, i) && status == MO_OK; t++)
            status = add_tensor_node(
                f, u, w, t,
                min_transfer_ns(x, x->tensor_row[t], device, enters), node++,
                err);
    }
    if (status == MO_OK)
        *ns = mo_mincut_solve(&f->network, 0, 1);
    return status;
}

static mo_status compute_cut(cut_builder *f, mo_chain_cut *cut, mo_error *err)
{
    int n = number_inner_ops(f, cut->u, cut->w);
    mo_status status = MO_OK;

    for (int k = 0; k < f->places->x->n_devices && status == MO_OK; k++) {
        status = min_crossing_ns(f, cut, n, k, false, &cut->leave_ns[k], err);
        if (status == MO_OK)
            status =
                min_crossing_ns(f, cut, n, k, true, &cut->enter_ns[k], err);
    }
    return status;
}

/* Chooses cuts from ops of the chain to their last reader in the chain; of
 * several with the same end the shortest. */
static void choose_cuts(const mo_instance *x, const mo_bound_chain *chain,
                        const bool *chained, mo_chain_cuts *s)
{
    for (int i = 1; i < chain->n && s->n < MAX_CUTS; i++) {
        int u = chain->segments[i].u, v = chain->segments[i].v, w = v;

        for (int q = x->out_start[u]; q < x->out_start[u + 1]; q++)
            if (chained[x->flows[q].to] && x->flows[q].to > w)
                w = x->flows[q].to;
        if (v == MO_FREE || w == v)
            continue;
        if (s->n == 0 || s->cuts[s->n - 1].w != w)
            s->n++;
        s->cuts[s->n - 1].u = u;
        s->cuts[s->n - 1].w = w;
    }
}

static mo_status allocate_cuts(const mo_allowed_devices *places,
                               mo_chain_cuts **cuts, mo_error *err)
{
    size_t n_devices = (size_t) places->x->n_devices;
    mo_chain_cuts *s = calloc(1, sizeof *s);

    *cuts = s;
    if (!s)
        return mo_fail_memory(err);
    s->cuts = calloc(MAX_CUTS, sizeof *s->cuts);
    s->times_ns = calloc(n_devices, 2 * sizeof *s->times_ns * MAX_CUTS);
    if (!s->cuts || !s->times_ns)
        return mo_fail_memory(err);
    for (size_t i = 0; i < MAX_CUTS; i++) {
        s->cuts[i].leave_ns = s->times_ns + 2 * i * n_devices;
        s->cuts[i].enter_ns = s->cuts[i].leave_ns + n_devices;
    }
    return MO_OK;
}

static mo_status compute_cuts(const mo_allowed_devices *places,
                              const mo_bound_chain *chain, mo_chain_cuts *s,
                              mo_error *err)
{
    size_t n = (size_t) places->x->n;
    cut_builder f = { .places = places };
    bool *chained = calloc(n, sizeof *chained);
    mo_status status = MO_OK;

    f.number = calloc(n, sizeof *f.number);
    f.before = calloc(n, sizeof *f.before);
    if (!chained || !f.number || !f.before)
        status = mo_fail_memory(err);
    for (int i = 1; i < chain->n && status == MO_OK; i++)
        chained[chain->segments[i].u] = true;
    if (status == MO_OK)
        choose_cuts(places->x, chain, chained, s);
    for (int i = 0; i < s->n && status == MO_OK; i++)
        status = compute_cut(&f, &s->cuts[i], err);
    mo_mincut_clear(&f.network);
    free(chained);
    free(f.number);
    free(f.before);
    return status;
}

mo_status mo_chain_cuts_find(const mo_allowed_devices *places,
                             const mo_bound_chain *chain, mo_chain_cuts **cuts,
                             mo_error *err)
{
    mo_chain_cuts *s = NULL;
    mo_status status = allocate_cuts(places, &s, err);

    if (status == MO_OK && places->regime.congestion == MO_CONGESTION_PORT)
        status = compute_cuts(places, chain, s, err);
    if (status == MO_OK)
        *cuts = s;
    else
        mo_chain_cuts_free(s);
    return status;
}

void mo_chain_cuts_free(mo_chain_cuts *s)
{
    if (!s)
        return;
    free(s->cuts);
    free(s->times_ns);
    free(s);
}
