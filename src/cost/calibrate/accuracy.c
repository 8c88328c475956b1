/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/accuracy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

mo_status mo_predictions_add(mo_predictions *guesses,
                             const mo_prediction *guess, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(guesses->items, guesses->n, guesses->room, err);

    if (status == MO_OK)
        guesses->items[guesses->n++] = *guess;
    return status;
}

void mo_predictions_clear(mo_predictions *guesses)
{
    free(guesses->items);
    *guesses = (mo_predictions){ 0 };
}

mo_status mo_predictions_add_roofline(mo_predictions *guesses,
                                      const mo_samples *samples,
                                      const mo_holdout_set *part,
                                      const mo_efficiencies *table,
                                      mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < samples->n && status == MO_OK; i++) {
        const mo_sample *s = &samples->items[i];
        mo_prediction guess = { s->work.class, s->work.math, s->device, s->us,
                                mo_predict_roofline_us(
                                    table, &s->work,
                                    &samples->devices[s->device]) };

        if (!part || part[i] == MO_HOLDOUT_TEST)
            status = mo_predictions_add(guesses, &guess, err);
    }
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static bool counts(const mo_prediction *guess, int class, int math, int device)
{
    return (class == MO_UNKNOWN || (int) guess->class == class) &&
           (math == MO_UNKNOWN || (int) guess->math == math) &&
           (device == MO_UNKNOWN || guess->device == device);
}

mo_status mo_accuracy_of(const mo_predictions *guesses, int class, int math,
                         int device, mo_accuracy *accuracy, mo_error *err)
{
    double *errors = calloc(guesses->n + 1, sizeof *errors);
    mo_accuracy a = { 0 };

    if (!errors)
        return mo_fail_memory(err);
    for (size_t i = 0; i < guesses->n; i++) {
        const mo_prediction *guess = &guesses->items[i];

        if (!counts(guess, class, math, device))
            continue;
        errors[a.n] = fabs(guess->predicted_us / guess->measured_us - 1);
        a.mean += errors[a.n++];
        a.measured_us += guess->measured_us;
        a.predicted_us += guess->predicted_us;
    }
    if (a.n > 0) {
        a.mean /= (double) a.n;
        a.median = median_of(errors, a.n);
    }
    free(errors);
    *accuracy = a;
    return MO_OK;
}
