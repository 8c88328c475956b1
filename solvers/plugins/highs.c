/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HiGHS as a process, with options in a file, since only some are accepted on
 * the command line; and as a library. The program ends on SIGINT without
 * output, so it saves every incumbent to a file. The library has no function
 * to stop it: it queries a callback.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "solvers/process/child.h"
#include "solvers/plugins/find_install.h"
#include "solvers/process/path_util.h"
#include "solvers/plugins/highs_api.h"
#include "solvers/plugins/highs_improving_file.h"
#include "solvers/plugins/library_entry.h"
#include "solvers/plugins/log_line.h"
#include "solvers/plugins/install_dirs.h"
#include "solvers/process/workdir.h"
#include "solvers/process/workdir.h"

#define OPTIONS   "highs.options"
#define SOLUTION  "solution.sol"
#define IMPROVING "improving.sol"
#define PROBE     "probe.lp"

static mo_status find(const char *path, mo_solver_install *found, mo_error *err)
{
    static const char *const programs[] = { "highs", NULL };
    static const char *const libraries[] = { "libhighs.so", "libhighs.so.*",
                                             NULL };
    static const char *const folders[] = { "highs", "highsbox/highs_dist",
                                           NULL };
    static const mo_solver_install_spec kind = { .title = "HiGHS",
                                                 .variable = "MOIRAI_HIGHS",
                                                 .programs = programs,
                                                 .sonames = mo_highs_sonames,
                                                 .libraries = libraries,
                                                 .folders = folders,
                                                 .known = MO_HIGHS_PREFIX };

    return mo_solver_find_install(&kind, path, found, err);
}

/* The packaged program does not find its own library. */
static mo_status add_program(const mo_solver_install *found, mo_argv *line,
                             mo_error *err)
{
    const char *name = mo_path_basename(found->program);
    int length = (int) (name - found->program);
    const char *before = getenv("LD_LIBRARY_PATH");
    mo_status status = mo_argv_add(line, err, "%s", found->program);

    if (status != MO_OK || length == 0)
        return status;
    return mo_argv_set_env(line, err,
                           "LD_LIBRARY_PATH=%.*s../lib:%.*s../lib64%s%s",
                           length, found->program, length, found->program,
                           before && *before ? ":" : "", before ? before : "");
}

static mo_status write_options(const mo_solver_job *job, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_workdir_create_file(job->folder, OPTIONS, &out, err);

    if (status != MO_OK)
        return status;
    mo_out_text(out, "write_solution_to_file = true\n"
                     "solution_file = " SOLUTION "\n"
                     "mip_improving_solution_save = true\n"
                     "mip_improving_solution_file = " IMPROVING "\n");
    if (job->time_s > 0)
        mo_out_printf(out, "time_limit = %.17g\n", job->time_s);
    if (job->gap >= 0)
        mo_out_printf(out, "mip_rel_gap = %.17g\n", job->gap);
    if (job->threads > 0)
        mo_out_printf(out, "threads = %d\n", job->threads);
    if (!job->presolve)
        mo_out_text(out, "presolve = off\n");
    return mo_out_commit(out, err);
}

static mo_status command(const mo_solver_install *found,
                         const mo_solver_job *job, mo_argv *line, mo_error *err)
{
    mo_status status = write_options(job, err);

    if (status == MO_OK)
        status = add_program(found, line, err);
    if (status == MO_OK)
        status = mo_argv_add_option(line, err, "--options_file", OPTIONS);
    if (status == MO_OK && job->start)
        status = mo_argv_add_option(line, err, "--read_solution_file", "%s",
                                    mo_path_basename(job->start));
    if (status == MO_OK)
        status = mo_argv_add(line, err, "%s", mo_path_basename(job->model));
    return status;
}

static mo_status rescue(const mo_solver_job *job, mo_solution **solution,
                        mo_error *err)
{
    char *path = mo_path_format("%s/" IMPROVING, job->folder);
    mo_status status = path ? mo_highs_improving_file_read(path, solution, err)
                            : mo_fail_memory(err);

    free(path);
    return status;
}

/* --------------------------------------------------------------- the probe */

/* Many versions before 1.15 return 15 where the optimum is 9. */
static const char probe[] = "Minimize\n obj: 2 x + 3 z\n"
                            "Subject To\n row: x + z >= 4.5\n"
                            "Bounds\n x <= 10\n z <= 10\n"
                            "Generals\n z\nEnd\n";
static const double probe_answer = 9;

static void hear_answer(void *listener, const char *line)
{
    double *answer = listener;

    mo_solver_log_number_after(line, "Primal bound", answer);
}

static mo_status write_probe(const char *folder, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_workdir_create_file(folder, PROBE, &out, err);

    if (status != MO_OK)
        return status;
    mo_out_text(out, probe);
    return mo_out_commit(out, err);
}

/* Without an answer the version is not trusted. */
static mo_status probe_program(const mo_solver_install *found,
                               const char *folder, bool *right, mo_error *err)
{
    double answer = 0;
    mo_argv line = { 0 };
    mo_child_result result;
    mo_status status = write_probe(folder, err);

    if (status == MO_OK)
        status = add_program(found, &line, err);
    if (status == MO_OK)
        status = mo_argv_add(&line, err, PROBE);
    if (status == MO_OK) {
        const mo_child_job job = { .argv = (const char *const *) line.argv,
                                   .environment =
                                       (const char *const *) line.environment,
                                   .folder = folder,
                                   .scratch = folder,
                                   .hard_s = mo_solver_query_timeout_s(found),
                                   .line = hear_answer,
                                   .listener = &answer };

        status = mo_child_run(&job, &result, err);
    }
    mo_argv_clear(&line);
    *right = answer > probe_answer - 1e-6 && answer < probe_answer + 1e-6;
    return status;
}

static int probe_body(void *library)
{
    return mo_highs_probe_presolve(library);
}

static mo_status probe_library(const mo_solver_install *found, bool *right,
                               mo_error *err)
{
    const mo_child_job job = { .body = probe_body,
                               .context = found->library,
                               .hard_s = mo_solver_query_timeout_s(found) };
    mo_child_result result;
    mo_status status = mo_child_run(&job, &result, err);

    *right = result.end == MO_CHILD_EXITED && result.code == 0;
    return status;
}

static bool is_before_1_15(const char *version)
{
    int major = 0, minor = 0;

    return !version || sscanf(version, "%d.%d", &major, &minor) < 1 ||
           major < 1 || (major == 1 && minor < 15);
}

static mo_status probe_in_folder(const mo_solver_install *found, bool *right,
                                 mo_error *err)
{
    mo_workdir *workdir = NULL;
    mo_status status = mo_workdir_new(&workdir, err);

    if (status == MO_OK)
        status = probe_program(found, mo_workdir_path(workdir), right, err);
    mo_workdir_free(workdir);
    return status;
}

static mo_status examine(mo_solver_install *found, mo_solver_via way,
                         mo_error *err)
{
    bool right = true;
    mo_status status = MO_OK;

    if (way == MO_SOLVER_VIA_PROCESS && found->program &&
        is_before_1_15(found->version))
        status = probe_in_folder(found, &right, err);
    if (way == MO_SOLVER_VIA_LIBRARY && found->library &&
        is_before_1_15(found->library_version))
        status = probe_library(found, &right, err);
    if (status != MO_OK || right)
        return status;
    found->no_presolve = true;
    found->defect = strdup("its presolve fails a trial: it is run without");
    return found->defect ? MO_OK : mo_fail_memory(err);
}

/* ----------------------------------------------------------------- the log */

/*
 *  Src  Proc. InQueue |  Leaves   Expl. | BestBound       BestSol
 *   L     100      38        31   0.01%   0               14
 *                              Gap |   Cuts   InLp Confl. | LpIters     Time
 *                         100.00%      390      6    155      1518     0.3s
 */
static bool read_row(const char *line, mo_solver_progress *step)
{
    mo_solver_log_token words[MO_SOLVER_LOG_MAX_TOKENS];
    int n = mo_solver_log_tokenize(line, " ", words);

    if (n < 11 || !mo_solver_log_number(&words[n - 1], "s", &step->seconds) ||
        !mo_solver_log_ends_with(&words[n - 9], '%'))
        return false;
    mo_solver_log_set_row(step, &words[n - 7], &words[n - 8], 10);
    return true;
}

static bool read_line(const char *line, mo_solver_progress *step)
{
    double value;

    *step = (mo_solver_progress){ 0 };
    if (mo_solver_log_number_after_prefix(line, "  Dual bound", &value))
        mo_solver_log_set_bound(step, value, 12);
    else if (mo_solver_log_number_after_prefix(line, "  Primal bound", &value))
        mo_solver_log_set_incumbent(step, value);
    else
        return read_row(line, step);
    return true;
}

const mo_solver mo_solver_highs = {
    .name = "highs",
    .title = "HiGHS",
    .help = "comes with Moirai",
    .limits =
        MO_SOLVER_LIMIT_TIME | MO_SOLVER_LIMIT_GAP | MO_SOLVER_LIMIT_THREADS,
    .accepts_start = true,
    .start_layout = MO_MIP_START_MIPLIB,
    .files = { .solution = SOLUTION },
    .find = find,
    .begin_command = add_program,
    .version_argument = "--version",
    .version_after = "HiGHS version ",
    .check_defects = examine,
    .command = command,
    .read_incumbent = rescue,
    .solve = mo_highs_solve,
    .library_version = mo_highs_library_version,
    .parse_log_line = read_line,
};
