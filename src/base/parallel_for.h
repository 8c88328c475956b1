/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - jobs that know nothing of each other, done by several threads.
 */
#ifndef MO_BASE_PARALLEL_FOR_H
#define MO_BASE_PARALLEL_FOR_H

#include "base/error.h"

/* Does one job.  thread is from 0 to one less than there are, for what each has
 * of its own.  Which thread does which job is chance; what a job leaves behind
 * must not depend on it. */
typedef void mo_parallel_for_fn(void *context, int job, int thread);

/* Does jobs 0, ..., n_jobs - 1, begun in this order, with at most that many
 * threads (0: mo_parallel_for_cores), and returns when all are done.  Where
 * threads cannot be had, fewer do it, the caller's own at the least. */
void mo_parallel_for(int threads, int n_jobs, mo_parallel_for_fn *work,
                     void *context);

/* How many threads this process may use at once. */
int mo_parallel_for_cores(void);

#endif
