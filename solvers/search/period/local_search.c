/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves: a unit, a connected group of units on one device, or two units that
 * change places.  The largest load alone has plateaus everywhere, so moves are
 * judged by a p-norm of all loads, of growing p, and by the loads at the prices
 * of the bound; the best placement is kept by its period.
 */
#include "solvers/search/period/local_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"
#include "schedule/heuristic/annealer.h"

enum {
    MAX_GROUP = 64,
    STOP_EVERY = 1024,    /* steps */
    UNITS_OF_STEP = 4,    /* moves of more units count as more steps */
    REDUCTION_STEPS = 64, /* by unit, of fewer transfers */
    LEAST_REDUCTION_STEPS = 1 << 12,
    MAX_REDUCTION_STEPS = 1 << 19,
    SPARE_OF_PERIOD = 1000, /* that fewer transfers may cost */
    SPARE_OF_GAP = 8
};

#define COLD 2e-6

/* Last temperature of the number of transfers; the first is 1. */
#define LAST_TRANSFERS 0.1

/* Of the prices: the part of a relative deviation by which they change in a
 * block of steps, and their range as a part of those of the bound. */
#define PRICE_STEP  0.3
#define LEAST_PRICE 0.02
#define MOST_PRICE  2.0

typedef struct load_search {
    const mo_period_problem *p;
    mo_period_state s;
    mo_random random;
    double scale_ns;
    const double *bound_prices;  /* by resource */
    double *prices;              /* the same, adapted */
    double price_unit;           /* ns; 0: no prices */
    const double *unit_price_ns; /* by unit and device; or NULL */
    double units_ns;             /* their sum over the placement */
    bool is_late;                /* of the p-norms, the larger */
    double value;                /* logarithm of the norm */
    double new_value;            /* of the move */
    int *moved, *back; /* units of the current move, and their devices */
    int n_moved;
    int *seen, stamp; /* by unit */
    int *best;        /* by op */
    int64_t best_ns, best_excess;

    /* Of fewer transfers: value is their number. */
    int64_t limit_ns; /* of the period */
    int least_transfers;
    const mo_stop *stop;
} load_search;

/* log of the p-norm of the loads, p 32 or 128, and the priced loads; memory
 * above a capacity counts as the fraction of it. */
static double norm_of_loads(const load_search *a)
{
    double sum = 1e-300, excess = 0, priced = 0;
    const mo_instance *x = a->p->x;

    for (int r = 0; r < a->p->n_resources; r++) {
        double v = (double) a->s.load_ns[r] / a->scale_ns;

        priced += a->prices[r] * (double) a->s.load_ns[r];
        v *= v; /* 2 */
        v *= v;
        v *= v;
        v *= v;
        v *= v; /* 32 */
        if (a->is_late) {
            v *= v;
            v *= v; /* 128 */
        }
        sum += v;
    }
    for (int k = 0; k < x->n_devices; k++)
        if (a->s.used_bytes[k] > x->capacity_bytes[k])
            excess +=
                0.01 + (double) (a->s.used_bytes[k] - x->capacity_bytes[k]) /
                           ((double) x->capacity_bytes[k] + 1);
    return log(sum) / (a->is_late ? 128 : 32) + excess +
           a->price_unit * priced + a->units_ns / a->scale_ns;
}

static bool is_allowed(const load_search *a, int unit, int device)
{
    const mo_placement_units *u = a->p->units;

    return mo_allowed_devices_has(&a->p->domains, u->ops[u->start[unit]],
                                  device);
}

static void set_unit(load_search *a, int unit, int device)
{
    if (a->unit_price_ns) {
        const double *price_ns =
            a->unit_price_ns + (int64_t) unit * a->p->x->n_devices;

        a->units_ns +=
            price_ns[device] - price_ns[mo_period_state_device(&a->s, unit)];
    }
    mo_period_state_move(&a->s, unit, device);
}

static void move_unit(load_search *a, int unit, int device)
{
    a->moved[a->n_moved] = unit;
    a->back[a->n_moved++] = mo_period_state_device(&a->s, unit);
    set_unit(a, unit, device);
}

static void undo_move(void *search)
{
    load_search *a = search;

    for (int i = a->n_moved - 1; i >= 0; i--)
        set_unit(a, a->moved[i], a->back[i]);
}

/* A unit at the other end of a random flow of the unit; the unit itself where
 * it has none. */
static int random_neighbour(load_search *a, int unit)
{
    const mo_placement_units *u = a->p->units;
    const mo_instance *x = a->p->x;
    int n = u->start[unit + 1] - u->start[unit];
    int op = u->ops[u->start[unit] + mo_random_below(&a->random, n)];
    int n_out = x->out_start[op + 1] - x->out_start[op];
    int n_in = x->in_start[op + 1] - x->in_start[op], at;

    if (n_out + n_in == 0)
        return unit;
    at = mo_random_below(&a->random, n_out + n_in);
    return u
        ->of_op[at < n_out
                    ? x->flows[x->out_start[op] + at].to
                    : x->flows[x->in_flows[x->in_start[op] + at - n_out]].from];
}

/* The device of a neighbour, or a random one. */
static int choose_device(load_search *a, int unit)
{
    int from = mo_period_state_device(&a->s, unit);

    for (int i = 0; i < 3; i++) {
        int to = mo_period_state_device(&a->s, random_neighbour(a, unit));

        if (to != from && mo_random_below(&a->random, 4) > 0)
            return to;
    }
    return mo_random_below(&a->random, a->p->x->n_devices);
}

/* Makes a move; returns whether there is any. */
static bool make_move(load_search *a, mo_annealer *annealer)
{
    int unit = mo_random_below(&a->random, a->p->units->n);
    int kind = mo_random_below(&a->random, 8);

    a->n_moved = 0;
    if (kind < 4) {
        int to = choose_device(a, unit);

        if (to != mo_period_state_device(&a->s, unit) &&
            is_allowed(a, unit, to))
            move_unit(a, unit, to);
    } else if (kind < 7) {
        /* Moves a connected group of units of one device, by a random walk. */
        int from = mo_period_state_device(&a->s, unit);
        int to = choose_device(a, unit), at = unit;
        int size =
            2 + mo_random_below(&a->random,
                                1 << (1 + mo_random_below(&a->random, 6)));

        a->stamp++;
        for (int i = 0;
             i < 3 * size && a->n_moved < size && a->n_moved < MAX_GROUP; i++) {
            if (a->seen[at] != a->stamp &&
                mo_period_state_device(&a->s, at) == from &&
                is_allowed(a, at, to)) {
                a->seen[at] = a->stamp;
                move_unit(a, at, to);
            }
            at = random_neighbour(a, at);
            if (a->seen[at] != a->stamp &&
                mo_period_state_device(&a->s, at) != from)
                at = unit;
        }
    } else {
        int other = mo_random_below(&a->random, a->p->units->n);
        int d = mo_period_state_device(&a->s, unit);
        int e = mo_period_state_device(&a->s, other);

        if (d != e && is_allowed(a, unit, e) && is_allowed(a, other, d)) {
            move_unit(a, unit, e);
            move_unit(a, other, d);
        }
    }
    annealer->work += a->n_moved / UNITS_OF_STEP;
    return a->n_moved > 0;
}

static mo_status propose_by_loads(void *search, mo_annealer *annealer,
                                  bool *accepted, mo_error *err)
{
    load_search *a = search;

    (void) err;
    if (!make_move(a, annealer))
        return MO_OK;
    a->new_value = norm_of_loads(a);
    *accepted = mo_annealer_accepts(annealer, a->new_value - a->value);
    return MO_OK;
}

static int64_t priced_period_ns(const load_search *a)
{
    return mo_period_state_period_ns(&a->s) + (int64_t) a->units_ns;
}

static mo_status accept_by_loads(void *search, mo_error *err)
{
    load_search *a = search;
    int64_t excess = mo_period_state_excess_bytes(&a->s);
    int64_t ns = priced_period_ns(a);

    (void) err;
    a->value = a->new_value;
    if (excess > a->best_excess ||
        (excess == a->best_excess && ns >= a->best_ns))
        return MO_OK;
    a->best_excess = excess;
    a->best_ns = ns;
    memcpy(a->best, a->s.device, (size_t) a->p->x->n * sizeof *a->best);
    return MO_OK;
}

static bool check_loads(void *search, const mo_annealer *annealer)
{
    load_search *a = search;

    a->scale_ns = (double) mo_period_state_period_ns(&a->s) + 1;
    a->is_late = annealer->done > annealer->steps / 2;
    /*
     * Multiplicative update: a resource below the largest load becomes cheaper,
     * as a part of its price of the bound, so that all with a price are used
     * alike.
     */
    const double *bound_prices = a->bound_prices;
    double most = (double) mo_period_state_period_ns(&a->s) + 1, sum = 0;

    for (int r = 0; r < a->p->n_resources; r++) {
        double use = (double) a->s.load_ns[r] / most;

        a->prices[r] *= 1 + PRICE_STEP * (use - 1);
        a->prices[r] = fmax(a->prices[r], bound_prices[r] * LEAST_PRICE);
        sum += a->prices[r];
    }
    for (int r = 0; r < a->p->n_resources && sum > 0; r++)
        a->prices[r] = fmin(a->prices[r] / sum, bound_prices[r] * MOST_PRICE);
    a->value = norm_of_loads(a);
    return true;
}

static void free_search(load_search *a)
{
    mo_period_state_clear(&a->s);
    free(a->moved);
    free(a->back);
    free(a->seen);
    free(a->best);
    free(a->prices);
}

/* Begins with a placement, which is the best so far. */
static mo_status init_search(load_search *a, const mo_period_problem *p,
                             const int *device, mo_error *err)
{
    size_t n = (size_t) p->units->n, n_ops = (size_t) p->x->n;
    mo_status status = mo_period_state_init(&a->s, p, err);

    a->p = p;
    a->moved = calloc(n + MAX_GROUP, sizeof *a->moved);
    a->back = calloc(n + MAX_GROUP, sizeof *a->back);
    a->seen = calloc(n + 1, sizeof *a->seen);
    a->best = calloc(n_ops + 1, sizeof *a->best);
    a->prices = calloc((size_t) p->n_resources + 1, sizeof *a->prices);
    if (status != MO_OK)
        return status;
    if (!a->moved || !a->back || !a->seen || !a->best || !a->prices)
        return mo_fail_memory(err);
    mo_period_state_set(&a->s, device);
    for (int u = 0; a->unit_price_ns && u < p->units->n; u++)
        a->units_ns += a->unit_price_ns[(int64_t) u * p->x->n_devices +
                                        mo_period_state_device(&a->s, u)];
    memcpy(a->best, device, n_ops * sizeof *device);
    a->best_ns = priced_period_ns(a);
    a->best_excess = mo_period_state_excess_bytes(&a->s);
    return MO_OK;
}

mo_status mo_period_anneal_run(const mo_period_problem *p,
                               const mo_period_anneal *options, int *device,
                               int64_t *period_ns, int64_t *excess_bytes,
                               mo_error *err)
{
    static const mo_annealer_moves moves = { .propose = propose_by_loads,
                                             .reject = undo_move,
                                             .accept = accept_by_loads,
                                             .check = check_loads };
    size_t n_ops = (size_t) p->x->n;
    load_search a = { .random = { options->seed },
                      .bound_prices = options->prices,
                      .unit_price_ns = options->unit_price_ns };
    mo_annealer annealer = {
        .rule = MO_ANNEALER_METROPOLIS,
        .cooling = { .hot = options->hot, .cold = COLD, .every = STOP_EVERY },
        .unit = 1,
        .steps = options->steps,
        .random = &a.random,
        .stop = options->stop
    };
    mo_status status = init_search(&a, p, device, err);

    if (status == MO_OK) {
        memcpy(a.prices, options->prices,
               (size_t) p->n_resources * sizeof *a.prices);
        if (options->lower_ns > 0)
            a.price_unit = options->price_weight / (double) options->lower_ns;
        if (p->x->n_devices > 1 && p->units->n > 0)
            status = mo_annealer_run(&annealer, &moves, &a, err);
        memcpy(device, a.best, n_ops * sizeof *device);
        *period_ns = a.best_ns;
        *excess_bytes = a.best_excess;
    }
    free_search(&a);
    return status;
}

static mo_status propose_by_transfers(void *search, mo_annealer *annealer,
                                      bool *accepted, mo_error *err)
{
    load_search *a = search;

    (void) err;
    *accepted = make_move(a, annealer) &&
                mo_annealer_accepts(annealer, a->s.n_transfers - a->value) &&
                mo_period_state_period_ns(&a->s) <= a->limit_ns &&
                mo_period_state_excess_bytes(&a->s) == 0;
    return MO_OK;
}

static mo_status accept_by_transfers(void *search, mo_error *err)
{
    load_search *a = search;

    (void) err;
    a->value = a->s.n_transfers;
    if (a->s.n_transfers >= a->least_transfers)
        return MO_OK;
    a->least_transfers = a->s.n_transfers;
    memcpy(a->best, a->s.device, (size_t) a->p->x->n * sizeof *a->best);
    return MO_OK;
}

static bool check_transfers(void *search, const mo_annealer *annealer)
{
    const load_search *a = search;

    (void) annealer;
    return a->least_transfers > 0 && !mo_stop_is_requested(a->stop);
}

mo_status mo_period_reduce_transfers(const mo_period_problem *p, uint64_t seed,
                                     int64_t lower_ns, const mo_stop *stop,
                                     int *device, mo_error *err)
{
    static const mo_annealer_moves moves = { .propose = propose_by_transfers,
                                             .reject = undo_move,
                                             .accept = accept_by_transfers,
                                             .check = check_transfers };
    load_search a = { .random = { seed }, .stop = stop };
    mo_annealer annealer = {
        .rule = MO_ANNEALER_METROPOLIS,
        .cooling = { .hot = 1, .cold = LAST_TRANSFERS, .every = 1 },
        .unit = 1,
        .steps = mo_max_i64(mo_min_i64((int64_t) REDUCTION_STEPS * p->units->n,
                                       MAX_REDUCTION_STEPS),
                            LEAST_REDUCTION_STEPS),
        .random = &a.random
    };
    mo_status status = init_search(&a, p, device, err);
    int64_t spare_ns = mo_min_i64(a.best_ns / SPARE_OF_PERIOD,
                                  (a.best_ns - lower_ns) / SPARE_OF_GAP);

    a.limit_ns = a.best_ns + mo_max_i64(spare_ns, 0);
    a.least_transfers = a.s.n_transfers;
    a.value = a.least_transfers;
    if (status == MO_OK && p->x->n_devices > 1 && a.best_excess == 0)
        status = mo_annealer_run(&annealer, &moves, &a, err);
    if (status == MO_OK)
        memcpy(device, a.best, (size_t) p->x->n * sizeof *device);
    free_search(&a);
    return status;
}
