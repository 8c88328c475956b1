/* SPDX-License-Identifier: Apache-2.0 */
/* Installations of HiGHS: where they are, how the program starts, and a trial
 * for a known defect. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/plugins/find_install.h"
#include "solvers/plugins/highs_api.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/log_line.h"
#include "solvers/process/child.h"
#include "solvers/process/path_util.h"
#include "solvers/process/workdir.h"

mo_status mo_highs_find(const char *path, mo_solver_install *found,
                        mo_error *err)
{
    static const char *const programs[] = { "highs", NULL };
    static const char *const libraries[] = { "libhighs.so", "libhighs.so.*",
                                             "libhighs-*.so*", NULL };
    static const char *const folders[] = { "highs", "highsbox/highs_dist",
                                           "highspy", "highspy.libs", NULL };
    static const mo_solver_install_spec spec = { .title = "HiGHS",
                                                 .variable = "MOIRAI_HIGHS",
                                                 .programs = programs,
                                                 .sonames = mo_highs_sonames,
                                                 .libraries = libraries,
                                                 .folders = folders,
                                                 .build_key = "highs" };

    return mo_solver_find_install(&spec, path, found, err);
}

/* The packaged program does not find its own library. */
mo_status mo_highs_begin_command(const mo_solver_install *found, mo_argv *line,
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

/* Many versions before 1.15 return 15 where the optimum is 9. */
static const char probe[] = "Minimize\n obj: 2 x + 3 z\n"
                            "Subject To\n row: x + z >= 4.5\n"
                            "Bounds\n x <= 10\n z <= 10\n"
                            "Generals\n z\nEnd\n";
static const double probe_answer = 9;

static void parse_probe_line(void *listener, const char *line)
{
    double *answer = listener;

    mo_solver_log_number_after(line, "Primal bound", answer);
}

static mo_status write_probe(const char *folder, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_workdir_create_file(folder, "probe.lp", &out, err);

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
        status = mo_highs_begin_command(found, &line, err);
    if (status == MO_OK)
        status = mo_argv_add(&line, err, "probe.lp");
    if (status == MO_OK) {
        const mo_child_job job = { .argv = (const char *const *) line.argv,
                                   .environment =
                                       (const char *const *) line.environment,
                                   .folder = folder,
                                   .scratch = folder,
                                   .hard_s = mo_solver_query_timeout_s(found),
                                   .line = parse_probe_line,
                                   .listener = &answer };

        status = mo_child_run(&job, &result, err);
    }
    mo_argv_clear(&line);
    *right = answer > probe_answer - 1e-6 && answer < probe_answer + 1e-6;
    return status;
}

int mo_highs_probe_presolve(const char *library)
{
    /* min 2 x + 3 z, x + z >= 4.5, x and z in 0 .. 10, z integer: 9 at
     * x = 4.5. */
    static const double cost[] = { 2, 3 }, lower[] = { 0, 0 };
    static const double upper[] = { 10, 10 }, entries[] = { 1, 1 };
    static const double row_lower = 4.5, row_upper = INFINITY;
    static const int begins[] = { 0, 1 }, rows[] = { 0, 0 };
    static const int integrality[] = { 0, 1 };
    double found[2] = { 0 }, row;
    int model_status = 0;
    mo_highs_api api;
    mo_error err = { 0 };
    mo_status status = mo_highs_open(library, &api, &err);

    if (status != MO_OK)
        return mo_library_exit_code(status, &err);
    api.mip(2, 1, 2, MO_HIGHS_BY_COLUMN, MO_HIGHS_MINIMIZE, 0, cost, lower,
            upper, &row_lower, &row_upper, begins, rows, entries, integrality,
            found, &row, &model_status);
    return model_status == MO_HIGHS_OPTIMAL &&
                   fabs(2 * found[0] + 3 * found[1] - 9) < 1e-6
               ? EXIT_SUCCESS
               : MO_HIGHS_PROBE_WRONG;
}

static int run_probe_child(void *library)
{
    return mo_highs_probe_presolve(library);
}

static mo_status probe_library(const mo_solver_install *found, bool *right,
                               mo_error *err)
{
    const mo_child_job job = { .body = run_probe_child,
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

mo_status mo_highs_check_defects(mo_solver_install *found, mo_solver_via way,
                                 mo_error *err)
{
    bool right = true;
    mo_status status = MO_OK;

    if (way == MO_SOLVER_VIA_PROCESS && found->program &&
        is_before_1_15(found->version)) {
        mo_workdir *workdir = NULL;

        status = mo_workdir_new(&workdir, err);
        if (status == MO_OK)
            status =
                probe_program(found, mo_workdir_path(workdir), &right, err);
        mo_workdir_free(workdir);
    }
    if (way == MO_SOLVER_VIA_LIBRARY && found->library &&
        is_before_1_15(found->library_version))
        status = probe_library(found, &right, err);
    if (status != MO_OK || right)
        return status;
    found->no_presolve = true;
    found->defect = strdup("its presolve fails a trial: it is run without");
    return found->defect ? MO_OK : mo_fail_memory(err);
}
