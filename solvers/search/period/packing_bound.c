/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/packing_bound.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"

enum {
    MAX_PARTS = 48,  /* q */
    MAX_TOTAL = 512, /* of all values; more is no longer a matter of packing */
    BISECTIONS = 16
};

typedef struct packing {
    const mo_period_problem *p;
    int n, K;
    int64_t *time_ns; /* by device and unit; INT64_MAX: not allowed */
    int *class_of;    /* by device: the first with its times */
    int *value;       /* by unit */
    int64_t *least;   /* by value: the least time of it */
    int64_t *best;    /* by device: the largest value */
} packing;

static const int64_t *times_of(const packing *b, int k)
{
    return b->time_ns + (size_t) k * (size_t) b->n;
}

static void sum_times(packing *b)
{
    const mo_placement_units *u = b->p->units;

    for (int k = 0; k < b->K; k++)
        for (int i = 0; i < b->n; i++) {
            int64_t *ns = &b->time_ns[(size_t) k * (size_t) b->n + (size_t) i];

            if (!mo_allowed_devices_has(&b->p->domains, u->ops[u->start[i]],
                                        k)) {
                *ns = INT64_MAX;
                continue;
            }
            for (int j = u->start[i]; j < u->start[i + 1]; j++)
                *ns += mo_instance_p_ns(b->p->x, u->ops[j], k);
        }
    for (int k = 0; k < b->K; k++) {
        size_t size = (size_t) b->n * sizeof *b->time_ns;

        b->class_of[k] = k;
        for (int l = 0; l < k && b->class_of[k] == k; l++)
            if (memcmp(times_of(b, k), times_of(b, l), size) == 0)
                b->class_of[k] = l;
    }
}

/* Sets the values by the times of device k and returns their sum, -1 where it
 * is too large. */
static int set_values(packing *b, int k, int parts, int64_t limit_ns)
{
    const int64_t *ns = times_of(b, k);
    int total = 0;

    for (int i = 0; i < b->n; i++) {
        double part = ns[i] == INT64_MAX
                          ? 0
                          : (double) ns[i] / ((double) limit_ns + 1) * parts;

        if (part > MAX_TOTAL)
            return -1;
        b->value[i] = (int) part;
        total += b->value[i];
        if (total > MAX_TOTAL)
            return -1;
    }
    return total;
}

/* The largest value of units on device k within the limit. */
static int fill_device(packing *b, int k, int64_t limit_ns, int total)
{
    const int64_t *ns = times_of(b, k);
    int reached = 0;

    b->least[0] = 0;
    for (int v = 1; v <= total; v++)
        b->least[v] = INT64_MAX;
    for (int i = 0; i < b->n; i++) {
        if (b->value[i] == 0 || ns[i] > limit_ns)
            continue;
        for (int v = reached; v >= 0; v--) {
            int64_t *to = &b->least[v + b->value[i]];

            if (b->least[v] <= limit_ns - ns[i] && b->least[v] + ns[i] < *to)
                *to = b->least[v] + ns[i];
        }
        reached += b->value[i];
    }
    while (reached > 0 && b->least[reached] == INT64_MAX)
        reached--;
    return reached;
}

/* Whether no placement has all loads of devices within the limit. */
static bool is_refuted(packing *b, int64_t limit_ns)
{
    for (int k = 0; k < b->K; k++) {
        if (b->class_of[k] != k)
            continue;
        for (int parts = 2; parts <= MAX_PARTS; parts++) {
            int total = set_values(b, k, parts, limit_ns);
            int64_t sum = 0;

            if (total < 0)
                break;
            for (int l = 0; l < b->K && sum < total; l++) {
                int first = b->class_of[l];

                b->best[l] = first == l ? fill_device(b, l, limit_ns, total)
                                        : b->best[first];
                sum += b->best[l];
            }
            if (sum < total)
                return true;
        }
    }
    return false;
}

static void bisect_period(packing *b, int64_t upper_ns, int64_t *lower_ns)
{
    int64_t open_ns = upper_ns;

    if (*lower_ns >= upper_ns)
        return;
    if (is_refuted(b, upper_ns - 1)) {
        *lower_ns = upper_ns;
        return;
    }
    for (int i = 0; i < BISECTIONS && *lower_ns < open_ns; i++) {
        int64_t middle_ns = *lower_ns + (open_ns - *lower_ns) / 2;

        if (is_refuted(b, middle_ns))
            *lower_ns = middle_ns + 1;
        else
            open_ns = middle_ns;
    }
}

/* Whether all ops are connected by flows, in either direction; root is work
 * space, by op. */
static bool is_connected(const mo_instance *x, int *root)
{
    int n = x->n;

    for (int i = 0; i < x->n; i++)
        root[i] = i;
    for (int q = 0; q < x->n_flows; q++) {
        int a = x->flows[q].from, b = x->flows[q].to;

        while (root[a] != a)
            a = root[a] = root[root[a]];
        while (root[b] != b)
            b = root[b] = root[root[b]];
        root[a] = b;
        n -= a != b;
    }
    return n == 1;
}

/*
 * A connected graph is on one device, or has a transfer: the loads together
 * then have its overhead at two devices.
 */
static int64_t bound_by_overhead(const mo_period_problem *p, int *root)
{
    const mo_instance *x = p->x;
    int64_t sum_ns = 0, one_ns = INT64_MAX, least[2] = { INT64_MAX, INT64_MAX };

    if (!x->load.overhead_ns || p->regime.congestion == MO_CONGESTION_NONE ||
        x->n_devices < 2 || !is_connected(x, root))
        return 0;
    for (int i = 0; i < x->n; i++) {
        int64_t least_ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            least_ns = mo_min_i64(least_ns, mo_instance_p_ns(x, i, k));
        sum_ns += least_ns;
    }
    for (int k = 0; k < x->n_devices; k++) {
        int64_t ns = INT64_MAX, all_ns = 0;

        for (int i = 0; i < x->n; i++)
            all_ns += mo_instance_p_ns(x, i, k);
        one_ns = mo_min_i64(one_ns, all_ns);
        for (int t = 0; t < x->n_tensors; t++)
            ns = mo_min_i64(ns, mo_instance_overhead_ns(x, t, k));
        least[1] = mo_min_i64(least[1], mo_max_i64(least[0], ns));
        least[0] = mo_min_i64(least[0], ns);
    }
    if (x->n_tensors > 0)
        sum_ns += least[0] + least[1];
    return mo_min_i64(one_ns,
                      sum_ns / x->n_devices + (sum_ns % x->n_devices > 0));
}

mo_status mo_period_packing_bound(const mo_period_problem *p, int64_t upper_ns,
                                  int64_t *lower_ns, mo_error *err)
{
    packing b = { .p = p, .n = p->units->n, .K = p->x->n_devices };
    size_t n = (size_t) b.n + 1, K = (size_t) b.K + 1, size;
    int *root;
    mo_status status = MO_OK;

    if (!mo_size_mul(n, K, &size))
        return mo_fail_memory(err);
    b.time_ns = calloc(size, sizeof *b.time_ns);
    b.class_of = calloc(K, sizeof *b.class_of);
    b.value = calloc(n, sizeof *b.value);
    b.least = calloc(MAX_TOTAL + 1, sizeof *b.least);
    b.best = calloc(K, sizeof *b.best);
    root = calloc((size_t) p->x->n + 1, sizeof *root);
    if (b.time_ns && b.class_of && b.value && b.least && b.best && root) {
        *lower_ns = mo_max_i64(*lower_ns, bound_by_overhead(p, root));
        sum_times(&b);
        bisect_period(&b, upper_ns, lower_ns);
    } else {
        status = mo_fail_memory(err);
    }
    free(b.time_ns);
    free(b.class_of);
    free(b.value);
    free(b.least);
    free(b.best);
    free(root);
    return status;
}
