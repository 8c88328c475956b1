/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step order: one total order of all steps; every device executes its part of
 * it.
 *
 * Calls are ordered already. A transfer comes behind the call that produces
 * the value and before the first that reads it; in between, where the schedule
 * has it: calls count from their ends, transfers from their starts.
 *
 *     time    0         10        20        30
 *     A       |---a1----|---a2----|              A: a1, send x, a2, await x
 *     x                 |~~~|
 *     B       |-----b1------|---b2----|          B: receive x, b1, await x, b2
 *
 * So a transfer during an op is posted before that op, at both ends, and
 * proceeds meanwhile. A receiver awaits a transfer right before it needs the
 * value. The sender, which only needs the buffer back, defers its await until
 * a few more transfers have been awaited by their receivers, so that it hardly
 * ever stalls; often a value that depends on the sent one has come back by
 * then, and the transfer is complete.
 *
 * Only awaits block a device, and both ends of a transfer are posted before
 * any of its awaits in the total order. The first of all blocking steps can
 * therefore proceed: there is no deadlock, whatever is buffered.
 */
#include <stdlib.h>

#include "base/ablation.h"
#include "exec/plan/schedule/schedule_steps.h"
#include "exec/plan/ir/value_table.h"

typedef struct transfer_slot {
    int transfer;
    int64_t start_ns;
    int earliest, latest; /* range of calls before which it may be placed ... */
    int place;            /* ... and the one before which it is */
    bool awaited;
} transfer_slot;

/* Transfers of a device that their receivers have awaited and it has not yet,
 * in that order, in a ring buffer. */
enum { MAX_KEPT = 8, RING = MAX_KEPT + 1 };

typedef struct kept {
    int transfers[RING];
    int first, n;
    int64_t bytes; /* at most its keep_bytes */
} kept;

typedef struct ordering {
    mo_exec_plan *plan;
    kept *kept;      /* by device */
    int64_t *end_ns; /* by call: its end in the schedule, never decreasing */
    transfer_slot *slots;         /* by transfer */
    const transfer_slot **sorted; /* by place */
    int next;                     /* position in the total order */
} ordering;

/* The transfer that brings a value or the value it is a view of, or
 * MO_PLAN_NONE. */
static int arriving_transfer(const mo_exec_plan *plan, int value)
{
    return plan->values[mo_plan_value_root(plan->values, value)].transfer;
}

/* An item's time is divided among its calls. */
static int64_t call_end_ns(const mo_plan_source *source,
                           const mo_plan_item *item, int done, int count)
{
    int64_t start_ns;

    if (item->op == MO_PLAN_NONE)
        return 0;
    start_ns = source->schedule->start_ns[item->op];
    return done == count ? start_ns + item->predicted_ns
                         : start_ns + item->predicted_ns / count * done;
}

/* The producer of a sent value gives the earliest place, its first reader the
 * latest. */
static void find_bounds(ordering *o, int *producer)
{
    const mo_exec_plan *plan = o->plan;

    for (int v = 0; v < plan->n_values; v++)
        producer[v] = -1;
    for (int t = 0; t < plan->n_transfers; t++)
        o->slots[t].latest = plan->n_calls;
    for (int c = plan->n_calls - 1; c >= 0; c--) {
        const mo_call *call = &plan->calls[c].call;

        for (int i = 0; i < call->n_out; i++)
            producer[call->out[i]] = c;
        for (int i = 0; i < call->n_in; i++) {
            int t = arriving_transfer(plan, call->in[i]);

            if (t != MO_PLAN_NONE)
                o->slots[t].latest = c;
        }
    }
    for (int t = 0; t < plan->n_transfers; t++)
        o->slots[t].earliest = producer[plan->transfers[t].from_value] + 1;
}

/* The first call that ends later than the transfer starts. */
static int first_after(const ordering *o, int64_t start_ns)
{
    int low = 0, high = o->plan->n_calls;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (o->end_ns[middle] > start_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void find_places(ordering *o)
{
    for (int t = 0; t < o->plan->n_transfers; t++) {
        transfer_slot *it = &o->slots[t];
        int before =
            arriving_transfer(o->plan, o->plan->transfers[t].from_value);

        if (before != MO_PLAN_NONE) {
            it->earliest = o->slots[before].place;
            if (it->start_ns < o->slots[before].start_ns)
                it->start_ns = o->slots[before].start_ns;
        }
        it->place = mo_ablated(MO_ABLATION_transfer_places)
                        ? it->earliest
                        : first_after(o, it->start_ns);
        if (it->place > it->latest)
            it->place = it->latest;
        if (it->place < it->earliest)
            it->place = it->earliest;
        o->sorted[t] = it;
    }
}

static int compare_slots(const void *a, const void *b)
{
    const transfer_slot *x = *(const transfer_slot *const *) a,
                        *y = *(const transfer_slot *const *) b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->transfer > y->transfer) - (x->transfer < y->transfer);
}

static void add_step(ordering *o, int device, mo_plan_step_kind kind, int what)
{
    mo_plan_device *on = &o->plan->devices[device];

    on->steps[on->n_steps++] = (mo_plan_step){ kind, what, o->next };
}

static void await_sent(ordering *o, int device)
{
    kept *k = &o->kept[device];
    int t = k->transfers[k->first];

    k->first = (k->first + 1) % RING;
    k->n--;
    k->bytes -= o->plan->transfers[t].bytes;
    add_step(o, device, MO_PLAN_STEP_AWAIT, t);
    o->next++;
}

static void add_await(ordering *o, int t)
{
    const mo_plan_transfer *it;
    kept *k;

    if (t == MO_PLAN_NONE || o->slots[t].awaited)
        return;
    it = &o->plan->transfers[t];
    k = &o->kept[it->from];
    o->slots[t].awaited = true;
    add_step(o, it->to, MO_PLAN_STEP_AWAIT, t);
    o->next++;
    k->transfers[(k->first + k->n++) % RING] = t;
    k->bytes += it->bytes;
    while (k->n > MAX_KEPT || k->bytes > o->plan->devices[it->from].keep_bytes)
        await_sent(o, it->from);
}

static void add_steps(ordering *o)
{
    const mo_exec_plan *plan = o->plan;
    int sent = 0;

    for (int c = 0; c <= plan->n_calls; c++) {
        for (; sent < plan->n_transfers && o->sorted[sent]->place == c;
             sent++) {
            const mo_plan_transfer *transfer =
                &o->plan->transfers[o->sorted[sent]->transfer];

            add_await(o, arriving_transfer(o->plan, transfer->from_value));
            add_step(o, transfer->from, MO_PLAN_STEP_SEND,
                     o->sorted[sent]->transfer);
            add_step(o, transfer->to, MO_PLAN_STEP_RECEIVE,
                     o->sorted[sent]->transfer);
            o->next++;
        }
        if (c < plan->n_calls) {
            const mo_plan_call *it = &o->plan->calls[c];

            for (int i = 0; i < it->call.n_in; i++)
                add_await(o, arriving_transfer(o->plan, it->call.in[i]));
            add_step(o, it->device, MO_PLAN_STEP_COMPUTE, c);
            o->next++;
        }
    }
    for (int t = 0; t < plan->n_transfers; t++)
        add_await(o, t);
    for (int d = 0; d < plan->n_devices; d++)
        while (o->kept[d].n > 0)
            await_sent(o, d);
}

static mo_status compute_order(const mo_plan_source *source, ordering *o,
                               int *numbers, mo_error *err)
{
    const mo_exec_plan *plan = o->plan;
    int *done = numbers + plan->n_items;
    int64_t latest = 0;

    for (int c = 0; c < plan->n_calls; c++)
        numbers[plan->calls[c].item]++;
    for (int c = 0; c < plan->n_calls; c++) {
        int item = plan->calls[c].item;
        int64_t end_ns = call_end_ns(source, &plan->items[item], ++done[item],
                                     numbers[item]);

        if (end_ns > latest)
            latest = end_ns;
        o->end_ns[c] = latest;
    }
    find_bounds(o, numbers);
    /* A value that is forwarded must have arrived before. */
    for (int t = o->plan->n_transfers - 1; t >= 0; t--) {
        int before =
            arriving_transfer(o->plan, o->plan->transfers[t].from_value);

        if (before != MO_PLAN_NONE &&
            o->slots[t].latest < o->slots[before].latest)
            o->slots[before].latest = o->slots[t].latest;
    }
    find_places(o);
    qsort(o->sorted, (size_t) plan->n_transfers, sizeof *o->sorted,
          compare_slots);

    for (int d = 0; d < o->plan->n_devices; d++)
        o->plan->devices[d].n_steps = 0;
    for (int c = 0; c < o->plan->n_calls; c++)
        o->plan->devices[o->plan->calls[c].device].n_steps++;
    for (int t = 0; t < o->plan->n_transfers; t++) {
        o->plan->devices[o->plan->transfers[t].from].n_steps += 2;
        o->plan->devices[o->plan->transfers[t].to].n_steps += 2;
    }
    for (int d = 0; d < o->plan->n_devices; d++) {
        mo_plan_device *device = &o->plan->devices[d];

        device->steps = mo_arena_array(o->plan->arena, (size_t) device->n_steps,
                                       sizeof *device->steps);
        if (!device->steps)
            return mo_fail_memory(err);
        device->n_steps = 0;
    }
    return MO_OK;
}

mo_status mo_plan_order_steps(const mo_plan_source *source, mo_exec_plan *plan,
                              const int64_t *start_ns, mo_error *err)
{
    size_t n = (size_t) plan->n_transfers + 1;
    ordering o = {
        .plan = plan,
        .kept = calloc((size_t) plan->n_devices + 1, sizeof *o.kept),
        .end_ns = calloc((size_t) plan->n_calls + 1, sizeof *o.end_ns),
        .slots = calloc(n, sizeof *o.slots),
        .sorted = calloc(n, sizeof *o.sorted),
    };
    /* by item, twice; then by value */
    int *numbers =
        calloc(2 * (size_t) plan->n_items + (size_t) plan->n_values + 1,
               sizeof *numbers);
    bool done = o.kept && o.end_ns && o.slots && o.sorted && numbers;
    mo_status status = done ? MO_OK : mo_fail_memory(err);

    for (int t = 0; t < plan->n_transfers && status == MO_OK; t++)
        o.slots[t] = (transfer_slot){ .transfer = t, .start_ns = start_ns[t] };
    if (status == MO_OK)
        status = compute_order(source, &o, numbers, err);
    if (status == MO_OK)
        add_steps(&o);
    free(numbers);
    free(o.sorted);
    free(o.slots);
    free(o.end_ns);
    free(o.kept);
    return status;
}
