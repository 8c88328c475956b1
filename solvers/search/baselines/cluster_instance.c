/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/cluster_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cost/instance/derived.h"

typedef struct maker {
    const mo_instance *whole;
    const int *cluster;
    const int64_t *rows_ns; /* mean transfer times */
    mo_tensors tensors;
    int n_crossings;
    mo_instance *x;
} maker;

/* A flow from one cluster to another. */
typedef struct crossing {
    int from, to, tensor; /* clusters */
    int flow;
    int64_t mean_ns; /* what it takes on average */
} crossing;

static int compare_crossings(const void *a, const void *b)
{
    const crossing *v = a, *w = b;

    if (v->from != w->from)
        return v->from < w->from ? -1 : 1;
    if (v->to != w->to)
        return v->to < w->to ? -1 : 1;
    if (v->tensor != w->tensor)
        return v->tensor < w->tensor ? -1 : 1;
    if (v->mean_ns != w->mean_ns)
        return v->mean_ns > w->mean_ns ? -1 : 1;
    return (v->flow > w->flow) - (v->flow < w->flow);
}

static bool is_same_pair(const crossing *a, const crossing *b)
{
    return a->from == b->from && a->to == b->to;
}

/* Sent once, a tensor takes as long as its slowest flow: the first of them
 * stays. */
static int keep_tensors(crossing *all, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++)
        if (i == 0 || !is_same_pair(&all[i], &all[i - 1]) ||
            all[i].tensor != all[i - 1].tensor)
            all[kept++] = all[i];
    return kept;
}

/* Fills the crossings, of which there is room for every flow, pair of clusters
 * by pair, and counts them and the pairs. */
static void find_crossings(maker *m, crossing *all)
{
    const mo_instance *whole = m->whole;
    int n = 0;

    for (int q = 0; q < whole->n_flows; q++) {
        const mo_flow *f = &whole->flows[q];
        int from = m->cluster[f->from], to = m->cluster[f->to];

        if (from != to)
            all[n++] = (crossing){ from, to, f->tensor, q,
                                   m->rows_ns[whole->flow_row[q]] };
    }
    qsort(all, (size_t) n, sizeof *all, compare_crossings);
    m->n_crossings = m->tensors == MO_TENSORS_ONCE ? keep_tensors(all, n) : n;
    for (int i = 0; i < m->n_crossings; i++)
        m->x->n_flows += i == 0 || !is_same_pair(&all[i], &all[i - 1]);
}

/* Flows have rows of their own. */
static bool reserve(mo_instance *x)
{
    x->comm_ns =
        mo_arena_array(x->arena, (size_t) x->n_flows * (size_t) x->n_kinds,
                       sizeof *x->comm_ns);
    return x->comm_ns && mo_instance_derive_reserve(x);
}

static void add(int64_t *sum, int64_t more)
{
    if (!mo_int64_add(*sum, more, sum))
        *sum = INT64_MAX;
}

/* From the last to the first, so that the first gives the name. */
static void add_ops(maker *m)
{
    const mo_instance *whole = m->whole;
    mo_instance *x = m->x;

    for (int c = 0; c < x->n; c++)
        x->pin[c] = x->group[c] = MO_FREE;
    for (int i = whole->n - 1; i >= 0; i--) {
        int c = m->cluster[i];

        x->op_names[c] = whole->op_names[i];
        for (int k = 0; k < x->n_devices; k++)
            x->p_ns[(int64_t) c * x->n_devices + k] +=
                mo_instance_p_ns(whole, i, k);
        add(&x->memory_bytes[c], whole->memory_bytes[i]);
        add(&x->weight_bytes[c], whole->weight_bytes[i]);
        if (whole->pin[i] != MO_FREE)
            x->pin[c] = whole->pin[i];
        if (whole->group[i] != MO_FREE)
            x->group[c] = whole->group[i];
    }
}

/* What goes from cluster to cluster goes in one piece, one thing after the
 * other: a tensor with a row of its own. */
static void begin_flow(mo_instance *x, int flow, const crossing *c)
{
    x->flows[flow] = (mo_flow){ c->from, c->to, flow };
    x->flow_row[flow] = x->tensor_row[flow] = flow;
    x->tensor_from[flow] = c->from;
    x->tensor_start[flow] = flow;
    x->out_start[c->from + 1]++;
}

static void add_to_flow(const maker *m, int flow, const crossing *c)
{
    const mo_instance *whole = m->whole;
    int64_t bytes = whole->tensor_bytes[c->tensor];
    const int64_t *row_ns =
        whole->comm_ns + (int64_t) whole->flow_row[c->flow] * whole->n_kinds;

    for (int kind = 0; kind < whole->n_kinds; kind++)
        m->x->comm_ns[(int64_t) flow * whole->n_kinds + kind] += row_ns[kind];
    if (bytes > 0)
        add(&m->x->tensor_bytes[flow], bytes);
}

static void add_flows(const maker *m, const crossing *all)
{
    int flow = -1;

    for (int i = 0; i < m->n_crossings; i++) {
        if (i == 0 || !is_same_pair(&all[i], &all[i - 1]))
            begin_flow(m->x, ++flow, &all[i]);
        add_to_flow(m, flow, &all[i]);
    }
}

static void index_flows(mo_instance *x)
{
    x->n_tensors = x->n_comm_rows = x->n_flows;
    x->tensor_start[x->n_tensors] = x->n_flows;
    for (int c = 0; c < x->n; c++)
        x->out_start[c + 1] += x->out_start[c];
    mo_instance_derive_sort_by_reader(x);
}

static mo_status fill(maker *m, int n, mo_error *err)
{
    mo_instance *x = m->x;
    crossing *all = malloc(((size_t) m->whole->n_flows + 1) * sizeof *all);

    if (!all)
        return mo_fail_memory(err);
    x->n = n;
    x->n_flows = 0;
    find_crossings(m, all);
    if (!reserve(x)) {
        free(all);
        return mo_fail_memory(err);
    }
    add_ops(m);
    add_flows(m, all);
    index_flows(x);
    free(all);
    return MO_OK;
}

mo_status mo_baseline_cluster_instance(const mo_instance *whole,
                                       mo_tensors tensors,
                                       const int64_t *rows_ns,
                                       const int *cluster, int n,
                                       mo_instance **merged, mo_error *err)
{
    maker m = { .whole = whole,
                .cluster = cluster,
                .rows_ns = rows_ns,
                .tensors = tensors,
                .x = mo_instance_derive(whole) };
    mo_status status = m.x ? fill(&m, n, err) : mo_fail_memory(err);

    if (status == MO_OK)
        *merged = m.x;
    else
        mo_instance_free(m.x);
    return status;
}
