/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SCIP as a process, with commands in a file, and as a library. Where only the
 * library is installed, our program moirai-scip is the same shell around it.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "solvers/plugins/find_install.h"
#include "solvers/process/path_util.h"
#include "solvers/plugins/library_entry.h"
#include "solvers/plugins/log_line.h"
#include "solvers/plugins/install_dirs.h"
#include "solvers/process/workdir.h"
#include "solvers/plugins/scip_api.h"

#define SHELL    "moirai-scip"
#define COMMANDS "scip.commands"
#define SOLUTION "solution.sol"

static mo_status find(const char *path, mo_solver_install *found, mo_error *err)
{
    static const char *const programs[] = { "scip", NULL };
    static const char *const libraries[] = { "libscip.so", "libscip.so.*",
                                             "libscip-*.so*", NULL };
    static const char *const folders[] = { "scip", "pyscipopt.libs", NULL };
    static const mo_solver_install_spec kind = { .title = "SCIP",
                                                 .variable = "MOIRAI_SCIP",
                                                 .programs = programs,
                                                 .sonames = mo_scip_sonames,
                                                 .libraries = libraries,
                                                 .folders = folders };
    mo_status status = mo_solver_find_install(&kind, path, found, err);

    if (status == MO_OK && !found->program && found->library)
        found->program = mo_install_dirs_own_file(SHELL);
    return status;
}

static mo_status add_program(const mo_solver_install *found, mo_argv *line,
                             mo_error *err)
{
    mo_status status = mo_argv_add(line, err, "%s", found->program);

    if (status == MO_OK && found->library &&
        strcmp(mo_path_basename(found->program), SHELL) == 0)
        status = mo_argv_add(line, err, "%s", found->library);
    return status;
}

static void write_limits(mo_out *out, const mo_solver_job *job)
{
    if (job->time_s > 0)
        mo_out_printf(out, "set limits time %.17g\n", job->time_s);
    if (job->gap >= 0)
        mo_out_printf(out, "set limits gap %.17g\n", job->gap);
    if (job->memory_mib > 0)
        mo_out_printf(out, "set limits memory %d\n", job->memory_mib);
    if (!job->presolve)
        mo_out_text(out, "set presolving maxrounds 0\n");
}

static mo_status write_commands(const mo_solver_job *job, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_workdir_create_file(job->folder, COMMANDS, &out, err);

    if (status != MO_OK)
        return status;
    write_limits(out, job);
    mo_out_printf(out, "read %s\n", mo_path_basename(job->model));
    if (job->start)
        mo_out_printf(out, "read %s\n", mo_path_basename(job->start));
    mo_out_text(out, "optimize\nwrite solution " SOLUTION "\nquit\n");
    return mo_out_commit(out, err);
}

static mo_status command(const mo_solver_install *found,
                         const mo_solver_job *job, mo_argv *line, mo_error *err)
{
    mo_status status = write_commands(job, err);

    if (status == MO_OK)
        status = add_program(found, line, err);
    if (status == MO_OK)
        status = mo_argv_add_option(line, err, "-b", COMMANDS);
    return status;
}

/*
 *   time | node  | ... |  dualbound   | primalbound  |  gap   | compl.
 *  r 0.0s|     1 | ... | 0.000000e+00 | 8.900000e+01 |    Inf | unknown
 */
static bool read_row(const char *line, mo_solver_progress *step)
{
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

static bool read_line(const char *line, mo_solver_progress *step)
{
    double value;

    *step = (mo_solver_progress){ 0 };
    if (mo_solver_log_number_after_prefix(line, "Dual Bound", &value))
        mo_solver_log_set_bound(step, value, 15);
    else if (mo_solver_log_number_after_prefix(line, "Primal Bound", &value))
        mo_solver_log_set_incumbent(step, value);
    else
        return read_row(line, step);
    return true;
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
    .find = find,
    .begin_command = add_program,
    .version_argument = "--version",
    .version_after = "SCIP version ",
    .command = command,
    .solve = mo_scip_solve,
    .library_version = mo_scip_library_version,
    .parse_log_line = read_line,
};
