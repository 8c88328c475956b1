#include "schedule/climb.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/heft.h"

/* Ops and flows that may be looked at in all: a quarter of a second. */
enum { EFFORT = 1000000 };

typedef struct climber {
    const mo_instance *x;
    const mo_units *units;
    mo_schedule *best;
    int *placement; /* that of the best, but for a move on trial */
    int64_t *room_bytes;
    int n_left;    /* trials */
    int n_useless; /* moves in a row that did not help */
} climber;

static int device_of(const climber *c, int unit)
{
    return c->placement[c->units->ops[c->units->start[unit]]];
}

static void move(climber *c, int unit, int device)
{
    const mo_units *u = c->units;

    c->room_bytes[device_of(c, unit)] += u->bytes[unit];
    c->room_bytes[device] -= u->bytes[unit];
    for (int j = u->start[unit]; j < u->start[unit + 1]; j++)
        c->placement[u->ops[j]] = device;
}

/* Keeps the placement when it is better than the best. */
static mo_status judge(climber *c, bool *is_better, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_heft(c->x, &c->best->regime, c->placement, &s, err);

    c->n_left--;
    *is_better = s && s->makespan_ns < c->best->makespan_ns;
    if (*is_better) {
        mo_schedule *old = c->best;

        c->best = s;
        s = old;
        c->n_useless = 0;
    }
    mo_schedule_free(s);
    return status;
}

/* A unit on the device that could change places with this one, or -1; the
 * search for it begins behind this one. */
static int find_partner(const climber *c, int unit, int device)
{
    const mo_units *u = c->units;
    int from = device_of(c, unit);

    for (int step = 1; step < u->n; step++) {
        int other = (unit + step) % u->n;
        int64_t more = u->bytes[unit] - u->bytes[other];

        if (u->pin[other] == MO_FREE && device_of(c, other) == device &&
            more <= c->room_bytes[device] && -more <= c->room_bytes[from])
            return other;
    }
    return -1;
}

static mo_status try_move(climber *c, int unit, int device, mo_error *err)
{
    int from = device_of(c, unit), partner = -1;
    bool is_better = false;
    mo_status status;

    c->n_useless++;
    if (from == device)
        return MO_OK;
    if (c->units->bytes[unit] > c->room_bytes[device]) {
        partner = find_partner(c, unit, device);
        if (partner < 0)
            return MO_OK;
        move(c, partner, from);
    }
    move(c, unit, device);
    status = judge(c, &is_better, err);
    if (is_better)
        return status;
    move(c, unit, from);
    if (partner >= 0)
        move(c, partner, device);
    return status;
}

/* Goes round and round: first where a unit could go, then to the next unit. */
static mo_status climb(climber *c, mo_error *err)
{
    int n_devices = c->x->n_devices, n_moves = c->units->n * n_devices;
    mo_status status = MO_OK;

    for (int at = 0; c->n_left > 0 && c->n_useless < n_moves && status == MO_OK;
         at = (at + 1) % n_moves) {
        int unit = at / n_devices;

        if (c->units->pin[unit] == MO_FREE)
            status = try_move(c, unit, at % n_devices, err);
        else
            c->n_useless++;
    }
    return status;
}

static void begin(climber *c)
{
    const mo_units *u = c->units;

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
    bool is_better;

    c.n_left = EFFORT / (x->n + x->n_flows + 1);
    c.placement = malloc(((size_t) x->n + 1) * sizeof *c.placement);
    c.room_bytes = malloc(((size_t) x->n_devices + 1) * sizeof *c.room_bytes);
    if (!c.placement || !c.room_bytes)
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        begin(&c);
        status = judge(&c, &is_better, err);
    }
    if (status == MO_OK)
        status = climb(&c, err);
    *schedule = c.best;
    free(c.room_bytes);
    free(c.placement);
    return status;
}
