/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pool.h - fork-join thread pool of one device.
 *
 * Kernels take a few microseconds and follow each other closely, so workers
 * spin for a short while before they block, and a sleeping worker is never
 * waited for: jobs are taken one by one from a shared counter, and a late
 * worker finds none left.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_THREAD_POOL_H
#define MO_EXEC_BACKEND_CPU_UNIT_THREAD_POOL_H

#include <stdint.h>

#include "base/error.h"

typedef struct mo_cpu_thread_pool mo_cpu_thread_pool;

/* Runs one job. worker is from 0 to one less than the pool's size, for
 * per-worker scratch. The assignment of jobs to workers is not deterministic:
 * results must not depend on it. */
typedef void mo_cpu_thread_pool_task_fn(void *context, int job, int worker);

/* The same for elements begin, ..., end - 1. */
typedef void mo_cpu_thread_pool_range_fn(void *context, int64_t begin,
                                         int64_t end, int worker);

/*
 * Creates a pool of threads, the caller of mo_cpu_thread_pool_run included; 0:
 * one per processor in cpus, or of this process. With cpus (n_cpus of them;
 * NULL: no affinity) threads are pinned to those, each to its own if there are
 * enough; so is every thread that runs the pool, from then on. The caller
 * frees *pool.
 */
mo_status mo_cpu_thread_pool_new(int threads, const int *cpus, int n_cpus,
                                 mo_cpu_thread_pool **pool, mo_error *err);
void mo_cpu_thread_pool_free(mo_cpu_thread_pool *pool);

int mo_cpu_thread_pool_size(const mo_cpu_thread_pool *pool);

/* Returns the sum of the run delays (exec/thread/run_delay.h) of its threads,
 * without that of a caller; 0 where they are unknown. */
int64_t mo_cpu_thread_pool_run_delay_ns(const mo_cpu_thread_pool *pool);

/* Runs jobs 0, ..., n_jobs - 1, started in this order, and returns when all
 * are done. Not reentrant: one thread at a time may run a pool, and no job may
 * run it again. */
void mo_cpu_thread_pool_run(mo_cpu_thread_pool *pool, int n_jobs,
                            mo_cpu_thread_pool_task_fn *work, void *context);

/* Covers count elements in ranges of size (the last may be shorter), larger
 * where there would be too many. Boundaries depend on count and size alone. */
void mo_cpu_thread_pool_parallel_for(mo_cpu_thread_pool *pool, int64_t count,
                                     int64_t size,
                                     mo_cpu_thread_pool_range_fn *work,
                                     void *context);

#endif
