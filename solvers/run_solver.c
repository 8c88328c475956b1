/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/run_solver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "solvers/plugins/library_solve.h"
#include "solvers/command_template.h"
#include "solvers/job_files.h"
#include "solvers/outcome.h"
#include "solvers/registry.h"

static const double default_grace_s = 2;

/* Fraction of the grace period before a late solver is interrupted. */
static const double interrupt_fraction = 0.25;

#define COMMAND_SOLUTION "solution.sol"

typedef struct log_reader {
    const mo_solver *solver; /* NULL: a user's command, any solver */
    const mo_solver_run_options *options;
    mo_solver_log_summary log;
} log_reader;

static bool parse_line(const mo_solver *solver, const char *line,
                       mo_solver_progress *step)
{
    if (solver && solver->parse_log_line)
        return solver->parse_log_line(line, step);
    for (const mo_solver *const *s = mo_solver_table; *s; s++)
        if ((*s)->parse_log_line(line, step))
            return true;
    return false;
}

static void handle_line(void *listener, const char *line)
{
    log_reader *l = listener;
    const mo_solver_run_options *options = l->options;
    mo_solver_progress step;

    if (options->line)
        options->line(options->context, l->solver, line);
    mo_solver_log_summary_error(&l->log, line);
    if (!parse_line(l->solver, line, &step))
        return;
    mo_solver_log_summary_update(&l->log, &step);
    if (options->progress)
        options->progress(options->context, l->solver, &step);
}

typedef struct library_job {
    const mo_solver *solver;
    const mo_solver_install *found;
    const mo_solver_job *job;
} library_job;

static int run_library_child(void *context)
{
    const library_job *l = context;

    return mo_library_solve_child(l->solver->solve, l->found, l->job);
}

static double grace_of(const mo_solver_run_options *options)
{
    return options->grace_s > 0 ? options->grace_s : default_grace_s;
}

/* A solver that enforces its limits by itself is not interrupted in time; one
 * that stops well is interrupted when it is late; every one is killed in the
 * end. */
static void set_limits(mo_child_job *child, const mo_solver *solver,
                       const mo_solver_job *job,
                       const mo_solver_run_options *options)
{
    bool stops = options->way == MO_SOLVER_VIA_LIBRARY || !solver ||
                 solver->writes_on_sigint;
    bool limits_itself = solver && (solver->limits & MO_SOLVER_LIMIT_MEMORY);

    child->grace_s = grace_of(options);
    if (job->time_s > 0) {
        child->hard_s = job->time_s + child->grace_s;
        if (stops)
            child->soft_s = job->time_s + child->grace_s * interrupt_fraction;
    }
    if (job->memory_mib > 0 && !limits_itself)
        child->memory_bytes = (int64_t) job->memory_mib << 20;
}

static mo_status run_child(mo_child_job *child, log_reader *l,
                           const mo_solver_job *job, mo_child_result *result,
                           mo_error *err)
{
    child->line = handle_line;
    child->listener = l;
    child->scratch = l->options->scratch;
    set_limits(child, l->solver, job, l->options);
    return mo_child_run(child, result, err);
}

static mo_status run_process(const mo_solver_install *found,
                             const mo_solver_job *job, log_reader *l,
                             mo_child_result *result, mo_error *err)
{
    mo_argv line = { 0 };
    mo_status status = l->solver->command(found, job, &line, err);

    if (status == MO_OK) {
        mo_child_job child = { .argv = (const char *const *) line.argv,
                               .environment =
                                   (const char *const *) line.environment,
                               .folder = job->folder };

        status = run_child(&child, l, job, result, err);
    }
    mo_argv_clear(&line);
    return status;
}

static mo_status run_library(const mo_solver_install *found,
                             const mo_solver_job *job, log_reader *l,
                             mo_child_result *result, mo_error *err)
{
    library_job context = { l->solver, found, job };
    mo_child_job child = { .body = run_library_child,
                           .context = &context,
                           .folder = job->folder };

    return run_child(&child, l, job, result, err);
}

/* Runs in the current folder, since the command may name files of the user. */
static mo_status run_command(const mo_solver_job *job, const char *solution,
                             log_reader *l, mo_child_result *result,
                             mo_error *err)
{
    char *text = NULL;
    mo_status status = mo_command_template_expand(l->options->command, job,
                                                  solution, &text, err);

    if (status == MO_OK) {
        const char *const argv[] = { "sh", "-c", text, NULL };
        mo_child_job child = { .argv = argv };

        status = run_child(&child, l, job, result, err);
    }
    free(text);
    return status;
}

static mo_status check_way(const mo_solver *solver,
                           const mo_solver_install *found,
                           const mo_solver_run_options *options, mo_error *err)
{
    if (options->way == MO_SOLVER_VIA_COMMAND)
        return options->command
                   ? MO_OK
                   : mo_fail(err, MO_E_USAGE, "no command was given");
    if (options->way == MO_SOLVER_VIA_LIBRARY && !solver->solve)
        return mo_fail(err, MO_E_SUPPORT, "%s cannot be run as a library",
                       solver->title);
    if (options->way == MO_SOLVER_VIA_LIBRARY ? !found->library
                                              : !found->program)
        return mo_fail(
            err, MO_E_SUPPORT, "%s: no %s of it was found", solver->title,
            options->way == MO_SOLVER_VIA_LIBRARY ? "library" : "program");
    return MO_OK;
}

static mo_solver_output_files output_files(const mo_solver *solver,
                                           mo_solver_via way)
{
    if (way == MO_SOLVER_VIA_LIBRARY)
        return (mo_solver_output_files){ .solution =
                                             MO_SOLVER_LIBRARY_SOLUTION };
    if (way == MO_SOLVER_VIA_COMMAND)
        return (mo_solver_output_files){ .solution = COMMAND_SOLUTION };
    return solver->files;
}

static mo_status run_and_read(const mo_solver *solver,
                              const mo_solver_install *found,
                              const mo_solver_job *job,
                              const mo_solver_run_options *options,
                              mo_solver_outcome *outcome, mo_error *err)
{
    log_reader l = { .solver = solver, .options = options };
    mo_solver_output_files names = output_files(solver, options->way);
    mo_solver_output_reader answer = { .solver = solver,
                                       .job = job,
                                       .way = options->way };
    mo_child_result result = { .end = MO_CHILD_NOT_STARTED };
    mo_status status = mo_solver_output_reader_init(&answer, &names, err);

    if (status == MO_OK) {
        if (options->way == MO_SOLVER_VIA_LIBRARY)
            status = run_library(found, job, &l, &result, err);
        else if (options->way == MO_SOLVER_VIA_COMMAND)
            status = run_command(job, answer.solution, &l, &result, err);
        else
            status = run_process(found, job, &l, &result, err);
    }
    if (status == MO_OK)
        status = mo_solver_output_reader_read(&answer, &l.log, &result, outcome,
                                              err);
    mo_solver_output_reader_clear(&answer);
    return status;
}

mo_status mo_solver_run(const mo_solver *solver, const mo_solver_install *found,
                        const mo_solver_job *job,
                        const mo_solver_run_options *options,
                        mo_solver_outcome *outcome, mo_error *err)
{
    mo_solver_job_files files = { 0 };
    mo_status status = check_way(solver, found, options, err);

    *outcome = (mo_solver_outcome){ .claim = MO_SOLUTION_STATUS_NO_SOLUTION };
    if (status == MO_OK)
        status = mo_solver_job_files_prepare(job, &files, err);
    if (status == MO_OK) {
        mo_solver_job inner = *job;

        inner.model = files.model;
        inner.start = files.start;
        inner.presolve = job->presolve && !(found && found->no_presolve);
        status = run_and_read(solver, found, &inner, options, outcome, err);
    }
    mo_solver_job_files_clear(&files);
    return status;
}

void mo_solver_outcome_clear(mo_solver_outcome *outcome)
{
    mo_solution_free(outcome->solution);
    *outcome = (mo_solver_outcome){ .claim = MO_SOLUTION_STATUS_NO_SOLUTION };
}
