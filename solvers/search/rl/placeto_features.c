/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "schedule/heuristic/mean_cost.h"
#include "solvers/search/rl/placeto.h"
#include "solvers/search/rl/features.h"

/* Limit on pairs of units; see ancestors.h. */
enum { MAX_PAIRS = 1 << 22 };

/* Edges between units, those of one unit left out, each with its multiplicity:
 * parallel edges carry more weight. */
static mo_status list_neighbours(const mo_rl_placeto *p, bool parents,
                                 mo_rl_adjacency *lists, mo_error *err)
{
    const mo_instance *x = p->task->x;
    const int *of = p->units->of_op;
    int *at;

    lists->start = calloc((size_t) p->n + 2, sizeof *lists->start);
    lists->list = calloc((size_t) x->n_flows + 1, sizeof *lists->list);
    at = calloc((size_t) p->n + 2, sizeof *at);
    if (!lists->start || !lists->list || !at) {
        free(at);
        return mo_fail_memory(err);
    }
    for (int q = 0; q < x->n_flows; q++) {
        int u = of[x->flows[q].from], v = of[x->flows[q].to];

        if (u != v)
            lists->start[(parents ? v : u) + 1]++;
    }
    for (int u = 0; u < p->n; u++)
        at[u + 1] = lists->start[u + 1] += lists->start[u];
    for (int q = 0; q < x->n_flows; q++) {
        int u = of[x->flows[q].from], v = of[x->flows[q].to];

        if (u != v)
            lists->list[at[parents ? v : u]++] = parents ? u : v;
    }
    free(at);
    return MO_OK;
}

/* Parts in one training batch use a copy of the graph each. */
static mo_status make_copies(mo_rl_placeto *p, const mo_rl_adjacency *parents,
                             const mo_rl_adjacency *children, mo_error *err)
{
    size_t room = (size_t) p->n * (size_t) p->batch_parts + 1;
    int *which = calloc(room, sizeof *which), *by = calloc(room, sizeof *by);
    int n = p->n * p->batch_parts;
    mo_status status = which && by ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        which[i] = i % p->n;
        by[i] = i - which[i];
    }
    if (status == MO_OK)
        status = mo_rl_adjacency_remap(parents, n, which, by, &p->parents, err);
    if (status == MO_OK)
        status =
            mo_rl_adjacency_remap(children, n, which, by, &p->children, err);
    for (int c = 0; c < p->n_parts && status == MO_OK; c++)
        for (int u = p->first[c]; u < p->first[c + 1]; u++)
            by[u] = c % p->batch_parts * p->n;
    if (status == MO_OK && p->batch_parts > 1)
        status = mo_rl_ancestors_remap(&p->near, p->n, which, by,
                                       &p->near_together, err);
    free(which);
    free(by);
    return status;
}

static mo_status build_graph_lists(mo_rl_placeto *p, mo_error *err)
{
    int window = MAX_PAIRS / (p->n + 1);
    mo_rl_adjacency parents = { 0 }, children = { 0 };
    mo_status status = list_neighbours(p, true, &parents, err);

    if (status == MO_OK)
        status = list_neighbours(p, false, &children, err);
    if (status == MO_OK)
        status = mo_rl_ancestors_init(
            p->n, &parents, window < p->n ? window : p->n, &p->near, err);
    if (status == MO_OK)
        status = make_copies(p, &parents, &children, err);
    mo_rl_adjacency_clear(&parents);
    mo_rl_adjacency_clear(&children);
    return status;
}

static mo_status compute_fixed_features(mo_rl_placeto *p, mo_error *err)
{
    const mo_instance *x = p->task->x;
    double mean = mo_rl_mean_unit_ns(x, p->units);
    int64_t *rows = NULL;
    mo_status status = mo_mean_cost_rows(x, &rows, err);

    p->fixed =
        calloc((size_t) p->n * (size_t) p->n_features + 1, sizeof *p->fixed);
    if (status == MO_OK && !p->fixed)
        status = mo_fail_memory(err);
    for (int u = 0; u < p->n && status == MO_OK; u++) {
        mo_rl_real *to = p->fixed + (size_t) u * (size_t) p->n_features;
        double sends = 0;

        for (int k = 0; k < p->n_devices; k++)
            to[k] = mo_rl_log_scaled(mo_rl_unit_ns(x, p->units, u, k), mean);
        for (int j = p->units->start[u]; j < p->units->start[u + 1]; j++) {
            int op = p->units->ops[j];

            for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
                sends +=
                    (double) mo_mean_cost_flow_ns(x, &p->task->regime, rows, q);
        }
        to[p->n_devices] = mo_rl_log_scaled(sends, mean);
    }
    free(rows);
    return status;
}

mo_status mo_rl_placeto_init_features(mo_rl_placeto *placeto, mo_error *err)
{
    mo_status status = build_graph_lists(placeto, err);

    return status == MO_OK ? compute_fixed_features(placeto, err) : status;
}
