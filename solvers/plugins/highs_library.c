/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/compress.h"
#include "solvers/plugins/highs_api.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/library_incumbent.h"
#include "solvers/plugins/library_signals.h"
#include "solvers/plugins/library_entry.h"

typedef struct solving {
    mo_highs_api api;
    const mo_solver_job *job;
    void *highs;
    int n;        /* columns */
    char **names; /* of the columns, in the arena */
    mo_arena *arena;
    mo_library_incumbent best;
} solving;

static mo_status refuse_option(const char *option, mo_error *err)
{
    return mo_fail(err, MO_E_SUPPORT, "HiGHS does not take its option '%s'",
                   option);
}

static mo_status set_double(solving *s, const char *option, double value,
                            mo_error *err)
{
    return s->api.set_double(s->highs, option, value) == MO_HIGHS_OK
               ? MO_OK
               : refuse_option(option, err);
}

static mo_status configure(solving *s, bool presolve, mo_error *err)
{
    const mo_solver_job *job = s->job;
    mo_status status = MO_OK;

    if (job->time_s > 0)
        status = set_double(s, "time_limit", job->time_s, err);
    if (status == MO_OK && job->gap >= 0)
        status = set_double(s, "mip_rel_gap", job->gap, err);
    if (status == MO_OK && job->threads > 0 &&
        s->api.set_int(s->highs, "threads", job->threads) != MO_HIGHS_OK)
        status = refuse_option("threads", err);
    if (status == MO_OK && !presolve &&
        s->api.set_string(s->highs, "presolve", "off") != MO_HIGHS_OK)
        status = refuse_option("presolve", err);
    return status;
}

/* HiGHS copies names without a size argument. No name is longer than the file;
 * gzip compresses text at most 1032 times. */
static size_t longest_name(const char *model)
{
    enum { USUAL = 512, GZIP_RATIO = 1032 };
    bool packed = mo_compress_stem(model) < strlen(model);
    struct stat file;

    if (stat(model, &file) != 0 || file.st_size < USUAL)
        return USUAL * GZIP_RATIO;
    return (size_t) file.st_size * (packed ? GZIP_RATIO : 1) + USUAL;
}

/* Fetched before the run, so that callbacks make no calls to HiGHS. */
static mo_status take_names(solving *s, mo_error *err)
{
    char *name = calloc(longest_name(s->job->model), 1);

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

static const char *name_of(void *context, int column)
{
    const solving *s = context;

    return s->names[column];
}

static mo_status read_model(solving *s, mo_error *err)
{
    if (s->api.read_model(s->highs, s->job->model) == MO_HIGHS_ERROR)
        return mo_fail_at(err, MO_E_SYNTAX, s->job->model, 0,
                          "HiGHS cannot read this model");
    s->n = s->api.n_columns(s->highs);
    return take_names(s, err);
}

static mo_status give_start(solving *s, mo_error *err)
{
    double *values = NULL;
    mo_status status = mo_library_read_mip_start(s->job->start, s->n, name_of,
                                                 s, &values, err);

    if (status == MO_OK && s->api.set_solution(s->highs, values, NULL, NULL,
                                               NULL) == MO_HIGHS_ERROR)
        status = mo_fail_at(err, MO_E_INPUT, s->job->start, 0,
                            "HiGHS does not take this start");
    free(values);
    return status;
}

static void take_improving(solving *s, const mo_highs_callback_out *out)
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
    solving *s = context;

    (void) message;
    if (type == MO_HIGHS_MIP_IMPROVING_SOLUTION)
        take_improving(s, out);
    else if (in)
        in->user_interrupt = mo_library_signals_pending();
    mo_library_incumbent_flush(&s->best);
}

static mo_status listen(solving *s, mo_error *err)
{
    static const int types[] = { MO_HIGHS_SIMPLEX_INTERRUPT,
                                 MO_HIGHS_IPM_INTERRUPT,
                                 MO_HIGHS_MIP_IMPROVING_SOLUTION,
                                 MO_HIGHS_MIP_INTERRUPT };
    bool heard =
        s->api.set_callback(s->highs, on_callback, s) != MO_HIGHS_ERROR;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        heard = heard &&
                s->api.start_callback(s->highs, types[i]) != MO_HIGHS_ERROR;
    if (!heard)
        return mo_fail(err, MO_E_SUPPORT, "HiGHS does not take a callback");
    return mo_library_incumbent_new(s->job->folder, s->n, name_of, s, &s->best,
                                    err);
}

static mo_solution_status claim_of(int model_status)
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
static void take_bound(const solving *s, mo_library_solution *answer)
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
static mo_status write_answer(solving *s, mo_error *err)
{
    mo_library_solution answer = { .name = name_of, .context = s };
    int point = 0;
    double *values = calloc((size_t) s->n + 1, sizeof *values);
    mo_status status;

    if (!values)
        return mo_fail_memory(err);
    s->api.int_info(s->highs, "primal_solution_status", &point);
    answer.claim =
        mo_library_solution_status(claim_of(s->api.model_status(s->highs)),
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
    take_bound(s, &answer);
    status = mo_library_solution_write(s->job->folder, &answer, err);
    free(values);
    return status;
}

static mo_status run(solving *s, mo_error *err)
{
    int model_status;

    if (s->api.run(s->highs) != MO_HIGHS_ERROR)
        return MO_OK;
    model_status = s->api.model_status(s->highs);
    return mo_fail(err, MO_E_SUPPORT, "HiGHS failed (its model status is %d)",
                   model_status);
}

static mo_status solve(solving *s, const mo_solver_install *found,
                       mo_error *err)
{
    mo_status status;

    s->highs = s->api.create();
    if (!s->highs)
        return mo_fail_memory(err);
    status = configure(s, s->job->presolve && !found->no_presolve, err);
    if (status == MO_OK)
        status = read_model(s, err);
    if (status == MO_OK && s->job->start)
        status = give_start(s, err);
    if (status == MO_OK)
        status = listen(s, err);
    if (status == MO_OK)
        status = run(s, err);
    if (status == MO_OK)
        status = write_answer(s, err);
    mo_library_incumbent_clear(&s->best);
    s->api.destroy(s->highs);
    return status;
}

mo_status mo_highs_solve(const mo_solver_install *found,
                         const mo_solver_job *job, mo_error *err)
{
    solving s = { .job = job };
    mo_status status = mo_highs_open(found->library, &s.api, err);

    if (status == MO_OK)
        status = solve(&s, found, err);
    free(s.names);
    mo_arena_free(s.arena);
    return status;
}

int mo_highs_library_version(const char *library)
{
    return mo_library_print_version(&mo_highs_dynlib, library);
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
