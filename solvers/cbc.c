/*
 * CBC by its program: every word of the command line is a command.
 */
#include <config.h>

#include <string.h>

#include "solvers/find.h"
#include "solvers/library_ways.h"
#include "solvers/log.h"

#define SOLUTION "solution.sol"

static mo_status find(const char *path, mo_found *found, mo_error *err)
{
    static const char *const programs[] = { "cbc", NULL };
    static const char *const sonames[] = { "libCbcSolver.so.3",
                                           "libCbcSolver.so", NULL };
    static const char *const libraries[] = { "libCbcSolver.so",
                                             "libCbcSolver.so.*", NULL };
    static const char *const folders[] = { "cbc", NULL };
    static const mo_find_kind kind = { .title = "CBC",
                                       .variable = "MOIRAI_CBC",
                                       .programs = programs,
                                       .sonames = sonames,
                                       .libraries = libraries,
                                       .folders = folders };

    return mo_find(&kind, path, found, err);
}

static mo_status ask(const mo_found *found, mo_command_line *line,
                     mo_error *err)
{
    mo_status status = mo_command_line_add(line, err, "%s", found->program);

    return status == MO_OK ? mo_command_line_add(line, err, "quit") : status;
}

static mo_status add_pair(mo_command_line *line, const char *first,
                          const char *second, mo_error *err)
{
    mo_status status = mo_command_line_add(line, err, "%s", first);

    return status == MO_OK ? mo_command_line_add(line, err, "%s", second)
                           : status;
}

/* Its seconds are the processor's unless told otherwise, and those of all
 * threads together. */
static mo_status add_time(const mo_job *job, mo_command_line *line,
                          mo_error *err)
{
    mo_status status = add_pair(line, "timeMode", "elapsed", err);

    if (status == MO_OK)
        status = mo_command_line_add(line, err, "sec");
    if (status == MO_OK)
        status = mo_command_line_add(line, err, "%.17g", job->time_s);
    return status;
}

static mo_status add_limits(const mo_job *job, mo_command_line *line,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (job->time_s > 0)
        status = add_time(job, line, err);
    if (status == MO_OK && job->gap >= 0)
        status = mo_command_line_add(line, err, "ratio");
    if (status == MO_OK && job->gap >= 0)
        status = mo_command_line_add(line, err, "%.17g", job->gap);
    if (status == MO_OK && job->threads > 1)
        status = mo_command_line_add(line, err, "threads");
    if (status == MO_OK && job->threads > 1)
        status = mo_command_line_add(line, err, "%d", job->threads);
    if (status == MO_OK && !job->presolve)
        status = add_pair(line, "presolve", "off", err);
    if (status == MO_OK && !job->presolve)
        status = add_pair(line, "preprocess", "off", err);
    return status;
}

static mo_status command(const mo_found *found, const mo_job *job,
                         mo_command_line *line, mo_error *err)
{
    mo_status status =
        add_pair(line, found->program, mo_solver_basename(job->model), err);

    if (status == MO_OK)
        status = add_limits(job, line, err);
    if (status == MO_OK && job->start)
        status =
            add_pair(line, "mipStart", mo_solver_basename(job->start), err);
    if (status == MO_OK)
        status = mo_command_line_add(line, err, "solve");
    if (status == MO_OK)
        status = add_pair(line, "solution", SOLUTION, err);
    return status;
}

/* "1e+50 best solution" is none. */
static bool read_line(const char *line, mo_step *step)
{
    double value;

    *step = (mo_step){ 0 };
    if (mo_log_after(line, "Integer solution of ", &value) ||
        mo_log_after(line, "best objective ", &value))
        mo_log_incumbent(step, value);
    if (strncmp(line, "Cbc0010I", 8) == 0 &&
        mo_log_after(line, " on tree, ", &value))
        mo_log_incumbent(step, value);
    if (mo_log_after(line, "best possible ", &value) ||
        (strncmp(line, "Lower bound:", 12) == 0 &&
         mo_log_after(line, "Lower bound:", &value)))
        mo_log_bound(step, value, 6);
    return step->has_incumbent || step->has_bound;
}

const mo_solver mo_solver_cbc = {
    .name = "cbc",
    .title = "CBC",
    .help = "package coinor-cbc",
    .limits = MO_LIMIT_TIME | MO_LIMIT_GAP | MO_LIMIT_THREADS,
    .starts = true,
    .start_layout = MO_START_CBC,
    .stops_well = true,
    .files = { .solution = SOLUTION },
    .find = find,
    .ask = ask,
    .version_after = "Version: ",
    .command = command,
    .solve = mo_cbc_solve,
    .library_version = mo_cbc_library_version,
    .step = read_line,
};
