/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/registry.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/registry.h"
#include "solvers/process/child.h"

const mo_solver *const mo_solver_table[] = { &mo_solver_highs,  &mo_solver_scip,
                                             &mo_solver_gurobi, &mo_solver_cbc,
                                             &mo_solver_glpk,   NULL };

enum { N_BUILT_IN = sizeof mo_solver_table / sizeof *mo_solver_table - 1 };

static bool has_name(const char *name)
{
    return mo_solver_by_name(name) != NULL;
}

static mo_registry added = MO_REGISTRY("solver", has_name);

const mo_solver *mo_solver_at(int i)
{
    return i < N_BUILT_IN ? mo_solver_table[i]
                          : mo_registry_at(&added, i - N_BUILT_IN);
}

const mo_solver *mo_solver_by_name(const char *name)
{
    const mo_solver *solver;

    for (int i = 0; (solver = mo_solver_at(i)); i++)
        if (strcmp(solver->name, name) == 0)
            return solver;
    return NULL;
}

mo_status mo_solver_add(const mo_solver *solver, mo_error *err)
{
    return mo_registry_add(&added, solver->name, solver, err);
}

typedef struct version_parser {
    const char *after; /* NULL: at the start of a line */
    char *version;
} version_parser;

static void parse_version_line(void *listener, const char *line)
{
    version_parser *parser = listener;
    const char *at = parser->after ? strstr(line, parser->after) : line;

    if (at && !parser->version) {
        /* A copy of the number "1.15.1" at the start of text; NULL: none, or
         * no memory. */
        const char *text = at + (parser->after ? strlen(parser->after) : 0);
        size_t length = 0;

        text += strspn(text, " v");
        while (
            isdigit((unsigned char) text[length]) ||
            (text[length] == '.' && isdigit((unsigned char) text[length + 1])))
            length++;
        parser->version = length > 0 ? strndup(text, length) : NULL;
    }
}

static mo_status version_command(const mo_solver *solver,
                                 const mo_solver_install *found, mo_argv *line,
                                 mo_error *err)
{
    mo_status status = solver->begin_command
                           ? solver->begin_command(found, line, err)
                           : mo_argv_add(line, err, "%s", found->program);

    return status == MO_OK
               ? mo_argv_add(line, err, "%s", solver->version_argument)
               : status;
}

typedef struct version_query {
    int (*print)(const char *library);
    const char *library;
} version_query;

static int print_version(void *context)
{
    const version_query *query = context;

    return query->print(query->library);
}

mo_status mo_solver_query_version(const mo_solver *solver, mo_solver_via way,
                                  mo_solver_install *found, mo_error *err)
{
    mo_status status = MO_OK;

    if (way == MO_SOLVER_VIA_PROCESS && found->program && !found->version) {
        version_parser parser = { .after = solver->version_after };
        mo_argv line = { 0 };
        mo_child_result result;

        status = version_command(solver, found, &line, err);
        if (status == MO_OK) {
            const mo_child_job job = {
                .argv = (const char *const *) line.argv,
                .environment = (const char *const *) line.environment,
                .hard_s = mo_solver_query_timeout_s(found),
                .line = parse_version_line,
                .listener = &parser
            };

            status = mo_child_run(&job, &result, err);
        }
        mo_argv_clear(&line);
        found->version = parser.version;
        if (status == MO_OK && !found->version &&
            result.end == MO_CHILD_TIMEOUT) {
            /* A solver that hangs is not queried again. */
            found->defect = strdup("prints no version: does it hang?");
            status = found->defect ? MO_OK : mo_fail_memory(err);
        }
    }
    if (way == MO_SOLVER_VIA_LIBRARY && found->library &&
        !found->library_version && solver->library_version) {
        version_query query = { solver->library_version, found->library };
        version_parser parser = { 0 };
        const mo_child_job job = { .body = print_version,
                                   .context = &query,
                                   .hard_s = mo_solver_query_timeout_s(found),
                                   .line = parse_version_line,
                                   .listener = &parser };
        mo_child_result result;

        status = mo_child_run(&job, &result, err);
        found->library_version = parser.version;
    }
    if (status == MO_OK && solver->check_defects && !found->defect)
        status = solver->check_defects(found, way, err);
    return status;
}
