/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input features of HRL's policy: of units, and of the groups formed of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/mean_cost.h"
#include "solvers/search/rl/hrl.h"
#include "solvers/search/rl/features.h"

/* Features of a unit, behind its times on devices and its exchange with units
 * pinned to each: transfer times out and in, number of readers and producers,
 * their times, and position in the graph. */
enum {
    SENDS,
    RECEIVES,
    READERS,
    MAKERS,
    AFTER,
    BEFORE,
    PLACE,
    N_UNIT_FEATURES
};

/* The same of a group; behind it the exchange with each other group. */
enum { GROUP_SENDS, GROUP_RECEIVES, GROUP_SIZE, GROUP_PLACE, N_GROUP_FEATURES };

/* Initial logits make a group an interval of the graph: their curvature, where
 * every unit may have a group of its own and where not, and their minimum, so
 * that all groups can be learned. */
static const double curvature_single = 3, curvature_shared = 1, min_logit = -7;

/* Sums of the flows between units. */
static void add_flow_features(const mo_rl_hrl *h, double *sums)
{
    const mo_instance *x = h->task->x;
    int k = h->n_devices, rest = 2 * k;

    for (int q = 0; q < x->n_flows; q++) {
        int from = x->flows[q].from, to = x->flows[q].to;
        int u = h->units->of_op[from], v = h->units->of_op[to];
        double *of_u = sums + (size_t) u * (size_t) h->n_features;
        double *of_v = sums + (size_t) v * (size_t) h->n_features;

        if (u == v)
            continue;
        of_u[rest + SENDS] += h->flow_ns[q];
        of_u[rest + READERS] += h->mean_ns;
        of_u[rest + AFTER] += (double) mo_mean_cost_op_ns(x, to);
        of_v[rest + RECEIVES] += h->flow_ns[q];
        of_v[rest + MAKERS] += h->mean_ns;
        of_v[rest + BEFORE] += (double) mo_mean_cost_op_ns(x, from);
        if (h->units->pin[v] != MO_FREE)
            of_u[k + h->units->pin[v]] += h->flow_ns[q];
        if (h->units->pin[u] != MO_FREE)
            of_v[k + h->units->pin[u]] += h->flow_ns[q];
    }
}

static mo_status compute_unit_features(mo_rl_hrl *h, mo_error *err)
{
    size_t size = (size_t) h->n * (size_t) h->n_features;
    double *sums = calloc(size + 1, sizeof *sums);

    h->features = calloc(size + 1, sizeof *h->features);
    if (!sums || !h->features) {
        free(sums);
        return mo_fail_memory(err);
    }
    add_flow_features(h, sums);
    for (int u = 0; u < h->n; u++)
        for (int k = 0; k < h->n_devices; k++)
            sums[(size_t) u * (size_t) h->n_features + (size_t) k] =
                mo_rl_unit_ns(h->task->x, h->units, u, k);
    for (size_t i = 0; i < size; i++)
        h->features[i] = mo_rl_log_scaled(sums[i], h->mean_ns);
    for (int u = 0; u < h->n; u++)
        h->features[(size_t) (u + 1) * (size_t) h->n_features -
                    N_UNIT_FEATURES + PLACE] = (mo_rl_real) ((u + 0.5) / h->n);
    free(sums);
    return MO_OK;
}

mo_status mo_rl_hrl_init_features(mo_rl_hrl *hrl, mo_error *err)
{
    const mo_instance *x = hrl->task->x;
    int64_t *rows = NULL;
    mo_status status = mo_mean_cost_rows(x, &rows, err);

    hrl->flow_ns = calloc((size_t) x->n_flows + 1, sizeof *hrl->flow_ns);
    if (status == MO_OK && !hrl->flow_ns)
        status = mo_fail_memory(err);
    for (int q = 0; q < x->n_flows && status == MO_OK; q++)
        hrl->flow_ns[q] =
            (double) mo_mean_cost_flow_ns(x, &hrl->task->regime, rows, q);
    free(rows);

    hrl->n_features = 2 * hrl->n_devices + N_UNIT_FEATURES;
    hrl->n_group_features =
        2 * hrl->n_devices + N_GROUP_FEATURES + MO_RL_HRL_MAX_GROUPS;
    hrl->mean_ns = mo_rl_mean_unit_ns(hrl->task->x, hrl->units);
    if (status == MO_OK)
        status = compute_unit_features(hrl, err);
    if (status == MO_OK) {
        size_t size = (size_t) hrl->n * (size_t) hrl->n_groups;
        mo_rl_real *to = hrl->prior_logits =
            calloc(size + 1, sizeof *hrl->prior_logits);
        double curvature =
            hrl->n_groups == hrl->n ? curvature_single : curvature_shared;

        if (!to) {
            status = mo_fail_memory(err);
        } else {
            for (int u = 0; u < hrl->n; u++)
                for (int g = 0; g < hrl->n_groups; g++) {
                    /* From the position of the unit, in groups. */
                    double off = g + 0.5 - (u + 0.5) / hrl->n * hrl->n_groups;

                    *to++ =
                        (mo_rl_real) fmax(-curvature * off * off, min_logit);
                }
            status = MO_OK;
        }
    }
    if (status == MO_OK)
        status = mo_rl_single_device_placement(hrl->task->x, hrl->units,
                                               &hrl->begin, err);
    return status;
}

/* Position of a group in the graph. */
typedef struct group_position {
    int group, size;
    double place;
} group_position;

static int compare_positions(const void *left, const void *right)
{
    const group_position *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

static int number_groups(const mo_rl_hrl *h, const int *group, int *number,
                         group_position *all)
{
    int n = 0;

    for (int g = 0; g < h->n_groups; g++)
        all[g] = (group_position){ .group = g };
    for (int u = 0; u < h->n; u++)
        if (h->units->pin[u] == MO_FREE) {
            all[group[u]].size++;
            all[group[u]].place += (u + 0.5) / h->n;
        }
    for (int g = 0; g < h->n_groups; g++)
        if (all[g].size > 0) {
            all[n] = all[g];
            all[n++].place /= all[g].size;
        }
    qsort(all, (size_t) n, sizeof *all, compare_positions);
    for (int i = 0; i < n; i++)
        number[all[i].group] = i;
    return n;
}

static mo_status compute_group_features(const mo_rl_hrl *h,
                                        mo_rl_hrl_groups *groups,
                                        const group_position *all,
                                        mo_error *err)
{
    size_t size = (size_t) groups->n * (size_t) h->n_group_features;
    double *sums = calloc(size + 1, sizeof *sums);
    /* The mean if all groups were equal. */
    double mean = h->mean_ns * h->n / (groups->n + 1);

    groups->features = calloc(size + 1, sizeof *groups->features);
    if (!sums || !groups->features) {
        free(sums);
        return mo_fail_memory(err);
    }
    for (int u = 0; u < h->n; u++) {
        int a = groups->of_unit[u];

        for (int k = 0; a >= 0 && k < h->n_devices; k++)
            sums[(size_t) a * (size_t) h->n_group_features + (size_t) k] +=
                mo_rl_unit_ns(h->task->x, h->units, u, k);
    }

    const mo_instance *x = h->task->x;
    int k = h->n_devices, rest = 2 * k, others = rest + N_GROUP_FEATURES;

    for (int q = 0; q < x->n_flows; q++) {
        int u = h->units->of_op[x->flows[q].from];
        int v = h->units->of_op[x->flows[q].to];
        int a = groups->of_unit[u], b = groups->of_unit[v];

        if (a == b)
            continue;
        if (a >= 0) {
            double *of_a = sums + (ptrdiff_t) a * h->n_group_features;

            of_a[rest + GROUP_SENDS] += h->flow_ns[q];
            of_a[b >= 0 ? others + b : k + h->units->pin[v]] += h->flow_ns[q];
        }
        if (b >= 0) {
            double *of_b = sums + (ptrdiff_t) b * h->n_group_features;

            of_b[rest + GROUP_RECEIVES] += h->flow_ns[q];
            of_b[a >= 0 ? others + a : k + h->units->pin[u]] += h->flow_ns[q];
        }
    }
    for (size_t i = 0; i < size; i++)
        groups->features[i] = mo_rl_log_scaled(sums[i], mean);
    for (int i = 0; i < groups->n; i++) {
        mo_rl_real *to = groups->features +
                         (ptrdiff_t) i * h->n_group_features +
                         (ptrdiff_t) 2 * h->n_devices;

        to[GROUP_SIZE] = mo_rl_log_scaled(all[i].size * h->mean_ns, mean);
        to[GROUP_PLACE] = (mo_rl_real) all[i].place;
    }
    free(sums);
    return MO_OK;
}

mo_status mo_rl_hrl_groups_init(const mo_rl_hrl *hrl, const int *group,
                                mo_rl_hrl_groups *groups, mo_error *err)
{
    int number[MO_RL_HRL_MAX_GROUPS];
    group_position all[MO_RL_HRL_MAX_GROUPS];

    groups->of_unit = calloc((size_t) hrl->n + 1, sizeof *groups->of_unit);
    if (!groups->of_unit)
        return mo_fail_memory(err);
    groups->n = number_groups(hrl, group, number, all);
    for (int u = 0; u < hrl->n; u++)
        groups->of_unit[u] =
            hrl->units->pin[u] == MO_FREE ? number[group[u]] : -1;
    return compute_group_features(hrl, groups, all, err);
}

void mo_rl_hrl_groups_clear(mo_rl_hrl_groups *groups)
{
    free(groups->of_unit);
    free(groups->features);
    *groups = (mo_rl_hrl_groups){ 0 };
}
