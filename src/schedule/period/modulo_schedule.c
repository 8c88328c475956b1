/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops are taken in the order of a list schedule of one request.  The sequence
 * of a device or channel is that order: a cursor moves around the period once,
 * and the next task starts at the cursor, some stages later where its inputs
 * are not there yet.  Idle time may be inserted instead as long as the resource
 * has any to spare.  Transfers that hold several resources take the first gap
 * that all of them have; where fragmentation leaves none, the phases of all
 * transfers are fixed before, the longest first.
 */
#include "schedule/period/modulo_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/heuristic/heft.h"
#include "schedule/period/loads.h"
#include "schedule/resource.h"

/* Busy intervals of a resource within a period, disjoint, sorted; adjacent
 * ones are merged. */
typedef struct reservation {
    int64_t *begin_ns, *end_ns;
    size_t n, begin_room, end_room;
} reservation;

/* A cursor resource: the sequence so far ends at cursor_ns, an absolute time of
 * request 0, and may be idle for spare_ns more. */
typedef struct sequence {
    int64_t cursor_ns, spare_ns;
    bool used;
} sequence;

typedef struct scheduler {
    const mo_instance *x;
    const mo_regime *regime;
    mo_schedule *s;
    int64_t period_ns;
    const int *order;        /* of ops */
    const int64_t *load_ns;  /* by resource, devices first */
    sequence *device;        /* by device */
    reservation *reserved;   /* by transfer resource */
    int64_t *ready_ns;       /* by op: all inputs have arrived */
    int64_t *phase_ns;       /* by transfer, fixed before; or NULL */
    int *by_producer, *from; /* transfers by their producer: counting sort */
} scheduler;

/* First time >= at_ns with the phase. */
static int64_t next_at_phase(int64_t at_ns, int64_t phase_ns, int64_t period_ns)
{
    int64_t late_ns = (at_ns - phase_ns) % period_ns;

    if (late_ns < 0)
        late_ns += period_ns;
    return late_ns == 0 ? at_ns : at_ns + period_ns - late_ns;
}

static int64_t take_in_sequence(sequence *q, int64_t ready_ns, int64_t ns,
                                int64_t period_ns)
{
    int64_t at_ns, idle_ns;

    if (ns == 0)
        return ready_ns;
    if (!q->used) {
        q->used = true;
        q->cursor_ns = ready_ns;
    }
    at_ns = next_at_phase(ready_ns, q->cursor_ns % period_ns, period_ns);
    /* Idle time from the cursor's phase to the first moment possible. */
    idle_ns = at_ns > ready_ns ? period_ns - (at_ns - ready_ns) : 0;
    if (ready_ns > q->cursor_ns && idle_ns > 0 && idle_ns <= q->spare_ns) {
        q->spare_ns -= idle_ns;
        at_ns = ready_ns;
    }
    q->cursor_ns = at_ns + ns;
    return at_ns;
}

/* Returns the earliest phase from which [phase, phase + ns) is idle, at or
 * after at_ns, an absolute time; INT64_MAX: none within a period. */
static int64_t first_gap(const reservation *r, int64_t at_ns, int64_t ns,
                         int64_t period_ns)
{
    int64_t phase_ns = at_ns % period_ns, base_ns = at_ns - phase_ns;
    int64_t limit_ns = at_ns + period_ns;

    if (r->n == 0)
        return at_ns;
    for (int lap = 0; lap < 3; lap++, base_ns += period_ns)
        for (size_t i = 0; i <= r->n; i++) {
            /* The gap before interval i; the last one ends in the next lap. */
            int64_t from_ns =
                i == 0 ? r->end_ns[r->n - 1] - period_ns : r->end_ns[i - 1];
            int64_t to_ns =
                i == r->n ? r->begin_ns[0] + period_ns : r->begin_ns[i];
            int64_t start_ns = mo_max_i64(base_ns + from_ns, at_ns);

            if (start_ns >= limit_ns)
                return INT64_MAX;
            if (base_ns + to_ns - start_ns >= ns)
                return start_ns;
        }
    return INT64_MAX;
}

/* Inserts [begin, end) with 0 <= begin < end <= period. */
static mo_status insert_interval(reservation *r, int64_t begin_ns,
                                 int64_t end_ns, mo_error *err)
{
    size_t at = 0, n_after;
    mo_status status;

    while (at < r->n && r->end_ns[at] < begin_ns)
        at++;
    if (at < r->n && r->end_ns[at] == begin_ns) {
        r->end_ns[at] = end_ns;
        if (at + 1 < r->n && r->begin_ns[at + 1] == end_ns) {
            r->end_ns[at] = r->end_ns[at + 1];
            n_after = r->n - at - 2;
            memmove(&r->begin_ns[at + 1], &r->begin_ns[at + 2],
                    n_after * sizeof *r->begin_ns);
            memmove(&r->end_ns[at + 1], &r->end_ns[at + 2],
                    n_after * sizeof *r->end_ns);
            r->n--;
        }
        return MO_OK;
    }
    if (at < r->n && r->begin_ns[at] == end_ns) {
        r->begin_ns[at] = begin_ns;
        return MO_OK;
    }
    status = mo_array_reserve((void **) &r->begin_ns, &r->begin_room, r->n + 1,
                              sizeof *r->begin_ns, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &r->end_ns, &r->end_room, r->n + 1,
                                  sizeof *r->end_ns, err);
    if (status != MO_OK)
        return status;
    n_after = r->n - at;
    memmove(&r->begin_ns[at + 1], &r->begin_ns[at],
            n_after * sizeof *r->begin_ns);
    memmove(&r->end_ns[at + 1], &r->end_ns[at], n_after * sizeof *r->end_ns);
    r->begin_ns[at] = begin_ns;
    r->end_ns[at] = end_ns;
    r->n++;
    return MO_OK;
}

static mo_status reserve_interval(reservation *r, int64_t at_ns, int64_t ns,
                                  int64_t period_ns, mo_error *err)
{
    int64_t begin_ns = at_ns % period_ns, end_ns = begin_ns + ns;
    mo_status status = MO_OK;

    if (end_ns > period_ns) {
        status = insert_interval(r, 0, end_ns - period_ns, err);
        end_ns = period_ns;
    }
    return status == MO_OK ? insert_interval(r, begin_ns, end_ns, err) : status;
}

/* The first time >= ready_ns at which all resources of a transfer are idle for
 * ns, reserved there; INT64_MAX: there is none. */
static mo_status take_gap(scheduler *m, const mo_transfer *t, int64_t ready_ns,
                          int64_t ns, int64_t *start_ns, mo_error *err)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(m->x, m->regime->congestion, t->from, t->to, pair,
                             &ids);
    int64_t at_ns = ready_ns;
    mo_status status = MO_OK;

    for (int met = 0, i = 0; ns > 0 && met < n && at_ns != INT64_MAX;
         i = (i + 1) % n) {
        int64_t next_ns =
            first_gap(&m->reserved[ids[i]], at_ns, ns, m->period_ns);

        met = next_ns == at_ns ? met + 1 : 1;
        at_ns = next_ns < ready_ns + m->period_ns ? next_ns : INT64_MAX;
    }
    *start_ns = at_ns;
    for (int i = 0; i < n && ns > 0 && at_ns != INT64_MAX && status == MO_OK;
         i++)
        status = reserve_interval(&m->reserved[ids[i]], at_ns, ns, m->period_ns,
                                  err);
    return status;
}

static int64_t transfer_ns(const scheduler *m, const mo_transfer *t)
{
    return mo_schedule_item_ns(m->x, m->regime, t->item, t->from, t->to);
}

/* Sets the time of a transfer; *fits becomes false where it has none. */
static mo_status place_transfer(scheduler *m, int number, int64_t ready_ns,
                                bool *fits, mo_error *err)
{
    mo_transfer *t = &m->s->transfers[number];
    int64_t ns = transfer_ns(m, t), at_ns = ready_ns;
    mo_status status = MO_OK;

    if (ns > 0 && m->phase_ns)
        at_ns = next_at_phase(ready_ns, m->phase_ns[number], m->period_ns);
    else if (ns > 0)
        status = take_gap(m, t, ready_ns, ns, &at_ns, err);
    if (status != MO_OK || at_ns == INT64_MAX) {
        *fits = false;
        return status;
    }
    t->start_ns = at_ns;
    t->end_ns = at_ns + ns;
    return MO_OK;
}

static void deliver_transfer(scheduler *m, const mo_transfer *t)
{
    bool once = m->regime->tensors == MO_TENSORS_ONCE;
    int first = once ? m->x->tensor_start[t->item] : t->item;
    int end = once ? m->x->tensor_start[t->item + 1] : t->item + 1;

    for (int q = first; q < end; q++) {
        int to = m->x->flows[q].to;

        if (m->s->device[to] == t->to)
            m->ready_ns[to] = mo_max_i64(m->ready_ns[to], t->end_ns);
    }
}

static mo_status place_op(scheduler *m, int op, bool *fits, mo_error *err)
{
    const mo_instance *x = m->x;
    mo_schedule *s = m->s;
    int k = s->device[op];
    int64_t ns = mo_instance_p_ns(x, op, k), end_ns;
    mo_status status = MO_OK;

    s->start_ns[op] =
        take_in_sequence(&m->device[k], m->ready_ns[op], ns, m->period_ns);
    end_ns = s->start_ns[op] + ns;
    s->makespan_ns = mo_max_i64(s->makespan_ns, end_ns);
    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++) {
        int to = x->flows[q].to;

        if (s->device[to] == k)
            m->ready_ns[to] = mo_max_i64(m->ready_ns[to], end_ns);
    }
    for (int i = m->from[op]; i < m->from[op + 1] && *fits; i++) {
        int number = m->by_producer[i];

        status = place_transfer(m, number, end_ns, fits, err);
        if (status == MO_OK && *fits)
            deliver_transfer(m, &s->transfers[number]);
    }
    return status;
}

static void reset_scheduler(scheduler *m)
{
    const mo_instance *x = m->x;
    int n = mo_resource_count(x, m->regime->congestion);

    for (int r = 0; r < n; r++)
        m->reserved[r].n = 0;
    for (int k = 0; k < x->n_devices; k++)
        m->device[k] = (sequence){ .spare_ns = m->period_ns - m->load_ns[k] };
    memset(m->ready_ns, 0, (size_t) x->n * sizeof *m->ready_ns);
    m->s->makespan_ns = 0;
}

static mo_status place_all(scheduler *m, bool *fits, mo_error *err)
{
    mo_status status = MO_OK;

    *fits = true;
    reset_scheduler(m);
    for (int i = 0; i < m->x->n && status == MO_OK && *fits; i++)
        status = place_op(m, m->order[i], fits, err);
    return status;
}

typedef struct transfer_length {
    int64_t ns;
    int number;
} transfer_length;

static int compare_lengths(const void *a, const void *b)
{
    const transfer_length *s = a, *t = b;

    if (s->ns != t->ns)
        return s->ns < t->ns ? 1 : -1;
    return s->number - t->number;
}

/* Fixes the phases of all transfers, the longest first; then places. */
static mo_status place_by_phases(scheduler *m, bool *fits, mo_error *err)
{
    size_t n = (size_t) m->s->n_transfers;
    transfer_length *lengths = calloc(n + 1, sizeof *lengths);
    int64_t *phase_ns = calloc(n + 1, sizeof *phase_ns);
    mo_status status = lengths && phase_ns ? MO_OK : mo_fail_memory(err);

    *fits = true;
    reset_scheduler(m);
    for (size_t i = 0; i < n && status == MO_OK; i++)
        lengths[i] =
            (transfer_length){ transfer_ns(m, &m->s->transfers[i]), (int) i };
    if (status == MO_OK)
        qsort(lengths, n, sizeof *lengths, compare_lengths);
    for (size_t i = 0; i < n && status == MO_OK && *fits; i++) {
        int number = lengths[i].number;

        status = take_gap(m, &m->s->transfers[number], 0, lengths[i].ns,
                          &phase_ns[number], err);
        *fits = phase_ns[number] != INT64_MAX;
    }
    m->phase_ns = phase_ns;
    if (status == MO_OK && *fits)
        status = place_all(m, fits, err);
    m->phase_ns = NULL;
    free(phase_ns);
    free(lengths);
    return status;
}

static mo_status try_period(scheduler *m, int64_t period_ns, bool *fits,
                            mo_error *err)
{
    mo_status status;

    m->period_ns = period_ns;
    status = place_all(m, fits, err);
    if (status == MO_OK && !*fits)
        status = place_by_phases(m, fits, err);
    return status;
}

static int64_t count_in_flight(int64_t latency_ns, int64_t period_ns)
{
    int64_t n = latency_ns / period_ns + (latency_ns % period_ns > 0);

    return mo_max_i64(n, 1);
}

enum { FINE_TRIES = 40 };

/* One op or transfer after the other. */
static void place_serially(scheduler *m)
{
    mo_schedule *s = m->s;
    int64_t at_ns = 0;

    for (int op = 0; op < m->x->n; op++) {
        s->start_ns[op] = at_ns;
        at_ns += mo_instance_p_ns(m->x, op, s->device[op]);
        s->makespan_ns = at_ns;
        for (int i = m->from[op]; i < m->from[op + 1]; i++) {
            mo_transfer *t = &s->transfers[m->by_producer[i]];

            t->start_ns = at_ns;
            t->end_ns = at_ns += transfer_ns(m, t);
        }
    }
}

/* One request at a time: the list schedule, where there is one. */
static void place_one_request(scheduler *m, const mo_schedule *listed)
{
    mo_schedule *s = m->s;

    if (!listed) {
        place_serially(m);
        return;
    }
    for (int i = 0; i < m->x->n; i++)
        s->start_ns[i] = listed->start_ns[i];
    for (int i = 0; i < s->n_transfers; i++)
        s->transfers[i] = listed->transfers[i];
    s->makespan_ns = listed->makespan_ns;
}

/* Periods are tried in small steps at first, then in larger ones.  One request
 * at a time is the last resort. */
static mo_status find_period(scheduler *m, int64_t least_ns,
                             const mo_schedule *listed, int max_in_flight,
                             mo_modulo_schedule *made, mo_error *err)
{
    int64_t most_ns, n;
    int n_tries = 0;

    place_one_request(m, listed);
    most_ns = m->s->makespan_ns;
    for (int64_t period_ns = mo_max_i64(least_ns, 1);
         period_ns < most_ns && max_in_flight != 1;
         period_ns += period_ns / (n_tries++ < FINE_TRIES ? 400 : 50) + 1) {
        bool fits = false;
        mo_status status = try_period(m, period_ns, &fits, err);

        if (status != MO_OK)
            return status;
        n = count_in_flight(m->s->makespan_ns, period_ns);
        if (fits && (max_in_flight == 0 || n <= max_in_flight)) {
            made->period_ns = period_ns;
            made->in_flight = (int) mo_min_i64(n, INT32_MAX);
            return MO_OK;
        }
    }
    place_one_request(m, listed);
    made->period_ns = mo_max_i64(most_ns, 1);
    made->in_flight = 1;
    return MO_OK;
}

/* Transfers sorted by producer. */
static void sort_by_producer(scheduler *m)
{
    const mo_instance *x = m->x;
    bool once = m->regime->tensors == MO_TENSORS_ONCE;
    int n = m->s->n_transfers;

    for (int pass = 0; pass < 2; pass++)
        for (int i = n - 1; i >= 0; i--) {
            int item = m->s->transfers[i].item;
            int op = once ? x->tensor_from[item] : x->flows[item].from;

            if (pass == 0)
                m->from[op + 1]++;
            else
                m->by_producer[--m->from[op + 1]] = i;
            if (pass == 0 && i == 0)
                for (int k = 0; k < x->n; k++)
                    m->from[k + 1] += m->from[k];
        }
    /* The second pass moved every end to its begin. */
    for (int i = 0; i < x->n; i++)
        m->from[i] = m->from[i + 1];
    m->from[x->n] = n;
}

typedef struct listed_op {
    int64_t start_ns;
    int op;
} listed_op;

static int compare_starts(const void *a, const void *b)
{
    const listed_op *s = a, *t = b;

    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    return s->op - t->op;
}

/* Fills order with the ops by their start in the list schedule (NULL: by
 * number), equal ones in topological order. */
static mo_status order_ops(const mo_instance *x, const mo_schedule *listed,
                           int *order, mo_error *err)
{
    listed_op *ops = calloc((size_t) x->n + 1, sizeof *ops);

    if (!ops)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        ops[i] = (listed_op){ listed ? listed->start_ns[i] : 0, i };
    qsort(ops, (size_t) x->n, sizeof *ops, compare_starts);
    for (int i = 0; i < x->n; i++)
        order[i] = ops[i].op;
    free(ops);
    return MO_OK;
}

static void free_scheduler(scheduler *m)
{
    int n = mo_resource_count(m->x, m->regime->congestion);

    for (int r = 0; r < n && m->reserved; r++) {
        free(m->reserved[r].begin_ns);
        free(m->reserved[r].end_ns);
    }
    free(m->reserved);
    free(m->device);
    free(m->ready_ns);
    free(m->by_producer);
    free(m->from);
}

static mo_status allocate_scheduler(scheduler *m, mo_error *err)
{
    const mo_instance *x = m->x;
    size_t n = (size_t) x->n + 2;
    size_t n_resources =
        (size_t) mo_resource_count(x, m->regime->congestion) + 1;

    m->reserved = calloc(n_resources, sizeof *m->reserved);
    m->device = calloc((size_t) x->n_devices + 1, sizeof *m->device);
    m->ready_ns = calloc(n, sizeof *m->ready_ns);
    m->by_producer =
        calloc((size_t) m->s->n_transfers + 1, sizeof *m->by_producer);
    m->from = calloc(n, sizeof *m->from);
    return m->reserved && m->device && m->ready_ns && m->by_producer && m->from
               ? MO_OK
               : mo_fail_memory(err);
}

mo_status mo_modulo_schedule_make(const mo_instance *x, const mo_regime *regime,
                                  const int *device, int max_in_flight,
                                  mo_modulo_schedule *made, mo_error *err)
{
    const mo_regime without_memory = { regime->congestion, regime->tensors,
                                       MO_MEMORY_NONE };
    int *order = calloc((size_t) x->n + 1, sizeof *order);
    mo_period_loads loads = { 0 };
    mo_schedule *listed = NULL;
    scheduler m = { .x = x, .regime = regime, .order = order };
    mo_status status;

    *made = (mo_modulo_schedule){ 0 };
    status = order ? mo_period_loads_compute(x, regime, device, &loads, err)
                   : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_heft(x, &without_memory, device, &listed, err);
    if (status == MO_OK)
        status = order_ops(x, listed, order, err);
    if (status == MO_OK)
        status = mo_schedule_new(x, regime, device, &made->request, err);
    m.s = made->request;
    m.load_ns = loads.load_ns;
    if (status == MO_OK)
        status = allocate_scheduler(&m, err);
    if (status == MO_OK) {
        sort_by_producer(&m);
        status =
            find_period(&m, loads.period_ns, listed, max_in_flight, made, err);
    }
    free_scheduler(&m);
    mo_schedule_free(listed);
    mo_period_loads_clear(&loads);
    free(order);
    return status;
}

void mo_modulo_schedule_clear(mo_modulo_schedule *made)
{
    mo_schedule_free(made->request);
    *made = (mo_modulo_schedule){ 0 };
}
