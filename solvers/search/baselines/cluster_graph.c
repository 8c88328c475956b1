/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/cluster_graph.h"

#include <assert.h>
#include <stdlib.h>

static int compare_edges(const void *a, const void *b)
{
    const mo_baseline_cluster_edge *v = a, *w = b;

    if (v->from != w->from)
        return v->from < w->from ? -1 : 1;
    return (v->to > w->to) - (v->to < w->to);
}

/* All flows between the same two become one edge. */
static void find_edges(const mo_instance *x, const int64_t *rows_ns,
                       const int *cluster, mo_baseline_cluster_graph *g)
{
    int n = 0;

    for (int q = 0; q < x->n_flows; q++) {
        int from = cluster[x->flows[q].from], to = cluster[x->flows[q].to];

        if (from != to)
            g->edges[n++] =
                (mo_baseline_cluster_edge){ from, to, rows_ns[x->flow_row[q]] };
    }
    qsort(g->edges, (size_t) n, sizeof *g->edges, compare_edges);
    for (int e = 0; e < n; e++) {
        const mo_baseline_cluster_edge edge = g->edges[e];
        int last = g->n_edges - 1;

        if (e > 0 && compare_edges(&g->edges[last], &edge) == 0)
            g->edges[last].mean_ns += edge.mean_ns;
        else
            g->edges[g->n_edges++] = edge;
    }
}

/* in_start is one longer while it is filled. */
static void index_edges(mo_baseline_cluster_graph *g)
{
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
}

/* Kahn's way through the graph; queue and waits have a place for each. */
static void find_levels(mo_baseline_cluster_graph *g, int *queue, int *waits)
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
        find_edges(x, rows_ns, cluster, g);
        index_edges(g);
        find_levels(g, queue, waits);
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
