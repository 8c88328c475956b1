/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_case.h - shell scripts as children, and their output.
 */
#ifndef MO_TESTS_SOLVERS_CHILD_CASE_H
#define MO_TESTS_SOLVERS_CHILD_CASE_H

#include "solvers/process/child.h"

/* The output, line by line. */
typedef struct child_output {
    int lines;
    size_t longest, bytes;
    char last[256];
} child_output;

/* A job's line callback; listener is a child_output. */
void child_collect(void *listener, const char *text);

/* Runs a shell script; more has further settings, or is NULL, as h may be. */
mo_child_result child_shell(const char *script, const mo_child_job *more,
                            child_output *h);

void child_wait_ms(int ms);

#endif
