/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - resources of this machine that the process may use: memory and
 * processors.
 */
#ifndef MO_BASE_HOST_H
#define MO_BASE_HOST_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the memory in bytes that is available now: that of the machine, or
 * the remaining limit of the control group (cgroup), whichever is less.
 * INT64_MAX: unknown. */
int64_t mo_host_available_memory_bytes(void);

/* Returns the memory in bytes that this process may use on an otherwise idle
 * machine: constant. INT64_MAX: unknown. */
int64_t mo_host_memory_limit_bytes(void);

/* Returns the number of processors of the machine, whether or not this process
 * may use them all. */
int mo_host_cpu_count(void);

/* Returns the number of processes of this run on this machine, from the
 * environment of the launcher; at least 1. */
int mo_host_local_processes(void);

/* Returns whether the affinity mask of this process includes the processor. */
bool mo_host_cpu_is_allowed(int processor);

/*
 * Ends a command that is linked with OpenBLAS. Where memory is limited, a
 * thread of that library may retry an allocation forever, and its destructor
 * wait for the thread: then this function ends the process without
 * destructors. Otherwise it returns.
 */
void mo_host_exit(int code);

#endif
