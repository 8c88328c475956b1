#include "schedule/climb.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/heft.h"
#include "schedule/resource.h"

/* Trials stop when so many ops, flows, devices and ports were looked at in all,
 * or when every unit could have been tried so often on every device. */
enum { MAX_EFFORT = 4000000, MAX_TRIALS_PER_CHOICE = 20, FEWEST_TRIALS = 100 };

enum {
    LONGEST_CHAIN = 16, /* units that move together */
    MOST_CHANGES = 2 * LONGEST_CHAIN,
    FIRST_THRESHOLD = 100 /* one so-manieth of the makespan */
};

typedef struct change {
    int unit, from;
} change;

typedef struct climber {
    const mo_instance *x;
    const mo_units *units;
    uint64_t random;
    mo_schedule *best;
    int64_t current_ns; /* of the placement, but for a trial */
    int *placement;
    int64_t *room_bytes;
    change changes[MOST_CHANGES]; /* of the trial */
    int n_changes;
} climber;

/* Knuth's MMIX generator; the upper bits are the good ones. */
static int below(climber *c, int bound)
{
    c->random = c->random * UINT64_C(6364136223846793005) +
                UINT64_C(1442695040888963407);
    return (int) ((c->random >> 33) % (uint64_t) bound);
}

static int device_of(const climber *c, int unit)
{
    return c->placement[c->units->ops[c->units->start[unit]]];
}

static void put(climber *c, int unit, int device)
{
    const mo_units *u = c->units;

    c->room_bytes[device_of(c, unit)] += u->bytes[unit];
    c->room_bytes[device] -= u->bytes[unit];
    for (int j = u->start[unit]; j < u->start[unit + 1]; j++)
        c->placement[u->ops[j]] = device;
}

static void move(climber *c, int unit, int device)
{
    c->changes[c->n_changes++] = (change){ unit, device_of(c, unit) };
    put(c, unit, device);
}

static void undo(climber *c)
{
    while (c->n_changes > 0) {
        const change *it = &c->changes[--c->n_changes];

        put(c, it->unit, it->from);
    }
}

/* A unit on the device that could change places with this one, or -1. */
static int find_partner(climber *c, int unit, int device)
{
    const mo_units *u = c->units;
    int from = device_of(c, unit), first = below(c, u->n);

    for (int step = 0; step < u->n; step++) {
        int other = (first + step) % u->n;
        int64_t more = u->bytes[unit] - u->bytes[other];

        if (u->pin[other] == MO_FREE && device_of(c, other) == device &&
            more <= c->room_bytes[device] && -more <= c->room_bytes[from])
            return other;
    }
    return -1;
}

static void try_move(climber *c, int unit, int device)
{
    int from = device_of(c, unit), partner;

    if (c->units->pin[unit] != MO_FREE || from == device)
        return;
    if (c->units->bytes[unit] <= c->room_bytes[device]) {
        move(c, unit, device);
        return;
    }
    partner = find_partner(c, unit, device);
    if (partner < 0)
        return;
    move(c, partner, from);
    move(c, unit, device);
}

/* A device to which it might be worth to go: that of something the op reads or
 * that reads it, or any. */
static int choose_device(climber *c, int op)
{
    const mo_instance *x = c->x;
    int n_in = x->in_start[op + 1] - x->in_start[op];
    int n_out = x->out_start[op + 1] - x->out_start[op];
    int pick = below(c, n_in + n_out + 1);

    if (pick < n_in)
        return c->placement[x->flows[x->in_flows[x->in_start[op] + pick]].from];
    if (pick < n_in + n_out)
        return c->placement[x->flows[x->out_start[op] + pick - n_in].to];
    return below(c, x->n_devices);
}

/* Moves an op, with its unit, and often some of what comes behind it. */
static void try_chain(climber *c)
{
    const mo_instance *x = c->x;
    int op = below(c, x->n), device = choose_device(c, op);

    for (int length = 0; length < LONGEST_CHAIN; length++) {
        int n_out = x->out_start[op + 1] - x->out_start[op];

        try_move(c, c->units->of_op[op], device);
        if (n_out == 0 || below(c, 4) == 0)
            break;
        op = x->flows[x->out_start[op] + below(c, n_out)].to;
    }
}

/* Keeps the trial unless it ends later than allowed. */
static mo_status judge(climber *c, int64_t allowed_ns, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_heft(c->x, &c->best->regime, c->placement, &s, err);

    if (status != MO_OK || !s || s->makespan_ns > allowed_ns) {
        undo(c);
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

/* A few trials among thousands of ops find nothing: then there are none. */
static int count_trials(const climber *c)
{
    const mo_instance *x = c->x;
    int64_t effort = (int64_t) x->n + x->n_flows + x->n_devices +
                     mo_resource_count(x, c->best->regime.congestion);
    int64_t by_effort = MAX_EFFORT / effort;
    int64_t by_choices =
        (int64_t) MAX_TRIALS_PER_CHOICE * c->units->n * x->n_devices;

    if (by_effort < FEWEST_TRIALS)
        return 0;
    return (int) (by_effort < by_choices ? by_effort : by_choices);
}

/* ns * part / whole, where the product might not fit. */
static int64_t share(int64_t ns, int part, int whole)
{
    return ns / whole * part + ns % whole * part / whole;
}

/* HEFT may order a placement of its own otherwise than it did while it placed:
 * the first thing to do is to see what the placement is worth. */
static mo_status climb(climber *c, mo_error *err)
{
    int n_trials = count_trials(c);
    int64_t first_ns = c->best->makespan_ns / FIRST_THRESHOLD;
    mo_status status = judge(c, INT64_MAX, err);

    for (int left = n_trials - 1; left > 0 && status == MO_OK; left--) {
        try_chain(c);
        if (c->n_changes > 0)
            status =
                judge(c, c->current_ns + share(first_ns, left, n_trials), err);
    }
    return status;
}

static void begin(climber *c)
{
    const mo_units *u = c->units;

    c->current_ns = c->best->makespan_ns;
    memcpy(c->placement, c->best->device,
           (size_t) c->x->n * sizeof *c->placement);
    mo_units_room(c->x, u, c->room_bytes);
    for (int unit = 0; unit < u->n; unit++)
        if (u->pin[unit] == MO_FREE)
            c->room_bytes[device_of(c, unit)] -= u->bytes[unit];
}

mo_status mo_climb(const mo_instance *x, const mo_units *units,
                   mo_schedule **schedule, mo_error *err)
{
    climber c = { .x = x, .units = units, .best = *schedule };
    mo_status status = MO_OK;

    if (x->n == 0 || x->n_devices == 1)
        return MO_OK;
    c.placement = malloc((size_t) x->n * sizeof *c.placement);
    c.room_bytes = malloc((size_t) x->n_devices * sizeof *c.room_bytes);
    if (!c.placement || !c.room_bytes)
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        begin(&c);
        status = climb(&c, err);
    }
    *schedule = c.best;
    free(c.room_bytes);
    free(c.placement);
    return status;
}
