/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - a command run to its end or to ours.
 *
 * It runs in a process group of its own, in a folder of its own, with its
 * output read line by line.  Between it and us stands a keeper, a small process
 * that outlives us just long enough to kill all that the command started when
 * we are gone, however we went; so nothing is left running:
 *
 *      we  --- leash: signals to pass on; its end is ours ------>  keeper
 *      we  <-- report: the command's pid, then how it ended -----  keeper
 *      we  <-- output ---------------  command  <-- fork --------  keeper
 *
 * Several threads may each run a child.
 */
#ifndef MO_SOLVERS_PROCESS_CHILD_H
#define MO_SOLVERS_PROCESS_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_child_job {
    const char *const *argv; /* ends with NULL; argv[0] is found in PATH */
    const char *const *environment; /* "NAME=value" on top of ours; or NULL */
    const char *folder;             /* where it runs; NULL: where we do */
    const char *scratch; /* a folder to remove should we be killed; or NULL */

    /* Instead of a command: a function that runs in the child and whose result
     * is its exit code. */
    int (*body)(void *context);
    void *context;

    double soft_s;        /* then it is interrupted; 0: never */
    double hard_s;        /* then it is killed; 0: never */
    double grace_s;       /* from interrupting to killing; 0: a few seconds */
    int64_t memory_bytes; /* more is refused to it; 0: no limit */

    /* Told every line of its output, without the newline; may be NULL.  What a
     * line has beyond MO_CHILD_LINE bytes is dropped. */
    void (*line)(void *listener, const char *text);
    void *listener;
} mo_child_job;

enum { MO_CHILD_LINE = 4096 };

typedef enum mo_child_end {
    MO_CHILD_EXITED,
    MO_CHILD_KILLED,      /* by a signal that was not ours */
    MO_CHILD_TIMEOUT,     /* by a limit's signal */
    MO_CHILD_INTERRUPTED, /* because we were: SIGINT or SIGTERM */
    MO_CHILD_NOT_STARTED  /* no such program, no such folder */
} mo_child_end;

typedef struct mo_child_result {
    mo_child_end end;
    int code; /* exit code; signal, where killed; errno, where not started */
    bool by_signal; /* what code is where it timed out or was interrupted */
    double seconds;
} mo_child_result;

/* Only our own failures are errors; how the child fared is in result. */
mo_status mo_child_run(const mo_child_job *job, mo_child_result *result,
                       mo_error *err);

#endif
