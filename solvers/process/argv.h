/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_line.h - the words of a command, collected one by one.
 */
#ifndef MO_SOLVERS_PROCESS_ARGV_H
#define MO_SOLVERS_PROCESS_ARGV_H

#include <stddef.h>

#include "base/error.h"

/* Begins as { 0 }.  Both lists end with NULL as soon as they have a word. */
typedef struct mo_argv {
    char **argv;
    char **environment; /* NULL while there is none */
    size_t n_argv, room_argv, n_environment, room_environment;
} mo_argv;

/* Adds a word; nothing in it is special. */
mo_status mo_argv_add(mo_argv *line, mo_error *err, const char *format, ...)
    MO_PRINTF(3, 4);

/* Adds two: an option, and its value. */
mo_status mo_argv_add_option(mo_argv *line, mo_error *err, const char *name,
                             const char *format, ...) MO_PRINTF(4, 5);

/* Adds "NAME=value" to the environment. */
mo_status mo_argv_set_env(mo_argv *line, mo_error *err, const char *format, ...)
    MO_PRINTF(3, 4);

void mo_argv_clear(mo_argv *line);

#endif
