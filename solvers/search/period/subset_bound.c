/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/subset_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/bound/bundle_method.h"
#include "solvers/search/period/subset_pricing.h"

__extension__ typedef __int128 wide;

enum { NONE = -1 };

enum {
    PROBE_LABELS = 2048, /* of a layer */
    PROBE_ROUNDS = 4,    /* the last without joins */
    LARGE_ITEM = 8,      /* a part in it of the period */
    MAX_NODES = 40000,   /* of the graph of sets */
    MAX_LABELS = 2048,   /* of a layer */
    MAX_EVALUATIONS = 400,
    HOPEFUL_EVALUATIONS = 60, /* with no sum of sets below HOPEFUL */
    SMALL_GAIN = 1000         /* a part in it of the period */
};

#define HOPEFUL 1.1

/* Values are at least that, in their mean. */
#define LEAST_VALUE (-1.0)

/* Weight of a sum of values below its norm. */
#define SUM_WEIGHT 3.0

typedef struct test {
    mo_subset_bound *b;
    int n_units; /* of the problem */
    int64_t period_ns;
    mo_subset_units units;
    mo_subset_graph graph;
    mo_subset_pricing *pricing; /* by class; NULL: too many units */
    int64_t *value;             /* by unit */
    double *weight;             /* by unit of the problem */
    int *joined;                /* the same: as for mo_subset_units_init() */
    double end_work;            /* b->work at the end of the test */
    bool is_short;
    int n_evaluations;
    double best;  /* least sum of sets for a sum of values of 1 */
    mo_stop stop; /* requested once it is proven, or work is done */
    mo_status status;
    mo_error err;
} test;

mo_status mo_subset_bound_init(mo_subset_bound *b, const mo_period_problem *p,
                               mo_error *err)
{
    *b = (mo_subset_bound){ .problem = p, .failed_ns = INT64_MAX };
    b->value = calloc((size_t) p->units->n + 1, sizeof *b->value);
    return b->value ? MO_OK : mo_fail_memory(err);
}

void mo_subset_bound_clear(mo_subset_bound *b)
{
    free(b->value);
    *b = (mo_subset_bound){ 0 };
}

static void clear_model(test *t)
{
    for (int c = 0; c < t->units.n_classes && t->pricing; c++)
        mo_subset_pricing_clear(&t->pricing[c]);
    free(t->pricing);
    free(t->value);
    t->pricing = NULL;
    t->value = NULL;
    mo_subset_graph_clear(&t->graph);
    mo_subset_units_clear(&t->units);
}

/* Units, their graph and pricing; with no pricing where there are too many. */
static mo_status make_model(test *t, mo_error *err)
{
    mo_status status = mo_subset_units_init(&t->units, t->b->problem,
                                            t->period_ns, t->joined, err);

    if (status != MO_OK)
        return status;
    t->is_short = t->units.is_infeasible;
    if (t->is_short || t->units.n > MO_SUBSET_MAX_UNITS)
        return MO_OK;
    status = mo_subset_graph_init(&t->graph, &t->units, MAX_NODES, err);
    t->pricing = calloc((size_t) t->units.n_classes + 1, sizeof *t->pricing);
    t->value = calloc((size_t) t->units.n + 1, sizeof *t->value);
    if (status == MO_OK && (!t->pricing || !t->value))
        status = mo_fail_memory(err);
    for (int c = 0; c < t->units.n_classes && status == MO_OK; c++)
        status = mo_subset_pricing_init(&t->pricing[c], &t->graph, c, err);
    for (int c = 0; c < t->units.n_classes && status == MO_OK; c++)
        t->pricing[c].stop = &t->stop;
    return status;
}

/* mo_subset_price() at the values of the test, with its work counted. */
static mo_status price_sets(test *t, int class, int64_t enough, int max_labels,
                            int64_t *most, mo_error *err)
{
    mo_subset_pricing *p = &t->pricing[class];
    mo_status status =
        mo_subset_price(p, t->value, enough, max_labels, most, err);

    t->b->work += (double) p->work;
    p->work = 0;
    return status;
}

/* Whether a set with unit u, and without unit v unless that is NONE, may be
 * within the limits of some device. */
static mo_status probe_sets(test *t, int u, int v, bool *may_be, mo_error *err)
{
    const int64_t one = MO_SUBSET_TOTAL / 4;
    mo_status status = MO_OK;

    *may_be = false;
    memset(t->value, 0, (size_t) t->units.n * sizeof *t->value);
    t->value[u] = one;
    if (v != NONE)
        t->value[v] = -one;
    for (int c = 0; c < t->units.n_classes && !*may_be && status == MO_OK;
         c++) {
        int64_t most;

        status = price_sets(t, c, one, PROBE_LABELS, &most, err);
        *may_be = most >= one;
    }
    return status;
}

static bool is_over(const test *t)
{
    return t->b->work >= t->end_work || mo_stop_reached(&t->stop);
}

/* Joins two ends of an item where no device can have one alone. */
static mo_status probe_pair(test *t, int u, int v, int *n_joined, mo_error *err)
{
    bool may_be;
    mo_status status = probe_sets(t, u, v, &may_be, err);

    if (status == MO_OK && may_be)
        status = probe_sets(t, v, u, &may_be, err);
    if (status == MO_OK && !may_be) {
        int first = NONE;

        /* Joins the units of the problem that are in u and in v. */
        for (int i = 0; i < t->n_units; i++)
            if (t->units.of_unit[i] == u || t->units.of_unit[i] == v) {
                first = first == NONE ? i : first;
                t->joined[i] = first;
            }
        ++*n_joined;
    }
    return status;
}

/* Probes the ends of items that take a large part of the period; *n_joined is
 * the number of joins. */
static mo_status probe_items(test *t, int *n_joined, mo_error *err)
{
    int64_t large_ns = t->period_ns / LARGE_ITEM;
    mo_status status = MO_OK;

    *n_joined = 0;
    for (int i = 0; i < t->units.n_items && status == MO_OK; i++) {
        const mo_subset_item *item = &t->units.items[i];

        for (int j = 0; j < item->n && status == MO_OK && !is_over(t); j++)
            if (item->in_ns[0] > large_ns || item->out_ns[0] > large_ns)
                status = probe_pair(t, item->from, item->to[j], n_joined, err);
    }
    return status;
}

/*
 * The function that is maximised, with values of a sum of n or more at best,
 *
 *     g(v) = SUM_WEIGHT min(0, sum v / n - 1) - sum_k max_S v(S) / n
 */
static void evaluate_values(void *context, const double *point, double *value,
                            double *gradient)
{
    test *t = context;
    int n = t->units.n;
    double total = 1e-9;
    int64_t sum = 0;
    wide covered = 0;
    double sum_values = 0;

    /* The values in integers, of a total of at most MO_SUBSET_TOTAL. */
    for (int u = 0; u < n; u++)
        total += fabs(point[u] + LEAST_VALUE);
    for (int u = 0; u < n; u++) {
        t->value[u] = (int64_t) ((point[u] + LEAST_VALUE) / total *
                                 (double) (MO_SUBSET_TOTAL / 2));
        sum += t->value[u];
    }
    for (int u = 0; u < n; u++)
        sum_values += (point[u] + LEAST_VALUE) / n;
    *value = SUM_WEIGHT * fmin(0, sum_values - 1);
    for (int u = 0; u < n; u++)
        gradient[u] = sum_values < 1 ? SUM_WEIGHT / n : 0;
    for (int c = 0; c < t->units.n_classes; c++) {
        const mo_subset_pricing *p = &t->pricing[c];
        int n_devices = t->units.n_devices[c];
        int64_t most = INT64_MAX;

        if (t->status == MO_OK)
            t->status = price_sets(t, c, INT64_MAX, MAX_LABELS, &most, &t->err);
        covered += (wide) most * n_devices;
        for (int u = 0; u < n; u++)
            if (p->chosen[u]) {
                *value -= (point[u] + LEAST_VALUE) / n * n_devices;
                gradient[u] -= (double) n_devices / n;
            }
    }
    /* Ends the bundle where it proved T too short, or is not worth more
     * work. */
    t->is_short |= t->status == MO_OK && covered < sum;
    if (sum > 0)
        t->best = fmin(t->best, (double) covered / (double) sum);
    t->n_evaluations++;
    if (t->is_short || t->status != MO_OK || t->b->work >= t->end_work ||
        (t->n_evaluations >= HOPEFUL_EVALUATIONS && t->best > HOPEFUL))
        mo_stop_request(&t->stop);
}

/* The values of the last test, or weights at first. */
static void begin_point(const test *t, double *point)
{
    int n_units = t->n_units;
    const double *value = t->b->value;
    double sum = 0;

    for (int u = 0; u < n_units; u++)
        sum += value[u];
    if (sum <= 0) {
        value = t->weight;
        for (int u = 0; u < n_units; u++)
            sum += value[u];
    }
    for (int u = 0; u < n_units; u++)
        point[t->units.of_unit[u]] += value[u] * t->units.n / sum;
    for (int u = 0; u < t->units.n; u++)
        point[u] = fmax(0, point[u] - LEAST_VALUE);
}

static mo_status improve_values(test *t, mo_error *err)
{
    size_t n = (size_t) t->units.n + 1;
    double *point = calloc(n, sizeof *point), *sum = calloc(n, sizeof *sum);
    double value;
    const mo_bundle_problem problem = { .n = t->units.n,
                                        .evaluate = evaluate_values,
                                        .context = t,
                                        .max_evaluations = MAX_EVALUATIONS,
                                        .tolerance = 1e-6,
                                        .is_inexact = true,
                                        .stop = &t->stop };
    mo_status status = point && sum ? MO_OK : mo_fail_memory(err);

    t->n_evaluations = 0;
    t->best = INFINITY;
    if (status == MO_OK) {
        begin_point(t, point);
        status = mo_bundle_maximize(&problem, point, &value, err);
    }
    if (status == MO_OK && t->status != MO_OK) {
        *err = t->err;
        status = t->status;
    }
    /* Keeps values for later tests: those of a unit in the parts of weights. */
    for (int u = 0; u < t->n_units && status == MO_OK; u++)
        sum[t->units.of_unit[u]] += t->weight[u];
    for (int u = 0; u < t->n_units && status == MO_OK; u++) {
        int unit = t->units.of_unit[u];

        t->b->value[u] = (point[unit] + LEAST_VALUE) * t->weight[u] / sum[unit];
    }
    free(point);
    free(sum);
    return status;
}

static mo_status run_test(test *t, const mo_stop *stop, mo_error *err)
{
    mo_status status = make_model(t, err);
    int n_joined = 1;

    for (int i = 0; i < PROBE_ROUNDS && n_joined > 0 && status == MO_OK &&
                    !t->is_short && t->pricing && t->units.n > 0;
         i++) {
        n_joined = 0;
        t->stop = (mo_stop){ .deadline_ns = INT64_MAX, .outer = stop };
        /* Looks for a unit that no device can have. */
        status = MO_OK;

        for (int u = 0;
             u < t->units.n && status == MO_OK && !t->is_short && !is_over(t);
             u++) {
            bool may_be;

            status = probe_sets(t, u, NONE, &may_be, err);
            t->is_short = status == MO_OK && !may_be;
        }
        if (status == MO_OK && !t->is_short && !is_over(t))
            status = improve_values(t, err);
        t->stop = (mo_stop){ .deadline_ns = INT64_MAX, .outer = stop };
        if (status == MO_OK && !t->is_short && i < PROBE_ROUNDS - 1)
            status = probe_items(t, &n_joined, err);
        if (status == MO_OK && n_joined > 0) {
            clear_model(t);
            status = make_model(t, err);
        }
    }
    return status;
}

mo_status mo_subset_bound_test(mo_subset_bound *b, int64_t period_ns,
                               double max_work, const mo_stop *stop,
                               bool *is_short, mo_error *err)
{
    size_t n = (size_t) b->problem->units->n + 1;
    test t = { .b = b,
               .n_units = b->problem->units->n,
               .period_ns = period_ns,
               .end_work = b->work + max_work,
               .status = MO_OK };
    mo_status status;

    t.weight = calloc(n, sizeof *t.weight);
    t.joined = calloc(n, sizeof *t.joined);
    if (t.weight && t.joined) {
        for (int u = 0; u < t.n_units; u++)
            t.joined[u] = u;
        /* Weights of the problem's units: their shortest processing times. */
        const mo_instance *x = t.b->problem->x;
        const mo_placement_units *units = t.b->problem->units;

        for (int u = 0; u < units->n; u++)
            t.weight[u] = 1;
        for (int i = 0; i < x->n; i++) {
            int64_t least_ns = INT64_MAX;

            for (int k = 0; k < x->n_devices; k++)
                least_ns = mo_min_i64(least_ns, mo_instance_p_ns(x, i, k));
            t.weight[units->of_op[i]] += (double) least_ns;
        }
        status = run_test(&t, stop, err);
    } else {
        status = mo_fail_memory(err);
    }
    *is_short = status == MO_OK && t.is_short;
    clear_model(&t);
    free(t.weight);
    free(t.joined);
    return status;
}

bool mo_subset_bound_is_open(const mo_subset_bound *b, int64_t upper_ns,
                             int64_t lower_ns)
{
    int64_t high_ns = mo_min_i64(b->failed_ns, upper_ns - 1);

    return high_ns - lower_ns > upper_ns / SMALL_GAIN;
}

mo_status mo_subset_bound_raise(mo_subset_bound *b, int64_t upper_ns,
                                double max_work, const mo_stop *stop,
                                int64_t *lower_ns, mo_error *err)
{
    double end = b->work + max_work;
    mo_status status = MO_OK;

    while (status == MO_OK && b->work < end && !mo_stop_reached(stop) &&
           mo_subset_bound_is_open(b, upper_ns, *lower_ns)) {
        int64_t high_ns = mo_min_i64(b->failed_ns, upper_ns - 1);
        int64_t period_ns = *lower_ns + (high_ns - *lower_ns) / 2;
        bool is_short = false;

        status =
            mo_subset_bound_test(b, period_ns, max_work, stop, &is_short, err);
        if (is_short)
            *lower_ns = period_ns + 1;
        else
            b->failed_ns = period_ns;
    }
    return status;
}
