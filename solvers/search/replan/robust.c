/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placements of a small instance are enumerated.  Annealing: a unit moves to
 * another device, ops keep their order as far as inputs allow (list scheduling
 * by their starts), and the worst scenario is the cost.
 */
#include "solvers/search/replan/robust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"
#include "schedule/heuristic/annealer.h"
#include "schedule/heuristic/heft.h"
#include "schedule/period/loads.h"
#include "schedule/period/stress.h"
#include "schedule/sim/sim.h"
#include "solvers/search/period/load_state.h"

#define DEFAULT_WORK INT64_C(1000000000)
/* Temperatures, as parts of the worst case of the start: an ordinary op may be
 * misplaced at first. */
#define HOT   0.01
#define OF_OP 1.0
#define COLD  0.0005

enum {
    STEP_WORK = 3000, /* of an evaluation, and ... */
    OP_WORK = 900,    /* ... for each op */
    MOST_STEPS = 100000,
    MAX_GROUP = 8,
    MOST_PLACEMENTS = 4096 /* that are enumerated */
};

typedef struct robust {
    const mo_method_task *task;
    const mo_instance *x;
    mo_period_problem p;
    mo_sim *sim;
    mo_random random;
    int *device, *rank; /* by op: of the proposal */
    int64_t *used_bytes;
    mo_schedule *current, *proposed, *best;
    mo_stress worst; /* of the current schedule */
    mo_stress new_worst;
    int64_t best_ns;
} robust;

/* An op and its start, to rank them. */
typedef struct ranked_op {
    int64_t start_ns;
    int op;
} ranked_op;

static int compare_ops(const void *a, const void *b)
{
    const ranked_op *v = a, *w = b;

    if (v->start_ns != w->start_ns)
        return v->start_ns < w->start_ns ? -1 : 1;
    return (v->op > w->op) - (v->op < w->op);
}

static mo_status rank_ops(robust *r, mo_error *err)
{
    ranked_op *ops = calloc((size_t) r->x->n + 1, sizeof *ops);

    if (!ops)
        return mo_fail_memory(err);
    for (int i = 0; i < r->x->n; i++)
        ops[i] = (ranked_op){ r->current->start_ns[i], i };
    qsort(ops, (size_t) r->x->n, sizeof *ops, compare_ops);
    for (int i = 0; i < r->x->n; i++)
        r->rank[ops[i].op] = i;
    free(ops);
    return MO_OK;
}

static int random_neighbour(robust *r, int op)
{
    const mo_instance *x = r->x;
    int n_out = x->out_start[op + 1] - x->out_start[op];
    int n_in = x->in_start[op + 1] - x->in_start[op], at;

    if (n_out + n_in == 0)
        return op;
    at = mo_random_below(&r->random, n_out + n_in);
    return at < n_out
               ? x->flows[x->out_start[op] + at].to
               : x->flows[x->in_flows[x->in_start[op] + at - n_out]].from;
}

static bool move_unit(robust *r, int unit, int to)
{
    const mo_placement_units *units = r->p.units;

    if (!mo_allowed_devices_has(&r->p.domains, units->ops[units->start[unit]],
                                to))
        return false;
    for (int j = units->start[unit]; j < units->start[unit + 1]; j++)
        r->device[units->ops[j]] = to;
    return true;
}

/* Moves a few neighbours, from the op of the worst scenario or any other, to
 * the device of a neighbour or any other. */
static bool change_device(robust *r)
{
    const mo_instance *x = r->x;
    int op = r->worst.op != MO_FREE && mo_random_below(&r->random, 4) == 0
                 ? r->worst.op
                 : mo_random_below(&r->random, x->n);
    int size = 1 + mo_random_below(&r->random,
                                   mo_random_below(&r->random, MAX_GROUP) + 1);
    int to = r->device[random_neighbour(r, op)], from = r->device[op];
    bool any = false;

    /* Any units to any devices: two may change places, or more in turn. */
    for (int i = mo_random_below(&r->random, 4); i > 0 && size > 1; i--)
        any |= move_unit(r, mo_random_below(&r->random, r->p.units->n),
                         mo_random_below(&r->random, x->n_devices));
    if (any)
        return true;
    if (to == from || mo_random_below(&r->random, 3) == 0)
        to = mo_random_below(&r->random, x->n_devices);
    for (int i = 0; i < size && to != from; i++) {
        if (r->device[op] == from)
            any |= move_unit(r, r->p.units->of_op[op], to);
        op = random_neighbour(r, op);
    }
    return any;
}

/* Sets r->proposed for r->device, or leaves it NULL beyond memory. */
static mo_status make_proposal(robust *r, mo_error *err)
{
    const mo_sim_plan plan = { .device = r->device, .rank = r->rank };
    mo_memory memory = r->task->regime.memory;
    bool fits = mo_period_fits_memory(r->x, memory, r->device, r->used_bytes);
    mo_status status = MO_OK;

    if (!fits)
        return MO_OK;
    if (r->task->objective == MO_OBJECTIVE_PERIOD)
        return mo_schedule_new(r->x, &r->task->regime, r->device, &r->proposed,
                               err);
    status = mo_sim_schedule(r->sim, &plan, &r->proposed, err);
    if (status == MO_OK && memory == MO_MEMORY_LIVE)
        status = mo_schedule_fits_memory(r->x, r->proposed, &fits, err);
    if (!fits) {
        mo_schedule_free(r->proposed);
        r->proposed = NULL;
    }
    return status;
}

static mo_status propose(void *search, mo_annealer *annealer, bool *accepted,
                         mo_error *err)
{
    robust *r = search;
    mo_status status;

    memcpy(r->device, r->current->device, (size_t) r->x->n * sizeof(int));
    if (!change_device(r))
        return MO_OK;
    status = make_proposal(r, err);
    if (status == MO_OK && r->proposed)
        status = mo_stress_find(r->x, r->task->objective, r->proposed,
                                r->task->stress, &r->new_worst, err);
    if (status == MO_OK && r->proposed)
        *accepted = mo_annealer_accepts(
            annealer, (double) (r->new_worst.worst_ns - r->worst.worst_ns));
    return status;
}

static void reject(void *search)
{
    robust *r = search;

    mo_schedule_free(r->proposed);
    r->proposed = NULL;
}

static mo_status accept(void *search, mo_error *err)
{
    robust *r = search;
    mo_status status = MO_OK;

    mo_schedule_free(r->current);
    r->current = r->proposed;
    r->proposed = NULL;
    r->worst = r->new_worst;
    if (r->worst.worst_ns < r->best_ns) {
        mo_schedule_free(r->best);
        r->best = NULL;
        r->best_ns = r->worst.worst_ns;
        status = mo_schedule_copy(r->x, r->current, &r->best, err);
    }
    return status == MO_OK && r->task->objective == MO_OBJECTIVE_LATENCY
               ? rank_ops(r, err)
               : status;
}

/* Takes the proposal where its worst case is the best so far, or frees it. */
static mo_status keep_if_best(robust *r, mo_error *err)
{
    mo_stress worst;
    mo_status status = MO_OK;

    if (!r->proposed)
        return MO_OK;
    status = mo_stress_find(r->x, r->task->objective, r->proposed,
                            r->task->stress, &worst, err);
    if (status == MO_OK && worst.worst_ns < r->best_ns) {
        mo_schedule_free(r->best);
        r->best = r->proposed;
        r->best_ns = worst.worst_ns;
    } else {
        mo_schedule_free(r->proposed);
    }
    r->proposed = NULL;
    return status;
}

/* All placements of a small instance: annealing can miss some between which
 * memory allows no moves. */
static mo_status enumerate(robust *r, mo_error *err)
{
    mo_period_state state = { .problem = NULL };
    double n = pow(r->x->n_devices, r->p.units->n);
    mo_status status = MO_OK;

    if (n > MOST_PLACEMENTS)
        return MO_OK;
    status = mo_period_state_init(&state, &r->p, err);
    memset(r->device, 0, (size_t) r->x->n * sizeof *r->device);
    if (status == MO_OK)
        mo_period_state_set(&state, r->device);
    while (status == MO_OK) {
        memcpy(r->device, state.device, (size_t) r->x->n * sizeof *r->device);
        if (mo_period_state_is_allowed(&state))
            status = make_proposal(r, err);
        if (status == MO_OK)
            status = keep_if_best(r, err);
        if (!mo_period_state_next(&state))
            break;
    }
    mo_period_state_clear(&state);
    return status;
}

static mo_status open_robust(robust *r, mo_error *err)
{
    size_t n = (size_t) r->x->n + 1, K = (size_t) r->x->n_devices + 1;
    mo_status status =
        mo_period_problem_init(&r->p, r->x, &r->task->regime, err);

    r->device = calloc(n, sizeof *r->device);
    r->rank = calloc(n, sizeof *r->rank);
    r->used_bytes = calloc(K, sizeof *r->used_bytes);
    if (status == MO_OK && (!r->device || !r->rank || !r->used_bytes))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_sim_new(r->x, &r->task->regime, &r->sim, err);
    if (status == MO_OK)
        status =
            mo_schedule_copy(r->x, r->task->start->schedule, &r->current, err);
    if (status == MO_OK)
        status = mo_schedule_copy(r->x, r->current, &r->best, err);
    if (status == MO_OK)
        status = rank_ops(r, err);
    if (status == MO_OK)
        status = mo_stress_find(r->x, r->task->objective, r->current,
                                r->task->stress, &r->worst, err);
    r->best_ns = r->worst.worst_ns;
    return status;
}

static void close_robust(robust *r)
{
    mo_schedule_free(r->best);
    mo_schedule_free(r->proposed);
    mo_schedule_free(r->current);
    mo_sim_free(r->sim);
    free(r->used_bytes);
    free(r->rank);
    free(r->device);
    mo_period_problem_clear(&r->p);
}

static mo_status place_robust(const mo_method_task *task,
                              mo_method_result *placed, mo_error *err)
{
    static const mo_annealer_moves moves = { .propose = propose,
                                             .reject = reject,
                                             .accept = accept };
    const int64_t step_work =
        STEP_WORK + (int64_t) OP_WORK * (task->x->n + task->x->n_flows);
    const mo_regime free_memory = { task->regime.congestion,
                                    task->regime.tensors, MO_MEMORY_NONE };
    robust r = { .task = task, .x = task->x, .random = { task->seed } };
    mo_annealer annealer = {
        .rule = MO_ANNEALER_METROPOLIS,
        .cooling = { .hot = HOT + OF_OP / (task->x->n + 1),
                     .cold = COLD,
                     .every = 16 },
        .steps = mo_min_i64(
            (task->max_work > 0 ? task->max_work : DEFAULT_WORK) / step_work +
                1,
            MOST_STEPS),
        .random = &r.random,
        .stop = task->stop
    };
    mo_status status = open_robust(&r, err);

    annealer.unit = (double) r.worst.worst_ns + 1;
    if (status == MO_OK && task->x->n > 0)
        status = enumerate(&r, err);
    if (status == MO_OK && task->x->n_devices > 1 && task->x->n > 0)
        status = mo_annealer_run(&annealer, &moves, &r, err);
    if (status == MO_OK && task->objective == MO_OBJECTIVE_PERIOD) {
        /* Proposals had no times. */
        status = mo_heft(task->x, &free_memory, r.best->device,
                         &placed->schedule, err);
    } else if (status == MO_OK) {
        placed->schedule = r.best;
        r.best = NULL;
    }
    if (placed->schedule)
        placed->schedule->regime = task->regime;
    placed->fits = placed->schedule != NULL;
    close_robust(&r);
    return status;
}

const mo_method mo_method_robust = {
    .name = "robust",
    .help = "local search for the least worst case of --stress",
    .source = "Moirai (this program)",
    .place = place_robust,
};
