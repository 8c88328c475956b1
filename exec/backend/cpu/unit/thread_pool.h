/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - the threads of one device: begin together, end together.
 *
 * Kernels are short, a few microseconds many of them, and come one right behind
 * the other.  So the members wait for the next one awake for a little while
 * before they go to sleep, and nobody waits for a member that sleeps: jobs are
 * taken one by one, and those who come late find none left.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_THREAD_POOL_H
#define MO_EXEC_BACKEND_CPU_UNIT_THREAD_POOL_H

#include <stdint.h>

#include "base/error.h"

typedef struct mo_cpu_thread_pool mo_cpu_thread_pool;

/* Does one job.  worker is from 0 to one less than the crew's size, for what
 * each has of its own.  Which worker does which job is chance: what a job
 * leaves behind must not depend on it. */
typedef void mo_cpu_thread_pool_task_fn(void *context, int job, int worker);

/* The same for elements begin, ..., end - 1 of many. */
typedef void mo_cpu_thread_pool_range_fn(void *context, int64_t begin,
                                         int64_t end, int worker);

/*
 * threads of them, the one that calls mo_cpu_thread_pool_run included; 0: as
 * many as there are cpus, or as this process may use.  With cpus (n_cpus of
 * them; NULL: anywhere) they stay on those, each on its own if there are
 * enough; so does every thread that runs the crew, from then on.
 */
mo_status mo_cpu_thread_pool_new(int threads, const int *cpus, int n_cpus,
                                 mo_cpu_thread_pool **crew, mo_error *err);
void mo_cpu_thread_pool_free(mo_cpu_thread_pool *crew);

int mo_cpu_thread_pool_size(const mo_cpu_thread_pool *crew);

/* Does jobs 0, ..., n_jobs - 1, begun in this order, and returns when all are
 * done.  One thread at a time may run a crew, and no job may run it again. */
void mo_cpu_thread_pool_run(mo_cpu_thread_pool *crew, int n_jobs,
                            mo_cpu_thread_pool_task_fn *work, void *context);

/* Does all of count elements, in ranges of size (the last may be shorter), of
 * more than size where there would be too many.  Where the ranges begin depends
 * on count and size alone. */
void mo_cpu_thread_pool_parallel_for(mo_cpu_thread_pool *crew, int64_t count,
                                     int64_t size,
                                     mo_cpu_thread_pool_range_fn *work,
                                     void *context);

#endif
