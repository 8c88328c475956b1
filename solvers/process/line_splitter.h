/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_splitter.h - splits a stream of bytes into lines.
 */
#ifndef MO_SOLVERS_PROCESS_LINE_SPLITTER_H
#define MO_SOLVERS_PROCESS_LINE_SPLITTER_H

#include <stddef.h>

#include "solvers/process/child.h"

/* Only the first two members are set at first. */
typedef struct mo_line_splitter {
    void (*line)(void *listener, const char *text); /* or NULL */
    void *listener;
    size_t length;
    char text[MO_CHILD_LINE + 1];
} mo_line_splitter;

/* Calls line for every complete line; longer lines are truncated, and a
 * carriage return before the newline is removed. */
void mo_line_splitter_feed(mo_line_splitter *lines, const char *data,
                           size_t size);

/* Calls line for a last line without a newline. */
void mo_line_splitter_flush(mo_line_splitter *lines);

#endif
