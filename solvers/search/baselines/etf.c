/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/etf.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/minmax.h"
#include "cost/instance.h"
#include "schedule/placement_units.h"
#include "schedule/regime.h"
#include "solvers/search/baselines/baseline.h"

/*
 * Free memory of the devices in the course of a schedule.  Under static memory
 * a unit keeps the memory of its ops for good. Under live memory it keeps its
 * weights; an op has its workspace, its outputs and its copies of remote
 * inputs, and an output is released after its last reader has run. Without
 * limits everything fits.
 */
typedef struct etf_memory {
    const mo_instance *x;
    const mo_placement_units *units; /* of the same regime, borrowed */
    bool live;
    int64_t *free_bytes; /* by device; negative after an overflow */
    int *readers;        /* by tensor: readers that have not run */
    mo_heap running;     /* ops by end time */
} etf_memory;

/* Saturates at INT64_MAX, which fits nowhere. */
static void add_saturating(int64_t *bytes, int64_t more_bytes)
{
    if (more_bytes > 0 && !mo_int64_add(*bytes, more_bytes, bytes))
        *bytes = INT64_MAX;
}

static int64_t output_bytes(const mo_instance *x, int op)
{
    int64_t bytes = 0;

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
        if (q == x->tensor_start[x->flows[q].tensor])
            add_saturating(&bytes, x->tensor_bytes[x->flows[q].tensor]);
    return bytes;
}

/* Returns the bytes of op's inputs that come from other devices. */
static int64_t copied_bytes(const mo_instance *x, const int *device, int op,
                            int k)
{
    int64_t bytes = 0;

    for (int at = x->in_start[op]; at < x->in_start[op + 1]; at++) {
        const mo_flow *flow = &x->flows[x->in_flows[at]];

        if (device[flow->from] != k)
            add_saturating(&bytes, x->tensor_bytes[flow->tensor]);
    }
    return bytes;
}

/* Returns whether op fits device k now, with its unit, which is not placed
 * yet. device has the devices of op's inputs. */
static bool memory_fits(const etf_memory *room, const int *device, int op,
                        int k)
{
    int64_t bytes = room->units->bytes[room->units->of_op[op]];

    if (room->live) {
        add_saturating(&bytes,
                       room->x->memory_bytes[op] - room->x->weight_bytes[op]);
        add_saturating(&bytes, output_bytes(room->x, op));
        add_saturating(&bytes, copied_bytes(room->x, device, op, k));
    }
    return bytes <= room->free_bytes[k];
}

/* Saturates at -INT64_MAX. */
static void take_bytes(etf_memory *room, int k, int64_t bytes)
{
    int64_t *free_bytes = &room->free_bytes[k];

    if (!mo_int64_add(*free_bytes, -bytes, free_bytes))
        *free_bytes = -INT64_MAX;
}

/*
 * Ready ops of one device. Until the device is free some of them become
 * startable; of these the first in topological order counts, of the others the
 * one that can start first. Ops placed elsewhere are removed lazily, at the
 * top.
 */
typedef struct ready_queue {
    mo_heap later; /* by arrival of their inputs */
    mo_heap now;   /* startable, by topological position */
} ready_queue;

typedef struct etf_device {
    int64_t free_ns;
    int last;           /* op that it ran last, or -1 */
    ready_queue ready;  /* all ops allowed there */
    ready_queue urgent; /* the same by the time they become urgent */
    int awaited;        /* favourite child cached in awaited_ns, or -1 */
    int64_t awaited_ns; /* arrival of its inputs here */
} etf_device;

typedef struct etf_state {
    const mo_method_task *task;
    const mo_instance *x;
    const mo_baseline_etf_options *options;
    mo_placement_units *units;
    etf_memory room;
    int *unit_device;   /* or MO_FREE */
    int *order, *place; /* topological */
    int *waits;         /* by op: inputs not placed yet */
    int *open;          /* by op: devices that have not refused it */
    int *device, *rank; /* by op; MO_FREE until placed */
    int64_t *end_ns;
    bool *refused; /* by op and device, with memory only: it did not fit */
    etf_device *devices;
} etf_state;

typedef struct etf_choice {
    int op, device; /* op -1: none */
    int64_t start_ns;
} etf_choice;

static bool checks_memory(const etf_state *s)
{
    return s->options->memory && s->task->regime.memory != MO_MEMORY_NONE;
}

static int64_t cell_of(const etf_state *s, int op, int k)
{
    return (int64_t) op * s->x->n_devices + k;
}

static bool is_unit_placed(const etf_state *s, int op)
{
    return s->unit_device[s->units->of_op[op]] != MO_FREE;
}

/* A pin, or a colocation group that is placed, leaves one device. */
static bool is_allowed(const etf_state *s, int op, int k)
{
    if (is_unit_placed(s, op))
        return s->unit_device[s->units->of_op[op]] == k;
    return !s->options->allowed || s->options->allowed[cell_of(s, op, k)];
}

/* Returns whether op waits for device k: not placed, allowed there and not
 * refused. */
static bool is_pending(const etf_state *s, int op, int k)
{
    return s->device[op] == MO_FREE && is_allowed(s, op, k) &&
           !(s->refused && s->refused[cell_of(s, op, k)]);
}

/* Returns when all inputs of op are on device k. */
static int64_t arrival_ns(const etf_state *s, int op, int k)
{
    const mo_instance *x = s->x;
    int64_t last_ns = 0;

    for (int at = x->in_start[op]; at < x->in_start[op + 1]; at++) {
        int q = x->in_flows[at], from = x->flows[q].from;
        int64_t ns =
            s->end_ns[from] + mo_instance_flow_ns(x, q, s->device[from], k);

        last_ns = mo_max_i64(ns, last_ns);
    }
    return last_ns;
}

static mo_status push_on_device(etf_state *s, int op, int k,
                                int64_t urgent_from_ns, mo_error *err)
{
    etf_device *d = &s->devices[k];
    mo_status status =
        mo_heap_push(&d->ready.later, arrival_ns(s, op, k), s->place[op], err);

    if (status == MO_OK && s->options->favourite)
        status =
            mo_heap_push(&d->urgent.later, urgent_from_ns, s->place[op], err);
    return status;
}

/* Returns when the inputs of op could be on every allowed device; 0 without
 * favourite children. */
static int64_t urgent_from_ns(const etf_state *s, int op)
{
    int64_t last_ns = 0;

    for (int k = 0; s->options->favourite && k < s->x->n_devices; k++)
        if (is_allowed(s, op, k) && arrival_ns(s, op, k) > last_ns)
            last_ns = arrival_ns(s, op, k);
    return last_ns;
}

/* Queues op on every allowed device and counts these. */
static mo_status make_ready(etf_state *s, int op, mo_error *err)
{
    int64_t all_ns = urgent_from_ns(s, op);
    mo_status status = MO_OK;

    s->open[op] = 0;
    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++)
        if (is_allowed(s, op, k)) {
            s->open[op]++;
            status = push_on_device(s, op, k, all_ns, err);
        }
    return status;
}

/* Sets *first to the first op of the queue, or to none. */
static mo_status first_of_queue(etf_state *s, ready_queue *l, int k,
                                etf_choice *first, mo_error *err)
{
    int64_t free_ns = s->devices[k].free_ns;
    mo_status status = MO_OK;

    *first = (etf_choice){ .op = -1 };
    while (l->later.n > 0 && l->later.items[0].key <= free_ns &&
           status == MO_OK) {
        int at = mo_heap_pop(&l->later).id;

        status = mo_heap_push(&l->now, at, at, err);
    }
    while (l->now.n > 0 && !is_pending(s, s->order[l->now.items[0].id], k))
        mo_heap_pop(&l->now);
    while (l->later.n > 0 && !is_pending(s, s->order[l->later.items[0].id], k))
        mo_heap_pop(&l->later);
    if (l->now.n > 0)
        *first = (etf_choice){ s->order[l->now.items[0].id], k, free_ns };
    else if (l->later.n > 0)
        *first = (etf_choice){ s->order[l->later.items[0].id], k,
                               l->later.items[0].key };
    return status;
}

/* Returns whether a starts before b; a choice without op comes last. */
static bool starts_before(const etf_state *s, const etf_choice *a,
                          const etf_choice *b)
{
    if (a->op < 0 || b->op < 0)
        return a->op >= 0;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return s->place[a->op] < s->place[b->op];
}

/* Returns the favourite child that the device waits for, or -1. */
static int awaited_child(const etf_state *s, int k)
{
    int last = s->devices[k].last, child;

    if (!s->options->favourite || last < 0)
        return -1;
    child = s->options->favourite[last];
    return child != MO_FREE && s->waits[child] == 0 && is_pending(s, child, k)
               ? child
               : -1;
}

/* Sets *next to what the device would start next. */
static mo_status next_on_device(etf_state *s, int k, etf_choice *next,
                                mo_error *err)
{
    int child = awaited_child(s, k);
    etf_choice favoured;
    mo_status status;

    if (child < 0)
        return first_of_queue(s, &s->devices[k].ready, k, next, err);
    etf_device *d = &s->devices[k];

    if (d->awaited != child) {
        d->awaited = child;
        d->awaited_ns = arrival_ns(s, child, k);
    }
    favoured =
        (etf_choice){ child, k,
                      d->awaited_ns > d->free_ns ? d->awaited_ns : d->free_ns };
    status = first_of_queue(s, &s->devices[k].urgent, k, next, err);
    if (!starts_before(s, next, &favoured))
        *next = favoured;
    return status;
}

static mo_status select_earliest(etf_state *s, etf_choice *best, mo_error *err)
{
    mo_status status = MO_OK;

    *best = (etf_choice){ .op = -1 };
    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++) {
        etf_choice next;

        status = next_on_device(s, k, &next, err);
        if (status == MO_OK && starts_before(s, &next, best))
            *best = next;
    }
    return status;
}

/* Places a unit. Its ops that the device had refused are queued there again. */
static mo_status place_unit(etf_state *s, int unit, int k, mo_error *err)
{
    mo_status status = MO_OK;

    s->unit_device[unit] = k;
    if (checks_memory(s)) {
        /* Reserves memory on device k for a unit that is not pinned. */
        take_bytes(&s->room, k, s->room.units->bytes[unit]);
    }
    for (int at = s->units->start[unit];
         s->refused && at < s->units->start[unit + 1] && status == MO_OK;
         at++) {
        int op = s->units->ops[at];

        if (!s->refused[cell_of(s, op, k)])
            continue;
        s->refused[cell_of(s, op, k)] = false;
        status = push_on_device(s, op, k, urgent_from_ns(s, op), err);
    }
    return status;
}

/* Checks memory for a unit that is not placed yet. */
static bool fits_memory(etf_state *s, const etf_choice *p)
{
    if (!checks_memory(s))
        return true;
    /* Releases the memory of all ops that end by now_ns. */
    while (s->room.running.n > 0 &&
           s->room.running.items[0].key <= p->start_ns) {
        int op = mo_heap_pop(&s->room.running).id;
        const mo_instance *x = s->room.x;

        take_bytes(&s->room, s->device[op],
                   -copied_bytes(x, s->device, op, s->device[op]));
        for (int at = x->in_start[op]; at < x->in_start[op + 1]; at++) {
            int tensor = x->flows[x->in_flows[at]].tensor;

            if (--s->room.readers[tensor] == 0 && x->tensor_bytes[tensor] > 0)
                take_bytes(&s->room, s->device[x->tensor_from[tensor]],
                           -x->tensor_bytes[tensor]);
        }
    }
    return is_unit_placed(s, p->op) ||
           memory_fits(&s->room, s->device, p->op, p->device);
}

static void exclude_device(etf_state *s, int op, int k)
{
    s->refused[cell_of(s, op, k)] = true;
    s->open[op]--;
}

/* Rejects the choice, and, where memory is never released, all other devices
 * without room. An op without any device left goes to the one with most memory
 * and overflows. */
static mo_status reject_choice(etf_state *s, const etf_choice *p, mo_error *err)
{
    exclude_device(s, p->op, p->device);
    for (int k = 0; !s->room.live && k < s->x->n_devices; k++)
        if (is_pending(s, p->op, k) &&
            !memory_fits(&s->room, s->device, p->op, k))
            exclude_device(s, p->op, k);
    if (s->open[p->op] > 0)
        return MO_OK;
    /* The allowed device with the most free memory. */
    int best = -1;

    for (int k = 0; k < s->x->n_devices; k++)
        if (is_allowed(s, p->op, k) &&
            (best < 0 || s->room.free_bytes[k] > s->room.free_bytes[best]))
            best = k;
    return place_unit(s, s->units->of_op[p->op], best, err);
}

static mo_status push_ready_readers(etf_state *s, int op, mo_error *err)
{
    const mo_instance *x = s->x;
    mo_status status = MO_OK;

    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++)
        if (--s->waits[x->flows[q].to] == 0)
            status = make_ready(s, x->flows[q].to, err);
    return status;
}

static mo_status commit_choice(etf_state *s, const etf_choice *p, int rank,
                               mo_error *err)
{
    etf_device *d = &s->devices[p->device];
    mo_status status = MO_OK;

    if (!is_unit_placed(s, p->op))
        status = place_unit(s, s->units->of_op[p->op], p->device, err);
    s->device[p->op] = p->device;
    s->rank[p->op] = rank;
    s->end_ns[p->op] = p->start_ns + mo_instance_p_ns(s->x, p->op, p->device);
    d->free_ns = s->end_ns[p->op];
    d->last = p->op;
    if (status == MO_OK && checks_memory(s)) {
        /* Starts op on device[op] until end_ns; its unit has been reserved. */
        int op = p->op;
        int64_t end_ns = s->end_ns[p->op];
        int k = s->device[op];

        if (s->room.live) {
            take_bytes(&s->room, k, output_bytes(s->room.x, op));
            take_bytes(&s->room, k, copied_bytes(s->room.x, s->device, op, k));
            status = mo_heap_push(&s->room.running, end_ns, op, err);
        }
    }
    return status == MO_OK ? push_ready_readers(s, p->op, err) : status;
}

/* Sets *all unless stopped. */
static mo_status place_all(etf_state *s, mo_method_result *placed, bool *all,
                           mo_error *err)
{
    mo_status status = MO_OK;
    int n = 0;

    for (int i = 0; i < s->x->n && status == MO_OK; i++)
        if (s->waits[i] == 0)
            status = make_ready(s, i, err);
    for (int64_t steps = 0; n < s->x->n && status == MO_OK; steps++) {
        etf_choice next;

        if (mo_baseline_should_stop(s->task, steps, n, placed))
            return MO_OK;
        status = select_earliest(s, &next, err);
        assert(status != MO_OK || next.op >= 0);
        if (status == MO_OK)
            status = fits_memory(s, &next) ? commit_choice(s, &next, n++, err)
                                           : reject_choice(s, &next, err);
    }
    *all = status == MO_OK;
    return status;
}

/* Allocates count cells, never zero bytes. */
static void *reserve_cells(size_t count, size_t size)
{
    return calloc(count + 1, size);
}

static bool reserve_arrays(etf_state *s)
{
    size_t n = (size_t) s->x->n, n_devices = (size_t) s->x->n_devices, cells;

    s->unit_device = reserve_cells(n, sizeof *s->unit_device);
    s->order = reserve_cells(n, sizeof *s->order);
    s->place = reserve_cells(n, sizeof *s->place);
    s->waits = reserve_cells(n, sizeof *s->waits);
    s->open = reserve_cells(n, sizeof *s->open);
    s->device = reserve_cells(n, sizeof *s->device);
    s->rank = reserve_cells(n, sizeof *s->rank);
    s->end_ns = reserve_cells(n, sizeof *s->end_ns);
    s->devices = reserve_cells(n_devices, sizeof *s->devices);
    if (checks_memory(s)) {
        if (!mo_size_mul(n, n_devices, &cells) || cells == SIZE_MAX)
            return false;
        s->refused = reserve_cells(cells, sizeof *s->refused);
    }
    return s->unit_device && s->order && s->place && s->waits && s->open &&
           s->device && s->rank && s->end_ns && s->devices &&
           (s->refused || !checks_memory(s));
}

static mo_status open_etf(etf_state *s, mo_error *err)
{
    const mo_instance *x = s->x;
    mo_status status =
        mo_placement_units_make(x, &s->task->regime, &s->units, err);

    if (status == MO_OK) {
        /* Allocates for an instance; the caller calls memory_close(),
         * also after an error. units must outlive it. */
        const mo_placement_units *units = s->units;

        s->room =
            (etf_memory){ .x = x,
                          .units = units,
                          .live = s->task->regime.memory == MO_MEMORY_LIVE };
        s->room.free_bytes =
            malloc(((size_t) x->n_devices + 1) * sizeof *s->room.free_bytes);
        s->room.readers =
            malloc(((size_t) x->n_tensors + 1) * sizeof *s->room.readers);
        if (!s->room.free_bytes || !s->room.readers) {
            status = mo_fail_memory(err);
        } else {
            mo_placement_units_free_bytes(x, units, s->room.free_bytes);
            for (int t = 0; t < x->n_tensors; t++)
                s->room.readers[t] =
                    x->tensor_start[t + 1] - x->tensor_start[t];
            status = MO_OK;
        }
    }
    if (status == MO_OK && !reserve_arrays(s))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_baseline_topo_order(x, s->order, s->place, err);
    if (status != MO_OK)
        return status;
    for (int u = 0; u < s->units->n; u++)
        s->unit_device[u] = s->units->pin[u];
    for (int i = 0; i < x->n; i++) {
        s->waits[i] = x->in_start[i + 1] - x->in_start[i];
        s->device[i] = MO_FREE;
    }
    for (int k = 0; k < x->n_devices; k++)
        s->devices[k].last = s->devices[k].awaited = -1;
    return MO_OK;
}

static void clear_ready_queue(ready_queue *l)
{
    mo_heap_clear(&l->later);
    mo_heap_clear(&l->now);
}

mo_status mo_baseline_etf_place(const mo_method_task *task,
                                const mo_baseline_etf_options *options,
                                mo_method_result *placed, mo_error *err)
{
    etf_state s = { .task = task, .x = task->x, .options = options };
    bool all = false;
    mo_status status = open_etf(&s, err);

    if (status == MO_OK)
        status = place_all(&s, placed, &all, err);
    if (all)
        status = mo_baseline_simulate(task, s.device, s.rank, placed, err);

    for (int k = 0; s.devices && k < s.x->n_devices; k++) {
        clear_ready_queue(&s.devices[k].ready);
        clear_ready_queue(&s.devices[k].urgent);
    }
    free(s.refused);
    free(s.devices);
    free(s.end_ns);
    free(s.rank);
    free(s.device);
    free(s.open);
    free(s.waits);
    free(s.place);
    free(s.order);
    free(s.unit_device);
    mo_heap_clear(&s.room.running);
    free(s.room.readers);
    free(s.room.free_bytes);
    s.room = (etf_memory){ 0 };
    mo_placement_units_free(s.units);
    return status;
}
