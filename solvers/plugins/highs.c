/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HiGHS as a process, with options in a file, since only some are accepted on
 * the command line; and as a library. The program ends on SIGINT without
 * output, so it saves every incumbent to a file. The library has no function
 * to stop it: it queries a callback.
 */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/compress.h"
#include "base/out.h"
#include "base/reader.h"
#include "solvers/plugins/highs_api.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/log_line.h"
#include "solvers/process/path_util.h"
#include "solvers/process/workdir.h"

#define OPTIONS   "highs.options"
#define SOLUTION  "solution.sol"
#define IMPROVING "improving.sol"

static mo_status build_command(const mo_solver_install *found,
                               const mo_solver_job *job, mo_argv *line,
                               mo_error *err)
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
    status = mo_out_commit(out, err);
    if (status == MO_OK)
        status = mo_highs_begin_command(found, line, err);
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

static bool parse_log_line(const char *line, mo_solver_progress *step)
{
    double value;

    *step = (mo_solver_progress){ 0 };
    if (mo_solver_log_number_after_prefix(line, "  Dual bound", &value))
        mo_solver_log_set_bound(step, value, 12);
    else if (mo_solver_log_number_after_prefix(line, "  Primal bound", &value))
        mo_solver_log_set_incumbent(step, value);
    else {
        mo_solver_log_token words[MO_SOLVER_LOG_MAX_TOKENS];
        int n = mo_solver_log_tokenize(line, " ", words);

        /*
         *  Src  Proc. InQueue |  Leaves   Expl. | BestBound       BestSol
         *   L     100      38        31   0.01%   0               14
         *                              Gap |   Cuts   InLp Confl. | LpIters
         *                         100.00%      390      6    155      1518
         *                                                              Time
         *                                                              0.3s
         */
        if (n < 11 ||
            !mo_solver_log_number(&words[n - 1], "s", &step->seconds) ||
            !mo_solver_log_ends_with(&words[n - 9], '%'))
            return false;
        mo_solver_log_set_row(step, &words[n - 7], &words[n - 8], 10);
        return true;
    }
    return true;
}

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

static const char *column_name(void *context, int column)
{
    const library_run *s = context;

    return s->names[column];
}

static mo_status read_model(library_run *s, mo_error *err)
{
    char *name;

    if (s->api.read_model(s->highs, s->job->model) == MO_HIGHS_ERROR)
        return mo_fail_at(err, MO_E_SYNTAX, s->job->model, 0,
                          "HiGHS cannot read this model");
    s->n = s->api.n_columns(s->highs);
    /* Fetched before the run, so that callbacks make no calls to HiGHS. */
    name = calloc(max_name_bytes(s->job->model), 1);
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

static void on_callback(int type, const char *message,
                        const mo_highs_callback_out *out,
                        mo_highs_callback_in *in, void *context)
{
    library_run *s = context;

    (void) message;
    if (type == MO_HIGHS_MIP_IMPROVING_SOLUTION) {
        const double *values = s->api.callback_item(out, "mip_solution");
        const double *objective =
            s->api.callback_item(out, "objective_function_value");
        const double *bound = s->api.callback_item(out, "mip_dual_bound");

        if (values && objective && bound)
            mo_library_incumbent_update(&s->best, *objective, *bound, values);
    } else if (in)
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

/* HiGHS fills the arrays it gets, and ignores NULL. */
static mo_status write_solution(library_run *s, mo_error *err)
{
    mo_library_solution answer = { .name = column_name, .context = s };
    int point = 0;
    double *values = calloc((size_t) s->n + 1, sizeof *values);
    mo_status status;
    int64_t nodes = -1;

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
    /* For a model without integers only the optimum is a bound, and HiGHS
     * counts no nodes. */
    s->api.int64_info(s->highs, "mip_node_count", &nodes);
    if (nodes >= 0)
        answer.has_bound = s->api.double_info(s->highs, "mip_dual_bound",
                                              &answer.bound) == MO_HIGHS_OK;
    else if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL) {
        answer.has_bound = true;
        answer.bound = answer.objective;
    }
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
    const mo_solver_job *job;

    s->highs = s->api.create();
    if (!s->highs)
        return mo_fail_memory(err);
    job = s->job;
    status = MO_OK;
    if (job->time_s > 0)
        status = set_double(s, "time_limit", job->time_s, err);
    if (status == MO_OK && job->gap >= 0)
        status = set_double(s, "mip_rel_gap", job->gap, err);
    if (status == MO_OK && job->threads > 0 &&
        s->api.set_int(s->highs, "threads", job->threads) != MO_HIGHS_OK)
        status = fail_option("threads", err);
    if (status == MO_OK && !(s->job->presolve && !found->no_presolve) &&
        s->api.set_string(s->highs, "presolve", "off") != MO_HIGHS_OK)
        status = fail_option("presolve", err);
    if (status == MO_OK)
        status = read_model(s, err);
    if (status == MO_OK && s->job->start) {
        double *values = NULL;

        status = mo_library_read_mip_start(s->job->start, s->n, column_name, s,
                                           &values, err);
        if (status == MO_OK && s->api.set_solution(s->highs, values, NULL, NULL,
                                                   NULL) == MO_HIGHS_ERROR)
            status = mo_fail_at(err, MO_E_INPUT, s->job->start, 0,
                                "HiGHS does not take this start");
        free(values);
    }
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
    .find = mo_highs_find,
    .begin_command = mo_highs_begin_command,
    .version_argument = "--version",
    .version_after = "HiGHS version ",
    .check_defects = mo_highs_check_defects,
    .command = build_command,
    .read_incumbent = read_incumbent,
    .solve = solve_by_library,
    .solve_lp = mo_highs_solve_lp,
    .library_version = print_library_version,
    .parse_log_line = parse_log_line,
};

static const char heading[] = "Objective ";

/* The parts of a solution in the file. */
typedef struct block {
    const char *objective, *columns,
        *end; /* start of the values; of the lines; of what follows */
} block;

/* Returns the start of the next line; NULL: none. */
static const char *find_next_line(const char *text)
{
    const char *end = strchr(text, '\n');

    return end ? end + 1 : NULL;
}

/* Returns false when it is incomplete. */
static bool read_block(const char *text, block *b)
{
    const char *counted = find_next_line(text), *line;
    long n;

    b->objective = text + strlen(heading);
    if (!counted || sscanf(counted, "# Columns %ld", &n) != 1)
        return false;
    b->columns = line = find_next_line(counted);
    while (line && n-- > 0)
        line = find_next_line(line);
    b->end = line;
    return line != NULL;
}

/* Searches from the start: a column may have any name. */
static bool find_last_block(const char *text, block *last)
{
    block b;
    bool any = false;

    while (strncmp(text, heading, strlen(heading)) == 0 &&
           read_block(text, &b)) {
        *last = b;
        any = true;
        text = b.end;
    }
    return any;
}

static mo_status read_block_as_solution(const char *path, const block *b,
                                        mo_solution **solution, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);
    const char *text;
    size_t size;

    if (status != MO_OK)
        return status;
    mo_out_text(out, "# status: feasible\n=obj= ");
    mo_out_bytes(out, b->objective,
                 (size_t) (find_next_line(b->objective) - b->objective));
    mo_out_bytes(out, b->columns, (size_t) (b->end - b->columns));
    text = mo_out_borrow(out, &size);
    status = text ? mo_solution_read_memory(path, text, size, solution, err)
                  : mo_fail_memory(err);
    mo_out_abandon(out);
    return status;
}

/* Reads the file, or the end of it that the limit of inputs allows: the last
 * solution is wanted. */
static char *read_file(FILE *file, mo_error *err)
{
    uint64_t most;
    long size = -1;
    char *text;
    size_t got;

    if (mo_reader_memory_limit(&most, err) != MO_OK)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        (uint64_t) size > most)
        size = (long) most;
    if (size < 0 || fseek(file, -size, SEEK_END) != 0) {
        mo_fail_errno(err, "", "cannot be read");
        return NULL;
    }
    text = malloc((size_t) size + 1);
    if (!text) {
        mo_fail_memory(err);
        return NULL;
    }
    got = fread(text, 1, (size_t) size, file);
    text[got] = 0;
    return text;
}

mo_status mo_highs_improving_file_read(const char *path, mo_solution **solution,
                                       mo_error *err)
{
    FILE *file = fopen(path, "re");
    mo_status status = MO_OK;
    block last;
    char *text;

    if (!file)
        return errno == ENOENT ? MO_OK
                               : mo_fail_errno(err, path, "cannot be opened");
    text = read_file(file, err);
    (void) fclose(file);
    if (!text)
        return MO_E_IO;
    if (find_last_block(text, &last))
        status = read_block_as_solution(path, &last, solution, err);
    free(text);
    return status;
}
