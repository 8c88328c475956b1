/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models and linear programs solved by Gurobi's library, which needs a licence
 * for its C interface.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "solvers/plugins/gurobi_api.h"
#include "solvers/plugins/library_solve.h"

typedef struct library_run {
    mo_gurobi_api api;
    const mo_solver_job *job;
    void *environment, *model;
    int n; /* columns */
} library_run;

/* Returns Gurobi's own message, or a remedy for licence errors. */
static mo_status check_code(const library_run *s, int code, const char *doing,
                            mo_error *err)
{
    const int *version = s->api.library.version;
    const char *text =
        code && s->environment ? s->api.error_message(s->environment) : "";

    if (code == 0)
        return MO_OK;
    if (code == MO_GUROBI_NO_LICENSE)
        return mo_fail(err, MO_E_SUPPORT,
                       "Gurobi %d.%d.%d has no licence for its C interface "
                       "(%s): name a full one in GRB_LICENSE_FILE, or use "
                       "--via process, or another solver",
                       version[0], version[1], version[2], text);
    if (code == MO_GUROBI_SIZE_LIMIT)
        return mo_fail(err, MO_E_SUPPORT,
                       "the model is larger than Gurobi's licence allows (%s): "
                       "name a full one in GRB_LICENSE_FILE, or use another "
                       "solver",
                       text);
    return mo_fail(err, MO_E_SUPPORT, "Gurobi failed %s (error %d: %s)", doing,
                   code, text);
}

static mo_status start_environment(library_run *s, mo_error *err)
{
    const int *version = s->api.library.version;
    int code = s->api.empty_environment_for
                   ? s->api.empty_environment_for(&s->environment, version[0],
                                                  version[1], version[2])
                   : s->api.empty_environment(&s->environment);

    if (code == 0)
        code = s->api.start_environment(s->environment);
    return check_code(s, code, "starting", err);
}

static mo_status set_double(library_run *s, const char *parameter, double value,
                            mo_error *err)
{
    void *environment = s->api.environment_of(s->model);

    return check_code(s, s->api.set_double(environment, parameter, value),
                      parameter, err);
}

static mo_status set_int(library_run *s, const char *parameter, int value,
                         mo_error *err)
{
    void *environment = s->api.environment_of(s->model);

    return check_code(s, s->api.set_int(environment, parameter, value),
                      parameter, err);
}

/* A model copies the parameters when it is read. SoftMemLimit, in GB, ends
 * with the incumbent; MemLimit would end with nothing. */
static mo_status set_parameters(library_run *s, mo_error *err)
{
    const mo_solver_job *job = s->job;
    mo_status status = MO_OK;

    if (job->time_s > 0)
        status = set_double(s, "TimeLimit", job->time_s, err);
    if (status == MO_OK && job->gap >= 0)
        status = set_double(s, "MIPGap", job->gap, err);
    if (status == MO_OK && job->memory_mib > 0)
        status =
            set_double(s, "SoftMemLimit", job->memory_mib * 1048576e-9, err);
    if (status == MO_OK && job->threads > 0)
        status = set_int(s, "Threads", job->threads, err);
    if (status == MO_OK && !job->presolve)
        status = set_int(s, "Presolve", 0, err);
    return status;
}

static mo_status read_model(library_run *s, mo_error *err)
{
    int code = s->api.read_model(s->environment, s->job->model, &s->model);

    if (code == MO_GUROBI_SIZE_LIMIT)
        return check_code(s, code, "reading", err);
    if (code != 0)
        return mo_fail_at(err, MO_E_SYNTAX, s->job->model, 0,
                          "Gurobi cannot read this model (error %d: %s)", code,
                          s->api.error_message(s->environment));
    return check_code(s, s->api.int_attribute(s->model, "NumVars", &s->n),
                      "counting columns", err);
}

static const char *column_name(void *context, int column)
{
    const library_run *s = context;
    char *name = NULL;

    return s->api.text_attribute(s->model, "VarName", column, &name) == 0 ? name
                                                                          : "";
}

static void terminate_solve(void *context)
{
    const library_run *s = context;

    s->api.terminate(s->model);
}

static mo_status optimize(library_run *s, mo_error *err)
{
    int code;

    mo_library_signals_begin(terminate_solve, s);
    code = s->api.optimize(s->model);
    mo_library_signals_end();
    return check_code(s, code, "solving", err);
}

static mo_solution_status status_of(int ending)
{
    switch (ending) {
    case MO_GUROBI_INFEASIBLE:
        return MO_SOLUTION_STATUS_INFEASIBLE;
    case MO_GUROBI_UNBOUNDED:
    case MO_GUROBI_INFEASIBLE_OR_UNBOUNDED:
        return MO_SOLUTION_STATUS_UNBOUNDED;
    case MO_GUROBI_OPTIMAL:
        return MO_SOLUTION_STATUS_OPTIMAL;
    default:
        return MO_SOLUTION_STATUS_FEASIBLE;
    }
}

static mo_status fetch_values(const library_run *s, mo_library_solution *answer,
                              double **values, mo_error *err)
{
    *values = calloc((size_t) s->n + 1, sizeof **values);
    if (!*values)
        return mo_fail_memory(err);
    answer->values = *values;
    answer->n = s->n;
    answer->has_objective =
        s->api.double_attribute(s->model, "ObjVal", &answer->objective) == 0;
    return check_code(s,
                      s->api.double_attributes(s->model, "X", 0, s->n, *values),
                      "telling its solution", err);
}

/* A missing attribute, such as a bound, is an error code. */
static mo_status write_solution(library_run *s, mo_error *err)
{
    mo_library_solution answer = { .name = column_name, .context = s };
    int ending = 0, n_solutions = 0;
    double *values = NULL;
    mo_status status =
        check_code(s, s->api.int_attribute(s->model, "Status", &ending),
                   "telling its status", err);

    if (status != MO_OK)
        return status;
    s->api.int_attribute(s->model, "SolCount", &n_solutions);
    answer.claim =
        mo_library_solution_status(status_of(ending), n_solutions > 0);
    answer.has_bound =
        s->api.double_attribute(s->model, "ObjBound", &answer.bound) == 0;
    if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL ||
        answer.claim == MO_SOLUTION_STATUS_FEASIBLE)
        status = fetch_values(s, &answer, &values, err);
    if (status == MO_OK)
        status = mo_library_solution_write(s->job->folder, &answer, err);
    free(values);
    return status;
}

mo_status mo_gurobi_solve(const mo_solver_install *found,
                          const mo_solver_job *job, mo_error *err)
{
    library_run s = { .job = job };
    mo_status status = mo_gurobi_open(found->library, &s.api, err);

    if (status != MO_OK)
        return status;
    status = start_environment(&s, err);
    if (status == MO_OK)
        status = read_model(&s, err);
    if (status == MO_OK)
        status = set_parameters(&s, err);
    if (status == MO_OK && s.job->start) {
        double *values = NULL;

        status = mo_library_read_mip_start(s.job->start, s.n, column_name, &s,
                                           &values, err);
        if (status == MO_OK)
            status = check_code(
                &s,
                s.api.set_double_attributes(s.model, "Start", 0, s.n, values),
                "taking the start", err);
        free(values);
    }
    if (status == MO_OK)
        status = optimize(&s, err);
    if (status == MO_OK)
        status = write_solution(&s, err);
    if (s.model)
        s.api.free_model(s.model);
    if (s.environment)
        s.api.free_environment(s.environment);
    return status;
}

/* Rows as Gurobi has them, and the lengths of columns; the caller frees all of
 * them. */
typedef struct row_arrays {
    char *senses;
    double *rhs;
    int *lengths;
} row_arrays;

static mo_status make_rows(const mo_linear_program *lp, row_arrays *rows,
                           mo_error *err)
{
    *rows = (row_arrays){ malloc((size_t) lp->n_rows + 1),
                          malloc(((size_t) lp->n_rows + 1) * sizeof *rows->rhs),
                          malloc(((size_t) lp->n_columns + 1) *
                                 sizeof *rows->lengths) };
    if (!rows->senses || !rows->rhs || !rows->lengths)
        return mo_fail_memory(err);
    for (int i = 0; i < lp->n_rows; i++) {
        bool has_lower = isfinite(lp->row_lower[i]);

        rows->senses[i] = !has_lower                   ? '<'
                          : isfinite(lp->row_upper[i]) ? '='
                                                       : '>';
        rows->rhs[i] = has_lower ? lp->row_lower[i] : lp->row_upper[i];
    }
    for (int j = 0; j < lp->n_columns; j++)
        rows->lengths[j] = lp->start[j + 1] - lp->start[j];
    return MO_OK;
}

static mo_status run_lp(library_run *s, const mo_linear_program *lp,
                        mo_linear_program_answer *answer, mo_error *err)
{
    row_arrays rows;
    mo_status status = make_rows(lp, &rows, err);

    if (status == MO_OK)
        status = check_code(
            s,
            s->api.load_model(s->environment, &s->model, "relaxation",
                              lp->n_columns, lp->n_rows, 1, 0, lp->cost,
                              rows.senses, rows.rhs, lp->start, rows.lengths,
                              lp->index, lp->coef, lp->lower, lp->upper, NULL,
                              NULL, NULL),
            "loading", err);
    if (status == MO_OK)
        status = set_parameters(s, err);
    if (status == MO_OK)
        status = optimize(s, err);
    if (status == MO_OK)
        status = check_code(s,
                            s->api.double_attributes(s->model, "Pi", 0,
                                                     lp->n_rows, answer->duals),
                            "returning dual values", err);
    if (status == MO_OK)
        status = check_code(
            s, s->api.double_attribute(s->model, "ObjVal", &answer->objective),
            "returning its objective", err);
    free(rows.senses);
    free(rows.rhs);
    free(rows.lengths);
    return status;
}

mo_status mo_gurobi_solve_lp(const mo_solver_install *found,
                             const mo_linear_program *lp, double time_s,
                             mo_linear_program_answer *answer, mo_error *err)
{
    const mo_solver_job job = {
        .time_s = time_s, .gap = -1, .threads = 1, .presolve = true
    };
    library_run s = { .job = &job };
    mo_status status = mo_gurobi_open(found->library, &s.api, err);

    if (status == MO_OK && !s.api.load_model)
        status = mo_fail(err, MO_E_SUPPORT,
                         "this Gurobi takes no model from memory");
    if (status == MO_OK)
        status = start_environment(&s, err);
    if (status == MO_OK)
        status = run_lp(&s, lp, answer, err);
    if (s.model)
        s.api.free_model(s.model);
    if (s.environment)
        s.api.free_environment(s.environment);
    return status;
}
