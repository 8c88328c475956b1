/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/rcsp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/bundle_method.h"

/*
 * Lagrangian relaxation of the capacities: with a multiplier (price) on each
 * device's bytes the cheapest path in time plus priced bytes exceeds a capacity
 * or not; a bundle method maximises the dual.  Then a labelling algorithm
 * (rcsp_labels.c) combines variants within the capacities, and what labels
 * leave of the devices is filled up by annealing (path_anneal.c).
 */

enum {
    MAX_EVALUATIONS = 200, /* of the dual */
    MIN_EVALUATIONS = 8,
    PRICE_WORK = 200000000 /* of all evaluations */
};

typedef struct rcsp {
    const mo_decomp_classes *classes;
    const int64_t *capacity_bytes;
    mo_decomp_path *path;
    int n_devices, n_states;
    double *price;      /* multiplier by device, ns per byte */
    double *worth;      /* by device: price of scale bytes */
    double *scale;      /* by device, in bytes */
    int64_t **table_ns; /* by class and boundary: priced time */
    int64_t *used;      /* by device */
    int64_t *own;       /* by device: of mo_primal_rcsp_variant() */
} rcsp;

/* Returns the cheapest variant of a boundary, -1: none. */
static int cheapest_variant(const rcsp *b, int number, int boundary,
                            double *cost_ns)
{
    const mo_decomp_class *cls = &b->classes->classes[number];
    const int64_t *bytes;
    int64_t time_ns;

    if (cls->part)
        return mo_decomp_class_cheapest_variant(b->classes, cls, boundary,
                                                b->price, cost_ns);
    bytes = mo_primal_rcsp_variant(b->classes, number, boundary, 0, b->own,
                                   &time_ns);
    if (!bytes)
        return -1;
    *cost_ns = (double) time_ns +
               mo_decomp_priced_bytes_ns(b->classes, b->price, bytes);
    return 0;
}

static void fill_priced_tables(rcsp *b)
{
    for (int i = 0; i < b->classes->n; i++) {
        b->path->tables[i] = b->table_ns[i];
        for (int p = 0; p < b->n_states * b->n_states; p++) {
            double cost_ns = 0;
            int k = cheapest_variant(b, i, p, &cost_ns);

            b->table_ns[i][p] = k < 0            ? INT64_MAX
                                : cost_ns < 1e17 ? (int64_t) cost_ns
                                                 : (int64_t) 1e17;
        }
    }
}

/* Sums the bytes of the priced path. */
static void sum_path(rcsp *b)
{
    memset(b->used, 0, (size_t) b->n_devices * sizeof *b->used);
    for (int i = 0; i < b->classes->segments->n; i++) {
        int cls = b->classes->segments->cls[i],
            boundary = mo_decomp_path_boundary(b->path, i);
        double cost_ns = 0;
        int k = cheapest_variant(b, cls, boundary, &cost_ns);
        int64_t time_ns = 0;
        const int64_t *bytes = mo_primal_rcsp_variant(b->classes, cls, boundary,
                                                      k, b->own, &time_ns);

        for (int d = 0; d < b->n_devices; d++)
            b->used[d] += bytes[d];
    }
}

/* The Lagrangian dual at a point, the worth of each capacity: the priced path
 * less that worth. */
static void evaluate_dual(void *context, const double *worth_ns, double *value,
                          double *gradient)
{
    rcsp *b = context;

    for (int k = 0; k < b->n_devices; k++)
        b->price[k] = worth_ns[k] / b->scale[k];
    fill_priced_tables(b);
    *value = (double) mo_decomp_path_shortest(b->path);
    sum_path(b);
    for (int k = 0; k < b->n_devices; k++) {
        bool limited = b->capacity_bytes[k] < INT64_MAX;
        double capacity = limited ? (double) b->capacity_bytes[k] : 0;

        *value -= b->price[k] * capacity;
        gradient[k] =
            limited ? ((double) b->used[k] - capacity) / b->scale[k] : -1;
    }
}

/* Maximises the dual from the prices given; returns false where there is no
 * path at all.  Where the shortest path of all is within memory the prices are
 * 0. */
static mo_status optimize_prices(rcsp *b, bool *any, mo_error *err)
{
    int64_t work = ((int64_t) b->classes->segments->n +
                    (int64_t) b->classes->n * b->classes->n_variants) *
                   b->n_states * b->n_states;
    mo_bundle_problem dual = { .n = b->n_devices,
                               .evaluate = evaluate_dual,
                               .context = b,
                               .max_evaluations = (int) mo_min_i64(
                                   mo_max_i64(PRICE_WORK / (work + 1),
                                              MIN_EVALUATIONS),
                                   MAX_EVALUATIONS),
                               .tolerance = 1e-5 };
    double value;
    bool fits = true;
    mo_status status;

    /* Scales bytes so that the worth of all capacities is of one size; one of
     * next to nothing counts as an eighth of the mean. */
    double sum = 0;
    int n = 0;

    for (int k = 0; k < b->n_devices; k++)
        if (b->capacity_bytes[k] < INT64_MAX) {
            sum += (double) b->capacity_bytes[k];
            n++;
        }
    for (int k = 0; k < b->n_devices; k++)
        b->scale[k] =
            b->capacity_bytes[k] < INT64_MAX
                ? fmax((double) b->capacity_bytes[k], 1 + sum / (8 * n))
                : 1;
    for (int k = 0; k < b->n_devices; k++) {
        b->worth[k] = b->price[k] * b->scale[k];
        b->price[k] = 0;
    }
    fill_priced_tables(b);
    *any = mo_decomp_path_shortest(b->path) < INT64_MAX;
    if (!*any)
        return MO_OK;
    sum_path(b);
    for (int k = 0; k < b->n_devices; k++)
        fits = fits && b->used[k] <= b->capacity_bytes[k];
    if (fits)
        return MO_OK;
    status = mo_bundle_maximize(&dual, b->worth, &value, err);
    for (int k = 0; k < b->n_devices; k++)
        b->price[k] = b->worth[k] / b->scale[k];
    return status;
}

static mo_status reserve_buffers(rcsp *b, mo_error *err)
{
    size_t n_boundaries = (size_t) b->n_states * (size_t) b->n_states;
    size_t n_devices = (size_t) b->n_devices;

    b->worth = calloc(n_devices, sizeof *b->worth);
    b->scale = calloc(n_devices, sizeof *b->scale);
    b->used = calloc(n_devices, sizeof *b->used);
    b->own = calloc(n_devices, sizeof *b->own);
    b->table_ns = calloc((size_t) b->classes->n, sizeof *b->table_ns);
    if (!b->worth || !b->scale || !b->used || !b->own || !b->table_ns)
        return mo_fail_memory(err);
    for (int i = 0; i < b->classes->n; i++) {
        b->table_ns[i] = malloc(n_boundaries * sizeof **b->table_ns);
        if (!b->table_ns[i])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

mo_status mo_primal_rcsp_solve(const mo_primal_rcsp *problem,
                               mo_decomp_path *path, unsigned char *variants,
                               bool *found, mo_error *err)
{
    const mo_decomp_classes *classes = problem->classes;
    int64_t least_ns = INT64_MAX;
    bool any = false, binds = false;
    rcsp b = { .classes = classes,
               .capacity_bytes = problem->capacity_bytes,
               .price = problem->price_ns,
               .path = path,
               .n_devices = classes->x->n_devices,
               .n_states = classes->states->n };
    mo_status status;

    *found = false;
    if (mo_ablated(MO_ABLATION_rcsp))
        return MO_OK;
    status = reserve_buffers(&b, err);
    if (status == MO_OK)
        status = optimize_prices(&b, &any, err);
    if (status == MO_OK && any && !mo_ablated(MO_ABLATION_rcsp_labels))
        status = mo_primal_rcsp_label(problem, path, variants, &least_ns, err);
    /* Where no capacity binds the labels have found the shortest path of
     * all. */
    for (int k = 0; k < b.n_devices; k++)
        binds = binds || b.price[k] > 0;
    if (any && status == MO_OK && binds) {
        if (least_ns == INT64_MAX) {
            /* Makes the path the shortest by priced times, within the
             * capacities or not. */
            fill_priced_tables(&b);
            mo_decomp_path_shortest(b.path);
            for (int i = 0; i < b.classes->segments->n; i++) {
                double cost_ns = 0;

                variants[i] = (unsigned char) cheapest_variant(
                    &b, b.classes->segments->cls[i],
                    mo_decomp_path_boundary(b.path, i), &cost_ns);
            }
        }
        status =
            mo_primal_path_anneal_runs(problem, path, variants, &least_ns, err);
    }
    *found = least_ns < INT64_MAX;
    for (int i = 0; i < classes->n && b.table_ns; i++)
        free(b.table_ns[i]);
    free(b.worth);
    free(b.scale);
    free(b.used);
    free(b.own);
    free(b.table_ns);
    return status;
}
