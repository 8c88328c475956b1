/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/root_job.h"

#include <math.h>

#include "solvers/root_bound.h"
#include "solvers/search/driver/priced_bound.h"

enum {
    ROOT_ROUND = 1,    /* the first bounds and schedules come before */
    MAX_TERMS = 60000, /* coefficients: some seconds of a solver */
    TERMS_PER_S = 20000
};

#define LEAST_GAP 0.01
#define LEAST_S   0.5

mo_status mo_search_root_job_plan(const mo_search_state *s, int round,
                                  mo_search_root_job *job, bool *planned,
                                  mo_error *err)
{
    int64_t upper_ns = mo_search_upper_ns(s);
    double terms = 3.0 * s->x->n_flows * s->x->n_devices * s->x->n_devices;
    double left_s = mo_stop_remaining_s(s->task->stop);
    mo_status status;

    *planned = false;
    if (round != ROOT_ROUND || !s->memory_matters || !s->best ||
        !s->task->assist || !s->task->assist->solve_lp || left_s < LEAST_S ||
        terms > fmin(MAX_TERMS, TERMS_PER_S * left_s) ||
        (double) (upper_ns - s->lower_ns) < LEAST_GAP * (double) upper_ns)
        return MO_OK;
    status = mo_proven_bounds_new(s->x->n_devices, &job->proven, err);
    if (status == MO_OK)
        status = mo_search_export_proven_bounds(s, job->proven, err);
    if (status == MO_OK)
        status = mo_search_priced_bound_export(s->priced, job->proven, err);
    if (status != MO_OK)
        return status;
    job->upper_ns = upper_ns;
    *planned = true;
    return MO_OK;
}

void mo_search_root_job_clear(mo_search_root_job *job)
{
    mo_proven_bounds_free(job->proven);
    job->proven = NULL;
}

void mo_search_root_job_run(const mo_search_state *s, mo_search_root_job *job)
{
    double left_s = mo_stop_remaining_s(s->task->stop);
    mo_root_bound_options options = { .solver = s->task->assist->name,
                                      .time_s = isfinite(left_s) ? left_s : 0,
                                      .proven = job->proven };
    mo_root_bound bound;

    job->status = mo_root_bound_compute(s->x, &s->regime, job->upper_ns,
                                        &options, &bound, &job->err);
    if (job->status == MO_OK && bound.found)
        job->lower_ns = bound.bound_ns;
}
