/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/registry.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/process/child.h"

const mo_solver *const mo_solver_table[] = { &mo_solver_highs,  &mo_solver_scip,
                                             &mo_solver_gurobi, &mo_solver_cbc,
                                             &mo_solver_glpk,   NULL };

const mo_solver *mo_solver_by_name(const char *name)
{
    const mo_solver *const *s = mo_solver_table;

    while (*s && strcmp((*s)->name, name) != 0)
        s++;
    return *s;
}

/* ------------------------------------------------------------------ version */

typedef struct version_hearing {
    const char *after; /* NULL: at the beginning of a line */
    char *version;
} version_hearing;

/* "1.15.1" at the beginning of text. */
static char *copy_version(const char *text)
{
    size_t length = 0;

    text += strspn(text, " v");
    while (isdigit((unsigned char) text[length]) ||
           (text[length] == '.' && isdigit((unsigned char) text[length + 1])))
        length++;
    return length > 0 ? strndup(text, length) : NULL;
}

static void hear_version(void *listener, const char *line)
{
    version_hearing *hearing = listener;
    const char *at = hearing->after ? strstr(line, hearing->after) : line;

    if (at && !hearing->version)
        hearing->version =
            copy_version(at + (hearing->after ? strlen(hearing->after) : 0));
}

static mo_status version_command(const mo_solver *solver,
                                 const mo_solver_install *found, mo_argv *line,
                                 mo_error *err)
{
    mo_status status = solver->program
                           ? solver->program(found, line, err)
                           : mo_argv_add(line, err, "%s", found->program);

    return status == MO_OK
               ? mo_argv_add(line, err, "%s", solver->version_argument)
               : status;
}

/* One that hangs is asked no more. */
static mo_status say_silent(mo_solver_install *found, mo_error *err)
{
    found->trouble = strdup("does not tell its version: does it hang?");
    return found->trouble ? MO_OK : mo_fail_memory(err);
}

static mo_status ask_program(const mo_solver *solver, mo_solver_install *found,
                             mo_error *err)
{
    version_hearing hearing = { .after = solver->version_after };
    mo_argv line = { 0 };
    mo_child_result result;
    mo_status status = version_command(solver, found, &line, err);

    if (status == MO_OK) {
        const mo_child_job job = { .argv = (const char *const *) line.argv,
                                   .environment =
                                       (const char *const *) line.environment,
                                   .hard_s = mo_solver_query_timeout_s(found),
                                   .line = hear_version,
                                   .listener = &hearing };

        status = mo_child_run(&job, &result, err);
    }
    mo_argv_clear(&line);
    found->version = hearing.version;
    if (status == MO_OK && !found->version && result.end == MO_CHILD_TIMEOUT)
        status = say_silent(found, err);
    return status;
}

typedef struct version_asking {
    int (*ask)(const char *library);
    const char *library;
} version_asking;

static int print_version(void *context)
{
    const version_asking *asking = context;

    return asking->ask(asking->library);
}

static mo_status ask_library(const mo_solver *solver, mo_solver_install *found,
                             mo_error *err)
{
    version_asking asking = { solver->library_version, found->library };
    version_hearing hearing = { 0 };
    const mo_child_job job = { .body = print_version,
                               .context = &asking,
                               .hard_s = mo_solver_query_timeout_s(found),
                               .line = hear_version,
                               .listener = &hearing };
    mo_child_result result;
    mo_status status = mo_child_run(&job, &result, err);

    found->library_version = hearing.version;
    return status;
}

mo_status mo_solver_query_version(const mo_solver *solver, mo_solver_via way,
                                  mo_solver_install *found, mo_error *err)
{
    mo_status status = MO_OK;

    if (way == MO_SOLVER_VIA_PROCESS && found->program && !found->version)
        status = ask_program(solver, found, err);
    if (way == MO_SOLVER_VIA_LIBRARY && found->library &&
        !found->library_version && solver->library_version)
        status = ask_library(solver, found, err);
    if (status == MO_OK && solver->examine && !found->trouble)
        status = solver->examine(found, way, err);
    return status;
}
