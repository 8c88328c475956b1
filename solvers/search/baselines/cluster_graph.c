/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/cluster_graph.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cost/instance/derived.h"

static int compare_edges(const void *a, const void *b)
{
    const mo_baseline_cluster_edge *v = a, *w = b;

    if (v->from != w->from)
        return v->from < w->from ? -1 : 1;
    return (v->to > w->to) - (v->to < w->to);
}

/* Kahn's algorithm; queue and waits are scratch, by cluster. */
static void compute_levels(mo_baseline_cluster_graph *g, int *queue, int *waits)
{
    int n = 0;

    for (int c = 0; c < g->n; c++) {
        waits[c] = mo_baseline_cluster_in_degree(g, c);
        if (waits[c] == 0)
            queue[n++] = c;
    }
    for (int at = 0; at < n; at++) {
        int c = queue[at];

        for (int e = g->out_start[c]; e < g->out_start[c + 1]; e++) {
            int to = g->edges[e].to;

            if (g->level[to] <= g->level[c])
                g->level[to] = g->level[c] + 1;
            if (--waits[to] == 0)
                queue[n++] = to;
        }
    }
    assert(n == g->n);
}

mo_status mo_baseline_cluster_graph_make(const mo_instance *x,
                                         const int64_t *rows_ns,
                                         const int *cluster, int n,
                                         mo_baseline_cluster_graph *g,
                                         mo_error *err)
{
    size_t size = (size_t) n + 2, n_flows = (size_t) x->n_flows + 1;
    int *queue = malloc(size * sizeof *queue);
    int *waits = malloc(size * sizeof *waits);
    mo_status status = MO_OK;

    *g = (mo_baseline_cluster_graph){ .n = n };
    g->edges = malloc(n_flows * sizeof *g->edges);
    g->in_edges = malloc(n_flows * sizeof *g->in_edges);
    g->out_start = calloc(size, sizeof *g->out_start);
    g->in_start = calloc(size, sizeof *g->in_start);
    g->level = calloc(size, sizeof *g->level);
    if (queue && waits && g->edges && g->in_edges && g->out_start &&
        g->in_start && g->level) {
        /* Merges all flows between two clusters into one edge. */
        int count = 0;

        for (int q = 0; q < x->n_flows; q++) {
            int from = cluster[x->flows[q].from], to = cluster[x->flows[q].to];

            if (from != to)
                g->edges[count++] =
                    (mo_baseline_cluster_edge){ from, to,
                                                rows_ns[x->comm.flow_row[q]] };
        }
        qsort(g->edges, (size_t) count, sizeof *g->edges, compare_edges);
        for (int e = 0; e < count; e++) {
            const mo_baseline_cluster_edge edge = g->edges[e];
            int last = g->n_edges - 1;

            if (e > 0 && compare_edges(&g->edges[last], &edge) == 0)
                g->edges[last].mean_ns += edge.mean_ns;
            else
                g->edges[g->n_edges++] = edge;
        }
        /* in_start is one entry longer while it is filled. */
        for (int e = 0; e < g->n_edges; e++) {
            g->out_start[g->edges[e].from + 1]++;
            g->in_start[g->edges[e].to + 2]++;
        }
        for (int c = 0; c < g->n; c++) {
            g->out_start[c + 1] += g->out_start[c];
            g->in_start[c + 2] += g->in_start[c + 1];
        }
        for (int e = 0; e < g->n_edges; e++)
            g->in_edges[g->in_start[g->edges[e].to + 1]++] = e;
        compute_levels(g, queue, waits);
    } else {
        mo_baseline_cluster_graph_clear(g);
        status = mo_fail_memory(err);
    }
    free(waits);
    free(queue);
    return status;
}

void mo_baseline_cluster_graph_clear(mo_baseline_cluster_graph *g)
{
    free(g->edges);
    free(g->in_edges);
    free(g->out_start);
    free(g->in_start);
    free(g->level);
    *g = (mo_baseline_cluster_graph){ 0 };
}

typedef struct builder {
    const mo_instance *whole;
    const int *cluster;
    const int64_t *rows_ns; /* mean transfer times */
    mo_tensors tensors;
    int n_crossings;
    mo_instance *x;
} builder;

/* A flow from one cluster to another. */
typedef struct crossing {
    int from, to, tensor; /* from, to: clusters */
    int flow;
    int64_t mean_ns; /* mean transfer time */
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

/* A tensor that is sent once takes as long as its slowest flow: keeps the
 * first. */
static int keep_slowest_flows(crossing *all, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++)
        if (i == 0 || !is_same_pair(&all[i], &all[i - 1]) ||
            all[i].tensor != all[i - 1].tensor)
            all[kept++] = all[i];
    return kept;
}

/* Fills the crossings, sorted by pair of clusters; counts them and the pairs.
 * all has room for every flow. */
static void list_crossings(builder *m, crossing *all)
{
    const mo_instance *whole = m->whole;
    int n = 0;

    for (int q = 0; q < whole->n_flows; q++) {
        const mo_flow *f = &whole->flows[q];
        int from = m->cluster[f->from], to = m->cluster[f->to];

        if (from != to)
            all[n++] = (crossing){ from, to, f->tensor, q,
                                   m->rows_ns[whole->comm.flow_row[q]] };
    }
    qsort(all, (size_t) n, sizeof *all, compare_crossings);
    m->n_crossings =
        m->tensors == MO_TENSORS_ONCE ? keep_slowest_flows(all, n) : n;
    for (int i = 0; i < m->n_crossings; i++)
        m->x->n_flows += i == 0 || !is_same_pair(&all[i], &all[i - 1]);
}

static void add_saturating(int64_t *sum, int64_t more)
{
    if (!mo_int64_add(*sum, more, sum))
        *sum = INT64_MAX;
}

/* From the last op to the first: a cluster has the name of its first op. */
static void merge_op_data(builder *m)
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
        add_saturating(&x->memory_bytes[c], whole->memory_bytes[i]);
        add_saturating(&x->weight_bytes[c], whole->weight_bytes[i]);
        if (whole->pin[i] != MO_FREE)
            x->pin[c] = whole->pin[i];
        if (whole->group[i] != MO_FREE)
            x->group[c] = whole->group[i];
    }
}

static mo_status fill_instance(builder *m, int n, mo_error *err)
{
    int flow = -1;
    mo_instance *x = m->x;
    crossing *all = malloc(((size_t) m->whole->n_flows + 1) * sizeof *all);

    if (!all)
        return mo_fail_memory(err);
    x->n = n;
    x->n_flows = 0;
    list_crossings(m, all);
    /* Every flow has a row of its own. */
    x->comm.ns =
        mo_arena_array(x->arena, (size_t) x->n_flows * (size_t) x->comm.n_kinds,
                       sizeof *x->comm.ns);
    if (!(x->comm.ns && mo_instance_derive_reserve(x))) {
        free(all);
        return mo_fail_memory(err);
    }
    merge_op_data(m);
    for (int i = 0; i < m->n_crossings; i++) {
        if (i == 0 || !is_same_pair(&all[i], &all[i - 1])) {
            /* What goes from cluster to cluster is one tensor with a row of its
             * own. */
            flow++;
            m->x->flows[flow] = (mo_flow){ all[i].from, all[i].to, flow };
            m->x->comm.flow_row[flow] = m->x->comm.tensor_row[flow] = flow;
            m->x->tensor_from[flow] = all[i].from;
            m->x->tensor_start[flow] = flow;
            m->x->out_start[all[i].from + 1]++;
        }
        const crossing *c = &all[i];
        const mo_instance *whole = m->whole;
        int64_t bytes = whole->tensor_bytes[c->tensor];
        const int64_t *row_ns =
            whole->comm.ns +
            (int64_t) whole->comm.flow_row[c->flow] * whole->comm.n_kinds;

        for (int kind = 0; kind < whole->comm.n_kinds; kind++)
            m->x->comm.ns[(int64_t) flow * whole->comm.n_kinds + kind] +=
                row_ns[kind];
        if (bytes > 0)
            add_saturating(&m->x->tensor_bytes[flow], bytes);
    }
    x->n_tensors = x->comm.n_rows = x->n_flows;
    x->tensor_start[x->n_tensors] = x->n_flows;
    for (int c = 0; c < x->n; c++)
        x->out_start[c + 1] += x->out_start[c];
    mo_instance_derive_sort_by_reader(x);
    free(all);
    return MO_OK;
}

mo_status mo_baseline_cluster_instance(const mo_instance *whole,
                                       mo_tensors tensors,
                                       const int64_t *rows_ns,
                                       const int *cluster, int n,
                                       mo_instance **merged, mo_error *err)
{
    builder m = { .whole = whole,
                  .cluster = cluster,
                  .rows_ns = rows_ns,
                  .tensors = tensors,
                  .x = mo_instance_derive(whole) };
    mo_status status = m.x ? fill_instance(&m, n, err) : mo_fail_memory(err);

    if (status == MO_OK)
        *merged = m.x;
    else
        mo_instance_free(m.x);
    return status;
}
