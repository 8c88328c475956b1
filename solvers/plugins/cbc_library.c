/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "solvers/plugins/cbc_api.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/library_entry.h"

typedef struct solving {
    mo_cbc_api api;
    const mo_solver_job *job;
    void *model;
    int n;            /* columns */
    char *names;      /* of the columns, name_size bytes each */
    size_t name_size; /* including the terminating 0 */
} solving;

static void set_number(solving *s, const char *parameter, double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.15g", value);
    s->api.set_parameter(s->model, parameter, text);
}

/* CBC stores these as strings for later and cannot refuse them. */
static void configure(solving *s)
{
    const mo_solver_job *job = s->job;

    if (job->time_s > 0) {
        set_number(s, "seconds", job->time_s);
        s->api.set_parameter(s->model, "timeMode", "elapsed");
    }
    if (job->gap >= 0)
        set_number(s, "ratioGap", job->gap);
    if (job->threads >
        1) /* 1 would be one thread beside the one that waits for it */
        set_number(s, "threads", job->threads);
    if (!job->presolve) {
        s->api.set_parameter(s->model, "presolve", "off");
        s->api.set_parameter(s->model, "preprocess", "off");
    }
}

static bool is_lp(const char *path)
{
    size_t n = mo_compress_stem(path);

    return n >= 3 && strncmp(path + n - 3, ".lp", 3) == 0;
}

static char *name_at(const solving *s, int column)
{
    return s->names + (size_t) column * s->name_size;
}

static const char *name_of(void *context, int column)
{
    return name_at(context, column);
}

/* Called before solving: afterwards CBC's model may have changed. */
static mo_status take_names(solving *s, mo_error *err)
{
    s->name_size = s->api.longest_name(s->model) + 1;
    s->names = calloc((size_t) s->n + 1, s->name_size);
    if (!s->names)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        s->api.column_name(s->model, i, name_at(s, i), s->name_size);
    return MO_OK;
}

static mo_status read_model(solving *s, mo_error *err)
{
    const char *path = s->job->model;
    int failed = is_lp(path) ? s->api.read_lp(s->model, path)
                             : s->api.read_mps(s->model, path);

    s->n = s->api.n_columns(s->model);
    if (failed || s->n <= 0)
        return mo_fail_at(err, MO_E_SYNTAX, path, 0,
                          "CBC cannot read this model");
    return take_names(s, err);
}

static mo_status give_start(solving *s, mo_error *err)
{
    double *values = NULL;
    int *columns = calloc((size_t) s->n + 1, sizeof *columns);
    mo_status status = columns
                           ? mo_library_read_mip_start(s->job->start, s->n,
                                                       name_of, s, &values, err)
                           : mo_fail_memory(err);

    for (int i = 0; status == MO_OK && i < s->n; i++)
        columns[i] = i;
    if (status == MO_OK)
        s->api.set_start(s->model, s->n, columns, values);
    free(columns);
    free(values);
    return status;
}

static mo_solution_status claim_of(const solving *s)
{
    if (s->api.is_infeasible(s->model))
        return MO_SOLUTION_STATUS_INFEASIBLE;
    if (s->api.is_unbounded(s->model))
        return MO_SOLUTION_STATUS_UNBOUNDED;
    return s->api.is_optimal(s->model) ? MO_SOLUTION_STATUS_OPTIMAL
                                       : MO_SOLUTION_STATUS_FEASIBLE;
}

/* The solution of the relaxation is one of the model only if the model is an
 * LP. */
static const double *best_solution(const solving *s)
{
    if (s->api.n_integers(s->model) > 0)
        return s->api.best_solution(s->model);
    return s->api.is_optimal(s->model) ? s->api.relaxation(s->model) : NULL;
}

static mo_status write_answer(solving *s, mo_error *err)
{
    mo_library_solution answer = { .name = name_of, .context = s };
    const double *best = best_solution(s);

    answer.claim = mo_library_solution_status(claim_of(s), best != NULL);
    answer.bound = s->api.bound(s->model);
    answer.has_bound = true;
    if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL ||
        answer.claim == MO_SOLUTION_STATUS_FEASIBLE) {
        answer.values = best;
        answer.n = s->n;
        answer.has_objective = true;
        answer.objective = s->api.objective(s->model);
    }
    return mo_library_solution_write(s->job->folder, &answer, err);
}

static mo_status solve(solving *s, mo_error *err)
{
    mo_status status;

    s->model = s->api.create();
    if (!s->model)
        return mo_fail_memory(err);
    configure(s);
    status = read_model(s, err);
    if (status == MO_OK && s->job->start)
        status = give_start(s, err);
    if (status == MO_OK) {
        s->api.solve(s->model);
        status = write_answer(s, err);
    }
    s->api.destroy(s->model);
    free(s->names);
    return status;
}

mo_status mo_cbc_solve(const mo_solver_install *found, const mo_solver_job *job,
                       mo_error *err)
{
    solving s = { .job = job };
    mo_status status = mo_cbc_open(found->library, &s.api, err);

    return status == MO_OK ? solve(&s, err) : status;
}

int mo_cbc_library_version(const char *library)
{
    return mo_library_print_version(&mo_cbc_dynlib, library);
}
