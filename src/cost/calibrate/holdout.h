/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdout.h - which samples to fit to, and which to hold back as a test.
 *
 * By device, when devices are named; else one signature in five is held back,
 * on all devices, chosen by its digest: the same on every machine.
 */
#ifndef MO_COST_CALIBRATE_HOLDOUT_H
#define MO_COST_CALIBRATE_HOLDOUT_H

#include "base/error.h"
#include "cost/calibrate/sample.h"

typedef enum mo_holdout_set {
    MO_HOLDOUT_NEITHER,
    MO_HOLDOUT_TRAIN,
    MO_HOLDOUT_TEST
} mo_holdout_set;

enum { MO_HOLDOUT_ONE_IN = 5 };

/*
 * Fills part for every sample.  train and test are lists of models, "v100,t4",
 * or NULL: then the devices the other does not name.
 *
 * Errors: a device that is no model we know, has no samples or is in both
 * lists; nothing left to fit to or to test on.
 */
mo_status mo_holdout_split(const mo_samples *samples, const char *train,
                           const char *test, mo_holdout_set *part,
                           mo_error *err);

#endif
