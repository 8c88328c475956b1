/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initial incumbent by list schedulers and other fast methods, run in parallel,
 * and the initial lower bound.
 */
#include "solvers/search/driver/state.h"

#include <stdlib.h>

#include "base/parallel_for.h"
#include "schedule/heuristic/upper_bound.h"
#include "solvers/search/driver/candidate_select.h"
#include "solvers/search/driver/priced_bound.h"

enum {
    LIST_WORK = 40000000,  /* ops x devices, for all list schedulers */
    HEFT_WORK = 100000000, /* for HEFT alone */
    UPPER_WORK = 200000    /* for local search */
};

static const mo_method *const quick_methods[] = {
    &mo_method_single, &mo_method_heft,   &mo_method_m_etf, &mo_method_peft,
    &mo_method_cpop,   &mo_method_m_topo, &mo_method_hare
};

enum { N_QUICK_METHODS = sizeof quick_methods / sizeof *quick_methods };

typedef struct method_run {
    mo_method_result placed;
    mo_status status;
    mo_error err;
} method_run;

typedef struct method_runs {
    mo_method_task task; /* without progress callback: threads would call it */
    method_run runs[N_QUICK_METHODS];
} method_runs;

static void run_method(void *context, int job, int thread)
{
    method_runs *c = context;
    method_run *a = &c->runs[job];

    (void) thread;
    if (job > 0 && mo_stop_reached(c->task.stop))
        return;
    a->status = quick_methods[job]->place(&c->task, &a->placed, &a->err);
}

/* Runs all but the first method. */
static void run_method_behind(void *context, int job, int thread)
{
    run_method(context, job + 1, thread);
}

static int64_t op_device_pairs(const mo_search_state *s)
{
    return (int64_t) s->x->n * s->x->n_devices;
}

static mo_status submit_results(mo_search_state *s, method_runs *c, int first,
                                int last, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = first; i < last; i++) {
        method_run *a = &c->runs[i];
        mo_schedule *schedule = a->placed.schedule;

        if (status == MO_OK && a->status != MO_OK) {
            status = a->status;
            if (err)
                *err = a->err;
        }
        a->placed.schedule = NULL;
        mo_method_result_clear(&a->placed);
        if (status == MO_OK)
            status = mo_search_submit_schedule(s, schedule,
                                               quick_methods[i]->name, err);
        else
            mo_schedule_free(schedule);
    }
    return status;
}

static mo_status search_locally(mo_search_state *s, mo_error *err)
{
    mo_schedule *schedule = NULL;
    int64_t bound_ns;
    mo_status status =
        mo_bound_upper(s->x, &s->regime, &schedule, &bound_ns, err);

    return status == MO_OK ? mo_search_submit_schedule(
                                 s, schedule, "climbing from HEFT", err)
                           : status;
}

mo_status mo_search_initial_local_search(mo_search_state *s, mo_error *err)
{
    if (s->memory_matters || op_device_pairs(s) > UPPER_WORK ||
        mo_search_is_done(s) || mo_stop_reached(s->task->stop))
        return MO_OK;
    return search_locally(s, err);
}

/* A schedule to begin with, in the order of its times. */
static mo_status submit_start(mo_search_state *s, mo_error *err)
{
    const mo_method_start *start = s->task->start;
    mo_schedule *copy = NULL;
    mo_status status;

    if (!start || !start->schedule)
        return MO_OK;
    status = mo_schedule_copy(s->x, start->schedule, &copy, err);
    if (status == MO_OK)
        copy->regime = s->regime;
    return status == MO_OK
               ? mo_search_submit_schedule(s, copy, "placement in use", err)
               : status;
}

mo_status mo_search_initial_schedules(mo_search_state *s, mo_error *err)
{
    method_runs c = { .task = *s->task };
    int n = op_device_pairs(s) <= LIST_WORK ? N_QUICK_METHODS : 1;
    mo_status status;

    c.task.on_progress = NULL;
    c.task.regime = s->regime;
    n = n == 1 && op_device_pairs(s) <= HEFT_WORK ? 2 : n;
    run_method(&c, 0, 0);
    status = submit_results(s, &c, 0, 1, err);
    if (status == MO_OK)
        status = submit_start(s, err);
    if (status != MO_OK)
        return status;
    mo_parallel_for(s->task->threads, n - 1, run_method_behind, &c);
    status = submit_results(s, &c, 1, n, err);
    if (status != MO_OK || mo_stop_reached(s->task->stop) ||
        (s->best && (!s->memory_matters || op_device_pairs(s) > UPPER_WORK)))
        return status;
    /* Finds a start within memory, where the list schedules overflow. */
    return search_locally(s, err);
}

/* Finds the equal branches of the largest block of each class; NULL: none. */
static mo_status find_forks(mo_search_state *s, mo_error *err)
{
    mo_status status = MO_OK;

    s->forks = calloc((size_t) s->classes->n, sizeof *s->forks);
    if (!s->forks)
        return mo_fail_memory(err);
    for (int i = 0; s->blocks && i < s->classes->n && status == MO_OK; i++) {
        const mo_chain_partition *c = &s->blocks->partitions[i];

        if (c->chain && s->classes->classes[i].n > MO_SEARCH_EXACT_MAX_OPS)
            status =
                mo_forkjoin_find(&c->places, mo_bound_chain_largest(c->chain),
                                 &s->forks[i], err);
    }
    return status;
}

mo_status mo_search_initial_bounds(mo_search_state *s, mo_error *err)
{
    mo_status status = MO_OK;

    if (s->states.all)
        status = mo_chain_blocks_new(s->classes, s->task->threads,
                                     s->task->stop, &s->blocks, err);
    if (status == MO_OK)
        status = find_forks(s, err);
    if (status == MO_OK)
        status = mo_search_update_bounds(s, "bounds of segments", err);
    return status == MO_OK ? mo_search_priced_bound_new(s, &s->priced, err)
                           : status;
}
