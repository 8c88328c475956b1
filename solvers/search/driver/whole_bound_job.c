/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lower bound of the full instance, memory included
 * (schedule/bound/lower_bound.h), as a job of the search, where the blocks of
 * the chain do not give it.  It begins anew in each round, with more work than
 * before, until it ends by itself.
 */
#include <stdlib.h>

#include "schedule/bound/lower_bound.h"
#include "solvers/search/driver/job.h"

enum { GROWTH = 4 }; /* of the work, from one try to the next */

typedef struct whole_bound {
    mo_search_state *search;
    int64_t least_work; /* of the next try */
    int64_t grant;      /* of this one */
    bool is_done;
    bool was_stopped; /* by the clock: then it cannot be repeated */
    int64_t lower_ns;
} whole_bound;

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    whole_bound *job;

    if (s->blocks && !s->memory_matters)
        return MO_OK;
    job = calloc(1, sizeof *job);
    if (!job)
        return mo_fail_memory(err);
    job->search = s;
    *self = job;
    return MO_OK;
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    whole_bound *job = self;

    (void) err;
    *n = !job->is_done && grant->work >= job->least_work;
    if (*n > 0)
        job->least_work = GROWTH * grant->work;
    job->grant = grant->work;
    return MO_OK;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    whole_bound *job = self;
    const mo_search_state *s = job->search;
    _Atomic int64_t work = 0;
    const mo_stop part = { .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = job->grant,
                           .outer = stop };
    mo_lower_bound lower = { 0 };
    mo_status status;

    (void) item;
    if (mo_stop_reached(stop))
        return MO_OK;
    status = mo_bound_lower_until(s->x, &s->regime, &part, &lower, err);
    job->lower_ns = lower.bound_ns;
    job->is_done = !mo_stop_reached(&part);
    job->was_stopped = mo_stop_reached(stop);
    return status;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    whole_bound *job = self;

    (void) stop;
    (void) err;
    if (!job->was_stopped && job->lower_ns > job->search->whole_ns) {
        job->search->whole_ns = job->lower_ns;
        job->search->whole_work = job->grant;
    }
    mo_search_raise_lower(job->search, job->lower_ns,
                          "bound of the full instance");
    return MO_OK;
}

const mo_search_job mo_search_job_whole_bound = {
    .name = "bound of the full instance",
    .ablation = MO_ABLATION_job_whole_bound,
    .weight = 1,
    .opens = true,
    .open = open_job,
    .close = free,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
