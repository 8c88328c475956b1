/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/calibrate/accuracy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

mo_status mo_predictions_add(mo_predictions *predictions,
                             const mo_prediction *prediction, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(predictions->items, predictions->n,
                                     predictions->room, err);

    if (status == MO_OK)
        predictions->items[predictions->n++] = *prediction;
    return status;
}

void mo_predictions_clear(mo_predictions *predictions)
{
    free(predictions->items);
    *predictions = (mo_predictions){ 0 };
}

mo_status mo_predictions_add_roofline(mo_predictions *predictions,
                                      const mo_samples *samples,
                                      const mo_holdout_set *part,
                                      const mo_efficiencies *table,
                                      mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < samples->n && status == MO_OK; i++) {
        const mo_sample *s = &samples->items[i];
        mo_prediction prediction = {
            s->work.class, s->work.math, s->device, s->us,
            mo_predict_roofline_us(table, &s->work,
                                   &samples->devices[s->device])
        };

        if (!part || part[i] == MO_HOLDOUT_TEST)
            status = mo_predictions_add(predictions, &prediction, err);
    }
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

mo_status mo_accuracy_of(const mo_predictions *predictions, int class, int math,
                         int device, mo_accuracy *accuracy, mo_error *err)
{
    double *errors = calloc(predictions->n + 1, sizeof *errors);
    mo_accuracy a = { 0 };

    if (!errors)
        return mo_fail_memory(err);
    for (size_t i = 0; i < predictions->n; i++) {
        const mo_prediction *prediction = &predictions->items[i];

        if ((class != MO_UNKNOWN && (int) prediction->class != class) ||
            (math != MO_UNKNOWN && (int) prediction->math != math) ||
            (device != MO_UNKNOWN && prediction->device != device))
            continue;
        errors[a.n] =
            fabs(prediction->predicted_us / prediction->measured_us - 1);
        a.mean += errors[a.n++];
        a.measured_us += prediction->measured_us;
        a.predicted_us += prediction->predicted_us;
    }
    if (a.n > 0) {
        size_t n = a.n;

        a.mean /= (double) n;
        qsort(errors, n, sizeof *errors, compare_doubles);
        a.median = n % 2 == 1 ? errors[n / 2]
                              : (errors[n / 2 - 1] + errors[n / 2]) / 2;
    }
    free(errors);
    *accuracy = a;
    return MO_OK;
}
