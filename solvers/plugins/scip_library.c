/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>

#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/library_signals.h"
#include "solvers/plugins/library_entry.h"
#include "solvers/plugins/scip_api.h"

typedef struct solving {
    mo_scip_api api;
    const mo_solver_job *job;
    void *scip;
    int n; /* variables */
    void **variables;
} solving;

/* SCIP has printed the cause on stderr. */
static mo_status check(int code, const char *doing, mo_error *err)
{
    if (code == MO_SCIP_OKAY)
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT, "SCIP failed %s (its code is %d)", doing,
                   code);
}

static mo_status set_real(solving *s, const char *name, double value,
                          mo_error *err)
{
    return check(s->api.set_real(s->scip, name, value), name, err);
}

/* The parameter has an upper limit. */
static int lp_threads(int threads)
{
    enum { MOST = 64 };

    return threads < MOST ? threads : MOST;
}

static mo_status configure(solving *s, mo_error *err)
{
    const mo_solver_job *job = s->job;
    mo_status status = check(s->api.set_bool(s->scip, "misc/catchctrlc", false),
                             "starting", err);

    if (status == MO_OK && job->time_s > 0)
        status = set_real(s, "limits/time", job->time_s, err);
    if (status == MO_OK && job->gap >= 0)
        status = set_real(s, "limits/gap", job->gap, err);
    if (status == MO_OK && job->memory_mib > 0)
        status = set_real(s, "limits/memory", job->memory_mib, err);
    if (status == MO_OK && job->threads > 0)
        status = check(
            s->api.set_int(s->scip, "lp/threads", lp_threads(job->threads)),
            "setting lp/threads", err);
    if (status == MO_OK && !job->presolve)
        status = check(
            s->api.set_presolving(s->scip, MO_SCIP_PARAMSETTING_OFF, true),
            "switching presolve off", err);
    return status;
}

static mo_status read_model(solving *s, mo_error *err)
{
    if (s->api.read_problem(s->scip, s->job->model, NULL) != MO_SCIP_OKAY)
        return mo_fail_at(err, MO_E_SYNTAX, s->job->model, 0,
                          "SCIP cannot read this model");
    s->n = s->api.n_variables(s->scip);
    s->variables = s->api.variables(s->scip);
    return MO_OK;
}

static const char *name_of(void *context, int column)
{
    const solving *s = context;

    return s->api.variable_name(s->variables[column]);
}

static mo_status add_start(solving *s, const double *values, mo_error *err)
{
    void *solution = NULL;
    unsigned stored = 0;
    int code = s->api.create_solution(s->scip, &solution, NULL);

    for (int i = 0; code == MO_SCIP_OKAY && i < s->n; i++)
        if (values[i] != 0)
            code =
                s->api.set_value(s->scip, solution, s->variables[i], values[i]);
    if (code == MO_SCIP_OKAY)
        code = s->api.add_solution(s->scip, &solution, &stored);
    return check(code, "taking the start", err);
}

static mo_status give_start(solving *s, mo_error *err)
{
    double *values = NULL;
    mo_status status = mo_library_read_mip_start(s->job->start, s->n, name_of,
                                                 s, &values, err);

    if (status == MO_OK)
        status = add_start(s, values, err);
    free(values);
    return status;
}

static void interrupt(void *context)
{
    const solving *s = context;

    s->api.interrupt(s->scip);
}

static mo_status run(solving *s, mo_error *err)
{
    int code;

    mo_library_signals_begin(interrupt, s);
    code = s->api.solve(s->scip);
    mo_library_signals_end();
    return check(code, "solving", err);
}

/* The original variables still exist; presolve works on copies. */
static mo_status take_values(const solving *s, void *best,
                             mo_library_solution *answer, double **values,
                             mo_error *err)
{
    *values = calloc((size_t) s->n + 1, sizeof **values);
    if (!*values)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        (*values)[i] = s->api.value(s->scip, best, s->variables[i]);
    answer->values = *values;
    answer->n = s->n;
    answer->has_objective = true;
    answer->objective = s->api.objective(s->scip, best);
    return MO_OK;
}

static mo_status write_answer(solving *s, mo_error *err)
{
    mo_library_solution answer = { .name = name_of, .context = s };
    int major = s->api.library.version[0];
    void *best = s->api.best_solution(s->scip);
    double *values = NULL;
    mo_status status = MO_OK;

    answer.claim = mo_library_solution_status(
        mo_scip_solution_status(major, s->api.status(s->scip)), best != NULL);
    answer.bound = s->api.dual_bound(s->scip);
    answer.has_bound = true;
    if (answer.claim == MO_SOLUTION_STATUS_OPTIMAL ||
        answer.claim == MO_SOLUTION_STATUS_FEASIBLE)
        status = take_values(s, best, &answer, &values, err);
    if (status == MO_OK)
        status = mo_library_solution_write(s->job->folder, &answer, err);
    free(values);
    return status;
}

static mo_status solve(solving *s, mo_error *err)
{
    mo_status status = check(s->api.create(&s->scip), "starting", err);

    if (status != MO_OK)
        return status;
    status = check(s->api.include_plugins(s->scip), "starting", err);
    if (status == MO_OK)
        status = configure(s, err);
    if (status == MO_OK)
        status = read_model(s, err);
    if (status == MO_OK && s->job->start)
        status = give_start(s, err);
    if (status == MO_OK)
        status = run(s, err);
    if (status == MO_OK)
        status = write_answer(s, err);
    s->api.free(&s->scip);
    return status;
}

mo_status mo_scip_solve(const mo_solver_install *found,
                        const mo_solver_job *job, mo_error *err)
{
    solving s = { .job = job };
    mo_status status = mo_scip_open(found->library, &s.api, err);

    return status == MO_OK ? solve(&s, err) : status;
}

int mo_scip_library_version(const char *library)
{
    return mo_library_print_version(&mo_scip_dynlib, library);
}
