/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - what this process may still use of its machine.
 */
#ifndef MO_BASE_HOST_H
#define MO_BASE_HOST_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of memory that could be had now: what the machine has left, or the
 * limit of our control group, whichever is less.  INT64_MAX: nobody says. */
int64_t mo_host_available_memory_bytes(void);

/* Bytes of memory that this process may have of its machine when nobody else
 * wants any: always the same.  INT64_MAX: nobody says. */
int64_t mo_host_memory_limit_bytes(void);

/* How many processors it has, whether or not we may use them all. */
int mo_host_cpu_count(void);

/* Processes of this run on this machine, by what the launcher says; at least
 * 1. */
int mo_host_local_processes(void);

/* May this process use the processor of that number? */
bool mo_host_cpu_is_allowed(int processor);

/*
 * The last thing a command does that is linked with OpenBLAS.  Where memory is
 * limited, a thread of that library may look for some forever, and its
 * destructor wait for the thread: then the process ends here, without
 * destructors.
 */
void mo_host_exit(int code);

#endif
