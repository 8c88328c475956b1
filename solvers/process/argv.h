/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argv.h - argument vector and environment of a command, built word by word.
 */
#ifndef MO_SOLVERS_PROCESS_ARGV_H
#define MO_SOLVERS_PROCESS_ARGV_H

#include <stddef.h>

#include "base/error.h"

/* Starts as { 0 }; the caller frees it with mo_argv_clear(). Both lists end
 * with NULL as soon as they have a word. */
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

#endif
