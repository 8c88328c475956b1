/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small instances are enumerated.  Otherwise: the baselines, and where none
 * fits into memory the search for the least latency, give a first placement;
 * the Lagrangian bound (price_bound.h) gives a lower bound and placements of
 * least cost at its prices; where prices gain no more, the bound by sets of
 * units (subset_bound.h) and branch and bound (branch_bound.h) go on in turn;
 * rounds of annealing from the best placements, which take parts of the former,
 * improve the period until the gap is met, time is up, or rounds no longer
 * help. A seed and a number of rounds determine the result on any number of
 * threads.
 */
#include "solvers/search/period/period_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/parallel_for.h"
#include "base/random.h"
#include "schedule/bound/memory_bound.h"
#include "schedule/heuristic/heft.h"
#include "solvers/search/period/branch_bound.h"
#include "solvers/search/period/contiguous.h"
#include "solvers/search/period/in_flight_search.h"
#include "solvers/search/period/load_state.h"
#include "solvers/search/period/local_search.h"
#include "solvers/search/period/packing_bound.h"
#include "solvers/search/period/price_bound.h"
#include "solvers/search/period/subset_bound.h"
#include "solvers/search/period/unit_contraction.h"

/* Table entries visited: for the labellings of a round, for a bundle, and for a
 * step of branch and bound. */
#define SAMPLE_WORK 2e7
#define BOUND_WORK  4e8
#define BRANCH_WORK 4e8
#define SUBSET_WORK 3e8

/* Largest part by which costs are disturbed. */
#define NOISE 0.05

enum {
    POOL = 8,                 /* best placements kept, all different */
    JOBS = 4,                 /* in a round */
    MIN_EVALUATIONS = 40,     /* of a bundle */
    SAMPLES = 64,             /* labellings kept */
    MAX_ENUMERATED = 1 << 18, /* placements */
    IDLE_ROUNDS = 30,         /* without a better placement: the end */
    FIRST_STEPS = 1 << 17,    /* of a job, four times as many up to */
    LEAST_MAX_STEPS = 1 << 18,
    MAX_UNIT_STEPS = 64, /* by unit */
    LARGE_GAP = 32,      /* a part in it of the period */
    SMALL_GAIN = 1000,   /* a part in it of the bound */
    MAX_STALE = 3        /* rounds that add to the work of branch and bound */
};

typedef struct candidate {
    int *device;
    int64_t period_ns, excess_bytes;
} candidate;

typedef struct search {
    const mo_method_task *task;
    mo_period_problem p;
    mo_period_problem joined; /* without transfers longer than the period of a
                                 placement; searched and bounded */
    mo_period_state state;    /* of the offers */
    candidate pool[POOL];     /* the best first */
    int n_pool;
    int64_t lower_ns;
    int64_t priced_ns; /* the Lagrangian bound */
    int64_t packed_ns; /* period that the packing bound was tried for */
    mo_priced_labelling labelling;
    double *prices;                 /* of the bound */
    mo_period_branching *branching; /* once they gain nothing; or NULL */
    mo_subset_bound subsets;
    int n_idle_bounds;     /* bundles since the last gain */
    int n_steps;           /* of the bound after that */
    int n_stale;           /* rounds since the last better placement */
    int *samples[SAMPLES]; /* labellings at about those prices */
    int n_samples, next_sample;
    int64_t begin_ns;
} search;

static bool is_better(int64_t excess, int64_t ns, const candidate *c)
{
    return excess != c->excess_bytes ? excess < c->excess_bytes
                                     : ns < c->period_ns;
}

static void report_progress(const search *s, const char *what)
{
    mo_method_progress progress = { .makespan_ns = INT64_MAX,
                                    .lower_ns = s->lower_ns,
                                    .what = what };

    if (!s->task->on_progress)
        return;
    if (s->n_pool > 0 && s->pool[0].excess_bytes == 0)
        progress.makespan_ns = s->pool[0].period_ns;
    progress.seconds = (double) (mo_stop_clock_ns() - s->begin_ns) / 1e9;
    s->task->on_progress(s->task->context, &progress);
}

/* Keeps a placement if it is among the best; equal values count once. */
static void keep_candidate(search *s, const int *device, int64_t ns,
                           int64_t excess)
{
    size_t size = (size_t) s->p.x->n * sizeof *device;
    int at = 0;
    candidate last;

    while (at < s->n_pool && !is_better(excess, ns, &s->pool[at])) {
        if (s->pool[at].period_ns == ns && s->pool[at].excess_bytes == excess)
            return;
        at++;
    }
    if (at == POOL)
        return;
    if (s->n_pool < POOL)
        s->n_pool++;
    last = s->pool[s->n_pool - 1];
    memmove(&s->pool[at + 1], &s->pool[at],
            (size_t) (s->n_pool - 1 - at) * sizeof *s->pool);
    s->pool[at] = (candidate){ last.device, ns, excess };
    memcpy(s->pool[at].device, device, size);
}

static void offer_placement(search *s, const int *device)
{
    mo_period_state_set(&s->state, device);
    keep_candidate(s, device, mo_period_state_period_ns(&s->state),
                   mo_period_state_excess_bytes(&s->state));
}

/* Keeps the last labellings. */
static void offer_labelling(void *context, const int *device)
{
    search *s = context;

    offer_placement(s, device);
    memcpy(s->samples[s->next_sample], device,
           (size_t) s->p.x->n * sizeof *device);
    s->next_sample = (s->next_sample + 1) % SAMPLES;
    s->n_samples = mo_min_int(s->n_samples + 1, SAMPLES);
}

/* Labellings at disturbed prices, as many as a counted effort allows. */
static void draw_samples(search *s, int round)
{
    double work = mo_labelling_work(s->labelling.labelling);
    int n = (int) (SAMPLE_WORK / (work + 1));

    n = n < 4 ? 4 : n > SAMPLES / 2 ? SAMPLES / 2 : n;
    for (int i = 0; i < n && !mo_stop_reached(s->task->stop); i++) {
        mo_priced_labelling_perturb(
            &s->labelling, s->prices, NOISE * (i + 1) / n,
            mo_random_seed(~s->task->seed,
                           (uint64_t) round * SAMPLES + (uint64_t) i));
        offer_labelling(s, s->labelling.device);
    }
}

static void clear_bound(search *s)
{
    mo_period_branching_free(s->branching);
    s->branching = NULL;
    mo_subset_bound_clear(&s->subsets);
    mo_priced_labelling_clear(&s->labelling);
    mo_period_problem_clear(&s->joined);
}

/* Joins the units, and prepares bounds of them. */
static mo_status prepare_bound(search *s, mo_error *err)
{
    int64_t ns =
        s->pool[0].excess_bytes == 0 ? s->pool[0].period_ns : INT64_MAX;
    mo_status status = mo_period_problem_join(&s->p, ns, &s->joined, err);

    if (status == MO_OK)
        status = mo_priced_labelling_init(&s->labelling, &s->joined,
                                          s->pool[0].period_ns, err);
    if (status == MO_OK)
        status = mo_subset_bound_init(&s->subsets, &s->joined, err);
    return status;
}

static mo_status allocate_samples(search *s, mo_error *err)
{
    s->prices = calloc((size_t) s->labelling.n_prices + 1, sizeof *s->prices);
    if (!s->prices)
        return mo_fail_memory(err);
    for (int i = 0; i < SAMPLES; i++) {
        s->samples[i] = calloc((size_t) s->p.x->n + 1, sizeof *s->samples[i]);
        if (!s->samples[i])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

/* Prepares the bounds again where a shorter period joins more units. */
static mo_status rejoin_units(search *s, mo_error *err)
{
    mo_period_problem joined;
    mo_status status = MO_OK;
    int n;

    if (s->pool[0].excess_bytes > 0)
        return MO_OK;
    status = mo_period_problem_join(&s->p, s->pool[0].period_ns, &joined, err);
    n = status == MO_OK ? joined.units->n : s->joined.units->n;
    mo_period_problem_clear(&joined);
    if (n == s->joined.units->n)
        return status;
    clear_bound(s);
    s->n_idle_bounds = 0;
    return prepare_bound(s, err);
}

/* One step of the bound: the packing bound for a new incumbent; a bundle of the
 * Lagrangian bound while bundles gain, sets of units and branch and bound in
 * turn after that. */
static mo_status raise_bound(search *s, mo_error *err)
{
    double work = mo_labelling_work(s->labelling.labelling) + s->p.x->n_flows;
    int n = (int) fmin(MO_PERIOD_PRICE_EVALUATIONS, BOUND_WORK / (work + 1));
    int64_t upper_ns = s->pool[0].period_ns, before_ns = s->priced_ns;
    mo_status status = MO_OK;

    if (s->n_idle_bounds < MO_PERIOD_PRICE_IDLE) {
        status = mo_period_price_ascend(
            &s->labelling, upper_ns, mo_max_int(n, MIN_EVALUATIONS),
            s->task->stop, offer_labelling, s, &s->priced_ns, s->prices, err);
        s->n_idle_bounds = mo_period_price_gained(before_ns, s->priced_ns)
                               ? 0
                               : s->n_idle_bounds + 1;
        /* Better prices will not close a large gap. */
        if (upper_ns - s->priced_ns > upper_ns / LARGE_GAP &&
            s->priced_ns - before_ns < before_ns / SMALL_GAIN)
            s->n_idle_bounds = MO_PERIOD_PRICE_IDLE;
        s->lower_ns = mo_max_i64(s->lower_ns, s->priced_ns);
        report_progress(s, "Lagrangian bound");
    } else if (s->pool[0].excess_bytes == 0 && s->n_steps++ % 2 == 0 &&
               mo_subset_bound_is_open(&s->subsets, upper_ns, s->lower_ns)) {
        status = mo_subset_bound_raise(&s->subsets, upper_ns, SUBSET_WORK,
                                       s->task->stop, &s->lower_ns, err);
        report_progress(s, "bound by subsets");
    } else {
        if (!s->branching)
            status = mo_period_branching_new(&s->joined, upper_ns, s->priced_ns,
                                             s->prices, s->task->threads,
                                             &s->branching, err);
        if (status == MO_OK)
            status = mo_period_branching_run(
                s->branching, upper_ns,
                BRANCH_WORK * (1 + mo_min_int(s->n_stale, MAX_STALE)),
                s->task->stop, offer_labelling, s, &s->lower_ns, err);
        report_progress(s, "branch and bound");
    }
    if (status == MO_OK && s->packed_ns != upper_ns) {
        s->packed_ns = upper_ns;
        status =
            mo_period_packing_bound(&s->joined, upper_ns, &s->lower_ns, err);
    }
    return status;
}

static mo_status offer_baselines(search *s, int *device, mo_error *err)
{
    const mo_method *const methods[] = { &mo_method_single, &mo_method_m_etf };
    mo_status status = MO_OK;

    for (int k = 0; k < s->p.x->n_devices; k++) {
        mo_period_fill_single(&s->p, k, device);
        offer_placement(s, device);
    }
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

static bool is_small(const mo_period_problem *p)
{
    double n = 1;

    for (int u = 0; u < p->units->n && n <= MAX_ENUMERATED; u++)
        n *= p->x->n_devices;
    return n <= MAX_ENUMERATED;
}

/* All placements, by an odometer; the best is optimal. */
static void enumerate_placements(search *s, int *device)
{
    memset(device, 0, (size_t) s->p.x->n * sizeof *device);
    mo_period_state_set(&s->state, device);
    do {
        if (mo_period_state_is_allowed(&s->state)) {
            int64_t ns = mo_period_state_period_ns(&s->state);
            int64_t excess = mo_period_state_excess_bytes(&s->state);

            if (s->n_pool == 0 || is_better(excess, ns, &s->pool[0]))
                keep_candidate(s, s->state.device, ns, excess);
        }
    } while (mo_period_state_next(&s->state));
    if (s->n_pool > 0 && s->pool[0].excess_bytes == 0)
        s->lower_ns = s->pool[0].period_ns;
}

typedef struct anneal_job {
    search *s;
    mo_period_anneal options;
    candidate c;
    mo_status status;
    mo_error err;
} anneal_job;

static void run_job(void *context, int number, int thread)
{
    anneal_job *job = (anneal_job *) context + number;

    (void) thread;
    job->status = mo_period_anneal_run(&job->s->joined, &job->options,
                                       job->c.device, &job->c.period_ns,
                                       &job->c.excess_bytes, &job->err);
}

static bool is_done(const search *s)
{
    double ns = (double) s->pool[0].period_ns;

    return s->pool[0].excess_bytes == 0 &&
           (s->pool[0].period_ns <= s->lower_ns ||
            ns - (double) s->lower_ns <= s->task->gap * ns);
}

static mo_status run_round(search *s, int round, int64_t steps,
                           anneal_job *jobs, mo_error *err)
{
    static const double hot[JOBS] = { 3e-2, 3e-3, 1e-2, 1e-3 };
    size_t size = (size_t) s->p.x->n * sizeof(int);

    for (int i = 0; i < JOBS; i++) {
        const candidate *from = &s->pool[i % 2 ? 0 : (round + i) % s->n_pool];

        jobs[i].s = s;
        jobs[i].status = MO_OK;
        jobs[i].options = (mo_period_anneal){
            .seed = mo_random_seed(s->task->seed,
                                   (uint64_t) round * JOBS + (uint64_t) i),
            .steps = steps,
            .price_weight = (i + round) % 4 < 2 ? 8 : 20,
            .hot = hot[i],
            .prices = s->prices,
            .lower_ns = s->lower_ns,
            .samples = s->samples,
            .n_samples = s->n_samples,
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
        keep_candidate(s, jobs[i].c.device, jobs[i].c.period_ns,
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
    for (int round = 0;
         status == MO_OK && !is_done(s) && (limit == 0 || round < limit) &&
         idle < IDLE_ROUNDS && !mo_stop_reached(s->task->stop);
         round++) {
        int64_t before_ns = s->pool[0].period_ns, lower_ns = s->lower_ns;

        status = rejoin_units(s, err);
        if (status == MO_OK)
            status = raise_bound(s, err);
        if (status != MO_OK || is_done(s))
            break;
        draw_samples(s, round);
        if (status == MO_OK)
            status = run_round(s, round, steps, jobs, err);
        s->n_stale = s->pool[0].period_ns < before_ns ? 0 : s->n_stale + 1;
        idle = s->n_stale == 0 || mo_period_price_gained(lower_ns, s->lower_ns)
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

    if (status == MO_OK && is_small(&s->p)) {
        enumerate_placements(s, device);
    } else if (status == MO_OK) {
        status = offer_baselines(s, device, err);
        if (status == MO_OK && s->pool[0].excess_bytes > 0)
            status = offer_least_latency(s, err);
        report_progress(s, "baselines");
        if (status == MO_OK)
            status = prepare_bound(s, err);
        if (status == MO_OK)
            status = allocate_samples(s, err);
        if (status == MO_OK)
            status = raise_bound(s, err);
        if (status == MO_OK && s->task->rounds >= 0)
            status = run_rounds(s, &placed->rounds, err);
    }
    free(device);
    return status;
}

/* With a limit of requests, or live memory, the best is chosen by the period of
 * its pipeline; the largest load remains a bound. */
static mo_status choose_in_flight(search *s, mo_period_in_flight *l,
                                  mo_method_result *placed, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < s->n_pool && status == MO_OK; i++)
        if (i == 0 || !mo_stop_reached(s->task->stop))
            status = mo_period_in_flight_offer(l, s->pool[i].device, NULL, err);
    if (status == MO_OK && l->period_ns > s->lower_ns)
        status = mo_period_in_flight_improve(l, err);
    if (status == MO_OK && is_small(&s->p))
        status = mo_period_in_flight_enumerate(l, &s->lower_ns, err);
    if (status == MO_OK && l->period_ns < INT64_MAX) {
        s->pool[0].excess_bytes = 0;
        memcpy(s->pool[0].device, l->device,
               (size_t) s->p.x->n * sizeof *l->device);
        placed->schedule = l->known; /* that of its pipeline; else listed */
        l->known = NULL;
    } else if (s->task->regime.memory == MO_MEMORY_LIVE) {
        s->pool[0].excess_bytes = 1; /* even one request at a time */
    }
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
    s->lower_ns = mo_max_i64(s->lower_ns, lower_ns);
    if (status == MO_OK && s->n_pool > 0)
        status = choose_in_flight(s, &l, placed, err);
    mo_period_in_flight_clear(&l);
    return status;
}

static mo_status set_schedule(search *s, mo_method_result *placed,
                              mo_error *err)
{
    const candidate *best = &s->pool[0];
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
    placed->lower_ns = s->lower_ns;
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
    for (int i = 0; i < POOL && status == MO_OK; i++) {
        s.pool[i].device =
            calloc((size_t) task->x->n + 1, sizeof *s.pool[i].device);
        if (!s.pool[i].device)
            status = mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = task->in_flight > 0 || task->regime.memory == MO_MEMORY_LIVE
                     ? search_in_flight(&s, placed, err)
                     : find_placement(&s, placed, err);
    if (status == MO_OK && s.n_pool > 0 && task->in_flight == 0 &&
        task->regime.memory != MO_MEMORY_LIVE)
        status = mo_period_reduce_transfers(&s.p, task->seed, s.lower_ns,
                                            s.pool[0].device, err);
    if (status == MO_OK && s.n_pool > 0)
        status = set_schedule(&s, placed, err);
    else if (status == MO_OK)
        snprintf(placed->why, sizeof placed->why, "found no placement");
    placed->stopped = mo_stop_reached(task->stop);
    for (int i = 0; i < POOL; i++)
        free(s.pool[i].device);
    for (int i = 0; i < SAMPLES; i++)
        free(s.samples[i]);
    free(s.prices);
    clear_bound(&s);
    mo_period_state_clear(&s.state);
    mo_period_problem_clear(&s.p);
    return status;
}
