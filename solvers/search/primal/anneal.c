/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated annealing (Kirkpatrick et al., 1983).  A step that makes it longer
 * by d is taken with probability exp(-d / temperature); how much longer is
 * allowed is drawn before the trial, which is given up as soon as it is too
 * long.
 */
#include "solvers/search/primal/anneal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/primal/anneal_state.h"

/* Temperatures where nobody says another: hot is this part of what an op takes
 * on average, so that an ordinary op may be put in a wrong place for a while;
 * cold is that part of hot. */
#define HOT_OF_OP   0.35
#define COLD_OF_HOT 0.15

enum { MOVES_A_LOOK = 256 }; /* at the clock and the temperature */

/* One placement in so many is given a second chance when it is too long by no
 * more than this part of the makespan. */
enum { NEAR_EVERY = 8, NEAR_PART = 50 };

typedef struct best {
    bool found; /* something better than the start */
    int64_t makespan_ns;
    int *device;
    int64_t *start_ns; /* by node */
} best;

typedef struct annealing {
    mo_primal_anneal_state walk;
    const mo_schedule *start;
    best best;
    int64_t hot_ns, cold_ns, now_ns; /* temperatures */
    int64_t moves;
} annealing;

static void keep_best(annealing *a)
{
    const mo_primal_anneal_state *w = &a->walk;
    size_t n = (size_t) w->x->n, n_nodes = n + (size_t) w->x->n_flows;

    a->best.found = true;
    a->best.makespan_ns = w->at->makespan_ns;
    memcpy(a->best.device, w->at->device, n * sizeof *a->best.device);
    memcpy(a->best.start_ns, w->at->start_ns,
           n_nodes * sizeof *a->best.start_ns);
}

/* How much longer is allowed: about temperature * -ln(u).  The whole part of
 * the binary logarithm is exact, between powers of two it is a straight line;
 * no library function is asked, so all machines walk alike. */
static int64_t draw_ns(annealing *a)
{
    uint64_t u = mo_random_next(&a->walk.random) | 1;
    int whole = __builtin_clzll(u);
    int64_t part = (int64_t) (u << whole << 1 >> 48); /* of 65536 */
    int64_t log_2 = ((int64_t) (whole + 1) << 16) - part;
    int64_t log_e = log_2 * 45426 / 65536; /* times ln 2 */

    return a->now_ns / 65536 * log_e + a->now_ns % 65536 * log_e / 65536;
}

/* Falls with the third power of what is left, from hot to cold. */
static void cool(annealing *a)
{
    int64_t total = a->walk.options->moves, left = total - a->moves;
    int64_t part = (int64_t) (1024 * ((double) left / (double) total));
    int64_t span_ns = a->hot_ns - a->cold_ns;

    for (int i = 0; i < 3; i++)
        span_ns = span_ns / 1024 * part + span_ns % 1024 * part / 1024;
    a->now_ns = a->cold_ns + span_ns;
}

static mo_status tell_best(const annealing *a, mo_schedule **schedule,
                           mo_error *err)
{
    return mo_incremental_sim_schedule(a->walk.trial, a->best.device,
                                       a->best.start_ns, schedule, err);
}

/* The walk goes on from the best there is. */
static mo_status go_back(annealing *a, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = a->best.found ? tell_best(a, &s, err) : MO_OK;

    if (status == MO_OK)
        mo_primal_anneal_set_start(&a->walk, s ? s : a->start);
    mo_schedule_free(s);
    return status;
}

/* Live memory depends on the times; the other kinds were looked at with every
 * step. */
static mo_status look_at_memory(const annealing *a, bool *fits, mo_error *err)
{
    const mo_primal_anneal_state *w = &a->walk;
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

/* What stands is shorter than all before.  Where it does not fit, the walk
 * begins anew from what did. */
static mo_status welcome(annealing *a, mo_error *err)
{
    bool fits;
    mo_status status = look_at_memory(a, &fits, err);

    if (status != MO_OK)
        return status;
    if (fits) {
        keep_best(a);
        return MO_OK;
    }
    return go_back(a, err);
}

/* Whether the step leads to no more than that.  A placement that is a little
 * too long may only lack an order of its own. */
static bool try_step(annealing *a, int64_t allowed_ns)
{
    mo_primal_anneal_state *w = &a->walk;
    int64_t near_ns = allowed_ns, ns;

    if (w->n_moves > 0 && mo_primal_anneal_random_below(w, NEAR_EVERY) == 0)
        near_ns += a->best.makespan_ns / NEAR_PART;
    ns = mo_incremental_sim_run(w->trial, near_ns + 1);
    if (ns <= allowed_ns || ns == INT64_MAX)
        return ns <= allowed_ns;
    mo_primal_anneal_justify_trial(w);
    return mo_incremental_sim_run(w->trial, allowed_ns + 1) <= allowed_ns;
}

static mo_status take_step(annealing *a, mo_error *err)
{
    mo_primal_anneal_state *w = &a->walk;
    int64_t allowed_ns = w->at->makespan_ns + draw_ns(a);

    if (!mo_primal_anneal_propose(w) || !try_step(a, allowed_ns)) {
        mo_primal_anneal_reject(w);
        return MO_OK;
    }
    mo_primal_anneal_accept(w);
    return w->at->makespan_ns < a->best.makespan_ns ? welcome(a, err) : MO_OK;
}

static bool has_enough(const annealing *a)
{
    const mo_primal_anneal_options *o = a->walk.options;

    return a->best.makespan_ns <= o->enough_ns || mo_stop_reached(o->stop);
}

static mo_status anneal(annealing *a, mo_error *err)
{
    mo_status status = MO_OK;

    for (; a->moves < a->walk.options->moves && status == MO_OK; a->moves++) {
        if (a->moves % MOVES_A_LOOK == 0) {
            if (has_enough(a))
                break;
            cool(a);
        }
        status = take_step(a, err);
    }
    return status;
}

/* A temperature that somebody asks for, or else the usual one. */
static int64_t or_usual(const annealing *a, double asked, double usual_ns)
{
    double most_ns = (double) a->start->makespan_ns;

    return (int64_t) (asked > 0 && asked < 1 ? asked * most_ns : usual_ns);
}

static mo_status begin(annealing *a, mo_error *err)
{
    const mo_primal_anneal_options *o = a->walk.options;
    const mo_instance *x = a->walk.x;
    double usual_ns = HOT_OF_OP * (double) a->start->makespan_ns / (x->n + 1);

    a->best.device = calloc((size_t) x->n + 1, sizeof *a->best.device);
    a->best.start_ns = calloc((size_t) x->n + (size_t) x->n_flows + 1,
                              sizeof *a->best.start_ns);
    if (!a->best.device || !a->best.start_ns)
        return mo_fail_memory(err);
    a->hot_ns = or_usual(a, o->hot, usual_ns);
    a->cold_ns = or_usual(a, o->cold, COLD_OF_HOT * (double) a->hot_ns);
    a->best.makespan_ns = a->start->makespan_ns;
    return a->walk.at->makespan_ns < a->best.makespan_ns ? welcome(a, err)
                                                         : MO_OK;
}

/* Shifted, unless memory would not allow that. */
static mo_status copy_start(const annealing *a, mo_schedule **schedule,
                            mo_error *err)
{
    const mo_instance *x = a->walk.x;
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

static mo_status finish(annealing *a, mo_schedule **schedule, mo_error *err)
{
    return a->best.found ? tell_best(a, schedule, err)
                         : copy_start(a, schedule, err);
}

mo_status mo_primal_anneal(const mo_instance *x, const mo_regime *regime,
                           const mo_schedule *start,
                           const mo_primal_anneal_options *options,
                           mo_primal_anneal_result *annealed, mo_error *err)
{
    annealing a = { .start = start };
    mo_status status =
        mo_primal_anneal_state_open(&a.walk, x, regime, options, err);

    if (status != MO_OK)
        return status;
    mo_primal_anneal_set_start(&a.walk, start);
    status = begin(&a, err);
    if (status == MO_OK && x->n > 0 && x->n_devices > 1)
        status = anneal(&a, err);
    if (status == MO_OK)
        status = finish(&a, &annealed->schedule, err);
    annealed->moves = a.moves;
    free(a.best.start_ns);
    free(a.best.device);
    mo_primal_anneal_state_close(&a.walk);
    return status;
}
