/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CBC as a process (every word of the command line is a command), and as a
 * library.
 *
 * Nothing in its C interface stops CBC once it branches: its program handles
 * SIGINT, its library does not, and its incumbent is not accessible before it
 * ends. So a request to stop is not passed on to the library; its own time
 * limit ends it.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "solvers/plugins/cbc_api.h"
#include "solvers/plugins/find_install.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/log_line.h"
#include "solvers/process/path_util.h"

#define SOLUTION "solution.sol"

static mo_status find_solver(const char *path, mo_solver_install *found,
                             mo_error *err)
{
    static const char *const programs[] = { "cbc", NULL };
    static const char *const libraries[] = { "libCbcSolver.so",
                                             "libCbcSolver.so.*", NULL };
    static const char *const folders[] = { "cbc", NULL };
    static const mo_solver_install_spec spec = { .title = "CBC",
                                                 .variable = "MOIRAI_CBC",
                                                 .programs = programs,
                                                 .sonames = mo_cbc_sonames,
                                                 .libraries = libraries,
                                                 .folders = folders };

    return mo_solver_find_install(&spec, path, found, err);
}

static mo_status build_command(const mo_solver_install *found,
                               const mo_solver_job *job, mo_argv *line,
                               mo_error *err)
{
    mo_status status = mo_argv_add(line, err, "%s", found->program);

    if (status == MO_OK)
        status = mo_argv_add(line, err, "%s", mo_path_basename(job->model));
    if (status == MO_OK) {
        /* By default its seconds are CPU time, summed over all threads. */
        if (job->time_s > 0)
            status = mo_argv_add_option(line, err, "timeMode", "elapsed");
        if (status == MO_OK && job->time_s > 0)
            status = mo_argv_add_option(line, err, "sec", "%.17g", job->time_s);
        if (status == MO_OK && job->gap >= 0)
            status = mo_argv_add_option(line, err, "ratio", "%.17g", job->gap);
        if (status == MO_OK && job->threads > 1)
            status =
                mo_argv_add_option(line, err, "threads", "%d", job->threads);
        if (status == MO_OK && !job->presolve)
            status = mo_argv_add_option(line, err, "presolve", "off");
        if (status == MO_OK && !job->presolve)
            status = mo_argv_add_option(line, err, "preprocess", "off");
    }
    if (status == MO_OK && job->start)
        status = mo_argv_add_option(line, err, "mipStart", "%s",
                                    mo_path_basename(job->start));
    if (status == MO_OK)
        status = mo_argv_add(line, err, "solve");
    if (status == MO_OK)
        status = mo_argv_add_option(line, err, "solution", SOLUTION);
    return status;
}

/* Parses incumbent, bound and status. For an incumbent that does not exist
 * CBC prints 1e+50, which mo_solver_log_number_after() rejects. */
static bool parse_log_line(const char *line, mo_solver_progress *step)
{
    enum { DIGITS = 6 }; /* of a printed bound */
    double value;

    *step = (mo_solver_progress){ 0 };
    if (mo_solver_log_number_after(line, "Integer solution of ", &value) ||
        mo_solver_log_number_after(line, "best objective ", &value))
        mo_solver_log_set_incumbent(step, value);
    if (strncmp(line, "Cbc0010I", 8) == 0 &&
        mo_solver_log_number_after(line, " on tree, ", &value))
        mo_solver_log_set_incumbent(step, value);
    if (mo_solver_log_number_after(line, "best possible ", &value) ||
        mo_solver_log_number_after_prefix(line, "Lower bound:", &value))
        mo_solver_log_set_bound(step, value, DIGITS);
    /* The first relaxation has no feasible dual: the model is unbounded. */
    if (strncmp(line, "Dual infeasible - ", 18) == 0)
        mo_solver_log_set_status(step, MO_SOLUTION_STATUS_UNBOUNDED);
    return step->has_incumbent || step->has_bound || step->has_claim;
}

typedef struct library_run {
    mo_cbc_api api;
    const mo_solver_job *job;
    void *model;
    int n;            /* columns */
    char *names;      /* of the columns, name_size bytes each */
    size_t name_size; /* including the terminating 0 */
} library_run;

static void set_number(library_run *s, const char *parameter, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.15g", value);
    s->api.set_parameter(s->model, parameter, text);
}

static char *name_buffer(const library_run *s, int column)
{
    return s->names + (size_t) column * s->name_size;
}

static const char *column_name(void *context, int column)
{
    return name_buffer(context, column);
}

static mo_status read_model(library_run *s, mo_error *err)
{
    const char *path = s->job->model;
    size_t n = mo_compress_stem(path);
    int failed = (n >= 3 && strncmp(path + n - 3, ".lp", 3) == 0)
                     ? s->api.read_lp(s->model, path)
                     : s->api.read_mps(s->model, path);

    s->n = s->api.n_columns(s->model);
    if (failed || s->n <= 0)
        return mo_fail_at(err, MO_E_SYNTAX, path, 0,
                          "CBC cannot read this model");
    /* Called before solving: afterwards CBC's model may have changed. */
    s->name_size = s->api.longest_name(s->model) + 1;
    s->names = calloc((size_t) s->n + 1, s->name_size);
    if (!s->names)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        s->api.column_name(s->model, i, name_buffer(s, i), s->name_size);
    return MO_OK;
}

static mo_status set_start(library_run *s, mo_error *err)
{
    double *values = NULL;
    int *columns = calloc((size_t) s->n + 1, sizeof *columns);
    mo_status status =
        columns ? mo_library_read_mip_start(s->job->start, s->n, column_name, s,
                                            &values, err)
                : mo_fail_memory(err);

    for (int i = 0; status == MO_OK && i < s->n; i++)
        columns[i] = i;
    if (status == MO_OK)
        s->api.set_start(s->model, s->n, columns, values);
    free(columns);
    free(values);
    return status;
}

static mo_solution_status status_of(const library_run *s)
{
    if (s->api.is_infeasible(s->model))
        return MO_SOLUTION_STATUS_INFEASIBLE;
    if (s->api.is_unbounded(s->model))
        return MO_SOLUTION_STATUS_UNBOUNDED;
    return s->api.is_optimal(s->model) ? MO_SOLUTION_STATUS_OPTIMAL
                                       : MO_SOLUTION_STATUS_FEASIBLE;
}

static mo_status solve_model(library_run *s, mo_error *err)
{
    mo_status status;
    const mo_solver_job *job;

    s->model = s->api.create();
    if (!s->model)
        return mo_fail_memory(err);
    /* CBC stores these as strings for later and cannot refuse them. */
    job = s->job;
    if (job->time_s > 0) {
        set_number(s, "seconds", job->time_s);
        s->api.set_parameter(s->model, "timeMode", "elapsed");
    }
    if (job->gap >= 0)
        set_number(s, "ratioGap", job->gap);
    /* 1 would be one thread beside the one that waits for it. */
    if (job->threads > 1)
        set_number(s, "threads", job->threads);
    if (!job->presolve) {
        s->api.set_parameter(s->model, "presolve", "off");
        s->api.set_parameter(s->model, "preprocess", "off");
    }
    status = read_model(s, err);
    if (status == MO_OK && s->job->start)
        status = set_start(s, err);
    if (status == MO_OK) {
        s->api.solve(s->model);
        mo_library_solution answer = { .name = column_name, .context = s };
        /* The solution of the relaxation is one of the model only if the model
         * is an LP. */
        const double *best =
            s->api.n_integers(s->model) > 0 ? s->api.best_solution(s->model)
            : s->api.is_optimal(s->model)   ? s->api.relaxation(s->model)
                                            : NULL;

        answer.claim = mo_library_solution_status(status_of(s), best != NULL);
        answer.bound = s->api.bound(s->model);
        answer.has_bound = true;
        if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL ||
            answer.claim == MO_SOLUTION_STATUS_FEASIBLE) {
            answer.values = best;
            answer.n = s->n;
            answer.has_objective = true;
            answer.objective = s->api.objective(s->model);
        }
        status = mo_library_solution_write(s->job->folder, &answer, err);
    }
    s->api.destroy(s->model);
    free(s->names);
    return status;
}

static mo_status solve_by_library(const mo_solver_install *found,
                                  const mo_solver_job *job, mo_error *err)
{
    library_run s = { .job = job };
    mo_status status = mo_cbc_open(found->library, &s.api, err);

    return status == MO_OK ? solve_model(&s, err) : status;
}

static int print_library_version(const char *library)
{
    return mo_library_print_version(&mo_cbc_dynlib, library);
}

const mo_solver mo_solver_cbc = {
    .name = "cbc",
    .title = "CBC",
    .help = "package coinor-cbc",
    .limits =
        MO_SOLVER_LIMIT_TIME | MO_SOLVER_LIMIT_GAP | MO_SOLVER_LIMIT_THREADS,
    .accepts_start = true,
    .start_layout = MO_MIP_START_CBC,
    .writes_on_sigint = true,
    .files = { .solution = SOLUTION },
    .find = find_solver,
    .version_argument = "quit",
    .version_after = "Version: ",
    .command = build_command,
    .solve = solve_by_library,
    .library_version = print_library_version,
    .parse_log_line = parse_log_line,
};
