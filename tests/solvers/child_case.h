/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_case.h - lines of shell as children, and what is heard of them.
 */
#ifndef MO_TESTS_SOLVERS_CHILD_CASE_H
#define MO_TESTS_SOLVERS_CHILD_CASE_H

#include "solvers/process/child.h"

/* What came, line by line. */
typedef struct child_heard {
    int lines;
    size_t longest, bytes;
    char last[256];
} child_heard;

/* As a job's line; the listener is a child_heard. */
void child_hear(void *listener, const char *text);

/* Runs a line of shell; more has what else is to be said, or is NULL, as h may
 * be. */
mo_child_result child_shell(const char *script, const mo_child_job *more,
                            child_heard *h);

void child_wait_ms(int ms);

#endif
