/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_memory.h - memory by liveness, its peak and over time: buffers are freed
 * after their last use.
 */
#ifndef MO_SCHEDULE_LIVE_MEMORY_H
#define MO_SCHEDULE_LIVE_MEMORY_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"

/*
 * Fills peak_bytes, a buffer by device, with the peak of each device.  A
 * device holds the weights of its ops all the time; the rest of an op's memory
 * while the op runs; a tensor on its producer's device from the producer's
 * start to the end of the last reader there and of the last transfer from
 * there; a copy from the start of its transfer to the end of its last reader.
 * At one moment, what ends is freed before what starts is allocated.  An op
 * that takes no time counts at its moment, its inputs beside its outputs and
 * its workspace: what it uses is freed 1 ns after its start.  A tensor of
 * unknown size counts 0 bytes.
 *
 * Returns MO_E_INPUT when the total does not fit 63 bits.
 */
mo_status mo_live_memory_peak(const mo_instance *x, const mo_schedule *s,
                              int64_t *peak_bytes, mo_error *err);

/* The same of a pipeline: s is repeated every period_ns, at least 1, weights
 * are held once, and a tensor has as many copies as requests use it at a
 * moment. */
mo_status mo_live_memory_periodic_peak(const mo_instance *x,
                                       const mo_schedule *s, int64_t period_ns,
                                       int64_t *peak_bytes, mo_error *err);

/* Memory of a device from this time on; of two points at one time, the first is
 * a peak of that moment. */
typedef struct mo_memory_point {
    int device;
    int64_t at_ns, bytes;
} mo_memory_point;

typedef struct mo_memory_profile {
    mo_memory_point *points; /* by device and time, each from 0 on; owned */
    size_t n, room;
} mo_memory_profile;

/* Makes the memory of each device over time, in the schedule's memory model;
 * other than by liveness it is constant.  The caller frees profile->points,
 * also after a failure. */
mo_status mo_live_memory_profile(const mo_instance *x, const mo_schedule *s,
                                 mo_memory_profile *profile, mo_error *err);

#endif
