/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - a stream of bytes cut into lines, however it comes.
 */
#ifndef MO_SOLVERS_PROCESS_LINE_SPLITTER_H
#define MO_SOLVERS_PROCESS_LINE_SPLITTER_H

#include <stddef.h>

#include "solvers/process/child.h"

/* Begins with the first two alone. */
typedef struct mo_line_splitter {
    void (*line)(void *listener, const char *text); /* or NULL */
    void *listener;
    size_t length;
    char text[MO_CHILD_LINE + 1];
} mo_line_splitter;

/* A line longer than there is room for is told without its end; a carriage
 * return before the newline is no part of it. */
void mo_line_splitter_feed(mo_line_splitter *lines, const char *data,
                           size_t size);

/* Tells the last line, should it have no newline. */
void mo_line_splitter_flush(mo_line_splitter *lines);

#endif
