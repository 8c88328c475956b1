/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - samples of a calibration: measured times with the work of their
 * ops.
 */
#ifndef MO_COST_CALIBRATE_SAMPLE_H
#define MO_COST_CALIBRATE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/predict.h"
#include "cost/profile.h"
#include "graph/graph.h"

/* Times outside these limits are no measurements, and sums might not be
 * finite: they are not used. */
#define MO_SAMPLE_LEAST_US 1e-6
#define MO_SAMPLE_MOST_US  1e12

typedef struct mo_sample {
    mo_workload work;
    int device;   /* one of mo_samples.devices */
    double us;    /* > 0 */
    uint64_t key; /* digest of its signature: the same on all devices */
} mo_sample;

typedef struct mo_samples {
    mo_sample *items;
    size_t n, room;
    mo_device *devices; /* of known models, in order of insertion */
    size_t n_devices, devices_room;
    size_t skipped;   /* unusable rows: the device's model or the op's work is
                         unknown, or the time is out of range */
    int outside_line; /* of a profile, the first row of a known model with a
                         time out of range; 0: none */
    double outside_us;
} mo_samples;

/* A mo_samples of zero bytes is empty; this frees what it owns. */
void mo_samples_clear(mo_samples *samples);

/* Adds the times of the columns named after a known model. */
mo_status mo_samples_add_graph(mo_samples *samples, const mo_graph *g,
                               mo_error *err);

/* Adds the rows whose device is a known model. */
mo_status mo_samples_add_profile(mo_samples *samples, const mo_profile *profile,
                                 mo_error *err);

/* Returns the number of the device of that model, or -1 when there are no
 * times of it. */
int mo_samples_device(const mo_samples *samples, const mo_device_model *model);

#endif
