/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/fit_efficiency.h"

#include <math.h>
#include <stdlib.h>

/*
 * The factors of a class are those that make the roofline come closest to the
 * samples: the least sum of squares of log(predicted / measured), large errors
 * counted linearly.  A sample weighs as much as the root of its share in the
 * time of its device: with the share itself nothing but the largest ops would
 * count, without it the many small ones would.
 *
 * Samples seldom say everything: what is always bound by memory tells nothing
 * about arithmetic, large kernels nothing about launches.  So leaving where the
 * search starts costs a little: for a class that is a guess, for a generation
 * of it the factors of the class, which many devices agreed upon.
 */
#define LARGE_ERROR          0.7  /* in logs: a factor of two */
#define CLASS_STIFFNESS      0.01 /* what a log of 1 costs, squared */
#define GENERATION_STIFFNESS 0.1

/* Factors are searched in logs: steps of a factor of two first, in the end of
 * half a percent. */
#define FIRST_STEP 0.7
#define LAST_STEP  0.005

enum { COMPUTE, MEMORY, LAUNCH, N_FACTORS };

static const double guess[N_FACTORS] = { 0.6, 0.7, 1 };
static const double lowest[N_FACTORS] = { 0.02, 0.02, 0.02 };
static const double highest[N_FACTORS] = { 1, 1, 1000 };

/* One thing to fit: samples, and where to start from. */
typedef struct task {
    const mo_samples *samples;
    const size_t *rows; /* numbers of samples, all of one class */
    size_t n_rows;
    const double *weights; /* by sample */
    double start[N_FACTORS];
    double stiffness;
} task;

static double cost_of_error(double error)
{
    double size = fabs(error);

    return size <= LARGE_ERROR ? size * size
                               : LARGE_ERROR * (2 * size - LARGE_ERROR);
}

static const mo_sample *sample_at(const task *t, size_t row)
{
    return &t->samples->items[t->rows[row]];
}

static double loss(const task *t, const double *factors)
{
    mo_efficiencies table = { .n = 1 };
    double sum = 0, weight = 0, away = 0;

    table.rows[0] =
        (mo_efficiency){ sample_at(t, 0)->work.class, MO_GEN_UNKNOWN,
                         factors[COMPUTE], factors[MEMORY], factors[LAUNCH] };
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

/* Goes one step along a factor, up or down, if that is better. */
static bool try_step(const task *t, int factor, double step, double *factors,
                     double *best)
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

static void search(const task *t, double *factors)
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

/* To four digits: what a file shows is what was tested. */
static double rounded(double value)
{
    double scale = pow(10, 3 - floor(log10(value)));

    return round(value * scale) / scale;
}

/* Fits factors, which come in as the start, and adds their row. */
static void fit(task *t, mo_generation generation, double *factors,
                mo_efficiencies *table)
{
    for (int f = 0; f < N_FACTORS; f++)
        t->start[f] = factors[f];
    search(t, factors);
    table->rows[table->n++] =
        (mo_efficiency){ sample_at(t, 0)->work.class, generation,
                         rounded(factors[COMPUTE]), rounded(factors[MEMORY]),
                         rounded(factors[LAUNCH]) };
}

/* The samples to fit to of a class and, if it is not MO_GEN_UNKNOWN, of one
 * generation. */
static size_t select_rows(const mo_samples *samples, const mo_holdout_set *part,
                          mo_class class, mo_generation generation,
                          size_t *rows)
{
    size_t n = 0;

    for (size_t i = 0; i < samples->n; i++) {
        const mo_sample *s = &samples->items[i];

        if ((!part || part[i] == MO_HOLDOUT_TRAIN) && s->work.class == class &&
            (generation == MO_GEN_UNKNOWN ||
             mo_generation_of(&samples->devices[s->device]) == generation))
            rows[n++] = i;
    }
    return n;
}

static void fit_class(const mo_samples *samples, const mo_holdout_set *part,
                      mo_class class, const double *weights, size_t *rows,
                      mo_efficiencies *table)
{
    task t = { samples, rows, 0, weights, { 0 }, CLASS_STIFFNESS };
    double of_class[N_FACTORS] = { guess[COMPUTE], guess[MEMORY],
                                   guess[LAUNCH] };

    t.n_rows = select_rows(samples, part, class, MO_GEN_UNKNOWN, rows);
    if (t.n_rows == 0)
        return;
    fit(&t, MO_GEN_UNKNOWN, of_class, table);
    t.stiffness = GENERATION_STIFFNESS;
    for (int g = MO_GEN_UNKNOWN + 1; g < MO_GENERATIONS; g++) {
        double factors[N_FACTORS] = { of_class[COMPUTE], of_class[MEMORY],
                                      of_class[LAUNCH] };

        t.n_rows = select_rows(samples, part, class, (mo_generation) g, rows);
        if (t.n_rows > 0)
            fit(&t, (mo_generation) g, factors, table);
    }
}

/* By the share of each sample in the time of its device. */
static mo_status weigh(const mo_samples *samples, double *weights,
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
    mo_status status =
        rows && weights ? weigh(samples, weights, err) : mo_fail_memory(err);

    table->n = 0;
    for (int c = 0; c < MO_CLASSES && status == MO_OK; c++)
        fit_class(samples, part, (mo_class) c, weights, rows, table);
    free(weights);
    free(rows);
    return status;
}
