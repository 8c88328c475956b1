/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The method moirai: decomposition at clean cuts with dynamic
 * programming over boundary devices (decomp/). Equal segments are one
 * subproblem with an upper bound (local search, exact search, MILP) and a
 * lower bound (column generation, load bounds, exact search) for every
 * boundary; the shortest paths over the two tables are the incumbent and the
 * lower bound of the full instance.
 *
 * A round plans jobs, primal and bound, runs them on all threads and merges
 * their results in the order of planning. A plan depends on the task and
 * earlier rounds only: the result after n rounds is deterministic for any
 * number of threads.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/parallel_for.h"
#include "schedule/bound/memory_bound.h"
#include "solvers/search/driver/bound_plan.h"
#include "solvers/search/driver/case_split.h"
#include "solvers/search/driver/colocation_job.h"
#include "solvers/search/driver/memory_repair.h"
#include "solvers/search/driver/priced_bound.h"
#include "solvers/search/driver/refutation_job.h"
#include "solvers/search/driver/root_job.h"
#include "solvers/search/driver/round_plan.h"
#include "solvers/search/driver/state.h"
#include "solvers/search/period/period_search.h"

enum {
    FEW_BOUND_JOBS = 2, /* in a round */
    ONE_BOUND_JOB = 1,
    FIRST_BOUND_ROUND = 3, /* no long bound jobs in the rounds before */
    CASE_SPLIT_EVERY = 8,  /* rounds */
    WORK_PER_NODE = 8,     /* ops x moves of annealing in the time of a node of
                              the colocation bound */
    MOST_WORK = 400000000, /* of these in a round */
    ANNEAL_FACTOR_WITH_COLOCATION = 3 /* on the moves where segments are small
                                         parts of the whole */
};

/* Bound jobs take long and raise the bound by a hundredth or two: while more
 * than that may be gained by schedules, only a few run, for the hints of those
 * that fail. */
#define LARGE_GAIN 0.015

/* The same while equal branches are in successive halving and the gap is this
 * small: then bound jobs take longest. */
#define SMALL_GAP 0.018

/* Where memory binds, bounds of many segments by many devices take long and do
 * not bring a gap of this size down: schedules come first.  A phase or a round
 * of bounds, the bound of the full instance, its cases, and a round of
 * schedules get these shares of the time left.  Where segments have equal
 * branches, the priced bound exceeds that of the full instance, which gets the
 * smaller share. */
#define LARGE_GAP       0.05
#define BOUND_SHARE     0.04
#define ROOT_SHARE      0.1
#define FORK_ROOT_SHARE 0.01
#define CASES_SHARE     0.3
#define ANNEAL_SHARE    0.2 /* of the full instance, without CASES_SHARE */
#define ROUND_SHARE     0.15
#define NO_LIMIT_S      1e15

typedef struct round {
    mo_search_state *search;
    const mo_stop *bound_stop, *primal_stop; /* of the jobs of this round */
    const mo_stop *instance_stop; /* of the bound of the full instance */
    mo_search_primal_job *primal_jobs;
    mo_search_bound_job *bound_jobs;
    int n_primal_jobs, n_bound_jobs;
    mo_search_memory_job
        *memory_job; /* annealing of the full instance within memory, or NULL */
    mo_search_anneal_pool anneal_pool; /* of such jobs */
    mo_search_colocation_job colocation;
    mo_search_colocation_job
        *colocation_job; /* bound of the full instance, or NULL */
    mo_search_root_job
        *root_job; /* LP relaxation of the full instance, or NULL */
    mo_search_refutation_job refutation;
    bool has_refutation; /* of the priced bound, in this round */
    bool has_cases;      /* of the same */
    mo_status cases_status;
    mo_error cases_err;
    int64_t cases_ns; /* incumbent at the last case split */
} round;

/* Limits *part, which is nested into the stop of the task, to a share of the
 * time left where the gap is large.  Without a time limit, or where work is
 * counted instead, nothing changes. */
static void limit_share(const mo_search_state *s, double share, mo_stop *part)
{
    double left_s = mo_stop_remaining_s(s->task->stop);
    double upper_ns = (double) mo_search_upper_ns(s);

    if (s->task->effort == 0 && s->memory_matters && left_s > 0 &&
        left_s < NO_LIMIT_S &&
        (double) s->lower_ns < (1 - LARGE_GAP) * upper_ns)
        mo_stop_after(part, share * left_s);
}

static void run_primal_job(const round *r, mo_search_primal_job *job)
{
    if (!mo_stop_reached(r->primal_stop))
        mo_search_primal_job_run(r->search->classes, job, r->primal_stop);
    job->stopped = mo_stop_reached(r->primal_stop);
}

/* Annealing and bounds of the full instance take longer and are started
 * first. */
static int count_first_jobs(const round *r)
{
    return (r->memory_job != NULL) + (r->colocation_job != NULL) +
           (r->has_cases || r->has_refutation);
}

static void run_first_job(round *r, int job)
{
    if (r->memory_job && job-- == 0)
        mo_search_memory_job_run(r->search, r->memory_job);
    else if (r->colocation_job && job-- == 0)
        mo_search_colocation_job_run(r->search, r->instance_stop,
                                     r->colocation_job);
    else if (r->has_refutation)
        mo_search_refutation_job_run(r->search, r->instance_stop,
                                     &r->refutation);
    else
        r->cases_status = mo_search_priced_bound_run_cases(
            r->search->priced, r->instance_stop, &r->cases_err);
}

static void run_job(void *context, int job, int thread)
{
    round *r = context;
    int n_first = count_first_jobs(r);

    (void) thread;
    if (mo_stop_reached(r->search->task->stop))
        return;
    if (job < n_first) {
        run_first_job(r, job);
        return;
    }
    job -= n_first;
    if (job < r->n_bound_jobs && !mo_stop_reached(r->bound_stop))
        mo_search_bound_job_run(r->search->blocks, &r->bound_jobs[job],
                                r->bound_stop);
    else if (job >= r->n_bound_jobs + r->n_primal_jobs)
        mo_search_root_job_run(r->search, r->root_job);
    else if (job >= r->n_bound_jobs)
        run_primal_job(r, &r->primal_jobs[job - r->n_bound_jobs]);
}

/* Keeps the first error of several jobs. */
static void keep_error(mo_status *status, mo_error *err, mo_status other,
                       const mo_error *why)
{
    if (*status != MO_OK || other == MO_OK)
        return;
    *status = other;
    if (err)
        *err = *why;
}

static mo_status run_round_jobs(round *r, mo_search_round_plan *round_plan,
                                mo_search_bound_plan *bound_plan, mo_error *err)
{
    const mo_stop *stop = r->search->task->stop;
    mo_stop bound_stop = { .deadline_ns = INT64_MAX, .outer = stop };
    mo_stop primal_stop = { .deadline_ns = INT64_MAX, .outer = stop };
    mo_stop instance_stop = { .deadline_ns = INT64_MAX, .outer = stop };
    mo_stop anneal_stop = { .deadline_ns = INT64_MAX, .outer = stop };
    mo_status status = MO_OK, taken;
    mo_error why = { 0 };

    limit_share(r->search, BOUND_SHARE, &bound_stop);
    limit_share(r->search, ROUND_SHARE, &primal_stop);
    limit_share(r->search, CASES_SHARE, &instance_stop);
    if (r->memory_job && r->memory_job->pool)
        limit_share(r->search, r->colocation_job ? CASES_SHARE : ANNEAL_SHARE,
                    &anneal_stop);
    if (r->memory_job)
        r->memory_job->stop = &anneal_stop;
    r->bound_stop = &bound_stop;
    r->instance_stop = &instance_stop;
    r->primal_stop = &primal_stop;
    mo_parallel_for(r->search->task->threads,
                    count_first_jobs(r) + r->n_bound_jobs + r->n_primal_jobs +
                        (r->root_job != NULL),
                    run_job, r);
    for (int i = 0; i < r->n_bound_jobs; i++) {
        keep_error(&status, err, r->bound_jobs[i].status,
                   &r->bound_jobs[i].err);
        mo_search_bound_plan_merge_result(bound_plan, &r->bound_jobs[i]);
    }
    for (int i = 0; i < r->n_primal_jobs; i++) {
        keep_error(&status, err, r->primal_jobs[i].status,
                   &r->primal_jobs[i].err);
        taken = mo_search_round_plan_merge_result(round_plan,
                                                  &r->primal_jobs[i], &why);
        keep_error(&status, err, taken, &why);
    }
    return status;
}

static mo_status run_initial_jobs(round *r, mo_search_round_plan *round_plan,
                                  mo_search_bound_plan *bound_plan,
                                  mo_error *err)
{
    mo_search_bound_job *own = r->bound_jobs, *load_jobs = NULL;
    mo_search_state *s = r->search;
    mo_status status = MO_OK;

    if (bound_plan)
        status = mo_search_bound_plan_initial_jobs(bound_plan, &load_jobs,
                                                   &r->n_bound_jobs, err);
    r->bound_jobs = load_jobs;
    do {
        r->n_primal_jobs =
            mo_search_round_plan_initial_jobs(round_plan, r->primal_jobs);
        if (status == MO_OK)
            status = run_round_jobs(r, round_plan, bound_plan, err);
        r->n_bound_jobs = 0;
    } while (status == MO_OK && r->n_primal_jobs > 0);
    r->bound_jobs = own;
    free(load_jobs);
    if (status == MO_OK)
        status = mo_search_update_bounds(s, "list scheduling of segments", err);
    if (status == MO_OK)
        status = mo_search_priced_bound_raise(r->search->priced, err);
    if (status == MO_OK && mo_search_memory_repair_needed(s))
        status = mo_search_memory_repair_by_variants(s, err);
    return status;
}

/* Propagates the results of the round to the full instance. */
static mo_status
propagate_round(const round *r, mo_search_memory_job *memory_job, mo_error *err)
{
    mo_search_state *s = r->search;
    mo_status status = mo_search_update_bounds(s, "improving segments", err);

    if (status == MO_OK)
        status = mo_search_priced_bound_raise(r->search->priced, err);
    keep_error(&status, err, memory_job->status, &memory_job->err);
    if (status == MO_OK)
        status = mo_search_submit_schedule(s, memory_job->schedule,
                                           "annealing the full instance", err);
    else
        mo_schedule_free(memory_job->schedule);
    if (status == MO_OK && mo_search_memory_repair_needed(s))
        status = mo_search_memory_repair_by_variants(s, err);
    return status;
}

static bool has_halving_jobs(const round *r)
{
    for (int i = 0; i < r->n_primal_jobs; i++)
        if (r->primal_jobs[i].how == MO_SEARCH_PRIMAL_HALVING)
            return true;
    return false;
}

/* Returns the number of bound jobs for a round. */
static int max_bound_jobs(const round *r, double hoped)
{
    double upper_ns = (double) mo_search_upper_ns(r->search);

    if (has_halving_jobs(r) &&
        (double) r->search->lower_ns >= (1 - SMALL_GAP) * upper_ns)
        return ONE_BOUND_JOB;
    return hoped > LARGE_GAIN ? FEW_BOUND_JOBS : MO_SEARCH_MAX_BOUND_JOBS;
}

static mo_status run_round(round *r, mo_search_round_plan *round_plan,
                           mo_search_bound_plan *bound_plan, int number,
                           bool *any, mo_error *err)
{
    mo_search_state *s = r->search;
    mo_search_memory_job memory_job = { 0 };
    mo_search_root_job root_job = { 0 };
    bool has_root = false;
    double hoped = 0;
    mo_status status = mo_search_round_plan_next_jobs(
        round_plan, number, r->primal_jobs, &r->n_primal_jobs, &hoped, err);

    r->n_bound_jobs = 0;
    if (status == MO_OK && bound_plan)
        status = mo_search_bound_plan_next_jobs(
            bound_plan, number >= FIRST_BOUND_ROUND || r->n_primal_jobs == 0,
            hoped, r->bound_jobs, max_bound_jobs(r, hoped), &r->n_bound_jobs,
            err);
    r->memory_job =
        mo_search_memory_job_plan(s, number, &r->anneal_pool, &memory_job)
            ? &memory_job
            : NULL;
    r->colocation_job = mo_search_colocation_job_plan(s, number, &r->colocation)
                            ? &r->colocation
                            : NULL;
    if (r->memory_job && r->colocation_job && memory_job.pool)
        memory_job.moves = mo_max_i64(
            memory_job.moves,
            mo_min_i64((int64_t) (WORK_PER_NODE * r->colocation.nodes),
                       MOST_WORK) /
                s->x->n);
    else if (r->memory_job && r->colocation_job)
        memory_job.moves *= ANNEAL_FACTOR_WITH_COLOCATION;
    if (status == MO_OK)
        status = mo_search_root_job_plan(s, number, &root_job, &has_root, err);
    r->root_job = has_root ? &root_job : NULL;
    r->has_cases = mo_search_priced_bound_has_cases(s->priced, number);
    r->has_refutation = !r->has_cases && mo_search_refutation_job_plan(
                                             s, number, &r->refutation);
    *any = count_first_jobs(r) + r->n_primal_jobs + r->n_bound_jobs > 0 ||
           has_root;
    if (status == MO_OK)
        status = run_round_jobs(r, round_plan, bound_plan, err);
    r->memory_job = NULL;
    r->colocation_job = NULL;
    r->root_job = NULL;
    keep_error(&status, err, r->colocation.status, &r->colocation.err);
    keep_error(&status, err, root_job.status, &root_job.err);
    keep_error(&status, err, r->cases_status, &r->cases_err);
    keep_error(&status, err, r->refutation.status, &r->refutation.err);
    r->has_cases = r->has_refutation = false;
    mo_search_raise_lower(s, r->refutation.lower_ns,
                          "refutation with prices of memory");
    mo_search_raise_lower(s, mo_search_priced_bound_cases_ns(s->priced),
                          "cases of equal branches");
    mo_search_raise_lower(s, r->colocation.lower_ns, "colocation");
    mo_search_raise_lower(s, root_job.lower_ns, "root LP");
    mo_search_root_job_clear(&root_job);
    if (status == MO_OK)
        return propagate_round(r, &memory_job, err);
    mo_schedule_free(memory_job.schedule);
    /* Of jobs that were planned and not run. */
    for (int i = 0; i < r->n_primal_jobs; i++) {
        free(r->primal_jobs[i].capacity_bytes);
        r->primal_jobs[i].capacity_bytes = NULL;
    }
    return status;
}

/* Case splits are repeated after the incumbent has improved by half a
 * hundredth, and every CASE_SPLIT_EVERY rounds, since block bounds have
 * improved, too. */
static mo_status split_cases(round *r, int number, mo_error *err)
{
    mo_search_state *s = r->search;
    mo_stop part = { .deadline_ns = INT64_MAX, .outer = s->task->stop };
    int64_t makespan_ns = mo_search_upper_ns(s);

    if (!s->blocks || mo_search_is_done(s) || mo_stop_reached(s->task->stop) ||
        (number % CASE_SPLIT_EVERY != 0 &&
         makespan_ns > r->cases_ns - r->cases_ns / 200))
        return MO_OK;
    r->cases_ns = makespan_ns;
    limit_share(s, BOUND_SHARE, &part);
    return mo_search_case_split_raise_all(s, &part, err);
}

static bool is_round_left(const mo_search_state *s, int rounds)
{
    const mo_method_task *task = s->task;

    if (task->effort > 0 && atomic_load(task->stop->polls) >= task->max_polls)
        return false;
    return task->rounds == 0 || rounds < task->rounds ||
           (rounds < task->closing_rounds && s->best &&
            (double) (s->best->makespan_ns - s->lower_ns) <=
                task->closing_gap * (double) s->best->makespan_ns);
}

static mo_status run_rounds(round *r, mo_search_round_plan *round_plan,
                            mo_search_bound_plan *bound_plan, int *rounds,
                            mo_error *err)
{
    const mo_search_state *s = r->search;
    const mo_method_task *task = s->task;
    mo_status status = run_initial_jobs(r, round_plan, bound_plan, err);
    bool any = true;

    if (status == MO_OK)
        status = split_cases(r, 0, err);
    while (status == MO_OK && any && !mo_search_is_done(s) &&
           !mo_stop_reached(task->stop) && is_round_left(s, *rounds)) {
        status = run_round(r, round_plan, bound_plan, *rounds, &any, err);
        *rounds += any;
        if (status == MO_OK)
            status = split_cases(r, *rounds, err);
    }
    return status;
}

static mo_status search_segments(mo_search_state *s, int *rounds, mo_error *err)
{
    mo_search_round_plan *round_plan = NULL;
    mo_search_bound_plan *bound_plan = NULL;
    round r = { .search = s, .cases_ns = INT64_MAX };
    mo_status status = mo_search_round_plan_new(s, &round_plan, err);

    if (status == MO_OK && s->blocks)
        status = mo_search_bound_plan_new(s, &bound_plan, err);
    r.primal_jobs = calloc(MO_SEARCH_MAX_PRIMAL_JOBS, sizeof *r.primal_jobs);
    r.bound_jobs = calloc(MO_SEARCH_MAX_BOUND_JOBS, sizeof *r.bound_jobs);
    if (status == MO_OK && (!r.primal_jobs || !r.bound_jobs))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = run_rounds(&r, round_plan, bound_plan, rounds, err);
    mo_search_colocation_job_clear(&r.colocation);
    mo_search_anneal_pool_clear(&r.anneal_pool);
    mo_search_refutation_job_clear(&r.refutation);
    free(r.primal_jobs);
    free(r.bound_jobs);
    mo_search_bound_plan_free(bound_plan);
    mo_search_round_plan_free(round_plan);
    return status;
}

static mo_status bound_segments(mo_search_state *s, mo_error *err)
{
    mo_stop blocks = { .deadline_ns = INT64_MAX, .outer = s->task->stop };
    mo_stop root = { .deadline_ns = INT64_MAX, .outer = s->task->stop };
    mo_status status = MO_OK;

    limit_share(s, BOUND_SHARE, &blocks);
    if (s->states.all)
        status = mo_chain_blocks_new(s->classes, s->task->threads, &blocks,
                                     &s->blocks, err);
    if (status == MO_OK)
        status = mo_search_update_bounds(s, "bounds of segments", err);
    if (status == MO_OK)
        status = mo_search_priced_bound_new(s, &s->priced, err);
    limit_share(s,
                mo_search_priced_bound_has_forks(s->priced) ? FORK_ROOT_SHARE
                                                            : ROOT_SHARE,
                &root);
    return status == MO_OK ? mo_search_initial_bound(s, &root, err) : status;
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
        status = bound_segments(&s, err);
    if (status == MO_OK)
        status = mo_search_initial_local_search(&s, err);
    if (status == MO_OK && !mo_search_is_done(&s))
        status = search_segments(&s, &rounds, err);
    if (status == MO_OK && task->proven)
        status = mo_search_export_proven_bounds(&s, task->proven, err);
    if (status == MO_OK && task->proven)
        status = mo_search_priced_bound_export(s.priced, task->proven, err);
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
