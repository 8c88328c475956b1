/*
 * keeper.h - the process between us and a command; see child.h.
 *
 * The leash is a socket of packets.  To the keeper: signals to pass on to the
 * command's group.  From it: mo_keeper_news.
 */
#ifndef MO_SOLVERS_PROCESS_SUPERVISOR_H
#define MO_SOLVERS_PROCESS_SUPERVISOR_H

#include "solvers/process/child.h"

typedef enum mo_keeper_event {
    MO_KEEPER_STARTED, /* value: the command's pid, which is its group's */
    MO_KEEPER_FAILED,  /* value: the errno that kept it from starting */
    MO_KEEPER_ENDED    /* value: its status, as waitpid has it */
} mo_keeper_event;

typedef struct mo_keeper_news {
    mo_keeper_event event;
    int value;
} mo_keeper_news;

/* What the forked process does; it does not return.  All signals are blocked
 * when it is called.  The environment is mo_command_environment's. */
_Noreturn void mo_keeper_run(const mo_child_job *job, char *const *environment,
                             int leash, int output);

#endif
