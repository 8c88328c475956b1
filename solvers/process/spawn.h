/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the fork and the exec of a child's command; see child.h.
 */
#ifndef MO_SOLVERS_PROCESS_SPAWN_H
#define MO_SOLVERS_PROCESS_SPAWN_H

#include <sys/types.h>

#include "solvers/process/child.h"

/* Our environment with what the job puts on top, as exec takes it; NULL when
 * there is no memory.  The caller frees the array; the settings are borrowed.
 */
char **mo_spawn_environment(const mo_child_job *job);

/* Starts it in a group of its own, with our standard files, no other, and every
 * signal as it is by default.  It dies with us.  -1 with *failure set to errno
 * when it cannot be started.  Only for a process with a single thread.
 *
 * A thread of the process that we were forked from may have held any lock: up
 * to the exec nothing here allocates. */
pid_t mo_spawn_child(const mo_child_job *job, char *const *environment,
                     int *failure);

#endif
