/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SCIP as a process, with commands in a file, and as a library. Where only the
 * library is installed, our program moirai-scip is the same shell around it.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/plugins/find_install.h"
#include "solvers/plugins/install_dirs.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/log_line.h"
#include "solvers/plugins/scip_api.h"
#include "solvers/process/path_util.h"
#include "solvers/process/workdir.h"

#define SHELL    "moirai-scip"
#define COMMANDS "scip.commands"
#define SOLUTION "solution.sol"

static mo_status find_solver(const char *path, mo_solver_install *found,
                             mo_error *err)
{
    static const char *const programs[] = { "scip", NULL };
    static const char *const libraries[] = { "libscip.so", "libscip.so.*",
                                             "libscip-*.so*", NULL };
    static const char *const folders[] = { "scip", "pyscipopt.libs", NULL };
    static const mo_solver_install_spec spec = { .title = "SCIP",
                                                 .variable = "MOIRAI_SCIP",
                                                 .programs = programs,
                                                 .sonames = mo_scip_sonames,
                                                 .libraries = libraries,
                                                 .folders = folders };
    mo_status status = mo_solver_find_install(&spec, path, found, err);

    if (status == MO_OK && !found->program && found->library)
        found->program = mo_install_dirs_own_file(SHELL);
    return status;
}

static mo_status begin_command(const mo_solver_install *found, mo_argv *line,
                               mo_error *err)
{
    mo_status status = mo_argv_add(line, err, "%s", found->program);

    if (status == MO_OK && found->library &&
        strcmp(mo_path_basename(found->program), SHELL) == 0)
        status = mo_argv_add(line, err, "%s", found->library);
    return status;
}

static mo_status build_command(const mo_solver_install *found,
                               const mo_solver_job *job, mo_argv *line,
                               mo_error *err)
{
    mo_out *out;
    mo_status status = mo_workdir_create_file(job->folder, COMMANDS, &out, err);

    if (status != MO_OK)
        return status;
    if (job->time_s > 0)
        mo_out_printf(out, "set limits time %.17g\n", job->time_s);
    if (job->gap >= 0)
        mo_out_printf(out, "set limits gap %.17g\n", job->gap);
    if (job->memory_mib > 0)
        mo_out_printf(out, "set limits memory %d\n", job->memory_mib);
    if (!job->presolve)
        mo_out_text(out, "set presolving maxrounds 0\n");
    mo_out_printf(out, "read %s\n", mo_path_basename(job->model));
    if (job->start)
        mo_out_printf(out, "read %s\n", mo_path_basename(job->start));
    mo_out_text(out, "optimize\nwrite solution " SOLUTION "\nquit\n");
    status = mo_out_commit(out, err);
    if (status == MO_OK)
        status = begin_command(found, line, err);
    if (status == MO_OK)
        status = mo_argv_add_option(line, err, "-b", COMMANDS);
    return status;
}

static bool parse_log_line(const char *line, mo_solver_progress *step)
{
    double value;

    *step = (mo_solver_progress){ 0 };
    if (mo_solver_log_number_after_prefix(line, "Dual Bound", &value))
        mo_solver_log_set_bound(step, value, 15);
    else if (mo_solver_log_number_after_prefix(line, "Primal Bound", &value))
        mo_solver_log_set_incumbent(step, value);
    else {
        /*
         *   time | node  | ... |  dualbound   | primalbound  |  gap   | compl.
         *  r 0.0s|     1 | ... | 0.000000e+00 | 8.900000e+01 |    Inf | unknown
         */
        mo_solver_log_token cells[MO_SOLVER_LOG_MAX_TOKENS],
            words[MO_SOLVER_LOG_MAX_TOKENS];
        int n = mo_solver_log_tokenize(line, "|", cells), first;

        if (n < 8)
            return false;
        first = mo_solver_log_tokenize(cells[0].text, " |", words);
        for (int i = 0; i < 2 && i < first; i++)
            if (mo_solver_log_number(&words[i], "s", &step->seconds)) {
                mo_solver_log_set_row(step, &cells[n - 3], &cells[n - 4], 7);
                return true;
            }
        return false;
    }
    return true;
}

typedef struct library_run {
    mo_scip_api api;
    const mo_solver_job *job;
    void *scip;
    int n; /* variables */
    void **variables;
} library_run;

/* SCIP has printed the cause on stderr. */
static mo_status check_code(int code, const char *doing, mo_error *err)
{
    if (code == MO_SCIP_OKAY)
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT, "SCIP failed %s (its code is %d)", doing,
                   code);
}

static mo_status set_real(library_run *s, const char *name, double value,
                          mo_error *err)
{
    return check_code(s->api.set_real(s->scip, name, value), name, err);
}

static mo_status set_parameters(library_run *s, mo_error *err)
{
    const mo_solver_job *job = s->job;
    mo_status status = check_code(
        s->api.set_bool(s->scip, "misc/catchctrlc", false), "starting", err);

    if (status == MO_OK && job->time_s > 0)
        status = set_real(s, "limits/time", job->time_s, err);
    if (status == MO_OK && job->gap >= 0)
        status = set_real(s, "limits/gap", job->gap, err);
    if (status == MO_OK && job->memory_mib > 0)
        status = set_real(s, "limits/memory", job->memory_mib, err);
    if (status == MO_OK && job->threads > 0) {
        /* The parameter has an upper limit. */
        enum { MOST = 64 };
        status = check_code(s->api.set_int(s->scip, "lp/threads",
                                           mo_min_int(job->threads, MOST)),
                            "setting lp/threads", err);
    }
    if (status == MO_OK && !job->presolve)
        status = check_code(
            s->api.set_presolving(s->scip, MO_SCIP_PARAMSETTING_OFF, true),
            "switching presolve off", err);
    return status;
}

static mo_status read_model(library_run *s, mo_error *err)
{
    if (s->api.read_problem(s->scip, s->job->model, NULL) != MO_SCIP_OKAY)
        return mo_fail_at(err, MO_E_SYNTAX, s->job->model, 0,
                          "SCIP cannot read this model");
    s->n = s->api.n_variables(s->scip);
    s->variables = s->api.variables(s->scip);
    return MO_OK;
}

static const char *column_name(void *context, int column)
{
    const library_run *s = context;

    return s->api.variable_name(s->variables[column]);
}

static void terminate_solve(void *context)
{
    const library_run *s = context;

    s->api.interrupt(s->scip);
}

/* The original variables still exist; presolve works on copies. */
static mo_status fetch_values(const library_run *s, void *best,
                              mo_library_solution *answer, double **values,
                              mo_error *err)
{
    *values = calloc((size_t) s->n + 1, sizeof **values);
    if (!*values)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        (*values)[i] = s->api.value(s->scip, best, s->variables[i]);
    answer->values = *values;
    answer->n = s->n;
    answer->has_objective = true;
    answer->objective = s->api.objective(s->scip, best);
    return MO_OK;
}

static mo_status write_solution(library_run *s, mo_error *err)
{
    mo_library_solution answer = { .name = column_name, .context = s };
    int major = s->api.library.version[0];
    void *best = s->api.best_solution(s->scip);
    double *values = NULL;
    mo_status status = MO_OK;

    answer.claim = mo_library_solution_status(
        mo_scip_solution_status(major, s->api.status(s->scip)), best != NULL);
    answer.bound = s->api.dual_bound(s->scip);
    answer.has_bound = true;
    if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL ||
        answer.claim == MO_SOLUTION_STATUS_FEASIBLE)
        status = fetch_values(s, best, &answer, &values, err);
    if (status == MO_OK)
        status = mo_library_solution_write(s->job->folder, &answer, err);
    free(values);
    return status;
}

static mo_status solve_by_library(const mo_solver_install *found,
                                  const mo_solver_job *job, mo_error *err)
{
    library_run s = { .job = job };
    mo_status status = mo_scip_open(found->library, &s.api, err);

    if (status != MO_OK)
        return status;
    status = check_code(s.api.create(&s.scip), "starting", err);
    if (status != MO_OK)
        return status;
    status = check_code(s.api.include_plugins(s.scip), "starting", err);
    if (status == MO_OK)
        status = set_parameters(&s, err);
    if (status == MO_OK)
        status = read_model(&s, err);
    if (status == MO_OK && s.job->start) {
        double *values = NULL;

        status = mo_library_read_mip_start(s.job->start, s.n, column_name, &s,
                                           &values, err);
        if (status == MO_OK) {
            void *solution = NULL;
            unsigned stored = 0;
            int code = s.api.create_solution(s.scip, &solution, NULL);

            for (int i = 0; code == MO_SCIP_OKAY && i < s.n; i++)
                if (values[i] != 0)
                    code = s.api.set_value(s.scip, solution, s.variables[i],
                                           values[i]);
            if (code == MO_SCIP_OKAY)
                code = s.api.add_solution(s.scip, &solution, &stored);
            status = check_code(code, "taking the start", err);
        }
        free(values);
    }
    if (status == MO_OK) {
        int code;

        mo_library_signals_begin(terminate_solve, &s);
        code = s.api.solve(s.scip);
        mo_library_signals_end();
        status = check_code(code, "solving", err);
    }
    if (status == MO_OK)
        status = write_solution(&s, err);
    s.api.free(&s.scip);
    return status;
}

static int print_library_version(const char *library)
{
    return mo_library_print_version(&mo_scip_dynlib, library);
}

const mo_solver mo_solver_scip = {
    .name = "scip",
    .title = "SCIP",
    .help = "package pyscipopt of PyPI, or one's own",
    .limits =
        MO_SOLVER_LIMIT_TIME | MO_SOLVER_LIMIT_GAP | MO_SOLVER_LIMIT_MEMORY,
    .accepts_start = true,
    .start_layout = MO_MIP_START_MIPLIB,
    .writes_on_sigint = true,
    .files = { .solution = SOLUTION },
    .find = find_solver,
    .begin_command = begin_command,
    .version_argument = "--version",
    .version_after = "SCIP version ",
    .command = build_command,
    .solve = solve_by_library,
    .solve_lp = mo_scip_solve_lp,
    .library_version = print_library_version,
    .parse_log_line = parse_log_line,
};
