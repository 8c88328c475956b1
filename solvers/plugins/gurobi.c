/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gurobi as a process: its program gurobi_cl, or a small script, since the
 * Python package has no program and comes with a licence for Python alone; and
 * as a library, for users with a licence for that.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "solvers/plugins/find_install.h"
#include "solvers/plugins/gurobi_api.h"
#include "solvers/plugins/install_dirs.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/log_line.h"
#include "solvers/process/path_util.h"

#define SCRIPT   "gurobi_run.py"
#define SOLUTION "solution.sol"

/* Searches the site-packages for the package; the first environment that has
 * it counts. */
static mo_status find_python(mo_solver_install *found, mo_error *err)
{
    mo_path_list places = { 0 };
    mo_status status = mo_install_dirs_private(&places, err);

    for (size_t i = 0; status == MO_OK && !found->program && i < places.n;
         i++) {
        char *package = mo_path_format("%s/gurobipy", places.paths[i]);

        if (package && access(package, R_OK) == 0)
            found->program = mo_install_dirs_python(places.paths[i]);
        free(package);
    }
    mo_path_list_clear(&places);
    return status;
}

static mo_status find_solver(const char *path, mo_solver_install *found,
                             mo_error *err)
{
    static const char *const programs[] = { "gurobi_cl", NULL };
    static const char *const libraries[] = { "libgurobi[0-9]*.so", NULL };
    static const char *const folders[] = { "gurobipy/.libs", NULL };
    static const mo_solver_install_spec spec = { .title = "Gurobi",
                                                 .variable = "MOIRAI_GUROBI",
                                                 .programs = programs,
                                                 .sonames = mo_gurobi_sonames,
                                                 .libraries = libraries,
                                                 .folders = folders };
    mo_status status = mo_solver_find_install(&spec, path, found, err);

    if (status == MO_OK && !found->program && !path && !getenv("MOIRAI_GUROBI"))
        status = find_python(found, err);
    return status;
}

static bool is_python(const char *program)
{
    return strncmp(mo_path_basename(program), "python", 6) == 0;
}

static mo_status begin_command(const mo_solver_install *found, mo_argv *line,
                               mo_error *err)
{
    mo_status status = mo_argv_add(line, err, "%s", found->program);
    char *script;

    if (status != MO_OK || !is_python(found->program))
        return status;
    script = mo_install_dirs_own_file(SCRIPT);
    status = script ? mo_argv_add(line, err, "%s", script)
                    : mo_fail(err, MO_E_SUPPORT,
                              "Gurobi by Python needs " SCRIPT
                              ", which is not where Moirai was installed");
    free(script);
    return status;
}

/* The program and the script take parameters in the same form. */
static mo_status add_limits(const mo_solver_job *job, mo_argv *line,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (job->time_s > 0)
        status = mo_argv_add(line, err, "TimeLimit=%.17g", job->time_s);
    if (status == MO_OK && job->gap >= 0)
        status = mo_argv_add(line, err, "MIPGap=%.17g", job->gap);
    if (status == MO_OK && job->threads > 0)
        status = mo_argv_add(line, err, "Threads=%d", job->threads);
    if (status == MO_OK && job->memory_mib > 0)
        status = mo_argv_add(line, err, "SoftMemLimit=%.17g",
                             job->memory_mib * 1048576e-9);
    if (status == MO_OK && !job->presolve)
        status = mo_argv_add(line, err, "Presolve=0");
    return status;
}

static mo_status build_command(const mo_solver_install *found,
                               const mo_solver_job *job, mo_argv *line,
                               mo_error *err)
{
    mo_status status = begin_command(found, line, err);

    if (status == MO_OK)
        status = add_limits(job, line, err);
    if (status == MO_OK && job->start)
        status = mo_argv_add(line, err, "InputFile=%s",
                             mo_path_basename(job->start));
    if (status == MO_OK)
        status = mo_argv_add(line, err, "ResultFile=" SOLUTION);
    if (status == MO_OK)
        status = mo_argv_add(line, err, "%s", mo_path_basename(job->model));
    return status;
}

/* ----------------------------------------------------------------- the log */

/* Statuses that the solution format cannot express. */
static bool parse_status_line(const char *line, mo_solver_progress *step)
{
    static const struct {
        const char *beginning;
        mo_solution_status claim;
    } ends[] = {
        { "Optimal solution found", MO_SOLUTION_STATUS_OPTIMAL },
        { "Model is infeasible or unbounded", MO_SOLUTION_STATUS_UNBOUNDED },
        { "Infeasible or unbounded model", MO_SOLUTION_STATUS_UNBOUNDED },
        { "Model is infeasible", MO_SOLUTION_STATUS_INFEASIBLE },
        { "Infeasible model", MO_SOLUTION_STATUS_INFEASIBLE },
        { "Model is unbounded", MO_SOLUTION_STATUS_UNBOUNDED },
        { "Unbounded model", MO_SOLUTION_STATUS_UNBOUNDED },
    };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strncmp(line, ends[i].beginning, strlen(ends[i].beginning)) == 0) {
            mo_solver_log_set_status(step, ends[i].claim);
            return true;
        }
    return false;
}

/*
 *      Nodes    |    Current Node    |     Objective Bounds      |     Work
 *   Expl Unexpl |  Obj  Depth IntInf | Incumbent    BestBd   Gap | It/Node Time
 *  H  573   201                      11.0000000    0.00000   100%   2.7    0s
 */
static bool parse_log_row(const char *line, mo_solver_progress *step)
{
    mo_solver_log_token words[MO_SOLVER_LOG_MAX_TOKENS];
    int n = mo_solver_log_tokenize(line, " ", words);

    if (n < 7 || !mo_solver_log_number(&words[n - 1], "s", &step->seconds) ||
        !(mo_solver_log_ends_with(&words[n - 3], '%') ||
          mo_solver_log_ends_with(&words[n - 3], '-')))
        return false;
    mo_solver_log_set_row(step, &words[n - 5], &words[n - 4], 6);
    return step->has_bound || step->has_incumbent;
}

static bool parse_log_line(const char *line, mo_solver_progress *step)
{
    double value;

    *step = (mo_solver_progress){ 0 };
    if (parse_status_line(line, step))
        return true;
    if (strncmp(line, "Best objective ", 15) != 0)
        return parse_log_row(line, step);
    if (mo_solver_log_number_after(line, "Best objective ", &value))
        mo_solver_log_set_incumbent(step, value);
    if (mo_solver_log_number_after(line, "best bound ", &value))
        mo_solver_log_set_bound(step, value, 13);
    return true;
}

/* -------------------------------------------------- solving by the library */

typedef struct library_run {
    mo_gurobi_api api;
    const mo_solver_job *job;
    void *environment, *model;
    int n; /* columns */
} library_run;

/* Returns Gurobi's own message, or a remedy for licence errors. */
static mo_status check_code(const library_run *s, int code, const char *doing,
                            mo_error *err)
{
    const int *version = s->api.library.version;
    const char *text =
        code && s->environment ? s->api.error_message(s->environment) : "";

    if (code == 0)
        return MO_OK;
    if (code == MO_GUROBI_NO_LICENSE)
        return mo_fail(err, MO_E_SUPPORT,
                       "Gurobi %d.%d.%d has no licence for its C interface "
                       "(%s): name a full one in GRB_LICENSE_FILE, or use "
                       "--via process, or another solver",
                       version[0], version[1], version[2], text);
    if (code == MO_GUROBI_SIZE_LIMIT)
        return mo_fail(err, MO_E_SUPPORT,
                       "the model is larger than Gurobi's licence allows (%s): "
                       "name a full one in GRB_LICENSE_FILE, or use another "
                       "solver",
                       text);
    return mo_fail(err, MO_E_SUPPORT, "Gurobi failed %s (error %d: %s)", doing,
                   code, text);
}

static mo_status start_environment(library_run *s, mo_error *err)
{
    const int *version = s->api.library.version;
    int code = s->api.empty_environment_for
                   ? s->api.empty_environment_for(&s->environment, version[0],
                                                  version[1], version[2])
                   : s->api.empty_environment(&s->environment);

    if (code == 0)
        code = s->api.start_environment(s->environment);
    return check_code(s, code, "starting", err);
}

static mo_status set_double(library_run *s, const char *parameter, double value,
                            mo_error *err)
{
    void *environment = s->api.environment_of(s->model);

    return check_code(s, s->api.set_double(environment, parameter, value),
                      parameter, err);
}

static mo_status set_int(library_run *s, const char *parameter, int value,
                         mo_error *err)
{
    void *environment = s->api.environment_of(s->model);

    return check_code(s, s->api.set_int(environment, parameter, value),
                      parameter, err);
}

/* A model copies the parameters when it is read. SoftMemLimit, in GB, ends
 * with the incumbent; MemLimit would end with nothing. */
static mo_status set_parameters(library_run *s, mo_error *err)
{
    const mo_solver_job *job = s->job;
    mo_status status = MO_OK;

    if (job->time_s > 0)
        status = set_double(s, "TimeLimit", job->time_s, err);
    if (status == MO_OK && job->gap >= 0)
        status = set_double(s, "MIPGap", job->gap, err);
    if (status == MO_OK && job->memory_mib > 0)
        status =
            set_double(s, "SoftMemLimit", job->memory_mib * 1048576e-9, err);
    if (status == MO_OK && job->threads > 0)
        status = set_int(s, "Threads", job->threads, err);
    if (status == MO_OK && !job->presolve)
        status = set_int(s, "Presolve", 0, err);
    return status;
}

static mo_status read_model(library_run *s, mo_error *err)
{
    int code = s->api.read_model(s->environment, s->job->model, &s->model);

    if (code == MO_GUROBI_SIZE_LIMIT)
        return check_code(s, code, "reading", err);
    if (code != 0)
        return mo_fail_at(err, MO_E_SYNTAX, s->job->model, 0,
                          "Gurobi cannot read this model (error %d: %s)", code,
                          s->api.error_message(s->environment));
    return check_code(s, s->api.int_attribute(s->model, "NumVars", &s->n),
                      "counting columns", err);
}

static const char *column_name(void *context, int column)
{
    const library_run *s = context;
    char *name = NULL;

    return s->api.text_attribute(s->model, "VarName", column, &name) == 0 ? name
                                                                          : "";
}

static mo_status set_start(library_run *s, mo_error *err)
{
    double *values = NULL;
    mo_status status = mo_library_read_mip_start(s->job->start, s->n,
                                                 column_name, s, &values, err);

    if (status == MO_OK)
        status = check_code(
            s, s->api.set_double_attributes(s->model, "Start", 0, s->n, values),
            "taking the start", err);
    free(values);
    return status;
}

static void terminate_solve(void *context)
{
    const library_run *s = context;

    s->api.terminate(s->model);
}

static mo_status optimize(library_run *s, mo_error *err)
{
    int code;

    mo_library_signals_begin(terminate_solve, s);
    code = s->api.optimize(s->model);
    mo_library_signals_end();
    return check_code(s, code, "solving", err);
}

static mo_solution_status status_of(int ending)
{
    switch (ending) {
    case MO_GUROBI_INFEASIBLE:
        return MO_SOLUTION_STATUS_INFEASIBLE;
    case MO_GUROBI_UNBOUNDED:
    case MO_GUROBI_INFEASIBLE_OR_UNBOUNDED:
        return MO_SOLUTION_STATUS_UNBOUNDED;
    case MO_GUROBI_OPTIMAL:
        return MO_SOLUTION_STATUS_OPTIMAL;
    default:
        return MO_SOLUTION_STATUS_FEASIBLE;
    }
}

static mo_status fetch_values(const library_run *s, mo_library_solution *answer,
                              double **values, mo_error *err)
{
    *values = calloc((size_t) s->n + 1, sizeof **values);
    if (!*values)
        return mo_fail_memory(err);
    answer->values = *values;
    answer->n = s->n;
    answer->has_objective =
        s->api.double_attribute(s->model, "ObjVal", &answer->objective) == 0;
    return check_code(s,
                      s->api.double_attributes(s->model, "X", 0, s->n, *values),
                      "telling its solution", err);
}

/* A missing attribute, such as a bound, is an error code. */
static mo_status write_solution(library_run *s, mo_error *err)
{
    mo_library_solution answer = { .name = column_name, .context = s };
    int ending = 0, n_solutions = 0;
    double *values = NULL;
    mo_status status =
        check_code(s, s->api.int_attribute(s->model, "Status", &ending),
                   "telling its status", err);

    if (status != MO_OK)
        return status;
    s->api.int_attribute(s->model, "SolCount", &n_solutions);
    answer.claim =
        mo_library_solution_status(status_of(ending), n_solutions > 0);
    answer.has_bound =
        s->api.double_attribute(s->model, "ObjBound", &answer.bound) == 0;
    if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL ||
        answer.claim == MO_SOLUTION_STATUS_FEASIBLE)
        status = fetch_values(s, &answer, &values, err);
    if (status == MO_OK)
        status = mo_library_solution_write(s->job->folder, &answer, err);
    free(values);
    return status;
}

static mo_status solve_model(library_run *s, mo_error *err)
{
    mo_status status = start_environment(s, err);

    if (status == MO_OK)
        status = read_model(s, err);
    if (status == MO_OK)
        status = set_parameters(s, err);
    if (status == MO_OK && s->job->start)
        status = set_start(s, err);
    if (status == MO_OK)
        status = optimize(s, err);
    if (status == MO_OK)
        status = write_solution(s, err);
    if (s->model)
        s->api.free_model(s->model);
    if (s->environment)
        s->api.free_environment(s->environment);
    return status;
}

static mo_status solve_by_library(const mo_solver_install *found,
                                  const mo_solver_job *job, mo_error *err)
{
    library_run s = { .job = job };
    mo_status status = mo_gurobi_open(found->library, &s.api, err);

    return status == MO_OK ? solve_model(&s, err) : status;
}

static int print_library_version(const char *library)
{
    return mo_library_print_version(&mo_gurobi_dynlib, library);
}

const mo_solver mo_solver_gurobi = {
    .name = "gurobi",
    .title = "Gurobi",
    .help = "needs a licence; gurobipy of PyPI has one for small models",
    .limits = MO_SOLVER_LIMIT_TIME | MO_SOLVER_LIMIT_GAP |
              MO_SOLVER_LIMIT_THREADS | MO_SOLVER_LIMIT_MEMORY,
    .accepts_start = true,
    .start_layout = MO_MIP_START_GUROBI,
    .writes_on_sigint = true,
    .files = { .solution = SOLUTION },
    .find = find_solver,
    .begin_command = begin_command,
    .version_argument = "--version",
    .version_after = "Gurobi Optimizer version ",
    .command = build_command,
    .solve = solve_by_library,
    .library_version = print_library_version,
    .parse_log_line = parse_log_line,
};
