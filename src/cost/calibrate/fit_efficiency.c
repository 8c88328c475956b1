/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/fit_efficiency.h"

#include <math.h>
#include <stdlib.h>

/*
 * Robust nonlinear least squares by coordinate descent. The factors of a class
 * minimize the sum of squares of log(predicted / measured), large errors
 * counted linearly (Huber, 1964). A sample is weighted by the root of its
 * share in the time of its device: with the share itself only the largest ops
 * would count, without it the many small ones would.
 *
 * Samples seldom determine everything: memory-bound ops contain no information
 * about arithmetic, large kernels none about launches. So a departure from the
 * starting point costs a little (regularization): for a class that is a guess,
 * for a generation of it the factors of the class, fitted over many devices.
 */
#define LARGE_ERROR 0.7 /* in logs: a factor of two */
#define CLASS_STIFFNESS                                                        \
    0.01 /* penalty of a departure by 1 in logs, squared                       \
          */
#define GENERATION_STIFFNESS 0.1

/* Factors are searched in logs: first in steps of a factor of two, at the end
 * of half a percent. */
#define FIRST_STEP 0.7
#define LAST_STEP  0.005

enum { COMPUTE, MEMORY, LAUNCH, N_FACTORS };

static const double guess[N_FACTORS] = { 0.6, 0.7, 1 };
static const double lowest[N_FACTORS] = { 0.02, 0.02, 0.02 };
static const double highest[N_FACTORS] = { 1, 1, 1000 };

/* One fit: its samples and its starting point. */
typedef struct fit_task {
    const mo_samples *samples;
    const size_t *rows; /* numbers of samples, all of one class and type */
    size_t n_rows;
    const double *weights; /* by sample */
    double start[N_FACTORS];
    double stiffness;
} fit_task;

static double cost_of_error(double error)
{
    double size = fabs(error);

    return size <= LARGE_ERROR ? size * size
                               : LARGE_ERROR * (2 * size - LARGE_ERROR);
}

static const mo_sample *sample_at(const fit_task *t, size_t row)
{
    return &t->samples->items[t->rows[row]];
}

static double loss(const fit_task *t, const double *factors)
{
    const mo_workload *work = &sample_at(t, 0)->work;
    mo_efficiencies table;
    double sum = 0, weight = 0, away = 0;

    table.n = 1;
    table.rows[0] =
        (mo_efficiency){ work->class,     MO_GEN_UNKNOWN,  factors[COMPUTE],
                         factors[MEMORY], factors[LAUNCH], work->math };
    for (size_t i = 0; i < t->n_rows; i++) {
        const mo_sample *s = sample_at(t, i);
        double us = mo_predict_roofline_us(&table, &s->work,
                                           &t->samples->devices[s->device]);

        sum += t->weights[t->rows[i]] * cost_of_error(log(us / s->us));
        weight += t->weights[t->rows[i]];
    }
    for (int f = 0; f < N_FACTORS; f++)
        away += pow(log(factors[f] / t->start[f]), 2);
    return sum / weight + t->stiffness * away;
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* Moves one step along a factor, up or down, if that reduces the error. */
static bool try_step(const fit_task *t, int factor, double step,
                     double *factors, double *best)
{
    double before = factors[factor], now;

    factors[factor] =
        clamp(before * exp(step), lowest[factor], highest[factor]);
    now = loss(t, factors);
    if (now < *best) {
        *best = now;
        return true;
    }
    factors[factor] = before;
    return false;
}

static void search(const fit_task *t, double *factors)
{
    double best;

    for (int f = 0; f < N_FACTORS; f++)
        factors[f] = clamp(t->start[f], lowest[f], highest[f]);
    best = loss(t, factors);
    for (double step = FIRST_STEP; step > LAST_STEP;) {
        bool is_better = false;

        for (int f = 0; f < N_FACTORS; f++)
            is_better |= try_step(t, f, step, factors, &best) ||
                         try_step(t, f, -step, factors, &best);
        if (!is_better)
            step /= 2;
    }
}

/* Rounds to four digits: the value in the file is the value that was tested. */
static double round_to_4_digits(double value)
{
    double scale = pow(10, 3 - floor(log10(value)));

    return round(value * scale) / scale;
}

/* Fits factors, which hold the starting point, and appends their row. */
static void fit_factors(fit_task *t, mo_generation generation, double *factors,
                        mo_efficiencies *table)
{
    for (int f = 0; f < N_FACTORS; f++)
        t->start[f] = factors[f];
    search(t, factors);
    if (table->n < MO_MAX_EFFICIENCIES)
        table->rows[table->n++] =
            (mo_efficiency){ sample_at(t, 0)->work.class,
                             generation,
                             round_to_4_digits(factors[COMPUTE]),
                             round_to_4_digits(factors[MEMORY]),
                             round_to_4_digits(factors[LAUNCH]),
                             sample_at(t, 0)->work.math };
}

/* Selects the training samples of a class and type and, if it is not
 * MO_GEN_UNKNOWN, of one generation. */
static size_t select_rows(const mo_samples *samples, const mo_holdout_set *part,
                          mo_class class, mo_math math,
                          mo_generation generation, size_t *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < samples->n; i++) {
        const mo_sample *s = &samples->items[i];

        if ((!part || part[i] == MO_HOLDOUT_TRAIN) && s->work.class == class &&
            s->work.math == math &&
            (generation == MO_GEN_UNKNOWN ||
             mo_generation_of(&samples->devices[s->device]) == generation))
            rows[n++] = i;
    }
    return n;
}

static void fit_class(const mo_samples *samples, const mo_holdout_set *part,
                      mo_class class, mo_math math, const double *weights,
                      size_t *rows, mo_efficiencies *table)
{
    fit_task t = { samples, rows, 0, weights, { 0 }, CLASS_STIFFNESS };
    double of_class[N_FACTORS] = { guess[COMPUTE], guess[MEMORY],
                                   guess[LAUNCH] };

    t.n_rows = select_rows(samples, part, class, math, MO_GEN_UNKNOWN, rows);
    if (t.n_rows == 0)
        return;
    fit_factors(&t, MO_GEN_UNKNOWN, of_class, table);
    t.stiffness = GENERATION_STIFFNESS;
    for (int g = MO_GEN_UNKNOWN + 1; g < MO_GENERATIONS; g++) {
        double factors[N_FACTORS] = { of_class[COMPUTE], of_class[MEMORY],
                                      of_class[LAUNCH] };

        t.n_rows =
            select_rows(samples, part, class, math, (mo_generation) g, rows);
        if (t.n_rows > 0)
            fit_factors(&t, (mo_generation) g, factors, table);
    }
}

/* Weights samples by their share in the time of their device. */
static mo_status weight_samples(const mo_samples *samples, double *weights,
                                mo_error *err)
{
    double *total_us = calloc(samples->n_devices + 1, sizeof *total_us);

    if (!total_us)
        return mo_fail_memory(err);
    for (size_t i = 0; i < samples->n; i++)
        total_us[samples->items[i].device] += samples->items[i].us;
    for (size_t i = 0; i < samples->n; i++)
        weights[i] =
            sqrt(samples->items[i].us / total_us[samples->items[i].device]);
    free(total_us);
    return MO_OK;
}

mo_status mo_fit_efficiency(const mo_samples *samples,
                            const mo_holdout_set *part, mo_efficiencies *table,
                            mo_error *err)
{
    size_t *rows = calloc(samples->n + 1, sizeof *rows);
    double *weights = calloc(samples->n + 1, sizeof *weights);
    mo_status status = rows && weights ? weight_samples(samples, weights, err)
                                       : mo_fail_memory(err);

    table->n = 0;
    for (int c = 0; c < MO_CLASSES && status == MO_OK; c++)
        for (int m = 0; m < MO_MATHS; m++)
            fit_class(samples, part, (mo_class) c, (mo_math) m, weights, rows,
                      table);
    free(weights);
    free(rows);
    return status;
}
