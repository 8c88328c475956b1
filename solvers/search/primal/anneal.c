/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tolerated increase of the makespan is drawn before the simulation of a
 * move, which is aborted once it exceeds that.
 */
#include "solvers/search/primal/anneal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "schedule/heuristic/annealer.h"
#include "solvers/search/primal/anneal_state.h"

/* Default temperatures: hot is this part of the mean time of an op, so that an
 * ordinary op may be misplaced for a while; cold is that part of hot. */
#define HOT_OF_OP   0.35
#define COLD_OF_HOT 0.15

enum {
    MOVES_PER_CHECK = 256, /* between checks of clock and temperature */
    MOVE_WORK = 300,       /* of a move (mo_stop_spend), and ... */
    OP_WORK = 40           /* ... for each op */
};

/* One rejected placement in so many is tried again with another order if it is
 * too long by no more than this part of the makespan. */
enum { NEAR_EVERY = 8, NEAR_PART = 50 };

/* Price of bytes beyond memory: first, bytes of an op of mean size cost so many
 * times its mean share of the makespan; then it changes by a factor, up to
 * MOST_PRICE_FACTOR in all. */
#define FIRST_PRICE       8
#define PRICE_FACTOR      1.02
#define MOST_PRICE_FACTOR 1000

typedef struct best {
    bool found; /* shorter than the start */
    int64_t makespan_ns;
    int64_t cost_ns; /* with priced bytes */
    int *device;
    int64_t *start_ns; /* by node */
} best;

typedef struct annealing {
    mo_primal_anneal_state state;
    const mo_schedule *start;
    best best;
    int64_t priced_ns;        /* priced bytes of the current schedule */
    int64_t more_ns;          /* the same, that the proposal adds */
    int64_t overflow_bytes;   /* of the current schedule */
    double overflow_price_ns; /* by byte */
    double first_price_ns;
    bool retries;                /* rejected placements with another order */
    bool was_within, was_beyond; /* memory, since the last check */
} annealing;

static int64_t to_ns(double ns)
{
    return ns < 1e17 ? (int64_t) ns : (int64_t) 1e17;
}

/* Returns the price of a unit on a device. */
static double price_of_unit(const mo_primal_anneal_state *w, int unit,
                            int device)
{
    const mo_primal_anneal_options *o = w->options;

    if (o->unit_price_ns)
        return o->unit_price_ns[(int64_t) unit * w->x->n_devices + device];
    return o->price_ns ? o->price_ns[device] * (double) w->units->bytes[unit]
                       : 0;
}

/* Returns the prices of a placement, by op. */
static int64_t placement_price_ns(const annealing *a, const int *device)
{
    const mo_placement_units *units = a->state.units;
    double sum_ns = 0;

    for (int u = 0; u < units->n; u++)
        sum_ns +=
            price_of_unit(&a->state, u, device[units->ops[units->start[u]]]);
    return to_ns(sum_ns);
}

static mo_status make_best_schedule(const annealing *a, mo_schedule **schedule,
                                    mo_error *err)
{
    return mo_incremental_sim_schedule(a->state.trial, a->best.device,
                                       a->best.start_ns, schedule, err);
}

/* Live memory depends on the times; other memory models were checked with each
 * move. */
static mo_status check_live_memory(const annealing *a, bool *fits,
                                   mo_error *err)
{
    const mo_primal_anneal_state *w = &a->state;
    mo_schedule *s = NULL;
    mo_status status = MO_OK;

    *fits = true;
    if (w->regime.memory != MO_MEMORY_LIVE)
        return MO_OK;
    status = mo_incremental_sim_schedule(w->trial, w->at->device,
                                         w->at->start_ns, &s, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(w->x, s, fits, err);
    mo_schedule_free(s);
    return status;
}

/* Accepts the current schedule as the new best; restarts from the previous
 * best where it does not fit memory. */
static mo_status accept_best(annealing *a, mo_error *err)
{
    bool fits;
    mo_status status = check_live_memory(a, &fits, err);

    if (status != MO_OK)
        return status;
    if (fits) {
        size_t n = (size_t) a->state.x->n;
        size_t n_nodes = n + (size_t) a->state.x->n_flows;
        a->best.found = true;
        a->best.makespan_ns = a->state.at->makespan_ns;
        a->best.cost_ns = a->best.makespan_ns + a->priced_ns;
        memcpy(a->best.device, a->state.at->device, n * sizeof *a->best.device);
        memcpy(a->best.start_ns, a->state.at->start_ns,
               n_nodes * sizeof *a->best.start_ns);
        return MO_OK;
    }

    /* Restarts from the best schedule. */
    mo_schedule *s = NULL;
    status = a->best.found ? make_best_schedule(a, &s, err) : MO_OK;

    if (status == MO_OK)
        mo_primal_anneal_set_start(&a->state, s ? s : a->start);
    if (status == MO_OK)
        a->priced_ns = placement_price_ns(a, (s ? s : a->start)->device);
    a->overflow_bytes = a->state.overflow_bytes;
    mo_schedule_free(s);
    return status;
}

/* Returns whether the move leads to at most allowed_ns. A placement that is a
 * little too long may only lack an order of its own. */
static bool simulate_move(annealing *a, int64_t allowed_ns)
{
    mo_primal_anneal_state *w = &a->state;
    int64_t near_ns = allowed_ns, ns;

    if (w->n_moves > 0 && a->retries &&
        mo_primal_anneal_random_below(w, NEAR_EVERY) == 0)
        near_ns += a->best.makespan_ns / NEAR_PART;
    ns = mo_incremental_sim_run(w->trial, near_ns + 1);
    if (ns <= allowed_ns || ns == INT64_MAX)
        return ns <= allowed_ns;
    mo_primal_anneal_justify_trial(w);
    return mo_incremental_sim_run(w->trial, allowed_ns + 1) <= allowed_ns;
}

static mo_status propose_move(void *search, mo_annealer *annealer,
                              bool *accepted, mo_error *err)
{
    annealing *a = search;
    mo_primal_anneal_state *w = &a->state;
    int64_t allowed_ns = w->at->makespan_ns + mo_annealer_tolerance(annealer);
    bool proposed = mo_primal_anneal_propose(w);

    (void) err;
    if (proposed) {
        /* How much the proposed moves add to the prices. */
        double sum_ns = 0;

        for (int i = 0; i < w->n_moves; i++)
            sum_ns += price_of_unit(w, w->moves[i].unit, w->moves[i].to) -
                      price_of_unit(w, w->moves[i].unit, w->moves[i].from);
        a->more_ns = to_ns(sum_ns);
    } else {
        a->more_ns = 0;
    }
    /* The price of the bytes beyond memory, too. */
    allowed_ns -=
        a->more_ns + to_ns(a->overflow_price_ns *
                           (double) (w->overflow_bytes - a->overflow_bytes));
    *accepted = proposed && allowed_ns >= 0 && simulate_move(a, allowed_ns);
    return MO_OK;
}

static void reject_move(void *search)
{
    mo_primal_anneal_reject(&((annealing *) search)->state);
}

static mo_status accept_move(void *search, mo_error *err)
{
    annealing *a = search;
    mo_primal_anneal_state *w = &a->state;

    mo_primal_anneal_accept(w);
    a->priced_ns += a->more_ns;
    a->overflow_bytes = w->overflow_bytes;
    a->was_beyond |= a->overflow_bytes > 0;
    a->was_within |= a->overflow_bytes == 0;
    return (a->overflow_bytes == 0 || !w->options->oscillate) &&
                   w->at->makespan_ns + a->priced_ns < a->best.cost_ns
               ? accept_best(a, err)
               : MO_OK;
}

/* Ends at a lower bound.  The price of bytes beyond memory rises while no
 * schedule is within memory, and falls while all are. */
static bool check_run(void *search, const mo_annealer *annealer)
{
    annealing *a = search;

    (void) annealer;
    if (a->best.makespan_ns <= a->state.options->enough_ns)
        return false;
    if (a->was_beyond != a->was_within)
        a->overflow_price_ns =
            a->was_beyond ? fmin(a->overflow_price_ns * PRICE_FACTOR,
                                 a->first_price_ns * MOST_PRICE_FACTOR)
                          : fmax(a->overflow_price_ns / PRICE_FACTOR,
                                 a->first_price_ns / MOST_PRICE_FACTOR);
    a->was_beyond = a->was_within = false;
    return true;
}

int64_t mo_primal_anneal_move_work(int n_ops)
{
    return MOVE_WORK + (int64_t) OP_WORK * n_ops;
}

/* Returns the option's temperature if it is set, else the default. */
static double choose_temperature(const annealing *a, double asked,
                                 double usual_ns)
{
    double most_ns = (double) a->start->makespan_ns;

    return trunc(asked > 0 && asked < 1 ? asked * most_ns : usual_ns);
}

/* Anneals; returns the moves made in *moves. */
static mo_status run_moves(annealing *a, int64_t *moves, mo_error *err)
{
    static const mo_annealer_moves functions = { .propose = propose_move,
                                                 .reject = reject_move,
                                                 .accept = accept_move,
                                                 .check = check_run };
    const mo_primal_anneal_options *o = a->state.options;
    double hot_ns = choose_temperature(
        a, o->hot,
        HOT_OF_OP * (double) a->start->makespan_ns / (a->state.x->n + 1));
    mo_annealer annealer = {
        .rule = MO_ANNEALER_TOLERANCE,
        .cooling = { .hot = hot_ns,
                     .cold =
                         choose_temperature(a, o->cold, COLD_OF_HOT * hot_ns),
                     .power = 3,
                     .levels = 1024,
                     .is_whole = true,
                     .every = MOVES_PER_CHECK },
        .unit = 1,
        .steps = o->moves,
        .random = &a->state.random,
        .stop = o->stop,
        .step_work = (int) mo_primal_anneal_move_work(a->state.x->n)
    };
    mo_status status = mo_annealer_run(&annealer, &functions, a, err);

    *moves = annealer.done;
    return status;
}

/* Copies the start, left-shifted unless memory forbids that. */
static mo_status copy_start(const annealing *a, mo_schedule **schedule,
                            mo_error *err)
{
    const mo_instance *x = a->state.x;
    mo_schedule *s = NULL;
    bool fits = false;
    mo_status status = mo_schedule_copy(x, a->start, &s, err);

    if (status == MO_OK)
        status = mo_schedule_left_shift(x, s, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(x, s, &fits, err);
    if (status == MO_OK && fits) {
        *schedule = s;
        return MO_OK;
    }
    mo_schedule_free(s);
    return status == MO_OK ? mo_schedule_copy(x, a->start, schedule, err)
                           : status;
}

mo_status mo_primal_anneal(const mo_instance *x, const mo_regime *regime,
                           const mo_schedule *start,
                           const mo_primal_anneal_options *options,
                           mo_primal_anneal_result *annealed, mo_error *err)
{
    annealing a = { .start = start,
                    .retries = !mo_ablated(MO_ABLATION_anneal_retry) };
    mo_primal_anneal_options used = *options;
    mo_status status;

    /* Removes what an ablation study switches off. */
    if (mo_ablated(MO_ABLATION_anneal))
        used.moves = 0;
    if (mo_ablated(MO_ABLATION_anneal_branch))
        used.branch_ops = NULL;
    used.eject = used.eject && !mo_ablated(MO_ABLATION_anneal_eject);
    used.oscillate =
        used.oscillate && !mo_ablated(MO_ABLATION_anneal_oscillate);
    status = mo_primal_anneal_state_open(&a.state, x, regime, &used, err);
    if (status != MO_OK)
        return status;
    mo_primal_anneal_set_start(&a.state, start);

    const mo_primal_anneal_options *o = a.state.options;
    const mo_instance *instance = a.state.x;
    double bytes = 0;

    a.best.device = calloc((size_t) instance->n + 1, sizeof *a.best.device);
    a.best.start_ns =
        calloc((size_t) instance->n + (size_t) instance->n_flows + 1,
               sizeof *a.best.start_ns);
    if (!a.best.device || !a.best.start_ns) {
        status = mo_fail_memory(err);
    } else {
        a.best.makespan_ns = a.start->makespan_ns;
        a.priced_ns = placement_price_ns(&a, a.start->device);
        a.best.cost_ns = a.best.makespan_ns + a.priced_ns;
        for (int u = 0; u < a.state.units->n; u++)
            bytes += (double) a.state.units->bytes[u];
        if (o->oscillate && bytes > 0)
            a.overflow_price_ns = a.first_price_ns =
                FIRST_PRICE * (double) a.start->makespan_ns / bytes;
        status = a.state.at->makespan_ns < a.best.makespan_ns
                     ? accept_best(&a, err)
                     : MO_OK;
    }
    annealed->moves = 0;
    if (status == MO_OK && x->n > 0 && x->n_devices > 1)
        status = run_moves(&a, &annealed->moves, err);
    if (status == MO_OK)
        status = a.best.found ? make_best_schedule(&a, &annealed->schedule, err)
                              : copy_start(&a, &annealed->schedule, err);
    free(a.best.start_ns);
    free(a.best.device);
    mo_primal_anneal_state_close(&a.state);
    return status;
}
