/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holdout.h - split of samples into a training and a test set (hold-out
 * validation).
 *
 * By device, when devices are named; else one signature in five is held out,
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
 * Fills part, which the caller allocates, for every sample. train and test are
 * lists of models, "v100,t4", or NULL: then the devices that the other list
 * does not name.
 *
 * Returns MO_E_USAGE or MO_E_INPUT for a device that is no known model, has no
 * samples or is in both lists, and when one of the sets would be empty.
 */
mo_status mo_holdout_split(const mo_samples *samples, const char *train,
                           const char *test, mo_holdout_set *part,
                           mo_error *err);

#endif
