/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates are the old placement, its free ops placed by list scheduling or
 * together on one device, and placements from nothing; annealing improves the
 * best of them.  All are compared by the objective and the price of moves.
 */
#include "solvers/search/replan/replan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "cost/instance/derived.h"
#include "schedule/bound/memory_bound.h"
#include "schedule/heuristic/heft.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/heuristic/upper_bound.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "solvers/search/period/load_state.h"
#include "solvers/search/period/local_search.h"
#include "solvers/search/primal/anneal.h"

#define DEFAULT_WORK INT64_C(400000000)
/* First temperature of the period, relative to it. */
#define HOT_PERIOD 0.003

enum {
    LOAD_STEP_WORK = 400, /* of a step on the loads, and ... */
    RESOURCE_WORK = 12,   /* ... for each resource */
    MOST_MOVES = 200000,
    MOST_SINGLES = 16 /* devices that are tried for all free ops */
};

typedef struct replan {
    const mo_method_task *task;
    const mo_instance *x;
    mo_period_problem p; /* units, and the devices they may be on */
    int *old;            /* by unit: its device, or MO_FREE */
    double *price_ns;    /* of a unit on a device */
    int n_free;          /* units */
    int *device;         /* by op: work space */
    int64_t *used_bytes; /* by device: work space */
    mo_schedule *best;   /* within memory; NULL: none yet */
    int64_t best_ns;     /* with the price of moves */
} replan;

double mo_replan_move_ns(const mo_instance *x, const mo_method_start *start,
                         int op, int a, int b)
{
    if (a == MO_FREE || a == b || !start->byte_ns)
        return 0;
    return (double) x->weight_bytes[op] *
           start->byte_ns[(int64_t) a * x->n_devices + b];
}

static void close_replan(replan *r)
{
    mo_schedule_free(r->best);
    free(r->used_bytes);
    free(r->device);
    free(r->price_ns);
    free(r->old);
    mo_period_problem_clear(&r->p);
}

/* A unit stays where its first placed op is, unless it must not. */
static void place_units(replan *r)
{
    const mo_placement_units *units = r->p.units;
    const mo_method_start *start = r->task->start;

    for (int u = 0; u < units->n; u++) {
        int first = units->ops[units->start[u]];

        r->old[u] = MO_FREE;
        for (int j = units->start[u]; j < units->start[u + 1]; j++)
            if (r->old[u] == MO_FREE)
                r->old[u] = start->device[units->ops[j]];
        if (r->old[u] != MO_FREE &&
            !mo_allowed_devices_has(&r->p.domains, first, r->old[u]))
            r->old[u] = MO_FREE;
        r->n_free += r->old[u] == MO_FREE;
        for (int j = units->start[u]; j < units->start[u + 1]; j++)
            for (int k = 0; k < r->x->n_devices; k++)
                r->price_ns[(int64_t) u * r->x->n_devices + k] +=
                    mo_replan_move_ns(r->x, start, units->ops[j],
                                      start->device[units->ops[j]], k);
    }
}

static mo_status open_replan(replan *r, mo_error *err)
{
    mo_status status =
        mo_period_problem_init(&r->p, r->x, &r->task->regime, err);
    size_t n_units, n_devices = (size_t) r->x->n_devices;

    if (status != MO_OK)
        return status;
    n_units = (size_t) r->p.units->n;
    r->old = calloc(n_units + 1, sizeof *r->old);
    r->price_ns = calloc(n_units * n_devices + 1, sizeof *r->price_ns);
    r->device = calloc((size_t) r->x->n + 1, sizeof *r->device);
    r->used_bytes = calloc(n_devices + 1, sizeof *r->used_bytes);
    if (!r->old || !r->price_ns || !r->device || !r->used_bytes)
        return mo_fail_memory(err);
    place_units(r);
    return MO_OK;
}

/* Sets the objective of a schedule, and whether it is within memory. */
static mo_status evaluate(const replan *r, const mo_schedule *s, int64_t *ns,
                          bool *fits, mo_error *err)
{
    const mo_method_task *task = r->task;
    mo_modulo_schedule pipeline = { 0 };
    mo_status status;

    if (task->objective != MO_OBJECTIVE_PERIOD) {
        *ns = s->makespan_ns;
        return mo_schedule_fits_memory(r->x, s, fits, err);
    }
    *fits = mo_period_fits_memory(r->x, task->regime.memory, s->device,
                                  r->used_bytes);
    if (!*fits ||
        (task->in_flight == 0 && task->regime.memory != MO_MEMORY_LIVE))
        return mo_period_objective(r->x, task->objective, 0, s, ns, err);
    status = mo_modulo_schedule_make(r->x, &task->regime, s->device,
                                     task->in_flight, s, &pipeline, err);
    *ns = pipeline.period_ns;
    *fits = pipeline.fits;
    mo_modulo_schedule_clear(&pipeline);
    return status;
}

/* Takes over a schedule, or NULL: the best so far if it is. */
static mo_status offer(replan *r, mo_schedule *s, mo_error *err)
{
    const mo_placement_units *units = r->p.units;
    double price_ns = 0;
    int64_t ns = 0;
    bool fits = false;
    mo_status status;

    if (!s)
        return MO_OK;
    s->regime = r->task->regime;
    status = evaluate(r, s, &ns, &fits, err);
    for (int u = 0; u < units->n; u++)
        price_ns += r->price_ns[(int64_t) u * r->x->n_devices +
                                s->device[units->ops[units->start[u]]]];
    ns += (int64_t) price_ns;
    if (status != MO_OK || !fits || (r->best && ns >= r->best_ns)) {
        mo_schedule_free(s);
        return status;
    }
    mo_schedule_free(r->best);
    r->best = s;
    r->best_ns = ns;
    return MO_OK;
}

/* Offers the placement r->device with the times of list scheduling. */
static mo_status offer_placement(replan *r, mo_error *err)
{
    const mo_regime free_memory = { r->task->regime.congestion,
                                    r->task->regime.tensors, MO_MEMORY_NONE };
    mo_schedule *s = NULL;
    mo_status status = mo_heft(r->x, &free_memory, r->device, &s, err);

    return status == MO_OK ? offer(r, s, err) : status;
}

/* Sets r->device: free units on device k. */
static void fill(replan *r, int k)
{
    const mo_placement_units *units = r->p.units;

    for (int u = 0; u < units->n; u++)
        for (int j = units->start[u]; j < units->start[u + 1]; j++)
            r->device[units->ops[j]] = r->old[u] == MO_FREE ? k : r->old[u];
}

static bool may_take_all(const replan *r, int k)
{
    const mo_placement_units *units = r->p.units;

    for (int u = 0; u < units->n; u++)
        if (r->old[u] == MO_FREE &&
            !mo_allowed_devices_has(&r->p.domains, units->ops[units->start[u]],
                                    k))
            return false;
    return true;
}

/* The old placement, with its own order and with that of list scheduling. */
static mo_status offer_old(replan *r, mo_error *err)
{
    const mo_schedule *known = r->task->start->schedule;
    mo_schedule *s = NULL;
    mo_status status = MO_OK;

    fill(r, 0);
    if (known && memcmp(known->device, r->device,
                        (size_t) r->x->n * sizeof *r->device) == 0) {
        /* The order may contradict a network that has changed. */
        status = mo_schedule_new(r->x, &r->task->regime, r->device, &s, err);
        if (status == MO_OK && s->n_transfers == known->n_transfers) {
            memcpy(s->start_ns, known->start_ns,
                   (size_t) s->n * sizeof *s->start_ns);
            if (s->n_transfers > 0)
                memcpy(s->transfers, known->transfers,
                       (size_t) s->n_transfers * sizeof *s->transfers);
            if (mo_schedule_left_shift(r->x, s, NULL) == MO_OK) {
                status = offer(r, s, err);
                s = NULL;
            }
        }
        mo_schedule_free(s);
    }
    return status == MO_OK ? offer_placement(r, err) : status;
}

/* Free units by list scheduling, the others where they are; where that does
 * not fit into memory, by search for a placement within it. */
static mo_status offer_free_by_list(replan *r, mo_error *err)
{
    mo_instance *pinned = mo_instance_derive(r->x);
    mo_schedule *s = NULL;
    int64_t bound_ns;
    mo_status status;

    if (!pinned)
        return mo_fail_memory(err);
    pinned->pin = mo_arena_array(pinned->arena, (size_t) r->x->n + 1,
                                 sizeof *pinned->pin);
    status = pinned->pin ? MO_OK : mo_fail_memory(err);
    for (int i = 0; i < r->x->n && status == MO_OK; i++) {
        int old = r->old[r->p.units->of_op[i]];

        pinned->pin[i] = old == MO_FREE ? r->x->pin[i] : old;
    }
    if (status == MO_OK)
        status = mo_heft(pinned, &r->task->regime, NULL, &s, err);
    if (status == MO_OK)
        status = offer(r, s, err);
    if (status == MO_OK && !r->best) {
        s = NULL;
        status = mo_bound_upper(pinned, &r->task->regime, &s, &bound_ns, err);
        if (status == MO_OK)
            status = offer(r, s, err);
    }
    mo_instance_free(pinned);
    return status;
}

/* Placements that do not begin with the old one. */
static mo_status offer_new(replan *r, mo_error *err)
{
    mo_schedule *s = NULL;
    int64_t bound_ns;
    int single = MO_FREE;
    mo_status status = mo_heft(r->x, &r->task->regime, NULL, &s, err);

    if (status == MO_OK)
        status = offer(r, s, err);
    s = NULL;
    if (status == MO_OK)
        status = mo_single_device_best(r->x, &r->task->regime, &single,
                                       &bound_ns, err);
    if (status == MO_OK && single != MO_FREE)
        status =
            mo_single_device_schedule(r->x, &r->task->regime, single, &s, err);
    if (status == MO_OK)
        status = offer(r, s, err);
    s = NULL;
    if (status == MO_OK && !r->best)
        status = mo_bound_upper(r->x, &r->task->regime, &s, &bound_ns, err);
    return status == MO_OK ? offer(r, s, err) : status;
}

static mo_status find_candidates(replan *r, mo_error *err)
{
    mo_status status = MO_OK;

    if (r->n_free == 0)
        status = offer_old(r, err);
    else
        status = offer_free_by_list(r, err);
    for (int k = 0; r->n_free > 0 && k < r->x->n_devices && k < MOST_SINGLES &&
                    status == MO_OK && !mo_stop_reached(r->task->stop);
         k++)
        if (may_take_all(r, k)) {
            fill(r, k);
            status = offer_placement(r, err);
        }
    return status == MO_OK ? offer_new(r, err) : status;
}

static int64_t moves_for(int64_t work, int64_t move_work)
{
    return mo_min_i64(work / move_work, MOST_MOVES);
}

static mo_status search_latency(replan *r, int64_t work, mo_error *err)
{
    const mo_primal_anneal_options options = {
        .seed = r->task->seed,
        .moves = moves_for(work, mo_primal_anneal_move_work(r->x->n)),
        .unit_price_ns = r->price_ns,
        .eject = true,
        .stop = r->task->stop
    };
    mo_primal_anneal_result annealed = { 0 };
    mo_status status = mo_primal_anneal(r->x, &r->task->regime, r->best,
                                        &options, &annealed, err);

    return status == MO_OK ? offer(r, annealed.schedule, err) : status;
}

static mo_status search_period(replan *r, int64_t work, mo_error *err)
{
    double *prices = calloc((size_t) r->p.n_resources + 1, sizeof *prices);
    const mo_period_anneal options = {
        .seed = r->task->seed,
        .steps = moves_for(work, LOAD_STEP_WORK + (int64_t) RESOURCE_WORK *
                                                      r->p.n_resources),
        .hot = HOT_PERIOD,
        .prices = prices,
        .unit_price_ns = r->price_ns,
        .stop = r->task->stop
    };
    int64_t period_ns, excess_bytes;
    mo_status status = prices ? MO_OK : mo_fail_memory(err);

    memcpy(r->device, r->best->device, (size_t) r->x->n * sizeof *r->device);
    if (status == MO_OK)
        status = mo_period_anneal_run(&r->p, &options, r->device, &period_ns,
                                      &excess_bytes, err);
    free(prices);
    return status == MO_OK ? offer_placement(r, err) : status;
}

static mo_status place_replan(const mo_method_task *task,
                              mo_method_result *placed, mo_error *err)
{
    replan r = { .task = task, .x = task->x };
    int64_t work = task->max_work > 0 ? task->max_work : DEFAULT_WORK;
    mo_error why = { 0 };
    mo_status status = mo_bound_memory(task->x, &task->regime, &why);

    if (status == MO_E_INFEASIBLE) {
        placed->infeasible = true;
        snprintf(placed->why, sizeof placed->why, "%s", why.text);
        return MO_OK;
    }
    if (status == MO_OK)
        status = open_replan(&r, err);
    else if (err)
        *err = why;
    if (status == MO_OK)
        status = find_candidates(&r, err);
    if (status == MO_OK && r.best)
        status = task->objective == MO_OBJECTIVE_PERIOD
                     ? search_period(&r, work, err)
                     : search_latency(&r, work, err);
    if (status == MO_OK) {
        placed->schedule = r.best;
        placed->fits = r.best != NULL;
        placed->stopped = mo_stop_reached(task->stop);
        if (!r.best)
            snprintf(placed->why, sizeof placed->why,
                     "found no placement that fits into memory");
        r.best = NULL;
    }
    close_replan(&r);
    return status;
}

const mo_method mo_method_replan = {
    .name = "replan",
    .help = "local search from the placement of --from",
    .source = "Moirai (this program)",
    .place = place_replan,
};
