/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gurobi as a process: its program gurobi_cl, or a small script, since the
 * Python package has no program and comes with a licence for Python alone. As a
 * library: gurobi_library.c.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "solvers/plugins/find_install.h"
#include "solvers/plugins/gurobi_api.h"
#include "solvers/plugins/install_dirs.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/log_line.h"
#include "solvers/process/path_util.h"

#define SCRIPT   "gurobi_run.py"
#define SOLUTION "solution.sol"

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

    if (status == MO_OK && !found->program && !path &&
        !getenv("MOIRAI_GUROBI")) {
        char *script = mo_install_dirs_own_file(SCRIPT);
        mo_path_list places = { 0 };

        /* Searches the site-packages for the package; the first environment
         * that has it counts. Without the script there is no use for it. */
        status = script ? mo_install_dirs_private(&places, err) : MO_OK;
        free(script);
        for (size_t i = 0; status == MO_OK && !found->program && i < places.n;
             i++) {
            char *package = mo_path_format("%s/gurobipy", places.paths[i]);

            if (package && access(package, R_OK) == 0)
                found->program = mo_install_dirs_python(places.paths[i]);
            free(package);
        }
        mo_path_list_clear(&places);
    }
    return status;
}

static mo_status begin_command(const mo_solver_install *found, mo_argv *line,
                               mo_error *err)
{
    mo_status status = mo_argv_add(line, err, "%s", found->program);
    char *script;

    if (status != MO_OK ||
        strncmp(mo_path_basename(found->program), "python", 6) != 0)
        return status;
    script = mo_install_dirs_own_file(SCRIPT);
    status = script ? mo_argv_add(line, err, "%s", script)
                    : mo_fail(err, MO_E_SUPPORT,
                              "Gurobi by Python needs " SCRIPT
                              ", which is not where Moirai was installed");
    free(script);
    return status;
}

static mo_status build_command(const mo_solver_install *found,
                               const mo_solver_job *job, mo_argv *line,
                               mo_error *err)
{
    mo_status status = begin_command(found, line, err);

    if (status == MO_OK) {
        /* The program and the script take parameters in the same form. */
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
    }
    if (status == MO_OK && job->start)
        status = mo_argv_add(line, err, "InputFile=%s",
                             mo_path_basename(job->start));
    if (status == MO_OK)
        status = mo_argv_add(line, err, "ResultFile=" SOLUTION);
    if (status == MO_OK)
        status = mo_argv_add(line, err, "%s", mo_path_basename(job->model));
    return status;
}

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

static bool parse_log_line(const char *line, mo_solver_progress *step)
{
    double value;

    *step = (mo_solver_progress){ 0 };
    if (parse_status_line(line, step))
        return true;
    if (strncmp(line, "Best objective ", 15) != 0) {
        mo_solver_log_token words[MO_SOLVER_LOG_MAX_TOKENS];
        int n = mo_solver_log_tokenize(line, " ", words);

        /*
         *      Nodes    |    Current Node    |     Objective Bounds      |
         *   Expl Unexpl |  Obj  Depth IntInf | Incumbent    BestBd   Gap |
         *  H  573   201                      11.0000000    0.00000   100%
         *                                                          Work
         *                                                  It/Node Time
         *                                                      2.7    0s
         */
        if (n < 7 ||
            !mo_solver_log_number(&words[n - 1], "s", &step->seconds) ||
            !(mo_solver_log_ends_with(&words[n - 3], '%') ||
              mo_solver_log_ends_with(&words[n - 3], '-')))
            return false;
        mo_solver_log_set_row(step, &words[n - 5], &words[n - 4], 6);
        return step->has_bound || step->has_incumbent;
    }
    if (mo_solver_log_number_after(line, "Best objective ", &value))
        mo_solver_log_set_incumbent(step, value);
    if (mo_solver_log_number_after(line, "best bound ", &value))
        mo_solver_log_set_bound(step, value, 13);
    return true;
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
    .solve = mo_gurobi_solve,
    .solve_lp = mo_gurobi_solve_lp,
    .library_version = print_library_version,
    .parse_log_line = parse_log_line,
};
