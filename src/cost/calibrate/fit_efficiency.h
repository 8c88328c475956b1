/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_efficiency.h - fit of efficiency factors to measured times.
 */
#ifndef MO_COST_CALIBRATE_FIT_EFFICIENCY_H
#define MO_COST_CALIBRATE_FIT_EFFICIENCY_H

#include "base/error.h"
#include "cost/efficiency.h"
#include "cost/calibrate/holdout.h"
#include "cost/calibrate/sample.h"

/*
 * Fits the factors of every class and type that has samples to train with
 * (part[i] == MO_HOLDOUT_TRAIN), first over all devices, then for each
 * generation among them. part may be NULL: all samples.  Takes time linear in
 * the samples.
 */
mo_status mo_fit_efficiency(const mo_samples *samples,
                            const mo_holdout_set *part, mo_efficiencies *table,
                            mo_error *err);

#endif
