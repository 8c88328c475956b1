/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/threshold_accepting.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/heft.h"
#include "schedule/resource.h"

/* The number of trials is bounded by the ops, flows, devices and ports visited
 * in all, by the trials per unit and device, and by the trials per
 * placement. */
enum {
    MAX_EFFORT = 4000000,
    MAX_TRIALS_PER_CHOICE = 300,
    MAX_TRIALS_PER_PLACEMENT = 4,
    MIN_TRIALS = 100
};

enum {
    MAX_CHAIN = 16, /* units that move together */
    MAX_CHANGES = 2 * MAX_CHAIN
};

typedef struct change {
    int unit, from;
} change;

typedef struct local_search {
    const mo_instance *x;
    const mo_placement_units *units;
    uint64_t random;
    mo_schedule *best;
    int64_t current_ns; /* of the placement before the trial */
    int *placement;
    int64_t *room_bytes;
    change changes[MAX_CHANGES]; /* of the trial, for undo */
    int n_changes;
} local_search;

/* Knuth's MMIX generator; the upper bits are the good ones. */
static int random_below(local_search *c, int bound)
{
    c->random = c->random * UINT64_C(6364136223846793005) +
                UINT64_C(1442695040888963407);
    return (int) ((c->random >> 33) % (uint64_t) bound);
}

static int device_of(const local_search *c, int unit)
{
    return c->placement[c->units->ops[c->units->start[unit]]];
}

static void assign_unit(local_search *c, int unit, int device)
{
    const mo_placement_units *u = c->units;

    c->room_bytes[device_of(c, unit)] += u->bytes[unit];
    c->room_bytes[device] -= u->bytes[unit];
    for (int j = u->start[unit]; j < u->start[unit + 1]; j++)
        c->placement[u->ops[j]] = device;
}

static void move_unit(local_search *c, int unit, int device)
{
    c->changes[c->n_changes++] = (change){ unit, device_of(c, unit) };
    assign_unit(c, unit, device);
}

static void undo_trial(local_search *c)
{
    while (c->n_changes > 0) {
        const change *it = &c->changes[--c->n_changes];

        assign_unit(c, it->unit, it->from);
    }
}

static bool has_moved(const local_search *c, int unit)
{
    for (int i = 0; i < c->n_changes; i++)
        if (c->changes[i].unit == unit)
            return true;
    return false;
}

/* A unit on the device that may leave it and has not moved yet, or -1. */
static int find_evictable(local_search *c, int device)
{
    int n = c->units->n, first = random_below(c, n);

    for (int step = 0; step < n; step++) {
        int unit = (first + step) % n;

        if (c->units->pin[unit] == MO_FREE && c->units->bytes[unit] > 0 &&
            device_of(c, unit) == device && !has_moved(c, unit))
            return unit;
    }
    return -1;
}

/* Another device for a unit: one that has room, or else any that is not
 * over-full already, from which others will be evicted; or -1. */
static int find_target(local_search *c, int unit)
{
    int n = c->x->n_devices, first = random_below(c, n), target = -1;

    for (int step = 0; step < n; step++) {
        int device = (first + step) % n;

        if (device == device_of(c, unit))
            continue;
        if (c->room_bytes[device] >= c->units->bytes[unit])
            return device;
        if (c->room_bytes[device] >= 0)
            target = device;
    }
    return target;
}

/* Evicts units from over-full devices until none is over-full. */
static bool evict_units(local_search *c)
{
    for (int k = 0; k < c->x->n_devices;) {
        int unit, target;

        if (c->room_bytes[k] >= 0) {
            k++;
            continue;
        }
        unit = find_evictable(c, k);
        target = unit < 0 ? -1 : find_target(c, unit);
        if (target < 0 || c->n_changes == MAX_CHANGES)
            return false;
        move_unit(c, unit, target);
        if (target < k)
            k = target;
    }
    return true;
}

/* Returns false when memory does not allow the move. */
static bool try_move(local_search *c, int unit, int device)
{
    if (c->units->pin[unit] != MO_FREE || device_of(c, unit) == device ||
        has_moved(c, unit))
        return true;
    if (c->n_changes == MAX_CHANGES)
        return false;
    move_unit(c, unit, device);
    return evict_units(c);
}

/* Candidate device: that of a neighbour of the op, or any. */
static int choose_device(local_search *c, int op)
{
    const mo_instance *x = c->x;
    int n_in = x->in_start[op + 1] - x->in_start[op];
    int n_out = x->out_start[op + 1] - x->out_start[op];
    int pick = random_below(c, n_in + n_out + 1);

    if (pick < n_in)
        return c->placement[x->flows[x->in_flows[x->in_start[op] + pick]].from];
    if (pick < n_in + n_out)
        return c->placement[x->flows[x->out_start[op] + pick - n_in].to];
    return random_below(c, x->n_devices);
}

/* Neighbourhood: moves an op, with its unit, and often a chain of its
 * successors; returns false where a device stays over-full. */
static bool try_chain(local_search *c)
{
    const mo_instance *x = c->x;
    int op = random_below(c, x->n), device = choose_device(c, op);

    for (int length = 0; length < MAX_CHAIN; length++) {
        int n_out = x->out_start[op + 1] - x->out_start[op];

        if (!try_move(c, c->units->of_op[op], device))
            return false;
        if (n_out == 0 || random_below(c, 4) == 0)
            break;
        op = x->flows[x->out_start[op] + random_below(c, n_out)].to;
    }
    return true;
}

/* Accepts the trial unless it ends later than allowed. */
static mo_status evaluate_trial(local_search *c, int64_t allowed_ns,
                                mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_heft(c->x, &c->best->regime, c->placement, &s, err);

    if (status != MO_OK || !s || s->makespan_ns > allowed_ns) {
        undo_trial(c);
        mo_schedule_free(s);
        return status;
    }
    c->n_changes = 0;
    c->current_ns = s->makespan_ns;
    if (s->makespan_ns < c->best->makespan_ns) {
        mo_schedule *old = c->best;

        c->best = s;
        s = old;
    }
    mo_schedule_free(s);
    return MO_OK;
}

/* The number of placements, or some number above most. */
static int64_t count_placements(const local_search *c, int64_t most)
{
    int64_t n = 1;

    for (int u = 0; u < c->units->n && n <= most; u++)
        if (c->units->pin[u] == MO_FREE)
            n *= c->x->n_devices;
    return n;
}

/* A few trials among thousands of ops are useless: then there are none. */
static int count_trials(const local_search *c)
{
    const mo_instance *x = c->x;
    int64_t effort = (int64_t) x->n + x->n_flows + x->n_devices +
                     mo_resource_count(x, c->best->regime.congestion);
    int64_t by_effort = MAX_EFFORT / effort;
    int64_t by_choices =
        (int64_t) MAX_TRIALS_PER_CHOICE * c->units->n * x->n_devices;
    int64_t by_placements =
        MAX_TRIALS_PER_PLACEMENT * count_placements(c, by_effort);

    if (by_effort < MIN_TRIALS)
        return 0;
    by_choices = by_choices < by_placements ? by_choices : by_placements;
    return (int) (by_effort < by_choices ? by_effort : by_choices);
}

/* ns * part / whole, where the product might overflow. */
static int64_t scale_time(int64_t ns, int part, int whole)
{
    return ns / whole * part + ns % whole * part / whole;
}

/* With a given placement HEFT may order the ops otherwise than while it placed
 * them: the first step evaluates the placement itself. */
static mo_status run_trials(local_search *c, mo_error *err)
{
    int n_trials = count_trials(c);
    int64_t first_ns = c->best->makespan_ns / c->x->n; /* about one more op */
    mo_status status = evaluate_trial(c, INT64_MAX, err);

    for (int left = n_trials - 1; left > 0 && status == MO_OK; left--) {
        if (!try_chain(c))
            undo_trial(c);
        else if (c->n_changes > 0)
            status = evaluate_trial(
                c, c->current_ns + scale_time(first_ns, left, n_trials), err);
    }
    return status;
}

mo_status mo_threshold_accepting(const mo_instance *x,
                                 const mo_placement_units *units,
                                 mo_schedule **schedule, mo_error *err)
{
    local_search c = { .x = x, .units = units, .best = *schedule };
    mo_status status = MO_OK;

    if (x->n == 0 || x->n_devices == 1)
        return MO_OK;
    c.placement = malloc((size_t) x->n * sizeof *c.placement);
    c.room_bytes = malloc((size_t) x->n_devices * sizeof *c.room_bytes);
    if (!c.placement || !c.room_bytes)
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        c.current_ns = c.best->makespan_ns;
        memcpy(c.placement, c.best->device,
               (size_t) c.x->n * sizeof *c.placement);
        mo_placement_units_free_bytes(c.x, c.units, c.room_bytes);
        for (int unit = 0; unit < c.units->n; unit++)
            if (c.units->pin[unit] == MO_FREE)
                c.room_bytes[device_of(&c, unit)] -= c.units->bytes[unit];
        status = run_trials(&c, err);
    }
    *schedule = c.best;
    free(c.room_bytes);
    free(c.placement);
    return status;
}
