/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - measured times with the work behind them, to hold predictions
 * against and to fit them to.
 */
#ifndef MO_COST_CALIBRATE_SAMPLE_H
#define MO_COST_CALIBRATE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/predict.h"
#include "cost/profile.h"
#include "graph/graph.h"

typedef struct mo_sample {
    mo_workload work;
    int device;   /* one of mo_samples.devices */
    double us;    /* > 0 */
    uint64_t key; /* digest of its signature: the same on all devices */
} mo_sample;

typedef struct mo_samples {
    mo_sample *items;
    size_t n, room;
    mo_device *devices; /* of known models, in order of first sight */
    size_t n_devices, devices_room;
    size_t skipped; /* rows of no use: the device's model or the op's
                       work is not known, or it took no time */
} mo_samples;

/* All zeros is empty. */
void mo_samples_clear(mo_samples *samples);

/* The times of the columns that are called after a model we know. */
mo_status mo_samples_add_graph(mo_samples *samples, const mo_graph *g,
                               mo_error *err);

/* The rows whose device is a model we know. */
mo_status mo_samples_add_profile(mo_samples *samples, const mo_profile *profile,
                                 mo_error *err);

/* The number of the device of that model, or -1 when there are no times of
 * it. */
int mo_samples_device(const mo_samples *samples, const mo_device_model *model);

#endif
