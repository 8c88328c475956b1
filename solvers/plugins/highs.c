/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HiGHS as a process, with options in a file, since only some are accepted on
 * the command line; and as a library. The program ends on SIGINT without
 * output, so it saves every incumbent to a file. The library has no function
 * to stop it: it queries a callback.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/compress.h"
#include "solvers/plugins/find_install.h"
#include "solvers/plugins/highs_api.h"
#include "solvers/plugins/highs_improving_file.h"
#include "solvers/plugins/install_dirs.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/log_line.h"
#include "solvers/process/child.h"
#include "solvers/process/path_util.h"
#include "solvers/process/workdir.h"

#define OPTIONS   "highs.options"
#define SOLUTION  "solution.sol"
#define IMPROVING "improving.sol"
#define PROBE     "probe.lp"

static mo_status find_solver(const char *path, mo_solver_install *found,
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
static mo_status begin_command(const mo_solver_install *found, mo_argv *line,
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

static mo_status build_command(const mo_solver_install *found,
                               const mo_solver_job *job, mo_argv *line,
                               mo_error *err)
{
    mo_status status = write_options(job, err);

    if (status == MO_OK)
        status = begin_command(found, line, err);
    if (status == MO_OK)
        status = mo_argv_add_option(line, err, "--options_file", OPTIONS);
    if (status == MO_OK && job->start)
        status = mo_argv_add_option(line, err, "--read_solution_file", "%s",
                                    mo_path_basename(job->start));
    if (status == MO_OK)
        status = mo_argv_add(line, err, "%s", mo_path_basename(job->model));
    return status;
}

static mo_status read_incumbent(const mo_solver_job *job,
                                mo_solution **solution, mo_error *err)
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

static void parse_probe_line(void *listener, const char *line)
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
        status = begin_command(found, &line, err);
    if (status == MO_OK)
        status = mo_argv_add(&line, err, PROBE);
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

/* min 2 x + 3 z, x + z >= 4.5, x and z in 0 .. 10, z integer: 9 at x = 4.5. */
static double solve_probe(const mo_highs_api *api)
{
    static const double cost[] = { 2, 3 }, lower[] = { 0, 0 };
    static const double upper[] = { 10, 10 }, entries[] = { 1, 1 };
    static const double row_lower = 4.5, row_upper = INFINITY;
    static const int begins[] = { 0, 1 }, rows[] = { 0, 0 };
    static const int integrality[] = { 0, 1 };
    double found[2] = { 0 }, row;
    int model_status = 0;

    api->mip(2, 1, 2, MO_HIGHS_BY_COLUMN, MO_HIGHS_MINIMIZE, 0, cost, lower,
             upper, &row_lower, &row_upper, begins, rows, entries, integrality,
             found, &row, &model_status);
    return model_status == MO_HIGHS_OPTIMAL ? 2 * found[0] + 3 * found[1]
                                            : INFINITY;
}

int mo_highs_probe_presolve(const char *library)
{
    mo_highs_api api;
    mo_error err = { 0 };
    mo_status status = mo_highs_open(library, &api, &err);

    if (status != MO_OK)
        return mo_library_exit_code(status, &err);
    return fabs(solve_probe(&api) - 9) < 1e-6 ? EXIT_SUCCESS
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

static mo_status check_defects(mo_solver_install *found, mo_solver_via way,
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
static bool parse_log_row(const char *line, mo_solver_progress *step)
{
    mo_solver_log_token words[MO_SOLVER_LOG_MAX_TOKENS];
    int n = mo_solver_log_tokenize(line, " ", words);

    if (n < 11 || !mo_solver_log_number(&words[n - 1], "s", &step->seconds) ||
        !mo_solver_log_ends_with(&words[n - 9], '%'))
        return false;
    mo_solver_log_set_row(step, &words[n - 7], &words[n - 8], 10);
    return true;
}

static bool parse_log_line(const char *line, mo_solver_progress *step)
{
    double value;

    *step = (mo_solver_progress){ 0 };
    if (mo_solver_log_number_after_prefix(line, "  Dual bound", &value))
        mo_solver_log_set_bound(step, value, 12);
    else if (mo_solver_log_number_after_prefix(line, "  Primal bound", &value))
        mo_solver_log_set_incumbent(step, value);
    else
        return parse_log_row(line, step);
    return true;
}

/* -------------------------------------------------- solving by the library */

typedef struct library_run {
    mo_highs_api api;
    const mo_solver_job *job;
    void *highs;
    int n;        /* columns */
    char **names; /* of the columns, in the arena */
    mo_arena *arena;
    mo_library_incumbent best;
} library_run;

static mo_status fail_option(const char *option, mo_error *err)
{
    return mo_fail(err, MO_E_SUPPORT, "HiGHS does not take its option '%s'",
                   option);
}

static mo_status set_double(library_run *s, const char *option, double value,
                            mo_error *err)
{
    return s->api.set_double(s->highs, option, value) == MO_HIGHS_OK
               ? MO_OK
               : fail_option(option, err);
}

static mo_status set_parameters(library_run *s, bool presolve, mo_error *err)
{
    const mo_solver_job *job = s->job;
    mo_status status = MO_OK;

    if (job->time_s > 0)
        status = set_double(s, "time_limit", job->time_s, err);
    if (status == MO_OK && job->gap >= 0)
        status = set_double(s, "mip_rel_gap", job->gap, err);
    if (status == MO_OK && job->threads > 0 &&
        s->api.set_int(s->highs, "threads", job->threads) != MO_HIGHS_OK)
        status = fail_option("threads", err);
    if (status == MO_OK && !presolve &&
        s->api.set_string(s->highs, "presolve", "off") != MO_HIGHS_OK)
        status = fail_option("presolve", err);
    return status;
}

/* HiGHS copies names without a size argument. No name is longer than the file;
 * gzip compresses text at most 1032 times. */
static size_t max_name_bytes(const char *model)
{
    enum { USUAL = 512, GZIP_RATIO = 1032 };
    bool packed = mo_compress_stem(model) < strlen(model);
    struct stat file;

    if (stat(model, &file) != 0 || file.st_size < USUAL)
        return (size_t) USUAL * GZIP_RATIO;
    return (size_t) file.st_size * (packed ? GZIP_RATIO : 1) + USUAL;
}

/* Fetched before the run, so that callbacks make no calls to HiGHS. */
static mo_status fetch_names(library_run *s, mo_error *err)
{
    char *name = calloc(max_name_bytes(s->job->model), 1);

    s->arena = mo_arena_new();
    s->names = calloc((size_t) s->n + 1, sizeof *s->names);
    if (!name || !s->arena || !s->names) {
        free(name);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < s->n; i++) {
        if (s->api.column_name(s->highs, i, name) == MO_HIGHS_ERROR)
            snprintf(name, 32, "C%d", i);
        s->names[i] = mo_arena_text(s->arena, name, strlen(name));
        if (!s->names[i]) {
            free(name);
            return mo_fail_memory(err);
        }
    }
    free(name);
    return MO_OK;
}

static const char *column_name(void *context, int column)
{
    const library_run *s = context;

    return s->names[column];
}

static mo_status read_model(library_run *s, mo_error *err)
{
    if (s->api.read_model(s->highs, s->job->model) == MO_HIGHS_ERROR)
        return mo_fail_at(err, MO_E_SYNTAX, s->job->model, 0,
                          "HiGHS cannot read this model");
    s->n = s->api.n_columns(s->highs);
    return fetch_names(s, err);
}

static mo_status set_start(library_run *s, mo_error *err)
{
    double *values = NULL;
    mo_status status = mo_library_read_mip_start(s->job->start, s->n,
                                                 column_name, s, &values, err);

    if (status == MO_OK && s->api.set_solution(s->highs, values, NULL, NULL,
                                               NULL) == MO_HIGHS_ERROR)
        status = mo_fail_at(err, MO_E_INPUT, s->job->start, 0,
                            "HiGHS does not take this start");
    free(values);
    return status;
}

static void store_incumbent(library_run *s, const mo_highs_callback_out *out)
{
    const double *values = s->api.callback_item(out, "mip_solution");
    const double *objective =
        s->api.callback_item(out, "objective_function_value");
    const double *bound = s->api.callback_item(out, "mip_dual_bound");

    if (values && objective && bound)
        mo_library_incumbent_update(&s->best, *objective, *bound, values);
}

static void on_callback(int type, const char *message,
                        const mo_highs_callback_out *out,
                        mo_highs_callback_in *in, void *context)
{
    library_run *s = context;

    (void) message;
    if (type == MO_HIGHS_MIP_IMPROVING_SOLUTION)
        store_incumbent(s, out);
    else if (in)
        in->user_interrupt = mo_library_signals_pending();
    mo_library_incumbent_flush(&s->best);
}

static mo_status set_callbacks(library_run *s, mo_error *err)
{
    static const int types[] = { MO_HIGHS_SIMPLEX_INTERRUPT,
                                 MO_HIGHS_IPM_INTERRUPT,
                                 MO_HIGHS_MIP_IMPROVING_SOLUTION,
                                 MO_HIGHS_MIP_INTERRUPT };
    bool registered =
        s->api.set_callback(s->highs, on_callback, s) != MO_HIGHS_ERROR;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        registered = registered && s->api.start_callback(s->highs, types[i]) !=
                                       MO_HIGHS_ERROR;
    if (!registered)
        return mo_fail(err, MO_E_SUPPORT, "HiGHS does not take a callback");
    return mo_library_incumbent_new(s->job->folder, s->n, column_name, s,
                                    &s->best, err);
}

static mo_solution_status status_of(int model_status)
{
    switch (model_status) {
    case MO_HIGHS_OPTIMAL:
        return MO_SOLUTION_STATUS_OPTIMAL;
    case MO_HIGHS_INFEASIBLE:
        return MO_SOLUTION_STATUS_INFEASIBLE;
    case MO_HIGHS_UNBOUNDED:
    case MO_HIGHS_UNBOUNDED_OR_INFEASIBLE:
        return MO_SOLUTION_STATUS_UNBOUNDED;
    default:
        return MO_SOLUTION_STATUS_FEASIBLE;
    }
}

/* For a model without integers only the optimum is a bound, and HiGHS counts
 * no nodes. */
static void set_bound(const library_run *s, mo_library_solution *answer)
{
    int64_t nodes = -1;

    s->api.int64_info(s->highs, "mip_node_count", &nodes);
    if (nodes >= 0)
        answer->has_bound = s->api.double_info(s->highs, "mip_dual_bound",
                                               &answer->bound) == MO_HIGHS_OK;
    else if (answer->claim == MO_SOLUTION_STATUS_OPTIMAL) {
        answer->has_bound = true;
        answer->bound = answer->objective;
    }
}

/* HiGHS fills the arrays it gets, and ignores NULL. */
static mo_status write_solution(library_run *s, mo_error *err)
{
    mo_library_solution answer = { .name = column_name, .context = s };
    int point = 0;
    double *values = calloc((size_t) s->n + 1, sizeof *values);
    mo_status status;

    if (!values)
        return mo_fail_memory(err);
    s->api.int_info(s->highs, "primal_solution_status", &point);
    answer.claim =
        mo_library_solution_status(status_of(s->api.model_status(s->highs)),
                                   point == MO_HIGHS_POINT_FEASIBLE);
    if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL ||
        answer.claim == MO_SOLUTION_STATUS_FEASIBLE) {
        s->api.solution(s->highs, values, NULL, NULL, NULL);
        answer.values = values;
        answer.n = s->n;
        answer.has_objective =
            s->api.double_info(s->highs, "objective_function_value",
                               &answer.objective) == MO_HIGHS_OK;
    }
    set_bound(s, &answer);
    status = mo_library_solution_write(s->job->folder, &answer, err);
    free(values);
    return status;
}

static mo_status optimize(library_run *s, mo_error *err)
{
    int model_status;

    if (s->api.run(s->highs) != MO_HIGHS_ERROR)
        return MO_OK;
    model_status = s->api.model_status(s->highs);
    return mo_fail(err, MO_E_SUPPORT, "HiGHS failed (its model status is %d)",
                   model_status);
}

static mo_status solve_model(library_run *s, const mo_solver_install *found,
                             mo_error *err)
{
    mo_status status;

    s->highs = s->api.create();
    if (!s->highs)
        return mo_fail_memory(err);
    status = set_parameters(s, s->job->presolve && !found->no_presolve, err);
    if (status == MO_OK)
        status = read_model(s, err);
    if (status == MO_OK && s->job->start)
        status = set_start(s, err);
    if (status == MO_OK)
        status = set_callbacks(s, err);
    if (status == MO_OK)
        status = optimize(s, err);
    if (status == MO_OK)
        status = write_solution(s, err);
    mo_library_incumbent_clear(&s->best);
    s->api.destroy(s->highs);
    return status;
}

static mo_status solve_by_library(const mo_solver_install *found,
                                  const mo_solver_job *job, mo_error *err)
{
    library_run s = { .job = job };
    mo_status status = mo_highs_open(found->library, &s.api, err);

    if (status == MO_OK)
        status = solve_model(&s, found, err);
    free(s.names);
    mo_arena_free(s.arena);
    return status;
}

static int print_library_version(const char *library)
{
    return mo_library_print_version(&mo_highs_dynlib, library);
}

const mo_solver mo_solver_highs = {
    .name = "highs",
    .title = "HiGHS",
    .help = "package highsbox or highspy of PyPI, or one's own",
    .limits =
        MO_SOLVER_LIMIT_TIME | MO_SOLVER_LIMIT_GAP | MO_SOLVER_LIMIT_THREADS,
    .accepts_start = true,
    .start_layout = MO_MIP_START_MIPLIB,
    .files = { .solution = SOLUTION },
    .find = find_solver,
    .begin_command = begin_command,
    .version_argument = "--version",
    .version_after = "HiGHS version ",
    .check_defects = check_defects,
    .command = build_command,
    .read_incumbent = read_incumbent,
    .solve = solve_by_library,
    .solve_lp = mo_highs_solve_lp,
    .library_version = print_library_version,
    .parse_log_line = parse_log_line,
};
