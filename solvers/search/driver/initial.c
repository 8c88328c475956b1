/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/initial.h"

#include "base/parallel_for.h"
#include "schedule/bound/lower_bound.h"
#include "schedule/heuristic/upper_bound.h"

enum {
    LIST_WORK = 40000000,  /* ops by devices, for all list schedulers */
    HEFT_WORK = 100000000, /* for HEFT alone */
    UPPER_WORK = 200000,   /* for one that looks for room in memory, too */
    LOWER_WORK = 20000000  /* for bounds of the whole */
};

static const mo_method *const quick[] = { &mo_method_single, &mo_method_heft,
                                          &mo_method_m_etf,  &mo_method_peft,
                                          &mo_method_cpop,   &mo_method_m_topo,
                                          &mo_method_hare };

enum { N_QUICK = sizeof quick / sizeof *quick };

typedef struct answer {
    mo_method_result placed;
    mo_status status;
    mo_error err;
} answer;

typedef struct crew {
    mo_method_task task; /* without news: those are told by one alone */
    answer answers[N_QUICK];
} crew;

static void work(void *context, int job, int thread)
{
    crew *c = context;
    answer *a = &c->answers[job];

    (void) thread;
    if (job > 0 && mo_stop_reached(c->task.stop))
        return;
    a->status = quick[job]->place(&c->task, &a->placed, &a->err);
}

/* All but the first. */
static void work_behind(void *context, int job, int thread)
{
    work(context, job + 1, thread);
}

static int64_t size_of(const mo_search_state *s)
{
    return (int64_t) s->x->n * s->x->n_devices;
}

static mo_status take(mo_search_state *s, crew *c, int first, int last,
                      mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = first; i < last; i++) {
        answer *a = &c->answers[i];
        mo_schedule *schedule = a->placed.schedule;

        if (status == MO_OK && a->status != MO_OK) {
            status = a->status;
            if (err)
                *err = a->err;
        }
        a->placed.schedule = NULL;
        mo_method_result_clear(&a->placed);
        if (status == MO_OK)
            status =
                mo_search_submit_schedule(s, schedule, quick[i]->name, err);
        else
            mo_schedule_free(schedule);
    }
    return status;
}

/* Where memory is short, others overflow. */
static mo_status look_for_room(mo_search_state *s, mo_error *err)
{
    mo_schedule *schedule = NULL;
    int64_t bound_ns;
    mo_status status;

    if (s->best && (!s->memory_matters || size_of(s) > UPPER_WORK))
        return MO_OK;
    status = mo_bound_upper(s->x, &s->regime, &schedule, &bound_ns, err);
    return status == MO_OK ? mo_search_submit_schedule(
                                 s, schedule, "climbing from HEFT", err)
                           : status;
}

mo_status mo_search_initial_schedules(mo_search_state *s, mo_error *err)
{
    crew c = { .task = *s->task };
    int n = size_of(s) <= LIST_WORK ? N_QUICK : 1;
    mo_status status;

    c.task.on_progress = NULL;
    c.task.regime = s->regime;
    n = n == 1 && size_of(s) <= HEFT_WORK ? 2 : n;
    work(&c, 0, 0);
    status = take(s, &c, 0, 1, err);
    if (status != MO_OK)
        return status;
    mo_parallel_for(s->task->threads, n - 1, work_behind, &c);
    status = take(s, &c, 1, n, err);
    if (status == MO_OK && !mo_stop_reached(s->task->stop))
        status = look_for_room(s, err);
    return status;
}

mo_status mo_search_initial_bound(mo_search_state *s, mo_error *err)
{
    mo_lower_bound lower = { 0 };
    mo_status status;

    /* Otherwise blocks tell the same, and sooner. */
    if (s->blocks && !s->memory_matters)
        return MO_OK;
    if (size_of(s) > LOWER_WORK || mo_stop_reached(s->task->stop))
        return MO_OK;
    status = mo_bound_lower_until(s->x, &s->regime, s->task->stop, &lower, err);
    if (status == MO_OK)
        mo_search_raise_lower(s, lower.bound_ns, "a bound of the whole");
    return status;
}
