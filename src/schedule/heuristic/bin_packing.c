/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/bin_packing.h"

#include <stdlib.h>

#include "base/array.h"
#include "schedule/heuristic/single_device.h"

/* Limit on dead ends of the backtracking search; without dead ends every unit
 * is placed once. */
enum { MAX_DEAD_ENDS = 200000 };

typedef struct packer {
    const mo_instance *x;
    const mo_placement_units *units;
    int n, *order; /* units that are not pinned, by decreasing size */
    int *choice;   /* by position in order: its device, or -1 */
    int64_t *room_bytes;
    int64_t slack_bytes; /* how much may stay empty */
} packer;

typedef struct sized_unit {
    int64_t bytes;
    int unit;
} sized_unit;

static int compare_unit_sizes(const void *a, const void *b)
{
    const sized_unit *v = a, *w = b;

    if (v->bytes != w->bytes)
        return v->bytes > w->bytes ? -1 : 1;
    return (v->unit > w->unit) - (v->unit < w->unit);
}

static mo_status sort_by_size(packer *p, mo_error *err)
{
    sized_unit *all = malloc(((size_t) p->units->n + 1) * sizeof *all);

    if (!all)
        return mo_fail_memory(err);
    for (int u = 0; u < p->units->n; u++)
        if (p->units->pin[u] == MO_FREE)
            all[p->n++] = (sized_unit){ p->units->bytes[u], u };
    qsort(all, (size_t) p->n, sizeof *all, compare_unit_sizes);
    for (int i = 0; i < p->n; i++)
        p->order[i] = all[i].unit;
    free(all);
    return MO_OK;
}

static int64_t unit_bytes_at(const packer *p, int position)
{
    return p->units->bytes[p->order[position]];
}

static void add_saturating(int64_t *sum, int64_t more)
{
    if (!mo_int64_add(*sum, more, sum))
        *sum = INT64_MAX;
}

/* Pruning: whether more than the slack is wasted on devices where not even the
 * smallest unit fits. */
static bool wastes_too_much(const packer *p)
{
    int64_t smallest = unit_bytes_at(p, p->n - 1), waste = 0;

    for (int k = 0; k < p->x->n_devices; k++)
        if (p->room_bytes[k] < smallest)
            waste += p->room_bytes[k];
    return waste > p->slack_bytes;
}

/* The next device for the unit at a position.  Symmetry breaking: of devices
 * with equal room only the first is tried. */
static int next_device(const packer *p, int position)
{
    for (int k = p->choice[position] + 1; k < p->x->n_devices; k++) {
        int twin = 0;

        if (p->room_bytes[k] < unit_bytes_at(p, position))
            continue;
        while (p->room_bytes[twin] != p->room_bytes[k])
            twin++;
        if (twin == k)
            return k;
    }
    return -1;
}

static bool search_packing(packer *p)
{
    int at = 0, n_dead_ends = 0;

    while (at < p->n) {
        int k = next_device(p, at);

        p->choice[at] = k;
        if (k >= 0) {
            p->room_bytes[k] -= unit_bytes_at(p, at++);
            if (at < p->n)
                p->choice[at] = wastes_too_much(p) ? p->x->n_devices : -1;
            continue;
        }
        if (at-- == 0 || n_dead_ends++ == MAX_DEAD_ENDS)
            return false;
        p->room_bytes[p->choice[at]] += unit_bytes_at(p, at);
    }
    return true;
}

static void place_unit(const mo_placement_units *units, int unit, int device,
                       int *placement)
{
    for (int j = units->start[unit]; j < units->start[unit + 1]; j++)
        placement[units->ops[j]] = device;
}

/* Places the pinned units; returns false when they exceed a capacity. */
static bool place_pinned(const mo_instance *x, const mo_placement_units *units,
                         int64_t *room_bytes, int *placement)
{
    bool fits = true;

    mo_placement_units_free_bytes(x, units, room_bytes);
    for (int k = 0; k < x->n_devices; k++)
        fits = fits && room_bytes[k] >= 0;
    for (int u = 0; u < units->n; u++)
        if (units->pin[u] != MO_FREE)
            place_unit(units, u, units->pin[u], placement);
    return fits;
}

static mo_status pack_by_size(packer *p, int *placement, bool *found,
                              mo_error *err)
{
    int64_t room = 0, need = 0;
    mo_status status = sort_by_size(p, err);

    if (status != MO_OK ||
        !place_pinned(p->x, p->units, p->room_bytes, placement))
        return status;
    /* Total room of the devices beyond the total need of the units. */
    for (int k = 0; k < p->x->n_devices; k++)
        add_saturating(&room, p->room_bytes[k]);
    for (int i = 0; i < p->n; i++)
        add_saturating(&need, unit_bytes_at(p, i));
    p->slack_bytes = room - need;
    if (p->slack_bytes < 0)
        return MO_OK;
    if (p->n > 0)
        p->choice[0] = -1;
    *found = search_packing(p);
    for (int i = 0; i < p->n && *found; i++)
        place_unit(p->units, p->order[i], p->choice[i], placement);
    return MO_OK;
}

mo_status mo_bin_packing_by_size(const mo_instance *x,
                                 const mo_placement_units *units,
                                 int *placement, bool *found, mo_error *err)
{
    packer p = { .x = x, .units = units };
    mo_status status;

    *found = false;
    p.order = calloc((size_t) units->n + 1, sizeof *p.order);
    p.choice = calloc((size_t) units->n + 1, sizeof *p.choice);
    p.room_bytes = calloc((size_t) x->n_devices + 1, sizeof *p.room_bytes);
    status = p.order && p.choice && p.room_bytes
                 ? pack_by_size(&p, placement, found, err)
                 : mo_fail_memory(err);
    free(p.room_bytes);
    free(p.choice);
    free(p.order);
    return status;
}

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

mo_status mo_bin_packing_in_order(const mo_instance *x,
                                  const mo_placement_units *units,
                                  int *placement, bool *found, mo_error *err)
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
