/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single_device_start.h - MIP start for models that bound live memory from
 * above.
 *
 * Such a model may reject schedules that fit (models/frame/memory_rows.h), the
 * one among them that the upper bound of the instance came from.  What it
 * accepts may take longer; a horizon that is too short would leave it
 * infeasible.
 */
#ifndef MO_MODELS_FRAME_SINGLE_DEVICE_START_H
#define MO_MODELS_FRAME_SINGLE_DEVICE_START_H

#include <stdint.h>

#include "base/error.h"
#include "models/frame/memory_rows.h"
#include "schedule/schedule.h"

/*
 * Finds the best schedule on one of the devices alone that the rows accept;
 * the caller frees *schedule, which is NULL when they accept none of these.
 * *upper_ns is its makespan, else the serial makespan, within which every
 * placement can be run.
 */
mo_status mo_frame_single_device_start(const mo_instance *x,
                                       const mo_regime *regime,
                                       const mo_memory_rows *rows,
                                       const int *devices, int n_devices,
                                       mo_schedule **schedule,
                                       int64_t *upper_ns, mo_error *err);

#endif
