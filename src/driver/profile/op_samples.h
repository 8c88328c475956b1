/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_samples.h - times of ops, collected by signature.
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
    int *n;     /* how many of them are there */
    double *us;
    int64_t *op_ns;       /* by op and round */
    int rounds, n_rounds; /* room for them, and how many there are */
} mo_profiler_samples;

/* Room for so many rounds; samples begins as zeros and is the caller's to
 * clear. */
mo_status mo_profiler_samples_begin(const mo_profiler_table *rows,
                                    const mo_exec_plan *plan, int rounds,
                                    mo_profiler_samples *samples,
                                    mo_error *err);
void mo_profiler_samples_clear(mo_profiler_samples *samples);

/* Adds the times of a round: what the calls of an item took together. */
void mo_profiler_samples_add(mo_profiler_samples *samples,
                             const mo_exec_plan *plan,
                             const mo_run_result *result);

/* By signature: the mean of what its ops took, which is the median of the
 * rounds for each, so that the ops of a network take what it took, whatever
 * they find in the caches; what lies between the quartiles of all; count is how
 * many runs are behind each, and 0 where no op has it. */
void mo_profiler_samples_summarize(mo_profiler_samples *samples,
                                   const mo_exec_plan *plan, int runs,
                                   double burden, mo_profiler_stat *measured);

#endif
