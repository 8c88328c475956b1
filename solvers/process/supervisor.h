/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the process between us and a command; see child.h.
 *
 * The leash is a socket of packets.  To the keeper: signals to pass on to the
 * command's group.  From it: mo_supervisor_message.
 */
#ifndef MO_SOLVERS_PROCESS_SUPERVISOR_H
#define MO_SOLVERS_PROCESS_SUPERVISOR_H

#include "solvers/process/child.h"

typedef enum mo_supervisor_event {
    MO_SUPERVISOR_STARTED, /* value: the command's pid, which is its group's */
    MO_SUPERVISOR_FAILED,  /* value: the errno that kept it from starting */
    MO_SUPERVISOR_ENDED    /* value: its status, as waitpid has it */
} mo_supervisor_event;

typedef struct mo_supervisor_message {
    mo_supervisor_event event;
    int value;
} mo_supervisor_message;

/* What the forked process does; it does not return.  All signals are blocked
 * when it is called.  The environment is mo_spawn_environment's. */
_Noreturn void mo_supervisor_run(const mo_child_job *job,
                                 char *const *environment, int leash,
                                 int output);

#endif
