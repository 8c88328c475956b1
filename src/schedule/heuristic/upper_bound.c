/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/upper_bound.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "schedule/bound/memory_packing.h"
#include "schedule/heuristic/annealer.h"
#include "schedule/heuristic/heft.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/placement_units.h"
#include "schedule/resource.h"
#include "schedule/serial_makespan.h"

/* Units are numbered by their first op.  One that is too large for the rest of
 * a device goes to the next device that has room, and smaller ones may still
 * fill up the one before. */
static bool pack_in_order(const mo_instance *x, const mo_placement_units *units,
                          const int *devices, int64_t *room_bytes,
                          int *placement)
{
    for (int u = 0; u < units->n; u++) {
        bool is_free = units->pin[u] == MO_FREE;
        int at = 0;

        while (is_free && at < x->n_devices &&
               room_bytes[devices[at]] < units->bytes[u])
            at++;
        if (at == x->n_devices)
            return false;
        if (is_free)
            room_bytes[devices[at]] -= units->bytes[u];
        for (int j = units->start[u]; j < units->start[u + 1]; j++)
            placement[units->ops[j]] = is_free ? devices[at] : units->pin[u];
    }
    return true;
}

/* Next-fit in the order of the ops, over the devices from the fastest for all
 * ops to the slowest: few tensors cross.  placement is a buffer by op; *found
 * is whether every unit found room. */
static mo_status pack_bins(const mo_instance *x,
                           const mo_placement_units *units, int *placement,
                           bool *found, mo_error *err)
{
    size_t n_devices = (size_t) x->n_devices;
    int *devices = malloc((n_devices + 1) * sizeof *devices);
    int64_t *room_bytes = malloc((n_devices + 1) * sizeof *room_bytes);
    mo_status status = devices && room_bytes
                           ? mo_single_device_order(x, devices, err)
                           : mo_fail_memory(err);

    *found = false;
    if (status == MO_OK) {
        mo_placement_units_free_bytes(x, units, room_bytes);
        *found = pack_in_order(x, units, devices, room_bytes, placement);
    }
    free(room_bytes);
    free(devices);
    return status;
}

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
    mo_schedule *best, *made; /* made: of the last trial, or NULL */
    int64_t current_ns;       /* of the placement before the trial */
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

/* The device of a unit. */
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
        int unit = c->units->of_op[op];

        if (c->units->pin[unit] == MO_FREE && device_of(c, unit) != device &&
            !has_moved(c, unit)) {
            if (c->n_changes == MAX_CHANGES)
                return false;
            move_unit(c, unit, device);
            if (!evict_units(c))
                return false;
        }
        if (n_out == 0 || random_below(c, 4) == 0)
            break;
        op = x->flows[x->out_start[op] + random_below(c, n_out)].to;
    }
    return true;
}

/* Evaluates the placement: list scheduling keeps the makespan in made. */
static mo_status evaluate_placement(local_search *c, mo_error *err)
{
    mo_schedule_free(c->made);
    c->made = NULL;
    return mo_heft(c->x, &c->best->regime, c->placement, &c->made, err);
}

static mo_status propose_chain(void *search, mo_annealer *a, bool *accepted,
                               mo_error *err)
{
    local_search *c = search;
    mo_status status;

    if (!try_chain(c) || c->n_changes == 0)
        return MO_OK;
    status = evaluate_placement(c, err);
    *accepted =
        status == MO_OK && c->made &&
        mo_annealer_accepts(a, (double) (c->made->makespan_ns - c->current_ns));
    return status;
}

static void undo_trial(void *search)
{
    local_search *c = search;

    while (c->n_changes > 0) {
        const change *it = &c->changes[--c->n_changes];

        assign_unit(c, it->unit, it->from);
    }
}

static mo_status accept_trial(void *search, mo_error *err)
{
    local_search *c = search;

    (void) err;
    c->n_changes = 0;
    c->current_ns = c->made->makespan_ns;
    mo_schedule_keep_better(&c->best, c->made);
    c->made = NULL;
    return MO_OK;
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
    int64_t by_placements = MAX_TRIALS_PER_PLACEMENT;

    for (int u = 0; u < c->units->n &&
                    by_placements <= MAX_TRIALS_PER_PLACEMENT * by_effort;
         u++)
        if (c->units->pin[u] == MO_FREE)
            by_placements *= x->n_devices;
    if (by_effort < MIN_TRIALS)
        return 0;
    by_choices = by_choices < by_placements ? by_choices : by_placements;
    return (int) (by_effort < by_choices ? by_effort : by_choices);
}

/* With a given placement HEFT may order the ops otherwise than while it placed
 * them: the first step evaluates the placement itself. */
static mo_status run_trials(local_search *c, mo_error *err)
{
    static const mo_annealer_moves moves = { .propose = propose_chain,
                                             .reject = undo_trial,
                                             .accept = accept_trial };
    /* The first threshold is about one more op. */
    mo_annealer annealer = {
        .rule = MO_ANNEALER_THRESHOLD,
        .cooling = { .hot = (double) (c->best->makespan_ns / c->x->n),
                     .power = 1,
                     .is_whole = true,
                     .every = 1 },
        .unit = 1,
        .steps = count_trials(c),
        .done = 1
    };
    mo_status status = evaluate_placement(c, err);

    if (status == MO_OK && c->made)
        status = accept_trial(c, err);
    return status == MO_OK ? mo_annealer_run(&annealer, &moves, c, err)
                           : status;
}

/*
 * Moves units to other devices, alone or with their readers, and evicts others
 * where memory is full; mo_heft evaluates the placement.  A trial is accepted
 * when its makespan exceeds the current one by at most a threshold, which
 * decreases to 0.  *schedule is replaced (and freed) by the best found; it is
 * never worse.  Deterministic: the effort depends on the size of the instance,
 * not on a clock.
 */
static mo_status accept_by_threshold(const mo_instance *x,
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
    mo_schedule_free(c.made);
    free(c.room_bytes);
    free(c.placement);
    return status;
}

static mo_status try_heft(const mo_instance *x, const mo_regime *regime,
                          const int *placement, mo_schedule **best,
                          mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_heft(x, regime, placement, &s, err);

    if (status == MO_OK)
        mo_schedule_keep_better(best, s);
    return status;
}

/* A packing of the resident memory under a memory model. */
static mo_status try_exact_packing(const mo_instance *x,
                                   const mo_regime *regime, mo_memory memory,
                                   int *placement, mo_schedule **best,
                                   mo_error *err)
{
    const mo_regime packed = { regime->congestion, regime->tensors, memory };
    mo_packing_verdict verdict = MO_PACKING_UNKNOWN;
    mo_placement_units *units = NULL;
    mo_status status = mo_placement_units_make(x, &packed, &units, err);

    if (status == MO_OK)
        status = mo_packing_find(x, units, placement, &verdict, err);
    if (status == MO_OK && verdict == MO_PACKING_FOUND)
        status = try_heft(x, regime, placement, best, err);
    mo_placement_units_free(units);
    return status;
}

mo_status mo_bound_upper(const mo_instance *x, const mo_regime *regime,
                         mo_schedule **schedule, int64_t *bound_ns,
                         mo_error *err)
{
    mo_schedule *best = NULL;
    mo_placement_units *units = NULL;
    int64_t serial_ns;
    mo_status status = mo_serial_makespan(x, regime, &serial_ns, err);

    if (status == MO_OK)
        status = mo_placement_units_make(x, regime, &units, err);
    if (status == MO_OK) {
        status = try_heft(x, regime, NULL, &best, err);
        for (int k = 0; k < x->n_devices && status == MO_OK; k++) {
            mo_schedule *s = NULL;

            if (best && mo_single_device_ns(x, k) >= best->makespan_ns)
                continue;
            status = mo_single_device_schedule(x, regime, k, &s, err);
            if (status == MO_OK)
                mo_schedule_keep_better(&best, s);
        }
        if (status == MO_OK) {
            /* Placements by memory first.  Where live tensors exceed what the
             * weights leave, a packing of the static memory leaves room for
             * them. */
            int *placement = malloc(((size_t) x->n + 1) * sizeof *placement);
            bool found = false;
            status = placement ? pack_bins(x, units, placement, &found, err)
                               : mo_fail_memory(err);

            if (status == MO_OK && found)
                status = try_heft(x, regime, placement, &best, err);
            if (status == MO_OK && !best)
                status = try_exact_packing(x, regime, regime->memory, placement,
                                           &best, err);
            if (status == MO_OK && !best && regime->memory == MO_MEMORY_LIVE)
                status = try_exact_packing(x, regime, MO_MEMORY_STATIC,
                                           placement, &best, err);
            free(placement);
        }
        if (status == MO_OK && best &&
            !mo_ablated(MO_ABLATION_threshold_accepting))
            status = accept_by_threshold(x, units, &best, err);
    }
    mo_placement_units_free(units);
    if (status != MO_OK) {
        mo_schedule_free(best);
        return status;
    }
    *schedule = best;
    *bound_ns = best ? best->makespan_ns : serial_ns;
    return MO_OK;
}
