/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of the root relaxation (solvers/root_bound.h) as a job of the
 * search: where memory decides and branches are not alike, it is stronger than
 * prices over blocks.
 *
 * The tables proven so far become rows; the dual values are a suggestion of
 * the assisting solver, and the bound is recomputed from them.  The solver runs
 * in a child process, once.
 */
#include <math.h>
#include <stdlib.h>

#include "solvers/root_bound.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/driver/priced_bound.h"

enum {
    TERM_WORK = 50000 /* of a coefficient of the relaxation (mo_stop_spend) */
};

#define LEAST_S 0.5 /* of a solver */

typedef struct root_job {
    mo_search_state *search;
    mo_proven_bounds *proven; /* owned; NULL: not planned */
    bool has_run;
    int64_t work, lower_ns;
} root_job;

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    root_job *job;

    if (!s->memory_matters || !s->task->assist || !s->task->assist->solve_lp)
        return MO_OK;
    job = calloc(1, sizeof *job);
    if (!job)
        return mo_fail_memory(err);
    job->search = s;
    job->work = TERM_WORK * 3 * (int64_t) s->x->n_flows * s->x->n_devices *
                s->x->n_devices;
    *self = job;
    return MO_OK;
}

static void close_job(void *self)
{
    root_job *job = self;

    mo_proven_bounds_free(job->proven);
    free(job);
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    root_job *job = self;
    const mo_search_state *s = job->search;
    double left_s = mo_stop_remaining_s(s->task->stop);
    mo_status status;

    if (job->has_run || !s->best || grant->work < job->work ||
        left_s < fmax(LEAST_S, 1e-9 * (double) job->work))
        return MO_OK;
    status = mo_proven_bounds_new(s->x->n_devices, &job->proven, err);
    if (status == MO_OK)
        status = mo_search_export_proven_bounds(s, job->proven, err);
    if (status == MO_OK)
        status = mo_search_priced_bound_export(s->priced, job->proven, err);
    *n = status == MO_OK;
    return status;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    root_job *job = self;
    const mo_search_state *s = job->search;
    double left_s = mo_stop_remaining_s(stop);
    mo_root_bound_options options = { .solver = s->task->assist->name,
                                      .time_s = isfinite(left_s) ? left_s : 0,
                                      .proven = job->proven };
    mo_root_bound bound;
    mo_status status = mo_root_bound_compute(
        s->x, &s->regime, mo_search_upper_ns(s), &options, &bound, err);

    (void) item;
    job->has_run = true;
    mo_stop_spend(stop, job->work);
    if (status == MO_OK && bound.found)
        job->lower_ns = bound.bound_ns;
    return status;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    root_job *job = self;

    (void) stop;
    (void) err;
    mo_proven_bounds_free(job->proven);
    job->proven = NULL;
    mo_search_raise_lower(job->search, job->lower_ns, "root LP");
    return MO_OK;
}

const mo_search_job mo_search_job_root_lp = {
    .name = "root relaxation",
    .ablation = MO_ABLATION_job_root_lp,
    .weight = 1,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
