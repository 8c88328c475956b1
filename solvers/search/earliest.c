#include "solvers/search/earliest.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/baseline.h"
#include "solvers/search/earliest_room.h"
#include "solvers/search/queue.h"

/*
 * Those that wait for one device, by Kahn's places: until the device is free,
 * some of them have become startable, and of these the first place counts; of
 * the others the one that comes first.  What has been placed elsewhere
 * meanwhile is only thrown away when it gets to the front.
 */
typedef struct lineup {
    mo_queue later; /* by the time they can start, for all the device knows */
    mo_queue now;   /* by place */
} lineup;

typedef struct device_state {
    int64_t free_ns;
    int last;           /* op that it ran, or -1 */
    lineup ready;       /* all that may go there */
    lineup urgent;      /* the same by when they become urgent */
    int awaited;        /* the favourite child looked at last, or -1 */
    int64_t awaited_ns; /* when that could start here */
} device_state;

typedef struct search {
    const mo_task *task;
    const mo_instance *x;
    const mo_earliest_options *options;
    mo_units *units;
    mo_room room;
    int *unit_device;   /* or MO_FREE */
    int *order, *place; /* Kahn's */
    int *waits;         /* by op: flows not yet made */
    int *open;          /* by op: devices that have not refused it */
    int *device, *rank; /* by op; MO_FREE until it is placed */
    int64_t *end_ns;
    bool *refused; /* by op and device, with memory only: it had no room */
    device_state *devices;
} search;

typedef struct pair {
    int op, device; /* op -1: none */
    int64_t start_ns;
} pair;

static bool looks_at_memory(const search *s)
{
    return s->options->memory && s->task->regime.memory != MO_MEMORY_NONE;
}

static int64_t cell(const search *s, int op, int k)
{
    return (int64_t) op * s->x->n_devices + k;
}

static bool is_settled(const search *s, int op)
{
    return s->unit_device[s->units->of_op[op]] != MO_FREE;
}

/* Pins and groups that are placed leave one device. */
static bool may_go(const search *s, int op, int k)
{
    if (is_settled(s, op))
        return s->unit_device[s->units->of_op[op]] == k;
    return !s->options->allowed || s->options->allowed[cell(s, op, k)];
}

static bool is_waiting(const search *s, int op, int k)
{
    return s->device[op] == MO_FREE && may_go(s, op, k) &&
           !(s->refused && s->refused[cell(s, op, k)]);
}

/* When all that op reads is there. */
static int64_t arrival_ns(const search *s, int op, int k)
{
    const mo_instance *x = s->x;
    int64_t last_ns = 0;

    for (int at = x->in_start[op]; at < x->in_start[op + 1]; at++) {
        int q = x->in_flows[at], from = x->flows[q].from;
        int64_t ns =
            s->end_ns[from] + mo_instance_flow_ns(x, q, s->device[from], k);

        last_ns = ns > last_ns ? ns : last_ns;
    }
    return last_ns;
}

static mo_status enter(search *s, int op, int k, int64_t urgent_ns,
                       mo_error *err)
{
    device_state *d = &s->devices[k];
    mo_status status =
        mo_queue_push(&d->ready.later, arrival_ns(s, op, k), s->place[op], err);

    if (status == MO_OK && s->options->favourite)
        status = mo_queue_push(&d->urgent.later, urgent_ns, s->place[op], err);
    return status;
}

static int64_t urgent_ns(const search *s, int op)
{
    int64_t last_ns = 0;

    for (int k = 0; s->options->favourite && k < s->x->n_devices; k++)
        if (may_go(s, op, k) && arrival_ns(s, op, k) > last_ns)
            last_ns = arrival_ns(s, op, k);
    return last_ns;
}

/* op could be started now: it lines up wherever it may go. */
static mo_status make_ready(search *s, int op, mo_error *err)
{
    int64_t all_ns = urgent_ns(s, op);
    mo_status status = MO_OK;

    s->open[op] = 0;
    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++)
        if (may_go(s, op, k)) {
            s->open[op]++;
            status = enter(s, op, k, all_ns, err);
        }
    return status;
}

/* The first of those that wait, or none. */
static mo_status first_in(search *s, lineup *l, int k, pair *first,
                          mo_error *err)
{
    int64_t free_ns = s->devices[k].free_ns;
    mo_status status = MO_OK;

    *first = (pair){ .op = -1 };
    while (l->later.n > 0 && l->later.items[0].key <= free_ns &&
           status == MO_OK) {
        int at = mo_queue_pop(&l->later).number;

        status = mo_queue_push(&l->now, at, at, err);
    }
    while (l->now.n > 0 && !is_waiting(s, s->order[l->now.items[0].number], k))
        mo_queue_pop(&l->now);
    while (l->later.n > 0 &&
           !is_waiting(s, s->order[l->later.items[0].number], k))
        mo_queue_pop(&l->later);
    if (l->now.n > 0)
        *first = (pair){ s->order[l->now.items[0].number], k, free_ns };
    else if (l->later.n > 0)
        *first = (pair){ s->order[l->later.items[0].number], k,
                         l->later.items[0].key };
    return status;
}

static bool is_before(const search *s, const pair *a, const pair *b)
{
    if (a->op < 0 || b->op < 0)
        return a->op >= 0;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return s->place[a->op] < s->place[b->op];
}

/* The op that the device waits for, or -1. */
static int awaited(const search *s, int k)
{
    int last = s->devices[k].last, child;

    if (!s->options->favourite || last < 0)
        return -1;
    child = s->options->favourite[last];
    return child != MO_FREE && s->waits[child] == 0 && is_waiting(s, child, k)
               ? child
               : -1;
}

static pair child_pair(search *s, int child, int k)
{
    device_state *d = &s->devices[k];

    if (d->awaited != child) {
        d->awaited = child;
        d->awaited_ns = arrival_ns(s, child, k);
    }
    return (pair){ child, k,
                   d->awaited_ns > d->free_ns ? d->awaited_ns : d->free_ns };
}

/* What the device would start next. */
static mo_status next_on(search *s, int k, pair *next, mo_error *err)
{
    int child = awaited(s, k);
    pair favoured;
    mo_status status;

    if (child < 0)
        return first_in(s, &s->devices[k].ready, k, next, err);
    favoured = child_pair(s, child, k);
    status = first_in(s, &s->devices[k].urgent, k, next, err);
    if (!is_before(s, next, &favoured))
        *next = favoured;
    return status;
}

static mo_status find_next(search *s, pair *best, mo_error *err)
{
    mo_status status = MO_OK;

    *best = (pair){ .op = -1 };
    for (int k = 0; k < s->x->n_devices && status == MO_OK; k++) {
        pair next;

        status = next_on(s, k, &next, err);
        if (status == MO_OK && is_before(s, &next, best))
            *best = next;
    }
    return status;
}

/* Ops of the unit that the device has refused line up again: it is theirs. */
static mo_status settle(search *s, int unit, int k, mo_error *err)
{
    mo_status status = MO_OK;

    s->unit_device[unit] = k;
    if (looks_at_memory(s))
        mo_room_settle(&s->room, unit, k);
    for (int at = s->units->start[unit];
         s->refused && at < s->units->start[unit + 1] && status == MO_OK;
         at++) {
        int op = s->units->ops[at];

        if (!s->refused[cell(s, op, k)])
            continue;
        s->refused[cell(s, op, k)] = false;
        status = enter(s, op, k, urgent_ns(s, op), err);
    }
    return status;
}

/* Of the devices that op may go to, the one with the most room. */
static int roomiest(const search *s, int op)
{
    int best = -1;

    for (int k = 0; k < s->x->n_devices; k++)
        if (may_go(s, op, k) &&
            (best < 0 || s->room.free_bytes[k] > s->room.free_bytes[best]))
            best = k;
    return best;
}

/* The pair is out of the question; when it was the op's last, it goes where
 * there is most room, though that is not enough. */
static mo_status refuse(search *s, const pair *p, mo_error *err)
{
    s->refused[cell(s, p->op, p->device)] = true;
    if (--s->open[p->op] > 0)
        return MO_OK;
    return settle(s, s->units->of_op[p->op], roomiest(s, p->op), err);
}

/* What is left to one device is not asked whether it fits. */
static bool fits(search *s, const pair *p)
{
    if (!looks_at_memory(s))
        return true;
    mo_room_advance(&s->room, s->device, p->start_ns);
    return is_settled(s, p->op) ||
           mo_room_fits(&s->room, s->device, p->op, p->device);
}

static mo_status push_readers(search *s, int op, mo_error *err)
{
    const mo_instance *x = s->x;
    mo_status status = MO_OK;

    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++)
        if (--s->waits[x->flows[q].to] == 0)
            status = make_ready(s, x->flows[q].to, err);
    return status;
}

static mo_status commit(search *s, const pair *p, int rank, mo_error *err)
{
    device_state *d = &s->devices[p->device];
    mo_status status = MO_OK;

    if (!is_settled(s, p->op))
        status = settle(s, s->units->of_op[p->op], p->device, err);
    s->device[p->op] = p->device;
    s->rank[p->op] = rank;
    s->end_ns[p->op] = p->start_ns + mo_instance_p_ns(s->x, p->op, p->device);
    d->free_ns = s->end_ns[p->op];
    d->last = p->op;
    if (status == MO_OK && looks_at_memory(s))
        status = mo_room_run(&s->room, s->device, p->op, s->end_ns[p->op], err);
    return status == MO_OK ? push_readers(s, p->op, err) : status;
}

/* *all: it was not stopped. */
static mo_status place_all(search *s, mo_placed *placed, bool *all,
                           mo_error *err)
{
    mo_status status = MO_OK;
    int n = 0;

    for (int i = 0; i < s->x->n && status == MO_OK; i++)
        if (s->waits[i] == 0)
            status = make_ready(s, i, err);
    while (n < s->x->n && status == MO_OK) {
        pair next;

        if (mo_baseline_stops(s->task, n, placed))
            return MO_OK;
        status = find_next(s, &next, err);
        assert(status != MO_OK || next.op >= 0);
        if (status == MO_OK)
            status = fits(s, &next) ? commit(s, &next, n++, err)
                                    : refuse(s, &next, err);
    }
    *all = status == MO_OK;
    return status;
}

/* An array of count cells, none of which is zero bytes long. */
static void *reserve_cells(size_t count, size_t size)
{
    return calloc(count + 1, size);
}

static bool reserve(search *s)
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
    if (looks_at_memory(s)) {
        if (!mo_size_mul(n, n_devices, &cells) || cells == SIZE_MAX)
            return false;
        s->refused = reserve_cells(cells, sizeof *s->refused);
    }
    return s->unit_device && s->order && s->place && s->waits && s->open &&
           s->device && s->rank && s->end_ns && s->devices &&
           (s->refused || !looks_at_memory(s));
}

static mo_status prepare(search *s, mo_error *err)
{
    const mo_instance *x = s->x;
    mo_status status = mo_units_make(x, &s->task->regime, &s->units, err);

    if (status == MO_OK)
        status = mo_room_open(&s->room, x, &s->task->regime, s->units, err);
    if (status == MO_OK && !reserve(s))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_baseline_kahn(x, s->order, s->place, err);
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

static void clear_lineup(lineup *l)
{
    mo_queue_clear(&l->later);
    mo_queue_clear(&l->now);
}

static void clear(search *s)
{
    for (int k = 0; s->devices && k < s->x->n_devices; k++) {
        clear_lineup(&s->devices[k].ready);
        clear_lineup(&s->devices[k].urgent);
    }
    free(s->refused);
    free(s->devices);
    free(s->end_ns);
    free(s->rank);
    free(s->device);
    free(s->open);
    free(s->waits);
    free(s->place);
    free(s->order);
    free(s->unit_device);
    mo_room_close(&s->room);
    mo_units_free(s->units);
}

mo_status mo_earliest_place(const mo_task *task,
                            const mo_earliest_options *options,
                            mo_placed *placed, mo_error *err)
{
    search s = { .task = task, .x = task->x, .options = options };
    bool all = false;
    mo_status status = prepare(&s, err);

    if (status == MO_OK)
        status = place_all(&s, placed, &all, err);
    if (all)
        status = mo_baseline_simulate(task, s.device, s.rank, placed, err);
    clear(&s);
    return status;
}
