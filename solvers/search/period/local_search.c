/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves: a unit, a connected group of units on one device, two units that
 * change places, or a window of the topological order that takes the devices of
 * another placement (crossover).  The largest load alone has plateaus
 * everywhere, so moves are judged by a p-norm of all loads, of growing p, and
 * by the loads at the prices of the bound; the best placement is kept by its
 * period.
 */
#include "solvers/search/period/local_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"

enum {
    MAX_GROUP = 64,
    STOP_EVERY = 1024,    /* steps */
    UNITS_OF_STEP = 4,    /* moves of more units count as more steps */
    COPY_EVERY = 8,       /* moves: one that copies from a sample */
    MIN_WINDOW_BITS = 5,  /* of the largest copy, at the end */
    MAX_SCAN = 64,        /* units, for one that differs */
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

typedef struct annealer {
    const mo_period_problem *p;
    mo_period_state s;
    mo_random random;
    double scale_ns;
    double *prices;    /* by resource, adapted */
    double price_unit; /* ns; 0: no prices */
    bool is_late;      /* of the p-norms, the larger */
    double value;      /* logarithm of the norm */
    int **samples;
    int n_samples, window_bits;
    int *moved, *back; /* units of the current move, and their devices */
    int n_moved;
    int *seen, stamp; /* by unit */
    int *best;        /* by op */
    int64_t best_ns, best_excess;
} annealer;

/* log of the p-norm of the loads, p 32 or 128, and the priced loads; memory
 * above a capacity counts as the fraction of it. */
static double norm_of_loads(const annealer *a)
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
    return log(sum) / (a->is_late ? 128 : 32) + excess + a->price_unit * priced;
}

static bool is_allowed(const annealer *a, int unit, int device)
{
    const mo_placement_units *u = a->p->units;

    return mo_allowed_devices_has(&a->p->domains, u->ops[u->start[unit]],
                                  device);
}

static void move_unit(annealer *a, int unit, int device)
{
    a->moved[a->n_moved] = unit;
    a->back[a->n_moved++] = mo_period_state_device(&a->s, unit);
    mo_period_state_move(&a->s, unit, device);
}

static void undo_move(annealer *a)
{
    for (int i = a->n_moved - 1; i >= 0; i--)
        mo_period_state_move(&a->s, a->moved[i], a->back[i]);
}

/* A unit at the other end of a random flow of the unit; the unit itself where
 * it has none. */
static int random_neighbour(annealer *a, int unit)
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
static int choose_device(annealer *a, int unit)
{
    int from = mo_period_state_device(&a->s, unit);

    for (int i = 0; i < 3; i++) {
        int to = mo_period_state_device(&a->s, random_neighbour(a, unit));

        if (to != from && mo_random_below(&a->random, 4) > 0)
            return to;
    }
    return mo_random_below(&a->random, a->p->x->n_devices);
}

/* Moves a connected group of units of one device, by a random walk. */
static void move_group(annealer *a, int unit)
{
    int from = mo_period_state_device(&a->s, unit);
    int to = choose_device(a, unit), at = unit;
    int size = 2 + mo_random_below(&a->random,
                                   1 << (1 + mo_random_below(&a->random, 6)));

    a->stamp++;
    for (int i = 0; i < 3 * size && a->n_moved < size && a->n_moved < MAX_GROUP;
         i++) {
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
}

static void swap_units(annealer *a, int unit)
{
    int other = mo_random_below(&a->random, a->p->units->n);
    int d = mo_period_state_device(&a->s, unit);
    int e = mo_period_state_device(&a->s, other);

    if (d == e || !is_allowed(a, unit, e) || !is_allowed(a, other, d))
        return;
    move_unit(a, unit, e);
    move_unit(a, other, d);
}

/* Units unit .. take the devices of a sample. */
static void copy_window(annealer *a, int unit)
{
    const mo_placement_units *u = a->p->units;
    const int *from = a->samples[mo_random_below(&a->random, a->n_samples)];
    int bits = 1 + mo_random_below(&a->random, a->window_bits);
    int end = mo_random_below(&a->random, 1 << bits);

    end = end < u->n - unit ? unit + end + 1 : u->n;
    for (; unit < end; unit++) {
        int to = from[u->ops[u->start[unit]]];

        if (to != mo_period_state_device(&a->s, unit))
            move_unit(a, unit, to);
    }
}

/* Moves the unit where it differs from the sample, unless it was seen. */
static void copy_unit(annealer *a, int unit, const int *from)
{
    int to = from[a->p->units->ops[a->p->units->start[unit]]];

    if (a->seen[unit] == a->stamp || to == mo_period_state_device(&a->s, unit))
        return;
    a->seen[unit] = a->stamp;
    move_unit(a, unit, to);
}

/* A connected part of the units that differ from a sample takes its devices;
 * the transfers at the border of a whole component are those of the sample. */
static void copy_component(annealer *a, int unit)
{
    const mo_placement_units *u = a->p->units;
    const mo_instance *x = a->p->x;
    const int *from = a->samples[mo_random_below(&a->random, a->n_samples)];
    int most = 1 + mo_random_below(
                       &a->random,
                       1 << (1 + mo_random_below(&a->random, a->window_bits)));

    a->stamp++;
    for (int i = 0; i < MAX_SCAN && a->n_moved == 0; i++) {
        copy_unit(a, unit, from);
        unit = unit + 1 < u->n ? unit + 1 : 0;
    }
    for (int head = 0; head < a->n_moved && a->n_moved < most; head++)
        for (int i = u->start[a->moved[head]];
             i < u->start[a->moved[head] + 1] && a->n_moved < most; i++) {
            int op = u->ops[i];

            for (int q = x->out_start[op];
                 q < x->out_start[op + 1] && a->n_moved < most; q++)
                copy_unit(a, u->of_op[x->flows[q].to], from);
            for (int q = x->in_start[op];
                 q < x->in_start[op + 1] && a->n_moved < most; q++)
                copy_unit(a, u->of_op[x->flows[x->in_flows[q]].from], from);
        }
}

static void make_move(annealer *a)
{
    int unit = mo_random_below(&a->random, a->p->units->n);
    int kind = mo_random_below(&a->random, 8);

    a->n_moved = 0;
    if (a->n_samples > 0 && mo_random_below(&a->random, COPY_EVERY) == 0) {
        if (kind < 2)
            copy_window(a, unit);
        else
            copy_component(a, unit);
    } else if (kind < 4) {
        int to = choose_device(a, unit);

        if (to != mo_period_state_device(&a->s, unit) &&
            is_allowed(a, unit, to))
            move_unit(a, unit, to);
    } else if (kind < 7) {
        move_group(a, unit);
    } else {
        swap_units(a, unit);
    }
}

static void keep_best(annealer *a)
{
    int64_t excess = mo_period_state_excess_bytes(&a->s);
    int64_t ns = mo_period_state_period_ns(&a->s);

    if (excess > a->best_excess ||
        (excess == a->best_excess && ns >= a->best_ns))
        return;
    a->best_excess = excess;
    a->best_ns = ns;
    memcpy(a->best, a->s.device, (size_t) a->p->x->n * sizeof *a->best);
}

/* Windows of at most this power of two: all units at first, few at last. */
static int choose_window_bits(const annealer *a, double progress)
{
    int bits = 1;

    while (bits < 30 && 1 << bits < a->p->units->n)
        bits++;
    return bits <= MIN_WINDOW_BITS
               ? bits
               : bits - (int) (progress * (bits - MIN_WINDOW_BITS));
}

/*
 * Multiplicative update: a resource below the largest load becomes cheaper, as
 * a part of its price of the bound, so that all with a price are used alike.
 */
static void adapt_prices(annealer *a, const double *bound_prices)
{
    double most = (double) mo_period_state_period_ns(&a->s) + 1, sum = 0;

    for (int r = 0; r < a->p->n_resources; r++) {
        double use = (double) a->s.load_ns[r] / most;

        a->prices[r] *= 1 + PRICE_STEP * (use - 1);
        a->prices[r] = fmax(a->prices[r], bound_prices[r] * LEAST_PRICE);
        sum += a->prices[r];
    }
    for (int r = 0; r < a->p->n_resources && sum > 0; r++)
        a->prices[r] = fmin(a->prices[r] / sum, bound_prices[r] * MOST_PRICE);
}

static void anneal(annealer *a, const mo_period_anneal *o)
{
    double temperature = o->hot;
    int64_t check = 0;

    a->value = norm_of_loads(a);
    for (int64_t step = 0; step < o->steps;
         step += 1 + a->n_moved / UNITS_OF_STEP) {
        double value;

        if (step >= check) {
            double progress = (double) step / (double) o->steps;

            if (mo_stop_reached(o->stop))
                return;
            check = step + STOP_EVERY;
            temperature = o->hot * pow(COLD / o->hot, progress);
            a->window_bits = choose_window_bits(a, progress);
            a->scale_ns = (double) mo_period_state_period_ns(&a->s) + 1;
            a->is_late = step > o->steps / 2;
            adapt_prices(a, o->prices);
            a->value = norm_of_loads(a);
        }
        make_move(a);
        if (a->n_moved == 0)
            continue;
        value = norm_of_loads(a);
        if (value > a->value && mo_random_unit(&a->random) >=
                                    exp((a->value - value) / temperature)) {
            undo_move(a);
            continue;
        }
        a->value = value;
        keep_best(a);
    }
}

static void free_annealer(annealer *a)
{
    mo_period_state_clear(&a->s);
    free(a->moved);
    free(a->back);
    free(a->seen);
    free(a->best);
    free(a->prices);
}

/* Begins with a placement, which is the best so far. */
static mo_status init_annealer(annealer *a, const mo_period_problem *p,
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
    memcpy(a->best, device, n_ops * sizeof *device);
    a->best_ns = mo_period_state_period_ns(&a->s);
    a->best_excess = mo_period_state_excess_bytes(&a->s);
    return MO_OK;
}

mo_status mo_period_anneal_run(const mo_period_problem *p,
                               const mo_period_anneal *options, int *device,
                               int64_t *period_ns, int64_t *excess_bytes,
                               mo_error *err)
{
    size_t n_ops = (size_t) p->x->n;
    annealer a = { .random = { options->seed },
                   .samples = options->samples,
                   .n_samples = options->n_samples };
    mo_status status = init_annealer(&a, p, device, err);

    if (status == MO_OK) {
        a.scale_ns = (double) a.best_ns + 1;
        memcpy(a.prices, options->prices,
               (size_t) p->n_resources * sizeof *a.prices);
        if (options->lower_ns > 0)
            a.price_unit = options->price_weight / (double) options->lower_ns;
        if (p->x->n_devices > 1 && p->units->n > 0)
            anneal(&a, options);
        memcpy(device, a.best, n_ops * sizeof *device);
        *period_ns = a.best_ns;
        *excess_bytes = a.best_excess;
    }
    free_annealer(&a);
    return status;
}

mo_status mo_period_reduce_transfers(const mo_period_problem *p, uint64_t seed,
                                     int64_t lower_ns, const mo_stop *stop,
                                     int *device, mo_error *err)
{
    annealer a = { .random = { seed } };
    mo_status status = init_annealer(&a, p, device, err);
    int64_t spare_ns = mo_min_i64(a.best_ns / SPARE_OF_PERIOD,
                                  (a.best_ns - lower_ns) / SPARE_OF_GAP);
    int64_t limit_ns = a.best_ns + mo_max_i64(spare_ns, 0);
    int64_t steps = mo_min_i64((int64_t) REDUCTION_STEPS * p->units->n,
                               MAX_REDUCTION_STEPS);
    int best = a.s.n_transfers, now = best;

    steps = p->x->n_devices > 1 && a.best_excess == 0
                ? mo_max_i64(steps, LEAST_REDUCTION_STEPS)
                : 0;
    for (int64_t step = 0; status == MO_OK && step < steps && best > 0 &&
                           !mo_stop_is_requested(stop);
         step += 1 + a.n_moved / UNITS_OF_STEP) {
        double temperature =
            pow(LAST_TRANSFERS, (double) step / (double) steps);

        make_move(&a);
        if (a.n_moved == 0)
            continue;
        if ((a.s.n_transfers > now &&
             mo_random_unit(&a.random) >=
                 exp((now - a.s.n_transfers) / temperature)) ||
            mo_period_state_period_ns(&a.s) > limit_ns ||
            mo_period_state_excess_bytes(&a.s) > 0) {
            undo_move(&a);
            continue;
        }
        now = a.s.n_transfers;
        if (now >= best)
            continue;
        best = now;
        memcpy(a.best, a.s.device, (size_t) p->x->n * sizeof *a.best);
    }
    if (status == MO_OK)
        memcpy(device, a.best, (size_t) p->x->n * sizeof *device);
    free_annealer(&a);
    return status;
}
