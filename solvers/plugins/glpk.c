/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GLPK as a process. Its solution files have names and six digits (-o), or all
 * digits and no names (-w): both are requested and merged.
 */
#include <config.h>

#include <math.h>
#include <string.h>

#include "solvers/plugins/find_install.h"
#include "solvers/process/path_util.h"
#include "solvers/plugins/log_line.h"

#define SOLUTION "solution.txt"
#define NAMES    "names.txt"

static mo_status find_solver(const char *path, mo_solver_install *found,
                             mo_error *err)
{
    static const char *const programs[] = { "glpsol", NULL };
    static const char *const none[] = { NULL };
    static const char *const folders[] = { "glpk", NULL };
    static const mo_solver_install_spec spec = { .title = "GLPK",
                                                 .variable = "MOIRAI_GLPK",
                                                 .programs = programs,
                                                 .sonames = none,
                                                 .libraries = none,
                                                 .folders = folders };

    return mo_solver_find_install(&spec, path, found, err);
}

static bool is_mps(const char *path)
{
    size_t length = strlen(path);

    return length >= 4 && strcmp(path + length - 4, ".mps") == 0;
}

static mo_status build_command(const mo_solver_install *found,
                               const mo_solver_job *job, mo_argv *line,
                               mo_error *err)
{
    const char *const words[] = { found->program,
                                  is_mps(job->model) ? "--freemps" : "--lp",
                                  mo_path_basename(job->model),
                                  "--cuts",
                                  "--pcost",
                                  "-w",
                                  SOLUTION,
                                  "-o",
                                  NAMES };
    mo_status status = MO_OK;

    for (size_t i = 0; status == MO_OK && i < sizeof words / sizeof *words; i++)
        status = mo_argv_add(line, err, "%s", words[i]);
    if (status != MO_OK)
        return status;
    /* Whole seconds, at least one. */
    if (job->time_s > 0)
        status = mo_argv_add_option(line, err, "--tmlim", "%.0f",
                                    fmin(ceil(job->time_s), 1e9));
    if (status == MO_OK && job->gap > 0)
        status = mo_argv_add_option(line, err, "--mipgap", "%.17g", job->gap);
    if (status == MO_OK && job->memory_mib > 0)
        status =
            mo_argv_add_option(line, err, "--memlim", "%d", job->memory_mib);
    if (status == MO_OK && !job->presolve)
        status = mo_argv_add(line, err, "--nopresol");
    return status;
}

/* "+ 85730: >>>>> 6.000000000e+00 >= 0.000000000e+00 100.0% (6454; 10578)",
 * with "mip =" in place of the arrows without a new incumbent. */
static bool parse_log_line(const char *line, mo_solver_progress *step)
{
    mo_solver_log_token words[MO_SOLVER_LOG_MAX_TOKENS];
    int n = mo_solver_log_tokenize(line, " ", words);

    *step = (mo_solver_progress){ 0 };
    if (line[0] != '+') {
        /* Its files report infeasibility only if presolve or the relaxation
         * prove it. */
        step->has_claim = true;
        if (strstr(line, " HAS NO PRIMAL FEASIBLE SOLUTION") ||
            strstr(line, " HAS NO INTEGER FEASIBLE SOLUTION"))
            step->claim = MO_SOLUTION_STATUS_INFEASIBLE;
        else if (strstr(line, " HAS NO DUAL FEASIBLE SOLUTION") ||
                 strstr(line, " HAS UNBOUNDED "))
            step->claim = MO_SOLUTION_STATUS_UNBOUNDED;
        else
            step->has_claim = false;
        return step->has_claim;
    }
    for (int i = 1; i + 1 < n; i++)
        if (words[i].length == 2 && memcmp(words[i].text, ">=", 2) == 0)
            mo_solver_log_set_row(step, &words[i - 1], &words[i + 1], 10);
    return step->has_incumbent || step->has_bound;
}

const mo_solver mo_solver_glpk = {
    .name = "glpk",
    .title = "GLPK",
    .help = "package glpk-utils; slow, for small models",
    .limits =
        MO_SOLVER_LIMIT_TIME | MO_SOLVER_LIMIT_GAP | MO_SOLVER_LIMIT_MEMORY,
    .files = { .solution = SOLUTION, .names = NAMES },
    .find = find_solver,
    .version_argument = "--version",
    .version_after = "Solver ",
    .command = build_command,
    .parse_log_line = parse_log_line,
};
