/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.h - CPU affinity: the processors that this process may use, and
 * their assignment to threads.
 *
 * A processor is a logical one, numbered as by taskset; those of one physical
 * core are its hardware threads (SMT siblings), as topology.h finds them. On
 * systems other than Linux processors are counted and nothing is pinned.
 */
#ifndef MO_EXEC_THREAD_AFFINITY_H
#define MO_EXEC_THREAD_AFFINITY_H

#include <stdbool.h>

#include "base/error.h"

enum { MO_THREAD_MAX_CPUS = 1024 };

typedef struct mo_thread_cpu {
    int number;
    int core;     /* the lowest number among its siblings, allowed or not */
    int package;  /* socket; 0: unknown */
    int capacity; /* speed of its core, 1024: the fastest of the machine */
    bool taken;   /* in use by another process: assigned last, or never */
} mo_thread_cpu;

typedef struct mo_thread_cpus {
    int n;
    mo_thread_cpu *cpus; /* by number */
    double quota; /* CPU bandwidth limit of control groups, in processors; n
                     where they do not limit it */
} mo_thread_cpus;

/* Reads the processors in the affinity mask of the calling thread (taskset,
 * cpusets, a launcher's binding), their cores, and the quota of the control
 * group. *cpus begins as zeros; the caller clears it. */
mo_status mo_thread_cpus_read(mo_thread_cpus *cpus, mo_error *err);

/* The same for n given processors in ascending order, with root in front of
 * the paths of control groups. */
mo_status mo_thread_cpus_read_at(const char *root, const int *numbers, int n,
                                 mo_thread_cpus *cpus, mo_error *err);

/* Frees the array; *cpus is zeros again. */
void mo_thread_cpus_clear(mo_thread_cpus *cpus);

/* Returns the number of threads that these processors and the quota can run at
 * the same time; at least 1. */
int mo_thread_cpus_usable(const mo_thread_cpus *cpus);

/* Returns the number of their physical cores. */
int mo_thread_cpus_cores(const mo_thread_cpus *cpus);

/*
 * Assigns a processor of its own to every thread of n devices; threads[k] may
 * be 0. assigned has one place for each thread, by device, then by number.
 * Physical cores of their own come first, the fastest and those of one socket
 * before others; where there are fewer cores than threads, siblings go to the
 * same device as far as possible. Processors that are taken are not assigned.
 * Returns false if there are not enough processors, or less quota than threads.
 */
bool mo_thread_cpus_assign(const mo_thread_cpus *cpus, const int *threads,
                           int n, int *assigned);

/* Pins the calling thread to n processors; threads that it starts inherit
 * this. Returns false where that is not possible. */
bool mo_thread_pin(const int *numbers, int n);

/* The affinity mask of the calling thread, to be restored after pinning. */
typedef struct mo_thread_mask {
    int n; /* 0: unknown */
    int numbers[MO_THREAD_MAX_CPUS];
} mo_thread_mask;

/* Of the calling thread; restoring an unknown mask does nothing. */
void mo_thread_mask_save(mo_thread_mask *mask);
void mo_thread_mask_restore(const mo_thread_mask *mask);

#endif
