/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - resources of this machine that the process may use: memory and
 * processors.
 */
#ifndef MO_BASE_HOST_H
#define MO_BASE_HOST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls visit for the folder of the control group (cgroup) of this process and
 * of every group around it: groups of version 2, and those of a controller
 * ("memory") in version 1. Folders may not exist: in a container the group may
 * be named by its path on the host, of which only the end, or nothing, is
 * there. root is "", or in tests a folder that contains proc and sys.
 */
typedef void mo_host_visit_cgroup(void *context, const char *folder);
void mo_host_walk_cgroups(const char *root, const char *controller,
                          mo_host_visit_cgroup *visit, void *context);

/* Memory that control groups allow, in bytes; INT64_MAX: not limited. */
typedef struct mo_host_group_memory {
    int64_t limit;     /* the least limit */
    int64_t available; /* the least that is left of one; reclaimable file pages
                          count as left */
} mo_host_group_memory;

/* Reads the limits of all groups around this process. */
mo_host_group_memory mo_host_group_memory_read(const char *root);

/* Returns the memory in bytes that is available now: that of the machine, or
 * what is left to one of the control groups, whichever is less. INT64_MAX:
 * unknown. */
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
