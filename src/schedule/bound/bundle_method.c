/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/bundle_method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * With center c, planes f_j + g_j (x - y_j) and their errors at the center
 * e_j = f_j + g_j (c - y_j) - f(c) >= 0, the next point is
 *
 *     argmax over x >= 0 of  min_j (e_j + g_j (x - c))  -  |x - c|^2 / 2t
 *
 * Its dual is over the unit simplex: with g = sum_j a_j g_j the point is
 * x = max(0, c + t g), and the derivative with respect to a_j is
 * e_j + g_j (x - c).  It is solved by moves of weight between two planes
 * (sequential minimal optimization, Platt 1998), approximately.
 */

enum {
    MAX_PLANES = 64,
    MAX_PAIR_STEPS = 400, /* of the quadratic program */
    MAX_WIDENINGS = 4,    /* in a row, where a step is worth nothing */
    NULL_STEPS = 3        /* in a row, before the step is made shorter */
};

#define FIRST_GAIN    0.3 /* of the value, expected of the first step */
#define SERIOUS_SHARE 0.1 /* of the predicted gain, for a new center */
#define GOOD_SHARE    0.5 /* the same for longer steps */

typedef struct plane {
    double error;  /* e_j */
    double weight; /* a_j */
    double slope;  /* e_j + g_j (x - c) */
    double *gradient;
} plane;

typedef struct bundle {
    const mo_bundle_problem *problem;
    int n, n_planes;
    plane planes[MAX_PLANES];
    double *numbers; /* owns all of these arrays and the planes' */
    double *center, *point, *gradient, *mean; /* mean: sum of a_j g_j */
    double center_value, t;
} bundle;

static mo_status allocate_bundle(bundle *b, mo_error *err)
{
    size_t n = (size_t) b->n, size;

    if (!mo_size_mul(n, MAX_PLANES + 4, &size))
        return mo_fail_memory(err);
    b->numbers = calloc(size, sizeof *b->numbers);
    if (!b->numbers)
        return mo_fail_memory(err);
    b->center = b->numbers;
    b->point = b->numbers + n;
    b->gradient = b->numbers + 2 * n;
    b->mean = b->numbers + 3 * n;
    for (int j = 0; j < MAX_PLANES; j++)
        b->planes[j].gradient = b->numbers + (size_t) (4 + j) * n;
    return MO_OK;
}

/* Returns the plane to overwrite: a new one, or that of the least weight, of
 * these the worst at the center. */
static int free_plane(bundle *b)
{
    int worst = 0;

    if (b->n_planes < MAX_PLANES)
        return b->n_planes++;
    for (int j = 1; j < b->n_planes; j++) {
        const plane *p = &b->planes[j], *w = &b->planes[worst];

        if (p->weight < w->weight ||
            (p->weight == w->weight && p->error > w->error))
            worst = j;
    }
    return worst;
}

/* Adds the plane of b->point. */
static void add_plane(bundle *b, double value)
{
    plane *to = &b->planes[free_plane(b)];

    to->weight = b->n_planes == 1;
    to->error = value - b->center_value;
    for (int k = 0; k < b->n; k++) {
        to->gradient[k] = b->gradient[k];
        to->error += b->gradient[k] * (b->center[k] - b->point[k]);
    }
    if (b->problem->is_inexact && to->error < 0) {
        /* A plane below the center's value: that was not exact (noise
         * attenuation, Kiwiel 2006). */
        double by = -to->error;

        b->center_value -= by;
        for (int j = 0; j < b->n_planes; j++)
            b->planes[j].error += by;
    }
    to->error = fmax(to->error, 0);
}

/* Sets point and slopes by the mean. */
static void find_slopes(bundle *b)
{
    for (int k = 0; k < b->n; k++)
        b->point[k] = fmax(0, b->center[k] + b->t * b->mean[k]);
    for (int j = 0; j < b->n_planes; j++) {
        plane *p = &b->planes[j];

        p->slope = p->error;
        for (int k = 0; k < b->n; k++)
            p->slope += p->gradient[k] * (b->point[k] - b->center[k]);
    }
}

/* Moves weight from the plane of the largest slope to that of the least;
 * returns false where no move is worth it. */
static bool move_weight(bundle *b)
{
    const double least_gain = b->problem->tolerance * fabs(b->center_value);
    int to = 0, from = -1;
    double curvature = 0, step;

    for (int j = 0; j < b->n_planes; j++) {
        if (b->planes[j].slope < b->planes[to].slope)
            to = j;
        if (b->planes[j].weight > 0 &&
            (from < 0 || b->planes[j].slope > b->planes[from].slope))
            from = j;
    }
    if (from < 0 ||
        b->planes[from].slope - b->planes[to].slope <= 0.01 * least_gain)
        return false;
    for (int k = 0; k < b->n; k++) {
        double d = b->planes[from].gradient[k] - b->planes[to].gradient[k];

        curvature += b->t * d * d;
    }
    step = b->planes[from].weight;
    if (curvature * step > b->planes[from].slope - b->planes[to].slope)
        step = (b->planes[from].slope - b->planes[to].slope) / curvature;
    b->planes[from].weight -= step;
    b->planes[to].weight += step;
    for (int k = 0; k < b->n; k++)
        b->mean[k] +=
            step * (b->planes[to].gradient[k] - b->planes[from].gradient[k]);
    return true;
}

/* Sets b->point to the next one; returns the gain that the planes predict. */
static double solve_subproblem(bundle *b)
{
    double least = INFINITY;

    /* Makes the weights sum to 1, and sets mean. */
    double sum = 0;

    for (int j = 0; j < b->n_planes; j++)
        sum += b->planes[j].weight;
    for (int k = 0; k < b->n; k++)
        b->mean[k] = 0;
    for (int j = 0; j < b->n_planes; j++) {
        plane *p = &b->planes[j];

        p->weight = sum > 0 ? p->weight / sum : 1.0 / b->n_planes;
        for (int k = 0; k < b->n; k++)
            b->mean[k] += p->weight * p->gradient[k];
    }
    find_slopes(b);
    for (int i = 0; i < MAX_PAIR_STEPS && move_weight(b); i++)
        find_slopes(b);
    for (int j = 0; j < b->n_planes; j++)
        least = fmin(least, b->planes[j].slope);
    return least;
}

static void evaluate_point(bundle *b, double *value)
{
    b->problem->evaluate(b->problem->context, b->point, value, b->gradient);
}

static void run_bundle(bundle *b)
{
    int widenings = 0, null_steps = 0;
    double norm = 0, value;

    evaluate_point(b, &value);
    b->center_value = value;
    add_plane(b, value);
    for (int k = 0; k < b->n; k++)
        norm += b->gradient[k] * b->gradient[k];
    if (norm == 0)
        return;
    b->t = FIRST_GAIN * fmax(fabs(value), 1) / norm;
    for (int i = 1; i < b->problem->max_evaluations &&
                    !mo_stop_spend(b->problem->stop, b->problem->work);) {
        double predicted = solve_subproblem(b);

        if (predicted <= b->problem->tolerance * fabs(b->center_value)) {
            b->t *= 8;
            if (++widenings > MAX_WIDENINGS)
                break;
            continue;
        }
        widenings = 0;
        evaluate_point(b, &value);
        i++;
        add_plane(b, value);
        if (value >= b->center_value + SERIOUS_SHARE * predicted) {
            if (value >= b->center_value + GOOD_SHARE * predicted)
                b->t *= 2;
            /* Makes b->point, whose plane is present, the center. */
            for (int j = 0; j < b->n_planes; j++) {
                plane *p = &b->planes[j];

                p->error += b->center_value - value;
                for (int k = 0; k < b->n; k++)
                    p->error += p->gradient[k] * (b->point[k] - b->center[k]);
                p->error = fmax(p->error, 0);
            }
            b->center_value = value;
            memcpy(b->center, b->point, (size_t) b->n * sizeof *b->center);
            null_steps = 0;
        } else if (++null_steps >= NULL_STEPS) {
            b->t *= 0.6;
            null_steps = 0;
        }
    }
}

mo_status mo_bundle_maximize(const mo_bundle_problem *problem, double *point,
                             double *value, mo_error *err)
{
    bundle b = { .problem = problem, .n = problem->n };
    mo_status status = allocate_bundle(&b, err);

    if (status == MO_OK) {
        memcpy(b.center, point, (size_t) b.n * sizeof *point);
        memcpy(b.point, point, (size_t) b.n * sizeof *point);
        run_bundle(&b);
        memcpy(point, b.center, (size_t) b.n * sizeof *point);
        *value = b.center_value;
    }
    free(b.numbers);
    return status;
}
