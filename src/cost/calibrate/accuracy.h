/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accuracy.h - accuracy of predicted times against measured ones.
 */
#ifndef MO_COST_CALIBRATE_ACCURACY_H
#define MO_COST_CALIBRATE_ACCURACY_H

#include <stddef.h>

#include "base/error.h"
#include "cost/efficiency.h"
#include "cost/calibrate/holdout.h"
#include "cost/calibrate/sample.h"

typedef struct mo_prediction {
    mo_class class;
    mo_math math;
    int device;
    double measured_us, predicted_us;
} mo_prediction;

typedef struct mo_predictions {
    mo_prediction *items;
    size_t n, room;
} mo_predictions;

/* An error is |predicted / measured - 1|. */
typedef struct mo_accuracy {
    size_t n;
    double mean, median;              /* of the errors; 0 when n is 0 */
    double measured_us, predicted_us; /* sums */
} mo_accuracy;

/* A mo_predictions of zero bytes is empty. */
mo_status mo_predictions_add(mo_predictions *predictions,
                             const mo_prediction *prediction, mo_error *err);
void mo_predictions_clear(mo_predictions *predictions);

/* Adds the roofline's prediction for every sample of the test set, or for all
 * samples when part is NULL. Returns MO_OK or MO_E_MEMORY. */
mo_status mo_predictions_add_roofline(mo_predictions *predictions,
                                      const mo_samples *samples,
                                      const mo_holdout_set *part,
                                      const mo_efficiencies *table,
                                      mo_error *err);

/* Computes the accuracy over the predictions of a class, a type (mo_math) and a
 * device; MO_UNKNOWN for any stands for all of them. */
mo_status mo_accuracy_of(const mo_predictions *predictions, int class, int math,
                         int device, mo_accuracy *accuracy, mo_error *err);

#endif
