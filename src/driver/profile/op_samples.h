/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_samples.h - op times collected by signature.
 */
#ifndef MO_DRIVER_PROFILE_OP_SAMPLES_H
#define MO_DRIVER_PROFILE_OP_SAMPLES_H

#include "base/error.h"
#include "driver/profile/profile_table.h"
#include "exec/plan/ir/plan.h"
#include "exec/runtime/run.h"

typedef struct mo_profiler_samples {
    const mo_profiler_table *rows;
    int *start; /* of each signature's samples: [start[s], start[s + 1]) */
    int *n;     /* samples of each signature */
    double *us;
    int64_t *op_ns;       /* by op and round */
    int rounds, n_rounds; /* capacity and number of rounds */
} mo_profiler_samples;

/* Allocates space for so many rounds; *samples begins as zeros and is cleared
 * by the caller. */
mo_status mo_profiler_samples_begin(const mo_profiler_table *rows,
                                    const mo_exec_plan *plan, int rounds,
                                    mo_profiler_samples *samples,
                                    mo_error *err);
void mo_profiler_samples_clear(mo_profiler_samples *samples);

/* Adds the times of a round, by call: the sum over the calls of an item. */
void mo_profiler_samples_add(mo_profiler_samples *samples,
                             const mo_exec_plan *plan, const int64_t *call_ns);

/* Returns the sum over ops of the median over rounds. */
double mo_profiler_samples_total_us(mo_profiler_samples *samples,
                                    const mo_exec_plan *plan);

/* By signature: the mean over its ops of the median over rounds, so that the
 * op times add up to that of the network, cache effects included; the
 * interquartile range of all samples; and count, the number of runs, 0 for a
 * signature without ops. */
void mo_profiler_samples_summarize(mo_profiler_samples *samples,
                                   const mo_exec_plan *plan, int runs,
                                   double slowdown, mo_profiler_stat *measured);

#endif
