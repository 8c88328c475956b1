/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The method moirai: decomposition at clean cuts with dynamic programming over
 * boundary devices (decomp/). Equal segments are one subproblem with an upper
 * and a lower bound for every boundary; the shortest paths over the two tables
 * are the incumbent and the lower bound of the full instance.
 *
 * Rounds of jobs (job.h) improve both, each with the work that the ledger
 * grants it (ledger.h). A round depends on the task and earlier rounds only:
 * the result after n rounds is deterministic for any number of threads.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "schedule/bound/memory_bound.h"
#include "solvers/search/driver/certificate.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/driver/ledger.h"
#include "solvers/search/driver/memory_repair.h"
#include "solvers/search/driver/priced_bound.h"
#include "solvers/search/driver/state.h"
#include "solvers/search/period/period_search.h"

enum {
    MAX_RAISES = 12, /* of the budget, until some job has an item for it */
    WORK_SLACK = 16, /* an item may exceed the grant of its job by this factor:
                        how long a step takes is known only roughly */
    OPENING_PART = 10, /* of all work, for each job of the opening round */
    CLOSING_PART = 32  /* the same of the closing round, which follows the last
                          one where work is limited */
};

#define LAST_SLACK 1.5 /* an item may exceed the work that is left by this */

/* Rounds before and after those of the ledger. */
typedef enum round_kind { OPENING, BY_LEDGER, CLOSING } round_kind;

#define LEAST_POTENTIAL 0.05 /* estimates may be wrong */

typedef struct item {
    int job, index; /* index among those of the job */
    mo_stop stop;   /* counts and limits its work */
    _Atomic int64_t work;
    mo_status status;
    mo_error err;
} item;

typedef struct open_job {
    const mo_search_job *job;
    void *self;
    mo_stop stop; /* counts the work of its items and of merging them */
    _Atomic int64_t work;
    int64_t grant;
    int n_items;
} open_job;

typedef struct search {
    mo_search_state *s;
    mo_search_ledger ledger;
    open_job *jobs; /* those that apply */
    int n_jobs;
    int n_rounds; /* with the opening one */
    item *items;  /* of the round */
    int n_items;
    int64_t fresh_work; /* segments, by all jobs */
} search;

static mo_status open_jobs(search *m, mo_error *err)
{
    mo_status status = MO_OK;
    int n = 0;

    while (mo_search_jobs[n])
        n++;
    assert(n <= MO_SEARCH_MAX_JOBS);
    m->jobs = calloc((size_t) n, sizeof *m->jobs);
    if (!m->jobs)
        return mo_fail_memory(err);
    for (int i = 0; i < n && status == MO_OK; i++) {
        const mo_search_job *job = mo_search_jobs[i];
        open_job *o = &m->jobs[m->n_jobs];

        if (mo_ablated(job->ablation))
            continue;
        status = job->open(m->s, &o->self, err);
        if (!o->self)
            continue;
        o->job = job;
        o->stop = (mo_stop){ .deadline_ns = INT64_MAX,
                             .work = &o->work,
                             .outer = m->s->task->stop };
        m->n_jobs++;
    }
    if (status == MO_OK)
        status = mo_search_ledger_init(&m->ledger, m->n_jobs, err);
    for (int i = 0; i < m->n_jobs && status == MO_OK; i++)
        m->ledger.accounts[i].weight = m->jobs[i].job->weight;
    return status;
}

/* Returns the work that is left to the search. */
static int64_t work_left(const search *m)
{
    int64_t max_work = m->s->task->max_work;

    return max_work > 0 ? mo_max_i64(max_work - m->ledger.spent, 0) : INT64_MAX;
}

/* Returns what a job may spend in a round. */
static int64_t grant_of(const search *m, round_kind kind, int job)
{
    int64_t max_work = m->s->task->max_work;

    switch (kind) {
    case OPENING:
        return max_work > 0
                   ? mo_min_i64(MO_SEARCH_OPENING_WORK, max_work / OPENING_PART)
                   : MO_SEARCH_OPENING_WORK;
    case CLOSING:
        return max_work / CLOSING_PART;
    default:
        return mo_search_ledger_credit(&m->ledger, job);
    }
}

static mo_status plan_items(search *m, round_kind kind, mo_error *err)
{
    mo_status status = MO_OK;

    m->n_items = 0;
    for (int i = 0; i < m->n_jobs && status == MO_OK; i++) {
        open_job *o = &m->jobs[i];
        mo_search_grant grant = { .fresh_work = m->fresh_work,
                                  .seed = mo_random_seed(
                                      m->s->task->seed + (uint64_t) m->n_rounds,
                                      (uint64_t) i) };

        o->n_items = 0;
        if (kind != BY_LEDGER && !o->job->opens)
            continue;
        o->grant = grant.work = grant_of(m, kind, i);
        status = o->job->plan(o->self, &grant, &o->n_items, err);
        m->n_items += o->n_items;
    }
    return status;
}

/* Sets which part of the gap each job may close: schedules of segments what
 * they promise by their estimates, bounds the rest. */
static void set_potentials(search *m)
{
    double gap = mo_search_gap(m->s);
    double promised = fmin(1, m->s->hoped / fmax(gap, 1e-9));

    if (mo_search_memory_repair_needed(m->s))
        return;
    for (int i = 0; i < m->n_jobs; i++)
        m->ledger.accounts[i].potential =
            fmax(LEAST_POTENTIAL,
                 m->jobs[i].job->on_segments ? promised : 1 - promised);
}

/* Plans a round: with more work where no job has an item for the budget. */
static mo_status plan_round(search *m, round_kind kind, mo_error *err)
{
    mo_status status = MO_OK;

    m->n_items = 0;
    if (kind != BY_LEDGER)
        return plan_items(m, kind, err);
    set_potentials(m);
    for (int i = 0; i < MAX_RAISES && m->n_items == 0 && status == MO_OK; i++) {
        mo_search_ledger_begin_round(&m->ledger, mo_search_gap(m->s),
                                     work_left(m), i);
        status = plan_items(m, kind, err);
    }
    return status;
}

static void run_item(void *context, int number, int thread)
{
    const search *m = context;
    item *it = &m->items[number];
    const open_job *o = &m->jobs[it->job];

    (void) thread;
    it->status = o->job->run(o->self, it->index, &it->stop, &it->err);
}

/* Returns the most work of an item. */
static int64_t item_limit(const search *m, round_kind kind, int64_t grant)
{
    int64_t most = WORK_SLACK * grant;

    if (kind == BY_LEDGER && m->s->task->max_work > 0 && grant > 0)
        return mo_min_i64(most,
                          (int64_t) (LAST_SLACK * (double) work_left(m)) + 1);
    return most;
}

static mo_status run_items(search *m, round_kind kind, mo_error *err)
{
    mo_status status = MO_OK;
    int n = 0;

    m->items = calloc((size_t) m->n_items + 1, sizeof *m->items);
    if (!m->items)
        return mo_fail_memory(err);
    for (int i = 0; i < m->n_jobs; i++)
        for (int j = 0; j < m->jobs[i].n_items; j++) {
            item *it = &m->items[n++];

            it->job = i;
            it->index = j;
            it->stop =
                (mo_stop){ .deadline_ns = INT64_MAX,
                           .work = &it->work,
                           .max_work = item_limit(m, kind, m->jobs[i].grant),
                           .outer = &m->jobs[i].stop };
        }
    mo_parallel_for(m->s->task->threads, m->n_items, run_item, m);
    for (int i = 0; i < m->n_items && status == MO_OK; i++)
        if (m->items[i].status != MO_OK) {
            status = m->items[i].status;
            if (err)
                *err = m->items[i].err;
        }
    free(m->items);
    m->items = NULL;
    return status;
}

/* The gain of a composition is that of the jobs whose schedules are new in it,
 * by their number. */
static void share_gain(search *m, double gain)
{
    int *n_used = m->s->n_used, all = 0;

    for (int i = 0; i < m->n_jobs; i++)
        all += n_used[i + 1];
    for (int i = 0; i < m->n_jobs && all > 0; i++)
        mo_search_ledger_reward(&m->ledger, i, gain * n_used[i + 1] / all);
    memset(n_used, 0, sizeof m->s->n_used);
    m->fresh_work = 0;
}

static mo_status merge_items(search *m, round_kind kind, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < m->n_jobs && status == MO_OK; i++) {
        open_job *o = &m->jobs[i];
        double gain = mo_search_gap(m->s);
        int64_t work;

        if (o->n_items == 0)
            continue;
        m->s->classes->maker = i + 1;
        status = o->job->merge(o->self, &o->stop, err);
        gain -= mo_search_gap(m->s);
        work = atomic_exchange(&o->work, INT64_C(0));
        m->fresh_work += work;
        if (o->job->composes)
            share_gain(m, gain);
        /* First passes gain much for little: no measure of what follows. */
        mo_search_ledger_charge(&m->ledger, i, work,
                                kind == OPENING || o->job->composes ? 0 : gain);
    }
    return status;
}

static mo_status run_round(search *m, round_kind kind, bool *any, mo_error *err)
{
    mo_status status = plan_round(m, kind, err);

    *any = m->n_items > 0;
    if (status == MO_OK && *any)
        status = run_items(m, kind, err);
    if (status == MO_OK && *any)
        status = merge_items(m, kind, err);
    m->n_rounds++;
    return status;
}

/* Sets the number of rounds after the opening one. */
static mo_status run_rounds(mo_search_state *s, int *rounds, mo_error *err)
{
    const mo_method_task *task = s->task;
    search m = { .s = s };
    mo_status status = open_jobs(&m, err);
    bool any = true;

    if (status == MO_OK)
        status = run_round(&m, OPENING, &any, err);
    if (status == MO_OK)
        status = mo_search_initial_local_search(s, err);
    any = true;
    while (status == MO_OK && any && !mo_search_is_done(s) &&
           !mo_stop_reached(task->stop) && work_left(&m) > 0 &&
           (task->rounds == 0 || *rounds < task->rounds)) {
        status = run_round(&m, BY_LEDGER, &any, err);
        *rounds += any;
    }
    if (status == MO_OK && work_left(&m) == 0 && !mo_search_is_done(s) &&
        !mo_stop_reached(task->stop))
        status = run_round(&m, CLOSING, &any, err);
    for (int i = 0; i < m.n_jobs; i++)
        m.jobs[i].job->close(m.jobs[i].self);
    mo_search_ledger_clear(&m.ledger);
    free(m.jobs);
    return status;
}

static mo_status place_moirai(const mo_method_task *task,
                              mo_method_result *placed, mo_error *err)
{
    mo_search_state s;
    mo_error why = { 0 };
    int rounds = 0;
    mo_status status;

    if (task->objective == MO_OBJECTIVE_PERIOD)
        return mo_period_search_place(task, placed, err);
    status = mo_bound_memory(task->x, &task->regime, &why);
    if (status == MO_E_INFEASIBLE) {
        snprintf(placed->why, sizeof placed->why, "%s", why.text);
        placed->infeasible = true;
        return MO_OK;
    }
    if (status != MO_OK) {
        if (err)
            *err = why;
        return status;
    }
    status = mo_search_state_open(task, &s, err);
    if (status == MO_OK)
        status = mo_search_initial_schedules(&s, err);
    if (status == MO_OK)
        status = mo_search_initial_bounds(&s, err);
    if (status == MO_OK && !mo_search_is_done(&s))
        status = run_rounds(&s, &rounds, err);
    if (status == MO_OK && task->proven)
        status = mo_search_export_proven_bounds(&s, task->proven, err);
    if (status == MO_OK && task->proven)
        status = mo_search_priced_bound_export(s.priced, task->proven, err);
    if (status == MO_OK && task->patterns)
        status = mo_search_export_patterns(&s, task->patterns, err);
    if (status == MO_OK && task->certify)
        status = mo_search_certify(&s, &placed->proof, err);
    /* Refuting a target can prove more than the search has. */
    if (status == MO_OK && placed->proof &&
        placed->proof->bound_ns <= mo_search_upper_ns(&s))
        mo_search_raise_lower(&s, placed->proof->bound_ns, "certificate");
    if (status == MO_OK) {
        placed->schedule = s.best;
        placed->fits = s.best != NULL;
        placed->lower_ns = s.lower_ns;
        placed->rounds = rounds;
        placed->stopped = !mo_search_is_done(&s) && mo_stop_reached(task->stop);
        s.best = NULL;
        if (placed->schedule)
            placed->schedule->regime = s.task->regime;
        else
            snprintf(placed->why, sizeof placed->why,
                     "found no placement that fits into memory");
    }
    mo_search_state_close(&s);
    return status;
}

const mo_method mo_method_moirai = {
    .name = "moirai",
    .help = "decomposition at clean cuts, local and exact search, lower bound",
    .source = "Moirai (this program)",
    .all = true,
    .place = place_moirai,
};
