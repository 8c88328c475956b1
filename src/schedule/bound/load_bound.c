/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/load_bound.h"

/*
 * Load bound: the LP relaxation of makespan minimization on unrelated machines
 * (R||Cmax), where work may be divided arbitrarily,
 *
 *     min T,  sum_k z[i,k] = 1,  sum_i p[i,k] z[i,k] <= T,  z >= 0.
 *
 * By duality any weights y[k] >= 0 give a lower bound,
 *
 *     T >= sum_i min_k y[k] p[i,k] / sum_k y[k],
 *
 * and the best have the same load on every device.  Equal weights are best for
 * equal devices, weights by speed where devices differ by a factor; the larger
 * of the two bounds is taken.  Integers throughout, rounded down op by op: any
 * compiler computes the same windows.
 */

enum { FULL_WEIGHT = 1024 };

/* The ops of a list, or without one those from first on. */
typedef struct op_set {
    const mo_allowed_devices *domains;
    const int *ops;
    int first, n;
} op_set;

static int op_at(const op_set *c, int i)
{
    return c->ops ? c->ops[i] : c->first + i;
}

static int64_t dual_bound(const op_set *c, const int64_t *weight)
{
    const mo_allowed_devices *p = c->domains;
    int n_devices = p->x->n_devices;
    int64_t sum = 0, total = 0;

    for (int k = 0; k < n_devices; k++)
        total += weight[k];
    if (total == 0)
        return 0;
    for (int i = 0; i < c->n; i++) {
        int op = op_at(c, i);
        int64_t least = INT64_MAX;
        for (int k = 0; k < n_devices; k++)
            if (mo_allowed_devices_has(p, op, k) &&
                weight[k] * mo_instance_p_ns(p->x, op, k) < least)
                least = weight[k] * mo_instance_p_ns(p->x, op, k);
        sum += least / total;
    }
    return sum;
}

static int64_t best_dual_bound(const op_set *c, int64_t *scratch)
{
    int64_t equal_ns, by_speed_ns;

    for (int k = 0; k < c->domains->x->n_devices; k++)
        scratch[k] = 1;
    equal_ns = dual_bound(c, scratch);
    /* The faster a device, the more a nanosecond of it weighs. */
    const mo_instance *x = c->domains->x;
    int n_devices = x->n_devices;
    int64_t least = INT64_MAX;

    for (int k = 0; k < n_devices; k++) {
        scratch[k] = 0;
        for (int i = 0; i < c->n; i++)
            scratch[k] += mo_instance_p_ns(x, op_at(c, i), k);
        if (scratch[k] < least)
            least = scratch[k];
    }
    for (int k = 0; k < n_devices; k++)
        scratch[k] = least / (scratch[k] / FULL_WEIGHT + 1);
    by_speed_ns = dual_bound(c, scratch);
    return equal_ns > by_speed_ns ? equal_ns : by_speed_ns;
}

int64_t mo_bound_load_ns(const mo_allowed_devices *p, int first, int last,
                         int64_t *scratch)
{
    op_set c = { .domains = p, .first = first, .n = last - first };

    return best_dual_bound(&c, scratch);
}

int64_t mo_bound_load_of_ops_ns(const mo_allowed_devices *p, const int *ops,
                                int n, int64_t *scratch)
{
    op_set c = { .domains = p, .ops = ops, .n = n };

    return best_dual_bound(&c, scratch);
}
