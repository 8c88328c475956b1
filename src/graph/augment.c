/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/augment.h"

#include <stdlib.h>

static void prefix_sum(int *start, int n)
{
    for (int v = 0; v < n; v++)
        start[v + 1] += start[v];
}

/* Successors of an op are its flows in ascending order; a flow has one
 * predecessor and one successor. */
static void fill_adjacency(mo_augmented *a, const int *from, const int *to,
                           int *at)
{
    int n = mo_augmented_nodes(a);

    for (int v = 0; v < n; v++)
        at[v] = a->succ_start[v];
    for (int q = 0; q < a->n_flows; q++) {
        a->succ[at[from[q]]++] = a->n_ops + q;
        a->succ[at[a->n_ops + q]++] = to[q];
    }
    for (int v = 0; v < n; v++)
        at[v] = a->pred_start[v];
    for (int q = 0; q < a->n_flows; q++) {
        a->pred[at[to[q]]++] = a->n_ops + q;
        a->pred[at[a->n_ops + q]++] = from[q];
    }
}

static void count_degrees(mo_augmented *a, const int *from, const int *to)
{
    int n = mo_augmented_nodes(a);

    for (int q = 0; q < a->n_flows; q++) {
        a->succ_start[from[q] + 1]++;
        a->succ_start[a->n_ops + q + 1]++;
        a->pred_start[to[q] + 1]++;
        a->pred_start[a->n_ops + q + 1]++;
    }
    prefix_sum(a->succ_start, n);
    prefix_sum(a->pred_start, n);
}

mo_status mo_augment(int n_ops, const int *from, const int *to, int n_flows,
                     mo_augmented **augmented, mo_error *err)
{
    size_t n = (size_t) n_ops + (size_t) n_flows;
    mo_augmented *a = calloc(1, sizeof *a);
    int *at = calloc(n + 1, sizeof *at);

    if (a) {
        a->n_ops = n_ops;
        a->n_flows = n_flows;
        a->succ_start = calloc(n + 1, sizeof *a->succ_start);
        a->pred_start = calloc(n + 1, sizeof *a->pred_start);
        a->succ = calloc(2 * (size_t) n_flows + 1, sizeof *a->succ);
        a->pred = calloc(2 * (size_t) n_flows + 1, sizeof *a->pred);
    }
    if (!a || !at || !a->succ_start || !a->pred_start || !a->succ || !a->pred) {
        mo_augmented_free(a);
        free(at);
        return mo_fail_memory(err);
    }
    count_degrees(a, from, to);
    fill_adjacency(a, from, to, at);
    free(at);
    *augmented = a;
    return MO_OK;
}

void mo_augmented_free(mo_augmented *augmented)
{
    if (!augmented)
        return;
    free(augmented->succ_start);
    free(augmented->pred_start);
    free(augmented->succ);
    free(augmented->pred);
    free(augmented);
}
