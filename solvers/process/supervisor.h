/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor.h - a process between this one and a command, which kills every
 * process that the command started when the command or this process ends, even
 * if this process is killed and cannot clean up itself; see child.h.
 *
 * The control socket has packets. To the supervisor: signals to pass on to the
 * command's process group. From it: mo_supervisor_message.
 */
#ifndef MO_SOLVERS_PROCESS_SUPERVISOR_H
#define MO_SOLVERS_PROCESS_SUPERVISOR_H

#include "solvers/process/child.h"

typedef enum mo_supervisor_event {
    MO_SUPERVISOR_STARTED, /* value: the command's pid, which is its group's */
    MO_SUPERVISOR_FAILED,  /* value: the errno of the failed start */
    MO_SUPERVISOR_ENDED    /* value: its status, as waitpid() returns it */
} mo_supervisor_event;

typedef struct mo_supervisor_message {
    mo_supervisor_event event;
    int value;
} mo_supervisor_message;

/* The body of the forked process; does not return. All signals are blocked
 * when it is called. environment is that of build_environment() of child.c. */
_Noreturn void mo_supervisor_run(const mo_child_job *job,
                                 char *const *environment, int control,
                                 int output);

#endif
