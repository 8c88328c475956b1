/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small instances are enumerated.  Otherwise: the baselines, and where none
 * fits into memory the search for the least latency, give a first placement;
 * each round has a step of the lower bound (bound_steps.h), which also gives
 * placements of least cost at its prices, and annealing from the best
 * placements; until the gap is met, time is up, or rounds no longer help. A
 * seed and a number of rounds determine the result on any number of threads.
 */
#include "solvers/search/period/period_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "schedule/bound/memory_bound.h"
#include "schedule/heuristic/heft.h"
#include "solvers/search/period/bound_steps.h"
#include "solvers/search/period/contiguous.h"
#include "solvers/search/period/in_flight_search.h"
#include "solvers/search/period/load_state.h"
#include "solvers/search/period/local_search.h"
#include "solvers/search/period/period_certificate.h"
#include "solvers/search/period/period_patterns.h"
#include "solvers/search/period/placement_pool.h"

/* Table entries visited in a step of branch and bound. */
#define BRANCH_WORK 4e8

/* Counted work of other steps of the bound, at most, and of one of annealing.
 */
#define BOUND_WORK INT64_C(400000000)
enum { ANNEAL_WORK = 200 };

enum {
    JOBS = 4,              /* in a round */
    IDLE_ROUNDS = 30,      /* without a better placement: the end */
    FIRST_STEPS = 1 << 17, /* of a job, four times as many up to */
    LEAST_MAX_STEPS = 1 << 18,
    MAX_UNIT_STEPS = 64, /* by unit */
    MAX_STALE = 3        /* rounds that add to the work of branch and bound */
};

typedef struct search {
    const mo_method_task *task;
    mo_period_problem p;
    mo_period_state state; /* of the offers */
    mo_period_pool pool;
    mo_period_bound_steps bound;
    int n_stale;  /* rounds since the last better placement */
    int64_t work; /* counted, of all rounds */
    int64_t begin_ns;
} search;

/* The best placement; the pool has one. */
static const mo_period_placement *best_of(const search *s)
{
    return &s->pool.placements[0];
}

static bool has_fitting(const search *s)
{
    return s->pool.n > 0 && best_of(s)->excess_bytes == 0;
}

static void report_progress(const search *s, const char *what)
{
    mo_method_progress progress = { .makespan_ns = INT64_MAX,
                                    .lower_ns = s->bound.lower_ns,
                                    .what = what };

    if (!s->task->on_progress)
        return;
    if (has_fitting(s))
        progress.makespan_ns = best_of(s)->period_ns;
    progress.seconds = (double) (mo_stop_clock_ns() - s->begin_ns) / 1e9;
    s->task->on_progress(s->task->context, &progress);
}

static void offer_placement(search *s, const int *device)
{
    mo_period_state_set(&s->state, device);
    mo_period_pool_keep(&s->pool, device, mo_period_state_period_ns(&s->state),
                        mo_period_state_excess_bytes(&s->state));
}

static void offer_labelling(void *context, const int *device)
{
    offer_placement(context, device);
}

static mo_status raise_bound(search *s, mo_error *err)
{
    const mo_period_bound_step step = {
        .common = { .upper_ns = best_of(s)->period_ns,
                    .stop = s->task->stop,
                    .offer = offer_labelling,
                    .context = s },
        .fits = best_of(s)->excess_bytes == 0,
        .branch_work = BRANCH_WORK * (1 + mo_min_int(s->n_stale, MAX_STALE)),
        .threads = s->task->threads
    };
    const char *name = NULL;
    mo_status status =
        mo_period_bound_steps_raise(&s->bound, &step, &name, err);

    s->work += s->bound.branching ? (int64_t) step.branch_work : BOUND_WORK;
    report_progress(s, name);
    return status;
}

/* Whether no further round may begin. */
static bool is_worked_off(const search *s)
{
    return s->task->max_work > 0 && s->work >= s->task->max_work;
}

static mo_status offer_baselines(search *s, int *device, mo_error *err)
{
    const mo_method *const methods[] = { &mo_method_single, &mo_method_m_etf };
    mo_status status = MO_OK;

    for (int k = 0; k < s->p.x->n_devices; k++) {
        mo_period_fill_single(&s->p, k, device);
        offer_placement(s, device);
    }
    if (!mo_ablated(MO_ABLATION_period_contiguous))
        status = mo_period_split_contiguous(&s->p, device, err);
    if (status == MO_OK)
        offer_placement(s, device);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        mo_method_result placed = { 0 };
        mo_method_task task = *s->task;

        task.objective = MO_OBJECTIVE_LATENCY;
        task.on_progress = NULL;
        if (status == MO_OK && !mo_stop_reached(s->task->stop))
            status = methods[i]->place(&task, &placed, err);
        if (status == MO_OK && placed.schedule)
            offer_placement(s, placed.schedule->device);
        mo_method_result_clear(&placed);
    }
    return status;
}

/* A placement within memory, where none of the baselines is. */
static mo_status offer_least_latency(search *s, mo_error *err)
{
    mo_method_result placed = { 0 };
    mo_status status =
        mo_period_in_flight_place_shortest(s->task, &placed, err);

    if (status == MO_OK && placed.schedule)
        offer_placement(s, placed.schedule->device);
    mo_method_result_clear(&placed);
    return status;
}

typedef struct anneal_job {
    search *s;
    mo_period_anneal options;
    mo_period_placement c;
    mo_status status;
    mo_error err;
} anneal_job;

static void run_job(void *context, int number, int thread)
{
    anneal_job *job = (anneal_job *) context + number;

    (void) thread;
    job->status = mo_period_anneal_run(&job->s->p, &job->options, job->c.device,
                                       &job->c.period_ns, &job->c.excess_bytes,
                                       &job->err);
}

static bool is_done(const search *s)
{
    double ns = (double) best_of(s)->period_ns;

    return best_of(s)->excess_bytes == 0 &&
           (best_of(s)->period_ns <= s->bound.lower_ns ||
            ns - (double) s->bound.lower_ns <= s->task->gap * ns);
}

static mo_status run_round(search *s, int round, int64_t steps,
                           anneal_job *jobs, mo_error *err)
{
    static const double hot[JOBS] = { 3e-2, 3e-3, 1e-2, 1e-3 };
    size_t size = (size_t) s->p.x->n * sizeof(int);

    for (int i = 0; i < JOBS; i++) {
        const mo_period_placement *from =
            &s->pool.placements[i % 2 ? 0 : (round + i) % s->pool.n];

        jobs[i].s = s;
        jobs[i].status = MO_OK;
        jobs[i].options = (mo_period_anneal){
            .seed = mo_random_seed(s->task->seed,
                                   (uint64_t) round * JOBS + (uint64_t) i),
            .steps = mo_ablated(MO_ABLATION_period_anneal) ? 0 : steps,
            .price_weight = mo_ablated(MO_ABLATION_period_anneal_price) ? 0
                            : (i + round) % 4 < 2                       ? 8
                                                                        : 20,
            .hot = hot[i],
            .prices = s->bound.prices,
            .lower_ns = s->bound.lower_ns,
            .stop = s->task->stop
        };
        memcpy(jobs[i].c.device, from->device, size);
    }
    mo_parallel_for(s->task->threads, JOBS, run_job, jobs);
    for (int i = 0; i < JOBS; i++) {
        if (jobs[i].status != MO_OK) {
            *err = jobs[i].err;
            return jobs[i].status;
        }
        mo_period_pool_keep(&s->pool, jobs[i].c.device, jobs[i].c.period_ns,
                            jobs[i].c.excess_bytes);
    }
    return MO_OK;
}

static mo_status run_rounds(search *s, int *n_rounds, mo_error *err)
{
    anneal_job jobs[JOBS] = { { 0 } };
    int64_t steps = FIRST_STEPS;
    int64_t max_steps =
        mo_max_i64(LEAST_MAX_STEPS, (int64_t) MAX_UNIT_STEPS * s->p.units->n);
    int idle = 0, limit = s->task->rounds;
    mo_status status = MO_OK;

    for (int i = 0; i < JOBS && status == MO_OK; i++) {
        jobs[i].c.device =
            calloc((size_t) s->p.x->n + 1, sizeof *jobs[i].c.device);
        if (!jobs[i].c.device)
            status = mo_fail_memory(err);
    }
    for (int round = 0; status == MO_OK && !is_done(s) &&
                        (limit == 0 || round < limit) && idle < IDLE_ROUNDS &&
                        !mo_stop_reached(s->task->stop) && !is_worked_off(s);
         round++) {
        int64_t before_ns = best_of(s)->period_ns, lower_ns = s->bound.lower_ns;

        status = raise_bound(s, err);
        if (status != MO_OK || is_done(s))
            break;
        status = run_round(s, round, steps, jobs, err);
        s->work += JOBS * ANNEAL_WORK * steps;
        s->n_stale = best_of(s)->period_ns < before_ns ? 0 : s->n_stale + 1;
        idle = s->n_stale == 0 ||
                       mo_period_price_gained(lower_ns, s->bound.lower_ns)
                   ? 0
                   : idle + 1;
        steps = mo_min_i64(4 * steps, max_steps);
        *n_rounds = round + 1;
        report_progress(s, "annealing");
    }
    for (int i = 0; i < JOBS; i++)
        free(jobs[i].c.device);
    return status;
}

static mo_status find_placement(search *s, mo_method_result *placed,
                                mo_error *err)
{
    int *device = calloc((size_t) s->p.x->n + 1, sizeof *device);
    mo_status status = device ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK && mo_period_is_enumerable(&s->p) &&
        !mo_ablated(MO_ABLATION_period_enumerate)) {
        /* All placements, by an odometer; the best is optimal. */
        memset(device, 0, (size_t) s->p.x->n * sizeof *device);
        mo_period_state_set(&s->state, device);
        do {
            if (mo_period_state_is_allowed(&s->state)) {
                int64_t ns = mo_period_state_period_ns(&s->state);
                int64_t excess = mo_period_state_excess_bytes(&s->state);

                if (mo_period_pool_is_best(&s->pool, ns, excess))
                    mo_period_pool_keep(&s->pool, s->state.device, ns, excess);
            }
        } while (mo_period_state_next(&s->state));
        if (has_fitting(s))
            s->bound.lower_ns = best_of(s)->period_ns;
    } else if (status == MO_OK) {
        status = offer_baselines(s, device, err);
        if (status == MO_OK && best_of(s)->excess_bytes > 0)
            status = offer_least_latency(s, err);
        report_progress(s, "baselines");
        if (status == MO_OK)
            status = mo_period_bound_steps_init(&s->bound, &s->p,
                                                best_of(s)->period_ns, err);
        if (status == MO_OK)
            status = raise_bound(s, err);
        if (status == MO_OK && s->task->rounds >= 0)
            status = run_rounds(s, &placed->rounds, err);
    }
    free(device);
    return status;
}

static mo_status search_in_flight(search *s, mo_method_result *placed,
                                  mo_error *err)
{
    const mo_method_task *whole = s->task;
    mo_method_task half = *whole; /* the pipelines take time, too */
    mo_period_in_flight l;
    int64_t lower_ns = 0;
    double half_s;
    mo_stop stop;
    mo_status status = mo_period_in_flight_init(&l, s->task, &s->p, err);

    if (status == MO_OK)
        status = mo_period_in_flight_offer_baselines(&l, &lower_ns, err);
    if (status == MO_OK && l.period_ns < INT64_MAX)
        offer_placement(s, l.device);
    half_s = mo_stop_remaining_s(whole->stop) / 2;
    mo_stop_after(&stop, isinf(half_s) ? 0 : fmax(half_s, 1e-6));
    stop.outer = whole->stop;
    half.stop = &stop;
    s->task = &half;
    if (status == MO_OK)
        status = find_placement(s, placed, err);
    s->task = whole;
    s->bound.lower_ns = mo_max_i64(s->bound.lower_ns, lower_ns);
    if (status == MO_OK && s->pool.n > 0) {
        /* With a limit of requests, or live memory, the best is chosen by the
         * period of its pipeline; the largest load remains a bound. */
        for (int i = 0; i < s->pool.n && status == MO_OK; i++)
            if (i == 0 || !mo_stop_reached(s->task->stop))
                status = mo_period_in_flight_offer(
                    &l, s->pool.placements[i].device, NULL, err);
        if (status == MO_OK && l.period_ns > s->bound.lower_ns &&
            !mo_ablated(MO_ABLATION_period_in_flight_moves))
            status = mo_period_in_flight_improve(&l, err);
        if (status == MO_OK && mo_period_is_enumerable(&s->p))
            status = mo_period_in_flight_enumerate(&l, &s->bound.lower_ns, err);
        if (status == MO_OK && l.period_ns < INT64_MAX) {
            s->pool.placements[0].excess_bytes = 0;
            memcpy(s->pool.placements[0].device, l.device,
                   (size_t) s->p.x->n * sizeof *l.device);
            placed->schedule = l.known; /* that of its pipeline; else listed */
            l.known = NULL;
        } else if (s->task->regime.memory == MO_MEMORY_LIVE) {
            s->pool.placements[0].excess_bytes =
                1; /* even one request at a time */
        }
    }
    mo_period_in_flight_clear(&l);
    return status;
}

static mo_status set_schedule(search *s, mo_method_result *placed,
                              mo_error *err)
{
    const mo_period_placement *best = best_of(s);
    const mo_regime free_memory = { s->p.regime.congestion, s->p.regime.tensors,
                                    MO_MEMORY_NONE };
    mo_status status = MO_OK;

    if (!placed->schedule)
        status =
            mo_heft(s->p.x, &free_memory, best->device, &placed->schedule, err);
    if (status == MO_OK && !placed->schedule)
        snprintf(placed->why, sizeof placed->why, "found no placement");
    if (status != MO_OK || !placed->schedule)
        return status;
    placed->schedule->regime = s->p.regime;
    placed->fits = best->excess_bytes == 0;
    placed->lower_ns = s->bound.lower_ns;
    return MO_OK;
}

mo_status mo_period_search_place(const mo_method_task *task,
                                 mo_method_result *placed, mo_error *err)
{
    search s = { .task = task, .begin_ns = mo_stop_clock_ns() };
    mo_error why = { 0 };
    mo_status status = mo_bound_memory(task->x, &task->regime, &why);

    if (status == MO_E_INFEASIBLE) {
        placed->infeasible = true;
        snprintf(placed->why, sizeof placed->why, "%s", why.text);
        return MO_OK;
    }
    if (status == MO_OK)
        status = mo_period_problem_init(&s.p, task->x, &task->regime, err);
    if (status == MO_OK)
        status = mo_period_state_init(&s.state, &s.p, err);
    if (status == MO_OK)
        status = mo_period_pool_init(&s.pool, task->x->n, err);
    if (status == MO_OK)
        status = task->in_flight > 0 || task->regime.memory == MO_MEMORY_LIVE
                     ? search_in_flight(&s, placed, err)
                     : find_placement(&s, placed, err);
    if (status == MO_OK && s.pool.n > 0 && task->in_flight == 0 &&
        task->regime.memory != MO_MEMORY_LIVE &&
        !mo_ablated(MO_ABLATION_period_transfers))
        status = mo_period_reduce_transfers(&s.p, task->seed, s.bound.lower_ns,
                                            task->stop,
                                            s.pool.placements[0].device, err);
    if (status == MO_OK && task->patterns)
        status = mo_period_export_patterns(
            &task->regime, &s.pool, s.bound.lower_ns, task->patterns, err);
    if (status == MO_OK && s.pool.n > 0)
        status = set_schedule(&s, placed, err);
    else if (status == MO_OK)
        snprintf(placed->why, sizeof placed->why, "found no placement");
    placed->stopped = mo_stop_reached(task->stop);
    if (status == MO_OK && task->certify && s.pool.n > 0)
        status = mo_period_certify(&s.bound, &s.p, task->in_flight,
                                   &placed->proof, err);
    mo_period_pool_clear(&s.pool);
    mo_period_bound_steps_clear(&s.bound);
    mo_period_state_clear(&s.state);
    mo_period_problem_clear(&s.p);
    return status;
}
