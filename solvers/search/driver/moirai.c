/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own: the whole in segments between clean cuts, classes of segments placed
 * and bounded by the devices at their ends, and shortest paths over those for
 * the schedule and for the bound, until the two meet.
 *
 * A round plans attempts, at better schedules and at better bounds, makes them
 * with all threads, and takes over what came of them in the order in which they
 * were planned.  What is planned depends on nothing but the task and the rounds
 * before, so that the answer after so many rounds does, too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/parallel_for.h"
#include "solvers/search/driver/case_split.h"
#include "solvers/search/driver/initial.h"
#include "solvers/search/driver/memory_repair.h"
#include "solvers/search/driver/round_plan.h"
#include "solvers/search/driver/bound_plan.h"
#include "solvers/search/driver/state.h"
#include "solvers/search/driver/proven_bounds.h"

enum {
    FEW_PROOFS = 2, /* in a round */
    ONE_PROOF = 1,
    FIRST_PROOFS = 3, /* rounds before it are for schedules, and quick proofs */
    CASES_EVERY = 8   /* rounds */
};

/* Proofs take long and bring a hundredth or two: as long as schedules promise
 * more than that, a few are made for what they tell when they fail. */
#define MUCH_HOPE 0.015

/* The same while branches that are alike are divided anew and the gap is as
 * small as this: then proofs take longest of all. */
#define SMALL_GAP 0.018

typedef struct round {
    mo_search_state *search;
    mo_search_primal_job *tries;
    mo_search_bound_job *proofs;
    int n_tries, n_proofs;
    mo_search_memory_job
        *fit;         /* an attempt at the whole within memory, or NULL */
    int64_t cases_ns; /* the makespan when cases were looked at last */
} round;

/* Proofs take longer and begin first. */
static void work(void *context, int job, int thread)
{
    round *r = context;
    const mo_stop *stop = r->search->task->stop;

    (void) thread;
    if (mo_stop_reached(stop))
        return;
    if (job < r->n_proofs)
        mo_search_bound_job_run(r->search->blocks, &r->proofs[job], stop);
    else if (job < r->n_proofs + r->n_tries)
        mo_search_primal_job_run(r->search->classes,
                                 &r->tries[job - r->n_proofs], stop);
    else
        mo_search_memory_job_run(r->search, r->fit);
}

static void keep_error(mo_status *status, mo_error *err, mo_status other,
                       const mo_error *why)
{
    if (*status != MO_OK || other == MO_OK)
        return;
    *status = other;
    if (err)
        *err = *why;
}

static mo_status run(round *r, mo_search_round_plan *improver,
                     mo_search_bound_plan *prover, mo_error *err)
{
    mo_status status = MO_OK, taken;
    mo_error why = { 0 };

    mo_parallel_for(r->search->task->threads,
                    r->n_proofs + r->n_tries + (r->fit != NULL), work, r);
    for (int i = 0; i < r->n_proofs; i++) {
        keep_error(&status, err, r->proofs[i].status, &r->proofs[i].err);
        mo_search_bound_plan_merge_result(prover, &r->proofs[i]);
    }
    for (int i = 0; i < r->n_tries; i++) {
        keep_error(&status, err, r->tries[i].status, &r->tries[i].err);
        taken = mo_search_round_plan_merge_result(improver, &r->tries[i], &why);
        keep_error(&status, err, taken, &why);
    }
    return status;
}

static mo_status begin(round *r, mo_search_round_plan *improver,
                       mo_search_bound_plan *prover, mo_error *err)
{
    mo_search_bound_job *own = r->proofs, *fast = NULL;
    mo_search_state *s = r->search;
    mo_status status = MO_OK;

    if (prover)
        status =
            mo_search_bound_plan_initial_jobs(prover, &fast, &r->n_proofs, err);
    r->proofs = fast;
    do {
        r->n_tries = mo_search_round_plan_initial_jobs(improver, r->tries);
        if (status == MO_OK)
            status = run(r, improver, prover, err);
        r->n_proofs = 0;
    } while (status == MO_OK && r->n_tries > 0);
    r->proofs = own;
    free(fast);
    if (status == MO_OK)
        status = mo_search_update_bounds(s, "list scheduling pieces", err);
    if (status == MO_OK && mo_search_memory_repair_needed(s))
        status = mo_search_memory_repair_by_variants(s, err);
    return status;
}

/* What the round makes of the whole. */
static mo_status add_up(mo_search_state *s, mo_search_memory_job *fit,
                        mo_error *err)
{
    mo_status status = mo_search_update_bounds(s, "improving pieces", err);

    keep_error(&status, err, fit->status, &fit->err);
    if (status == MO_OK)
        status = mo_search_submit_schedule(s, fit->schedule,
                                           "annealing the whole", err);
    else
        mo_schedule_free(fit->schedule);
    if (status == MO_OK && mo_search_memory_repair_needed(s))
        status = mo_search_memory_repair_by_variants(s, err);
    return status;
}

static bool has_races(const round *r)
{
    for (int i = 0; i < r->n_tries; i++)
        if (r->tries[i].how == MO_SEARCH_PRIMAL_HALVING)
            return true;
    return false;
}

static int most_proofs(const round *r, double hoped)
{
    double upper_ns = (double) mo_search_upper_ns(r->search);

    if (has_races(r) &&
        (double) r->search->lower_ns >= (1 - SMALL_GAP) * upper_ns)
        return ONE_PROOF;
    return hoped > MUCH_HOPE ? FEW_PROOFS : MO_SEARCH_MAX_BOUND_JOBS;
}

static mo_status improve(round *r, mo_search_round_plan *improver,
                         mo_search_bound_plan *prover, int number, bool *any,
                         mo_error *err)
{
    mo_search_state *s = r->search;
    mo_search_memory_job fit = { 0 };
    double hoped = 0;
    mo_status status = mo_search_round_plan_next_jobs(
        improver, number, r->tries, &r->n_tries, &hoped, err);

    r->n_proofs = 0;
    if (status == MO_OK && prover)
        status = mo_search_bound_plan_next_jobs(
            prover, number >= FIRST_PROOFS || r->n_tries == 0, hoped, r->proofs,
            most_proofs(r, hoped), &r->n_proofs, err);
    r->fit = mo_search_memory_job_plan(s, number, &fit) ? &fit : NULL;
    *any = r->n_tries + r->n_proofs > 0 || r->fit;
    if (status == MO_OK)
        status = run(r, improver, prover, err);
    r->fit = NULL;
    if (status == MO_OK)
        return add_up(s, &fit, err);
    mo_schedule_free(fit.schedule);
    return status;
}

/* Cases tell more when the makespan has fallen, by half a hundredth, and when
 * blocks are known better, which they are now and then. */
static mo_status look_at_cases(round *r, int number, mo_error *err)
{
    mo_search_state *s = r->search;
    int64_t makespan_ns = mo_search_upper_ns(s);

    if (!s->blocks || mo_search_is_done(s) || mo_stop_reached(s->task->stop) ||
        (number % CASES_EVERY != 0 &&
         makespan_ns > r->cases_ns - r->cases_ns / 200))
        return MO_OK;
    r->cases_ns = makespan_ns;
    return mo_search_case_split_raise_all(s, err);
}

static mo_status go_round(round *r, mo_search_round_plan *improver,
                          mo_search_bound_plan *prover, int *rounds,
                          mo_error *err)
{
    const mo_search_state *s = r->search;
    const mo_method_task *task = s->task;
    mo_status status = begin(r, improver, prover, err);
    bool any = true;

    if (status == MO_OK)
        status = look_at_cases(r, 0, err);
    while (status == MO_OK && any && !mo_search_is_done(s) &&
           !mo_stop_reached(task->stop) &&
           (task->rounds == 0 || *rounds < task->rounds)) {
        status = improve(r, improver, prover, *rounds, &any, err);
        *rounds += any;
        if (status == MO_OK)
            status = look_at_cases(r, *rounds, err);
    }
    return status;
}

static mo_status search_segments(mo_search_state *s, int *rounds, mo_error *err)
{
    mo_search_round_plan *improver = NULL;
    mo_search_bound_plan *prover = NULL;
    round r = { .search = s, .cases_ns = INT64_MAX };
    mo_status status = mo_search_round_plan_new(s, &improver, err);

    if (status == MO_OK && s->blocks)
        status = mo_search_bound_plan_new(s, &prover, err);
    r.tries = calloc(MO_SEARCH_MAX_PRIMAL_JOBS, sizeof *r.tries);
    r.proofs = calloc(MO_SEARCH_MAX_BOUND_JOBS, sizeof *r.proofs);
    if (status == MO_OK && (!r.tries || !r.proofs))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = go_round(&r, improver, prover, rounds, err);
    free(r.tries);
    free(r.proofs);
    mo_search_bound_plan_free(prover);
    mo_search_round_plan_free(improver);
    return status;
}

static mo_status bound_segments(mo_search_state *s, mo_error *err)
{
    mo_status status = MO_OK;

    if (s->states.all)
        status = mo_chain_blocks_new(s->classes, s->task->threads,
                                     s->task->stop, &s->blocks, err);
    if (status == MO_OK)
        status = mo_search_update_bounds(s, "bounds of pieces", err);
    return status == MO_OK ? mo_search_initial_bound(s, err) : status;
}

static void answer(mo_search_state *s, int rounds, mo_method_result *placed)
{
    placed->schedule = s->best;
    placed->fits = s->best != NULL;
    placed->lower_ns = s->lower_ns;
    placed->rounds = rounds;
    s->best = NULL;
    if (placed->schedule)
        placed->schedule->regime = s->task->regime;
    else
        snprintf(placed->why, sizeof placed->why,
                 "found no placement that fits into memory");
}

/* What must be somewhere is more than all devices have: no need to search. */
static bool is_too_much(const mo_method_task *task, mo_method_result *placed)
{
    const mo_instance *x = task->x;
    const int64_t *bytes = task->regime.memory == MO_MEMORY_LIVE
                               ? x->weight_bytes
                               : x->memory_bytes;
    double needed = 0, there = 0;

    if (task->regime.memory == MO_MEMORY_NONE)
        return false;
    for (int i = 0; i < x->n; i++)
        needed += (double) bytes[i];
    for (int k = 0; k < x->n_devices; k++)
        there += (double) x->capacity_bytes[k];
    /* Sums of doubles are off by far less than this. */
    if (needed <= there * (1 + 1e-6))
        return false;
    snprintf(placed->why, sizeof placed->why,
             "the ops need %.0f bytes of memory, all devices together have "
             "%.0f",
             needed, there);
    return true;
}

static mo_status place(const mo_method_task *task, mo_method_result *placed,
                       mo_error *err)
{
    mo_search_state s;
    int rounds = 0;
    mo_status status;

    if (is_too_much(task, placed))
        return MO_OK;
    status = mo_search_state_open(task, &s, err);
    if (status == MO_OK)
        status = mo_search_initial_schedules(&s, err);
    if (status == MO_OK)
        status = bound_segments(&s, err);
    if (status == MO_OK && !mo_search_is_done(&s))
        status = search_segments(&s, &rounds, err);
    if (status == MO_OK && task->proven)
        status = mo_search_export_proven_bounds(&s, task->proven, err);
    if (status == MO_OK)
        answer(&s, rounds, placed);
    mo_search_state_close(&s);
    return status;
}

const mo_method mo_method_moirai = {
    .name = "moirai",
    .help = "pieces between clean cuts, searched and bounded; with a proof",
    .source = "Moirai (this program)",
    .all = true,
    .place = place,
};
