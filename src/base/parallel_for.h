/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_for.h - parallel loop over independent jobs.
 */
#ifndef MO_BASE_PARALLEL_FOR_H
#define MO_BASE_PARALLEL_FOR_H

#include "base/error.h"

/* Runs one job. thread is in [0, number of threads), for per-thread data. The
 * assignment of jobs to threads is not deterministic; the results must not
 * depend on it. */
typedef void mo_parallel_for_fn(void *context, int job, int thread);

/* Runs jobs 0, ..., n_jobs - 1, started in this order, with at most `threads`
 * threads (0: mo_parallel_for_cores), the caller's among them, and returns
 * when all are done. Where threads cannot be created, fewer do the work. */
void mo_parallel_for(int threads, int n_jobs, mo_parallel_for_fn *work,
                     void *context);

/* Returns the number of processors that this process may use. */
int mo_parallel_for_cores(void);

#endif
