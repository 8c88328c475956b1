/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/argv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

/* Appends a word, and the NULL behind it. */
static mo_status append_word(char ***words, size_t *n, size_t *capacity,
                             const char *format, va_list arguments,
                             mo_error *err)
{
    char *word;

    if (mo_array_reserve((void **) words, capacity, *n + 2, sizeof **words,
                         err) != MO_OK)
        return MO_E_MEMORY;
    if (vasprintf(&word, format, arguments) < 0)
        return mo_fail_memory(err);
    (*words)[(*n)++] = word;
    (*words)[*n] = NULL;
    return MO_OK;
}

mo_status mo_argv_add(mo_argv *line, mo_error *err, const char *format, ...)
{
    va_list arguments;
    mo_status status;

    va_start(arguments, format);
    status = append_word(&line->argv, &line->n_argv, &line->room_argv, format,
                         arguments, err);
    va_end(arguments);
    return status;
}

mo_status mo_argv_add_option(mo_argv *line, mo_error *err, const char *name,
                             const char *format, ...)
{
    va_list arguments;
    mo_status status = mo_argv_add(line, err, "%s", name);

    if (status != MO_OK)
        return status;
    va_start(arguments, format);
    status = append_word(&line->argv, &line->n_argv, &line->room_argv, format,
                         arguments, err);
    va_end(arguments);
    return status;
}

mo_status mo_argv_set_env(mo_argv *line, mo_error *err, const char *format, ...)
{
    va_list arguments;
    mo_status status;

    va_start(arguments, format);
    status = append_word(&line->environment, &line->n_environment,
                         &line->room_environment, format, arguments, err);
    va_end(arguments);
    return status;
}

void mo_argv_clear(mo_argv *line)
{
    for (size_t i = 0; i < line->n_argv; i++)
        free(line->argv[i]);
    for (size_t i = 0; i < line->n_environment; i++)
        free(line->environment[i]);
    free(line->argv);
    free(line->environment);
    *line = (mo_argv){ 0 };
}
