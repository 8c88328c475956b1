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

#include <string.h>

#include "solvers/plugins/cbc_api.h"
#include "solvers/plugins/find_install.h"
#include "solvers/process/path_util.h"
#include "solvers/plugins/library_entry.h"
#include "solvers/plugins/log_line.h"

#define SOLUTION "solution.sol"

static mo_status find(const char *path, mo_solver_install *found, mo_error *err)
{
    static const char *const programs[] = { "cbc", NULL };
    static const char *const libraries[] = { "libCbcSolver.so",
                                             "libCbcSolver.so.*", NULL };
    static const char *const folders[] = { "cbc", NULL };
    static const mo_solver_install_spec kind = { .title = "CBC",
                                                 .variable = "MOIRAI_CBC",
                                                 .programs = programs,
                                                 .sonames = mo_cbc_sonames,
                                                 .libraries = libraries,
                                                 .folders = folders };

    return mo_solver_find_install(&kind, path, found, err);
}

/* By default its seconds are CPU time, summed over all threads. */
static mo_status add_time(const mo_solver_job *job, mo_argv *line,
                          mo_error *err)
{
    mo_status status = mo_argv_add_option(line, err, "timeMode", "elapsed");

    return status == MO_OK
               ? mo_argv_add_option(line, err, "sec", "%.17g", job->time_s)
               : status;
}

static mo_status add_limits(const mo_solver_job *job, mo_argv *line,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (job->time_s > 0)
        status = add_time(job, line, err);
    if (status == MO_OK && job->gap >= 0)
        status = mo_argv_add_option(line, err, "ratio", "%.17g", job->gap);
    if (status == MO_OK && job->threads > 1)
        status = mo_argv_add_option(line, err, "threads", "%d", job->threads);
    if (status == MO_OK && !job->presolve)
        status = mo_argv_add_option(line, err, "presolve", "off");
    if (status == MO_OK && !job->presolve)
        status = mo_argv_add_option(line, err, "preprocess", "off");
    return status;
}

static mo_status command(const mo_solver_install *found,
                         const mo_solver_job *job, mo_argv *line, mo_error *err)
{
    mo_status status = mo_argv_add(line, err, "%s", found->program);

    if (status == MO_OK)
        status = mo_argv_add(line, err, "%s", mo_path_basename(job->model));
    if (status == MO_OK)
        status = add_limits(job, line, err);
    if (status == MO_OK && job->start)
        status = mo_argv_add_option(line, err, "mipStart", "%s",
                                    mo_path_basename(job->start));
    if (status == MO_OK)
        status = mo_argv_add(line, err, "solve");
    if (status == MO_OK)
        status = mo_argv_add_option(line, err, "solution", SOLUTION);
    return status;
}

/* "1e+50 best solution" means that there is none. */
static bool read_line(const char *line, mo_solver_progress *step)
{
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
        mo_solver_log_set_bound(step, value, 6);
    if (strncmp(line, "Dual infeasible - ", 18) == 0) {
        step->has_claim = true;
        step->claim = MO_SOLUTION_STATUS_UNBOUNDED;
    }
    return step->has_incumbent || step->has_bound || step->has_claim;
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
    .find = find,
    .version_argument = "quit",
    .version_after = "Version: ",
    .command = command,
    .solve = mo_cbc_solve,
    .library_version = mo_cbc_library_version,
    .parse_log_line = read_line,
};
