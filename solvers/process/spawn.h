/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn.h - fork and exec of a child's command; see child.h.
 */
#ifndef MO_SOLVERS_PROCESS_SPAWN_H
#define MO_SOLVERS_PROCESS_SPAWN_H

#include <sys/types.h>

#include "solvers/process/child.h"

/* Returns our environment with the job's settings, as exec takes it; NULL when
 * out of memory. The caller frees the array; the settings are borrowed. */
char **mo_spawn_environment(const mo_child_job *job);

/* Starts it in a process group of its own, with our standard files, no others,
 * and default signal handling. It dies with its parent. Returns -1 with
 * *failure set to errno when it cannot be started. Only for a single-threaded
 * process.
 *
 * A thread of the process that this one was forked from may have held any
 * lock: up to the exec nothing here allocates. */
pid_t mo_spawn_child(const mo_child_job *job, char *const *environment,
                     int *failure);

#endif
