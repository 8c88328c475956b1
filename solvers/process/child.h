/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - runs a command, supervised, until it ends or this process does.
 *
 * The command runs in a process group and a folder of its own; its output is
 * read line by line. Between it and this process there is a supervisor, a
 * small process that outlives this one just long enough to kill everything
 * that the command started, however this process ended; so no process is left
 * behind:
 *
 *      this process  --- signals to pass on (control socket) --->  supervisor
 *      this process  <-- the command's pid, then its status -----  supervisor
 *      this process  <-- output -------  command  <-- fork ------  supervisor
 *
 * Several threads may each run a child.
 */
#ifndef MO_SOLVERS_PROCESS_CHILD_H
#define MO_SOLVERS_PROCESS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Argument vector and environment of a command, built word by word. Starts as
 * { 0 }; the caller frees it with mo_argv_clear(). Both lists end with NULL as
 * soon as they have a word. */
typedef struct mo_argv {
    char **argv;
    char **environment; /* NULL while there is none */
    size_t n_argv, room_argv, n_environment, room_environment;
} mo_argv;

/* Appends a word; no character is special. */
mo_status mo_argv_add(mo_argv *line, mo_error *err, const char *format, ...)
    MO_PRINTF(3, 4);

/* Appends two words: an option, and its value. */
mo_status mo_argv_add_option(mo_argv *line, mo_error *err, const char *name,
                             const char *format, ...) MO_PRINTF(4, 5);

/* Appends "NAME=value" to the environment. */
mo_status mo_argv_set_env(mo_argv *line, mo_error *err, const char *format, ...)
    MO_PRINTF(3, 4);

void mo_argv_clear(mo_argv *line);

typedef struct mo_child_job {
    const char *const *argv; /* ends with NULL; argv[0] is searched in PATH */
    const char *const *environment; /* "NAME=value", added to this process's;
                                       or NULL */
    const char *folder;             /* where it runs; NULL: current folder */
    const char
        *scratch; /* folder to remove if this process is killed; or NULL */

    /* Instead of a command: a function that runs in the child and returns its
     * exit code. */
    int (*body)(void *context);
    void *context;

    double soft_s;        /* then it is interrupted; 0: never */
    double hard_s;        /* then it is killed; 0: never */
    double grace_s;       /* from interrupt to kill; 0: a few seconds */
    int64_t memory_bytes; /* data limit (RLIMIT_DATA); 0: none */

    /* Called with every line of its output, without the newline; may be NULL.
     * Lines are truncated to MO_CHILD_LINE bytes. */
    void (*line)(void *listener, const char *text);
    void *listener;
} mo_child_job;

enum { MO_CHILD_LINE = 4096 };

typedef enum mo_child_end {
    MO_CHILD_EXITED,
    MO_CHILD_KILLED,      /* by a signal that this process did not send */
    MO_CHILD_TIMEOUT,     /* by the signal of a limit */
    MO_CHILD_INTERRUPTED, /* by SIGINT or SIGTERM to this process */
    MO_CHILD_NOT_STARTED  /* no such program, no such folder */
} mo_child_end;

typedef struct mo_child_result {
    mo_child_end end;
    int code;       /* exit code; signal, if killed; errno, if not started */
    bool by_signal; /* code is a signal, if timed out or interrupted */
    double seconds;
} mo_child_result;

/* Runs the job and fills *result. Returns an error only for failures of this
 * process; how the child ended is in *result. */
mo_status mo_child_run(const mo_child_job *job, mo_child_result *result,
                       mo_error *err);

#endif
