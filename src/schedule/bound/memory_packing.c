/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/memory_packing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Depth-first search over the items by decreasing size; an item is tried on
 * the devices in a fixed order, so that the first descent is first-fit
 * decreasing.  Two symmetries are broken:
 *
 *   - items of one size are exchangeable: their devices do not descend in the
 *     order of the devices;
 *   - devices of equal room that hold no item of this size yet are
 *     exchangeable: only the first of them is tried.
 *
 * A node is pruned where the room below the size of the smallest item exceeds
 * what may stay empty, or where the devices have fewer places for the items of
 * one size than there are such items.
 */

enum {
    MAX_DEAD_ENDS = 100000, /* of a search for a packing, by device order */
    PROOF_DEAD_ENDS = 20000,
    MAX_PREFIXES = 48,   /* sets of largest items that are tried for a proof */
    MAX_FILTERED = 64,   /* items of a set from which single ones are removed */
    N_DEVICE_ORDERS = 3, /* by number, by room ascending, descending */
    MAX_NAMES = 4,       /* in a message */
    MAX_ROOMS = 8
};

typedef struct packer {
    const mo_instance *x;
    const mo_placement_units *units;
    int n, *items;       /* unpinned units with memory, by decreasing size */
    int *set;            /* items that cannot be packed, and scratch behind */
    int *choice;         /* by position in the set: position in the devices */
    int *devices;        /* the order in which they are tried */
    int64_t *free_bytes; /* by device, beside what is pinned */
    int64_t *room;       /* by position in devices, during a search */
} packer;

typedef struct sized {
    int64_t bytes;
    int number;
} sized;

static int compare_decreasing(const void *a, const void *b)
{
    const sized *v = a, *w = b;

    if (v->bytes != w->bytes)
        return v->bytes > w->bytes ? -1 : 1;
    return (v->number > w->number) - (v->number < w->number);
}

static void add_saturating(int64_t *sum, int64_t more)
{
    if (!mo_int64_add(*sum, more, sum))
        *sum = INT64_MAX;
}

static int64_t bytes_at(const packer *p, const int *set, int position)
{
    return p->units->bytes[set[position]];
}

/* Whether the items of the size at a position, with those behind, have places
 * enough, and what must stay empty is within the slack. */
static bool may_fit(const packer *p, const int *set, int n, int at,
                    int64_t slack)
{
    int64_t bytes = bytes_at(p, set, at), least = bytes_at(p, set, n - 1);
    int64_t waste = 0, places = 0;
    int same = at;

    while (same < n && bytes_at(p, set, same) == bytes)
        same++;
    for (int i = 0; i < p->x->n_devices; i++) {
        add_saturating(&places, p->room[i] / bytes);
        if (p->room[i] < least)
            add_saturating(&waste, p->room[i]);
    }
    return places >= same - at && waste <= slack;
}

/* The next position among the devices for an item, or -1. */
static int next_place(const packer *p, const int *set, int at)
{
    int64_t bytes = bytes_at(p, set, at);
    int before =
        at > 0 && bytes_at(p, set, at - 1) == bytes ? p->choice[at - 1] : -1;
    int i = p->choice[at] + 1;

    for (i = i < before ? before : i; i < p->x->n_devices; i++) {
        int twin = before + 1;

        if (p->room[i] < bytes)
            continue;
        while (twin < i && p->room[twin] != p->room[i])
            twin++;
        if (i == before || twin == i)
            return i;
    }
    return -1;
}

/* Searches a packing of the set, which is sorted by decreasing size. */
static mo_packing_verdict search_set(packer *p, const int *set, int n,
                                     int most_dead_ends)
{
    int64_t room = 0, need = 0;
    int at = 0, n_dead_ends = 0;

    for (int i = 0; i < p->x->n_devices; i++) {
        p->room[i] = p->free_bytes[p->devices[i]];
        add_saturating(&room, p->room[i]);
    }
    for (int i = 0; i < n; i++)
        add_saturating(&need, bytes_at(p, set, i));
    if (need > room)
        return MO_PACKING_NONE;
    if (n > 0)
        p->choice[0] = -1;
    while (at < n) {
        bool is_first =
            at == 0 || bytes_at(p, set, at) != bytes_at(p, set, at - 1);
        int i = is_first && p->choice[at] < 0 &&
                        !may_fit(p, set, n, at, room - need)
                    ? -1
                    : next_place(p, set, at);

        p->choice[at] = i;
        if (i >= 0) {
            p->room[i] -= bytes_at(p, set, at++);
            if (at < n)
                p->choice[at] = -1;
            continue;
        }
        if (at-- == 0)
            return MO_PACKING_NONE;
        if (n_dead_ends++ == most_dead_ends)
            return MO_PACKING_UNKNOWN;
        p->room[p->choice[at]] += bytes_at(p, set, at);
    }
    return MO_PACKING_FOUND;
}

static void place_unit(const mo_placement_units *units, int unit, int device,
                       int *placement)
{
    for (int j = units->start[unit]; j < units->start[unit + 1]; j++)
        placement[units->ops[j]] = device;
}

/* Units without memory follow the first predecessor that is placed. */
static int device_of_predecessor(const packer *p, int unit,
                                 const int *placement)
{
    const mo_instance *x = p->x;

    for (int j = p->units->start[unit]; j < p->units->start[unit + 1]; j++) {
        int op = p->units->ops[j];

        for (int q = x->in_start[op]; q < x->in_start[op + 1]; q++)
            if (placement[x->flows[x->in_flows[q]].from] != MO_FREE)
                return placement[x->flows[x->in_flows[q]].from];
    }
    return p->devices[0];
}

static mo_status open_packer(packer *p, const mo_instance *x,
                             const mo_placement_units *units, sized **scratch,
                             mo_error *err)
{
    size_t n = (size_t) units->n + 1, n_devices = (size_t) x->n_devices + 1;

    *p = (packer){ .x = x, .units = units };
    p->items = malloc(n * sizeof *p->items);
    p->set = malloc((n + MAX_FILTERED) * sizeof *p->set);
    p->choice = malloc(n * sizeof *p->choice);
    p->devices = malloc(n_devices * sizeof *p->devices);
    p->free_bytes = malloc(n_devices * sizeof *p->free_bytes);
    p->room = malloc(n_devices * sizeof *p->room);
    *scratch = malloc((n > n_devices ? n : n_devices) * sizeof **scratch);
    if (!p->items || !p->set || !p->choice || !p->devices || !p->free_bytes ||
        !p->room || !*scratch)
        return mo_fail_memory(err);
    mo_placement_units_free_bytes(x, units, p->free_bytes);
    for (int u = 0; u < units->n; u++)
        if (units->pin[u] == MO_FREE && units->bytes[u] > 0)
            (*scratch)[p->n++] = (sized){ units->bytes[u], u };
    qsort(*scratch, (size_t) p->n, sizeof **scratch, compare_decreasing);
    for (int i = 0; i < p->n; i++)
        p->items[i] = (*scratch)[i].number;
    return MO_OK;
}

static void close_packer(packer *p, sized *scratch)
{
    free(p->items);
    free(p->set);
    free(p->choice);
    free(p->devices);
    free(p->free_bytes);
    free(p->room);
    free(scratch);
}

/* The first device that its pinned units exceed, or -1. */
static int find_exceeded(const packer *p)
{
    for (int k = 0; k < p->x->n_devices; k++)
        if (p->free_bytes[k] < 0)
            return k;
    return -1;
}

static mo_packing_verdict search_all(packer *p, sized *scratch)
{
    mo_packing_verdict verdict =
        find_exceeded(p) < 0 ? MO_PACKING_UNKNOWN : MO_PACKING_NONE;

    for (int order = 0;
         order < N_DEVICE_ORDERS && verdict == MO_PACKING_UNKNOWN; order++) {
        int n = p->x->n_devices;

        for (int k = 0; k < n; k++)
            scratch[k] = (sized){ order == 0 ? 0 : p->free_bytes[k], k };
        qsort(scratch, (size_t) n, sizeof *scratch, compare_decreasing);
        for (int k = 0; k < n; k++)
            p->devices[k] = scratch[order == 1 ? n - 1 - k : k].number;
        verdict = search_set(p, p->items, p->n, MAX_DEAD_ENDS);
    }
    return verdict;
}

mo_status mo_packing_find(const mo_instance *x, const mo_placement_units *units,
                          int *placement, mo_packing_verdict *verdict,
                          mo_error *err)
{
    packer p;
    sized *scratch;
    mo_status status = open_packer(&p, x, units, &scratch, err);

    if (status == MO_OK)
        *verdict = search_all(&p, scratch);
    if (status == MO_OK && *verdict == MO_PACKING_FOUND) {
        for (int i = 0; i < p.x->n; i++)
            placement[i] = p.units->pin[p.units->of_op[i]];
        for (int i = 0; i < p.n; i++)
            place_unit(p.units, p.items[i], p.devices[p.choice[i]], placement);
        for (int u = 0; u < p.units->n; u++)
            if (placement[p.units->ops[p.units->start[u]]] == MO_FREE)
                place_unit(p.units, u, device_of_predecessor(&p, u, placement),
                           placement);
    }
    close_packer(&p, scratch);
    return status;
}

/* Removes from the set in p->set whatever is not needed for the proof. */
static int filter_set(packer *p, int n)
{
    int *rest = p->set + n; /* the caller leaves room */

    for (int i = 0; i < n; i++) {
        memcpy(rest, p->set, (size_t) i * sizeof *rest);
        memcpy(rest + i, p->set + i + 1, (size_t) (n - i - 1) * sizeof *rest);
        if (search_set(p, rest, n - 1, PROOF_DEAD_ENDS) != MO_PACKING_NONE)
            continue;
        memcpy(p->set, rest, (size_t) (n - 1) * sizeof *rest);
        n--;
        rest = p->set + n;
        i--;
    }
    return n;
}

/* Fills p->set with items that cannot be packed, proven; returns their number,
 * 0: no proof.  Tries the largest items up to a change of size. */
static int find_conflict(packer *p)
{
    int n_sizes = 0, size = 0, step;

    for (int i = 1; i <= p->n; i++)
        n_sizes += i == p->n ||
                   bytes_at(p, p->items, i) != bytes_at(p, p->items, i - 1);
    if (n_sizes == 0)
        return 0;
    step = (n_sizes + MAX_PREFIXES - 1) / MAX_PREFIXES;
    for (int i = 1; i <= p->n; i++) {
        if (i < p->n &&
            bytes_at(p, p->items, i) == bytes_at(p, p->items, i - 1))
            continue;
        size++;
        if (size % step != 0 && i < p->n)
            continue;
        if (search_set(p, p->items, i, PROOF_DEAD_ENDS) != MO_PACKING_NONE)
            continue;
        memcpy(p->set, p->items, (size_t) i * sizeof *p->set);
        return i;
    }
    return 0;
}

static int append_text(char *text, size_t size, int at, const char *format, ...)
    MO_PRINTF(4, 5);

static int append_text(char *text, size_t size, int at, const char *format, ...)
{
    va_list args;
    int n = 0;

    va_start(args, format);
    if ((size_t) at < size)
        n = vsnprintf(text + at, size - (size_t) at, format, args);
    va_end(args);
    return at + (n > 0 ? n : 0);
}

static void list_rooms(const packer *p, char *text, size_t size)
{
    int n = p->x->n_devices, at = 0;

    text[0] = '\0';
    for (int k = 0; k < n && k < MAX_ROOMS; k++)
        at = append_text(text, size, at, "%s%lld", k > 0 ? ", " : "",
                         (long long) p->free_bytes[k]);
    if (n > MAX_ROOMS)
        append_text(text, size, at, " and %d more", n - MAX_ROOMS);
}

static mo_status report_conflict(const packer *p, int n, mo_error *err)
{
    char names[400], rooms[300];
    int64_t sum = 0;
    bool pinned = false;

    for (int i = 0; i < n; i++)
        add_saturating(&sum, bytes_at(p, p->set, i));
    for (int k = 0; k < p->x->n_devices; k++)
        pinned = pinned || p->free_bytes[k] < p->x->capacity_bytes[k];
    size_t size = sizeof names;
    int at = 0;

    names[0] = '\0';
    for (int i = 0; i < n && i < MAX_NAMES; i++) {
        int u = p->set[i], first = p->units->start[u];
        const char *name = p->x->op_names[p->units->ops[first]];

        at = append_text(names, size, at, "%s'%.40s'", i > 0 ? ", " : "", name);
        if (p->units->start[u + 1] - first > 1)
            at = append_text(names, size, at, " with its group");
    }
    if (n > MAX_NAMES)
        append_text(names, size, at, " and %d more", n - MAX_NAMES);
    list_rooms(p, rooms, sizeof rooms);
    return mo_fail(err, MO_E_INFEASIBLE,
                   "no placement fits into memory: %s (%lld bytes or more "
                   "each, %lld together) cannot be divided among devices with "
                   "%s bytes%s",
                   names, (long long) bytes_at(p, p->set, n - 1),
                   (long long) sum, rooms,
                   pinned ? " beside what is pinned" : "");
}

mo_status mo_packing_check(const mo_instance *x,
                           const mo_placement_units *units, mo_error *err)
{
    packer p;
    sized *scratch;
    int n, exceeded;
    mo_status status = open_packer(&p, x, units, &scratch, err);

    if (status == MO_OK && (exceeded = find_exceeded(&p)) >= 0) {
        status = mo_fail(err, MO_E_INFEASIBLE,
                         "no placement fits into memory: what is pinned to "
                         "device %.100s exceeds its %lld bytes",
                         x->device_ids[exceeded],
                         (long long) x->capacity_bytes[exceeded]);
    } else if (status == MO_OK && search_all(&p, scratch) != MO_PACKING_FOUND) {
        n = find_conflict(&p);
        if (n > 0 && n <= MAX_FILTERED)
            n = filter_set(&p, n);
        if (n > 0)
            status = report_conflict(&p, n, err);
    }
    close_packer(&p, scratch);
    return status;
}
