/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/cluster_ops.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/heuristic/mean_cost.h"
#include "solvers/search/baselines/cluster_graph.h"

/* Initial limit of a cluster's work, in equal shares. */
enum { WORK_SHARES = 2 };

/* When all rules in turn have done less than this part of the merges needed,
 * the limit is doubled, and finally unrelated clusters are merged: wide graphs
 * would take too many rounds. */
enum { SLOW_PART = 8 };

typedef struct merger {
    const mo_instance *whole;
    mo_tensors tensors;
    int64_t *rows_ns; /* mean transfer times */
    int most, n;      /* clusters: wanted, present */
    int *cluster;     /* by op */
    int64_t *work_ns; /* by cluster, as its pin and group: */
    int *pin, *group;
    int64_t all_ns, cap_ns; /* work: of all, limit of a cluster */

    /* Of a round. */
    mo_baseline_cluster_graph g;
    int *into;   /* by cluster: union-find parent */
    bool *taken; /* by cluster: in a pair of this round */
    int *reads,
        *is_read; /* by cluster: taken clusters that it reads, that read it */
    mo_baseline_cluster_edge *edges; /* candidates, longest first */
} merger;

/* Returns the representative of a cluster (union-find with path halving). */
static int find_root(const merger *m, int c)
{
    while (m->into[c] != c) {
        m->into[c] = m->into[m->into[c]];
        c = m->into[c];
    }
    return c;
}

static bool is_unconstrained(const merger *m, int c)
{
    return m->pin[c] == MO_FREE && m->group[c] == MO_FREE;
}

/* Returns whether two roots may be merged: number, work, pins and groups allow
 * it. */
static bool may_merge(const merger *m, int a, int b)
{
    return m->n > m->most && m->work_ns[a] + m->work_ns[b] <= m->cap_ns &&
           (is_unconstrained(m, a) || is_unconstrained(m, b) ||
            (m->pin[a] == m->pin[b] && m->group[a] == m->group[b]));
}

/* Merges two roots. */
static void merge_two(merger *m, int a, int b)
{
    m->into[b] = a;
    m->work_ns[a] += m->work_ns[b];
    if (is_unconstrained(m, a)) {
        m->pin[a] = m->pin[b];
        m->group[a] = m->group[b];
    }
    m->n--;
}

static int compare_lengths(const void *a, const void *b)
{
    const mo_baseline_cluster_edge *v = a, *w = b;

    if (v->mean_ns != w->mean_ns)
        return v->mean_ns > w->mean_ns ? -1 : 1;
    if (v->from != w->from)
        return v->from < w->from ? -1 : 1;
    return (v->to > w->to) - (v->to < w->to);
}

typedef bool edge_test(const merger *m, const mo_baseline_cluster_edge *edge,
                       int which);

/* Returns the number of edges that pass the test, sorted by falling length. */
static int select_edges(merger *m, edge_test *passes, int which)
{
    int n = 0;

    for (int e = 0; e < m->g.n_edges; e++)
        if (passes(m, &m->g.edges[e], which))
            m->edges[n++] = m->g.edges[e];
    qsort(m->edges, (size_t) n, sizeof *m->edges, compare_lengths);
    return n;
}

enum { ONLY_INPUT, ONLY_READER };

static bool is_tree_edge(const merger *m, const mo_baseline_cluster_edge *edge,
                         int which)
{
    return which == ONLY_INPUT
               ? mo_baseline_cluster_in_degree(&m->g, edge->to) == 1
               : mo_baseline_cluster_out_degree(&m->g, edge->from) == 1;
}

static bool is_level_edge(const merger *m, const mo_baseline_cluster_edge *edge,
                          int which)
{
    int level = m->g.level[edge->from];

    return level % 2 == which && m->g.level[edge->to] == level + 1;
}

/* Marks a pair: readers of its first and inputs of its second cluster cannot
 * be in another pair. */
static void mark_pair(merger *m, const mo_baseline_cluster_edge *pair)
{
    const mo_baseline_cluster_graph *g = &m->g;

    m->taken[pair->from] = m->taken[pair->to] = true;
    for (int e = g->out_start[pair->from]; e < g->out_start[pair->from + 1];
         e++)
        m->reads[g->edges[e].to]++;
    for (int at = g->in_start[pair->to]; at < g->in_start[pair->to + 1]; at++)
        m->is_read[g->edges[g->in_edges[at]].from]++;
}

/* Rule 4: merges pairs of the same level, in order. */
static mo_status merge_same_level(merger *m, mo_error *err)
{
    int *last = malloc(((size_t) m->g.n + 1) * sizeof *last);
    int n = m->g.n;

    if (!last)
        return mo_fail_memory(err);
    for (int level = 0; level < n; level++)
        last[level] = -1;
    for (int c = 0; c < n; c++) {
        int *other = &last[m->g.level[c]];

        if (*other < 0 || !may_merge(m, *other, c)) {
            *other = c;
            continue;
        }
        merge_two(m, *other, c);
        *other = -1;
    }
    free(last);
    return MO_OK;
}

static mo_status begin_round(merger *m, mo_error *err)
{
    for (int c = 0; c < m->n; c++) {
        m->into[c] = c;
        m->taken[c] = false;
        m->reads[c] = m->is_read[c] = 0;
    }
    return mo_baseline_cluster_graph_make(m->whole, m->rows_ns, m->cluster,
                                          m->n, &m->g, err);
}

enum { TREES_IN, TREES_OUT, LEVELS_EVEN, LEVELS_ODD, SAME_LEVEL };

static mo_status run_round(merger *m, int rule, mo_error *err)
{
    mo_status status = begin_round(m, err);

    if (status != MO_OK)
        return status;
    if (rule == TREES_IN || rule == TREES_OUT) {
        /* Rules 1 and 2. */
        int which = rule == TREES_IN ? ONLY_INPUT : ONLY_READER;
        int n = select_edges(m, is_tree_edge, which);

        for (int e = 0; e < n; e++) {
            int a = find_root(m, m->edges[e].from),
                b = find_root(m, m->edges[e].to);

            if (may_merge(m, a, b))
                merge_two(m, a, b);
        }
    } else if (rule == LEVELS_EVEN || rule == LEVELS_ODD) {
        /* Rule 3, from all even levels or from all odd ones. */
        int which = rule == LEVELS_ODD;
        int n = select_edges(m, is_level_edge, which);

        for (int e = 0; e < n; e++) {
            const mo_baseline_cluster_edge *edge = &m->edges[e];

            if (m->taken[edge->from] || m->taken[edge->to] ||
                m->is_read[edge->from] > 0 || m->reads[edge->to] > 0 ||
                !may_merge(m, edge->from, edge->to))
                continue;
            mark_pair(m, edge);
            merge_two(m, edge->from, edge->to);
        }
    } else {
        status = merge_same_level(m, err);
    }
    /* Numbers the remaining clusters from 0 on. */
    int n = 0;

    for (int c = 0; c < m->g.n; c++)
        m->taken[c] = m->into[c] == c;
    for (int i = 0; i < m->whole->n; i++)
        m->cluster[i] = find_root(m, m->cluster[i]);
    for (int c = 0; c < m->g.n; c++) {
        if (!m->taken[c])
            continue;
        m->work_ns[n] = m->work_ns[c];
        m->pin[n] = m->pin[c];
        m->group[n] = m->group[c];
        m->into[c] = n++;
    }
    for (int i = 0; i < m->whole->n; i++)
        m->cluster[i] = m->into[m->cluster[i]];
    mo_baseline_cluster_graph_clear(&m->g);
    return status;
}

static mo_status merge_all(merger *m, mo_error *err)
{
    mo_status status = MO_OK;

    while (m->n > m->most && status == MO_OK) {
        int before = m->n, slow = (m->n - m->most) / SLOW_PART + 1;
        bool capped = m->cap_ns < m->all_ns;

        for (int rule = TREES_IN; rule <= LEVELS_ODD && status == MO_OK; rule++)
            if (m->n > m->most)
                status = run_round(m, rule, err);
        if (before - m->n >= slow)
            continue;
        if (capped)
            m->cap_ns *= 2;
        else if (status == MO_OK)
            status = run_round(m, SAME_LEVEL, err);
        if (!capped && m->n == before)
            break; /* pins and groups forbid more */
    }
    return status;
}

typedef struct level_entry {
    int level, cluster;
} level_entry;

static int compare_levels(const void *a, const void *b)
{
    const level_entry *v = a, *w = b;

    if (v->level != w->level)
        return v->level < w->level ? -1 : 1;
    return (v->cluster > w->cluster) - (v->cluster < w->cluster);
}

static mo_status open_merger(merger *m, mo_error *err)
{
    const mo_instance *x = m->whole;
    size_t n = (size_t) x->n + 1, n_flows = (size_t) x->n_flows + 1;
    mo_status status = mo_mean_cost_rows(x, &m->rows_ns, err);

    m->cluster = malloc(n * sizeof *m->cluster);
    m->work_ns = malloc(n * sizeof *m->work_ns);
    m->pin = malloc(n * sizeof *m->pin);
    m->group = malloc(n * sizeof *m->group);
    m->into = malloc(n * sizeof *m->into);
    m->taken = malloc(n * sizeof *m->taken);
    m->reads = malloc(n * sizeof *m->reads);
    m->is_read = malloc(n * sizeof *m->is_read);
    m->edges = malloc(n_flows * sizeof *m->edges);
    if (status == MO_OK &&
        (!m->cluster || !m->work_ns || !m->pin || !m->group || !m->into ||
         !m->taken || !m->reads || !m->is_read || !m->edges))
        status = mo_fail_memory(err);
    for (int i = 0; i < x->n && status == MO_OK; i++) {
        m->cluster[i] = i;
        m->work_ns[i] = mo_mean_cost_op_ns(x, i);
        m->all_ns += m->work_ns[i];
        m->pin[i] = x->pin[i];
        m->group[i] = x->group[i];
    }
    m->cap_ns = m->all_ns / m->most * WORK_SHARES + 1;
    return status;
}

mo_status mo_baseline_cluster_ops(const mo_instance *whole, mo_tensors tensors,
                                  int most, mo_baseline_clustering **merged,
                                  mo_error *err)
{
    merger m = {
        .whole = whole, .tensors = tensors, .most = most, .n = whole->n
    };
    mo_status status = open_merger(&m, err);

    if (status == MO_OK)
        status = merge_all(&m, err);
    if (status == MO_OK) {
        /* Renumbers by level, a topological order. */
        level_entry *order = malloc(((size_t) m.n + 1) * sizeof *order);
        status = order ? begin_round(&m, err) : mo_fail_memory(err);

        if (status == MO_OK) {
            for (int c = 0; c < m.n; c++)
                order[c] = (level_entry){ m.g.level[c], c };
            qsort(order, (size_t) m.n, sizeof *order, compare_levels);
            for (int c = 0; c < m.n; c++)
                m.into[order[c].cluster] = c;
            for (int i = 0; i < m.whole->n; i++)
                m.cluster[i] = m.into[m.cluster[i]];
        }
        mo_baseline_cluster_graph_clear(&m.g);
        free(order);
    }
    if (status == MO_OK) {
        mo_baseline_clustering *made = calloc(1, sizeof *made);
        status =
            made ? mo_baseline_cluster_instance(m.whole, m.tensors, m.rows_ns,
                                                m.cluster, m.n, &made->x, err)
                 : mo_fail_memory(err);

        if (status == MO_OK) {
            made->cluster = m.cluster;
            m.cluster = NULL;
            *merged = made;
        } else {
            free(made);
        }
    }
    free(m.edges);
    free(m.is_read);
    free(m.reads);
    free(m.taken);
    free(m.into);
    free(m.group);
    free(m.pin);
    free(m.work_ns);
    free(m.cluster);
    free(m.rows_ns);
    return status;
}

void mo_baseline_clustering_free(mo_baseline_clustering *merged)
{
    if (!merged)
        return;
    mo_instance_free(merged->x);
    free(merged->cluster);
    free(merged);
}
