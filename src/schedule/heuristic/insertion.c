/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/insertion.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/resource.h"
#include "schedule/serial_makespan.h"

enum { UNCHANGED = -1 };

void mo_timeline_clear(mo_timeline *t)
{
    free(t->busy);
    free(t->gaps);
    *t = (mo_timeline){ 0 };
}

/* The first span that ends after at_ns. */
static size_t first_ending_after(const mo_timeline_span *spans, size_t n,
                                 int64_t at_ns)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (spans[middle].to_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t mo_timeline_earliest(const mo_timeline *t, int64_t ready_ns,
                             int64_t length_ns)
{
    size_t at;

    if (length_ns == 0) {
        at = first_ending_after(t->busy, t->n_busy, ready_ns);
        return at < t->n_busy && t->busy[at].from_ns < ready_ns
                   ? t->busy[at].to_ns
                   : ready_ns;
    }
    if (t->n_gaps == 0)
        return ready_ns;
    at = first_ending_after(t->gaps, t->n_gaps, ready_ns);
    while (mo_max_i64(t->gaps[at].from_ns, ready_ns) >
           t->gaps[at].to_ns - length_ns)
        at++;
    return mo_max_i64(t->gaps[at].from_ns, ready_ns);
}

/* Replaces the n_old spans at index by the n_new new ones. */
static void replace_spans(mo_timeline_span *spans, size_t *n_spans,
                          size_t index, size_t n_old,
                          const mo_timeline_span *new_spans, size_t n_new)
{
    memmove(spans + index + n_new, spans + index + n_old,
            (*n_spans - index - n_old) * sizeof *spans);
    for (size_t i = 0; i < n_new; i++)
        spans[index + i] = new_spans[i];
    *n_spans += n_new - n_old;
}

mo_status mo_timeline_insert(mo_timeline *t, int64_t start_ns,
                             int64_t length_ns, mo_timeline_change *change,
                             mo_error *err)
{
    mo_timeline_span span = { start_ns, start_ns + length_ns }, rest[2];
    mo_status status = mo_array_reserve((void **) &t->gaps, &t->gaps_room,
                                        t->n_gaps + 2, sizeof *t->gaps, err);

    if (status == MO_OK)
        status = MO_ARRAY_GROW(t->busy, t->n_busy, t->busy_room, err);
    if (status == MO_OK && t->n_gaps == 0)
        t->gaps[t->n_gaps++] = (mo_timeline_span){ 0, INT64_MAX };

    if (status != MO_OK)
        return status;
    *change = (mo_timeline_change){ .n_new_gaps = UNCHANGED };
    change->gap = first_ending_after(t->gaps, t->n_gaps, start_ns);
    change->busy = first_ending_after(t->busy, t->n_busy, start_ns);
    change->old_gap = t->gaps[change->gap];
    if (length_ns == 0 && change->old_gap.from_ns >= start_ns)
        return MO_OK;
    assert(change->old_gap.from_ns <= span.from_ns &&
           span.to_ns <= change->old_gap.to_ns);
    /* The remainders of the gap around the span, before and behind. */
    int n = 0;

    if (change->old_gap.from_ns < span.from_ns)
        rest[n++] = (mo_timeline_span){ change->old_gap.from_ns, span.from_ns };
    if (span.to_ns < change->old_gap.to_ns)
        rest[n++] = (mo_timeline_span){ span.to_ns, change->old_gap.to_ns };
    change->n_new_gaps = n;
    replace_spans(t->gaps, &t->n_gaps, change->gap, 1, rest,
                  (size_t) change->n_new_gaps);
    if (length_ns > 0)
        replace_spans(t->busy, &t->n_busy, change->busy, 0, &span, 1);
    else
        change->busy = t->n_busy;
    return MO_OK;
}

void mo_timeline_undo(mo_timeline *t, const mo_timeline_change *change)
{
    if (change->n_new_gaps == UNCHANGED)
        return;
    replace_spans(t->gaps, &t->n_gaps, change->gap, (size_t) change->n_new_gaps,
                  &change->old_gap, 1);
    if (change->busy < t->n_busy)
        replace_spans(t->busy, &t->n_busy, change->busy, 1, NULL, 0);
}

static void close_edges(mo_edge_schedule *s)
{
    for (int r = 0; r < s->n_resources && s->resources; r++)
        mo_timeline_clear(&s->resources[r]);
    free(s->changes);
    free(s->entries);
    free(s->last_entry);
    free(s->resources);
    *s = (mo_edge_schedule){ 0 };
}

static mo_status open_edges(mo_edge_schedule *s, const mo_instance *x,
                            const mo_regime *regime, mo_error *err)
{
    int n_items =
        regime->tensors == MO_TENSORS_ONCE ? x->n_tensors : x->n_flows;

    *s = (mo_edge_schedule){ .x = x, .regime = *regime };
    s->n_resources = mo_resource_count(x, regime->congestion);
    s->resources = calloc((size_t) s->n_resources + 1, sizeof *s->resources);
    s->last_entry = malloc(((size_t) n_items + 1) * sizeof *s->last_entry);
    if (!s->resources || !s->last_entry) {
        close_edges(s);
        return mo_fail_memory(err);
    }
    for (int item = 0; item < n_items; item++)
        s->last_entry[item] = -1;
    return MO_OK;
}

/* Returns the transfer of an item to a device, or NULL; valid until the next
 * insertion. */
static const mo_transfer *find_transfer(const mo_edge_schedule *s, int item,
                                        int to)
{
    for (int p = s->last_entry[item]; p >= 0; p = s->entries[p].previous)
        if (s->entries[p].transfer.to == to)
            return &s->entries[p].transfer;
    return NULL;
}

static mo_status occupy_resource(mo_edge_schedule *s, int resource,
                                 const mo_transfer *t, mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(s->changes, s->n_changes, s->changes_room, err);
    mo_edge_schedule_change *change;

    if (status != MO_OK)
        return status;
    change = &s->changes[s->n_changes];
    change->resource = resource;
    status = mo_timeline_insert(&s->resources[resource], t->start_ns,
                                t->end_ns - t->start_ns, &change->change, err);
    if (status == MO_OK)
        s->n_changes++;
    return status;
}

/* Inserts the transfer of an item at its earliest start from ready_ns on; sets
 * *end_ns to its end. */
static mo_status insert_transfer(mo_edge_schedule *s, int item, int from,
                                 int to, int64_t ready_ns, int64_t *end_ns,
                                 mo_error *err)
{
    mo_transfer t = { .item = item, .from = from, .to = to };
    int64_t length_ns = mo_schedule_item_ns(s->x, &s->regime, item, from, to);
    mo_status status =
        MO_ARRAY_GROW(s->entries, s->n_entries, s->entries_room, err);
    const int *held;
    int pair[2];
    int n_held =
        mo_resource_list(s->x, s->regime.congestion, from, to, pair, &held);

    /* The earliest start that suits all resources: each may only postpone it,
     * until all agree. */
    int64_t start_ns = ready_ns;
    int agreed = 0;

    for (int r = 0; agreed < n_held; r = (r + 1) % n_held) {
        int64_t first_ns =
            mo_timeline_earliest(&s->resources[held[r]], start_ns, length_ns);

        agreed = first_ns == start_ns ? agreed + 1 : 1;
        start_ns = first_ns;
    }
    t.start_ns = start_ns;
    t.end_ns = t.start_ns + length_ns;
    for (int r = 0; r < n_held && status == MO_OK; r++)
        status = occupy_resource(s, held[r], &t, err);
    if (status != MO_OK)
        return status;
    s->entries[s->n_entries] =
        (mo_edge_schedule_entry){ t, s->last_entry[item] };
    s->last_entry[item] = (int) s->n_entries++;
    *end_ns = t.end_ns;
    return MO_OK;
}

bool mo_insertion_is_allowed(const mo_insertion *l, int op, int device)
{
    int unit = l->units->of_op[op];

    if (l->unit_device[unit] != MO_FREE)
        return l->unit_device[unit] == device;
    return l->units->bytes[unit] <= l->room_bytes[device];
}

/* Lists the inputs of op that would have to be sent to the device.  *here_ns
 * is when all the others are there, *soonest_ns when all are, on idle
 * resources. */
static mo_status list_inputs(mo_insertion *l, int op, int device,
                             int64_t *here_ns, int64_t *soonest_ns,
                             mo_error *err)
{
    const mo_instance *x = l->x;
    bool once = l->regime.tensors == MO_TENSORS_ONCE;

    l->n_inputs = 0;
    *here_ns = *soonest_ns = 0;
    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++) {
        const mo_flow *flow = &x->flows[x->in_flows[j]];
        mo_insertion_input in = { once ? flow->tensor : x->in_flows[j],
                                  l->device[flow->from],
                                  l->end_ns[flow->from] };
        const mo_transfer *sent =
            in.from == device ? NULL
                              : find_transfer(&l->edges, in.item, device);
        mo_status status;

        if (in.from == device || sent) {
            *here_ns = mo_max_i64(*here_ns, sent ? sent->end_ns : in.ready_ns);
            continue;
        }
        status = MO_ARRAY_GROW(l->inputs, l->n_inputs, l->inputs_room, err);
        if (status != MO_OK)
            return status;
        l->inputs[l->n_inputs++] = in;
        *soonest_ns =
            mo_max_i64(*soonest_ns,
                       in.ready_ns + mo_schedule_item_ns(x, &l->regime, in.item,
                                                         in.from, device));
    }
    *soonest_ns = mo_max_i64(*soonest_ns, *here_ns);
    return MO_OK;
}

static int compare_inputs(const void *a, const void *b)
{
    const mo_insertion_input *v = a, *w = b;

    if (v->ready_ns != w->ready_ns)
        return v->ready_ns < w->ready_ns ? -1 : 1;
    return (v->item > w->item) - (v->item < w->item);
}

/* Schedules the transfers of the listed inputs; raises *ready_ns to the end of
 * the last. */
static mo_status schedule_inputs(mo_insertion *l, int device, int64_t *ready_ns,
                                 mo_error *err)
{
    mo_status status = MO_OK;

    if (l->n_inputs > 1)
        qsort(l->inputs, l->n_inputs, sizeof *l->inputs, compare_inputs);
    for (size_t i = 0; i < l->n_inputs && status == MO_OK; i++) {
        const mo_insertion_input *in = &l->inputs[i];
        int64_t end_ns = 0;

        status = insert_transfer(&l->edges, in->item, in->from, device,
                                 in->ready_ns, &end_ns, err);
        *ready_ns = mo_max_i64(*ready_ns, end_ns);
    }
    return status;
}

/* The earliest finish of op on the device; any value of at least limit_ns
 * where it cannot end before that. */
static mo_status evaluate_device(mo_insertion *l, int op, int device,
                                 int64_t limit_ns, int64_t *end_ns,
                                 mo_error *err)
{
    int64_t length_ns = mo_instance_p_ns(l->x, op, device);
    int64_t ready_ns, soonest_ns;
    size_t n_entries = l->edges.n_entries;
    mo_status status = list_inputs(l, op, device, &ready_ns, &soonest_ns, err);

    *end_ns = limit_ns;
    if (status != MO_OK || soonest_ns + length_ns >= limit_ns)
        return status;
    status = schedule_inputs(l, device, &ready_ns, err);
    if (status == MO_OK)
        *end_ns = length_ns + mo_timeline_earliest(&l->devices[device],
                                                   ready_ns, length_ns);
    /* Removes all transfers but the first n_entries, which are at least those
     * committed. */
    while (l->edges.n_entries > n_entries) {
        const mo_edge_schedule_entry *p =
            &l->edges.entries[--l->edges.n_entries];
        const int *held;
        int pair[2];
        int n_held =
            mo_resource_list(l->edges.x, l->edges.regime.congestion,
                             p->transfer.from, p->transfer.to, pair, &held);

        l->edges.last_entry[p->transfer.item] = p->previous;
        for (int r = 0; r < n_held; r++) {
            const mo_edge_schedule_change *change =
                &l->edges.changes[--l->edges.n_changes];

            mo_timeline_undo(&l->edges.resources[change->resource],
                             &change->change);
        }
    }
    return status;
}

int mo_insertion_fixed_device(const mo_insertion *l, int op)
{
    return l->unit_device[l->units->of_op[op]];
}

mo_status mo_insertion_best_device(mo_insertion *l, int op,
                                   const int64_t *later_ns, int *device,
                                   mo_error *err)
{
    int64_t least_ns = INT64_MAX;

    *device = MO_FREE;
    for (int k = 0; k < l->x->n_devices; k++) {
        int64_t more_ns = later_ns ? later_ns[k] : 0, end_ns;
        mo_status status;

        if (!mo_insertion_is_allowed(l, op, k))
            continue;
        status = evaluate_device(l, op, k, least_ns - more_ns, &end_ns, err);
        if (status != MO_OK)
            return status;
        if (end_ns < least_ns - more_ns) {
            least_ns = end_ns + more_ns;
            *device = k;
        }
    }
    return MO_OK;
}

mo_status mo_insertion_place(mo_insertion *l, int op, int device, mo_error *err)
{
    int64_t length_ns = mo_instance_p_ns(l->x, op, device);
    int64_t start_ns, soonest_ns;
    int unit = l->units->of_op[op];
    mo_timeline_change change;
    mo_status status = list_inputs(l, op, device, &start_ns, &soonest_ns, err);

    if (status == MO_OK)
        status = schedule_inputs(l, device, &start_ns, err);
    if (status != MO_OK)
        return status;
    l->edges.n_changes = 0; /* rollback ends here */
    l->device[op] = device;
    if (l->unit_device[unit] == MO_FREE) {
        l->unit_device[unit] = device;
        l->room_bytes[device] -= l->units->bytes[unit];
    }
    start_ns = mo_timeline_earliest(&l->devices[device], start_ns, length_ns);
    l->end_ns[op] = start_ns + length_ns;
    return mo_timeline_insert(&l->devices[device], start_ns, length_ns, &change,
                              err);
}

mo_status mo_insertion_schedule(const mo_insertion *l, mo_schedule **schedule,
                                mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_schedule_new(l->x, &l->regime, l->device, &s, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i < s->n; i++) {
        s->start_ns[i] = l->end_ns[i] - mo_instance_p_ns(l->x, i, s->device[i]);
        s->makespan_ns = mo_max_i64(s->makespan_ns, l->end_ns[i]);
    }
    for (int t = 0; t < s->n_transfers; t++)
        s->transfers[t] =
            *find_transfer(&l->edges, s->transfers[t].item, s->transfers[t].to);
    *schedule = s;
    return MO_OK;
}

mo_status mo_insertion_open(mo_insertion *l, const mo_instance *x,
                            const mo_regime *regime, mo_error *err)
{
    int64_t serial_ns;
    mo_status status;

    *l = (mo_insertion){ .x = x, .regime = *regime };
    status = mo_serial_makespan(x, regime, &serial_ns, err);
    if (status == MO_OK)
        status = mo_placement_units_make(x, regime, &l->units, err);
    if (status == MO_OK)
        status = open_edges(&l->edges, x, regime, err);
    if (status == MO_OK) {
        size_t n = (size_t) l->x->n + 1,
               n_devices = (size_t) l->x->n_devices + 1;

        l->unit_device = malloc(n * sizeof *l->unit_device);
        l->device = malloc(n * sizeof *l->device);
        l->end_ns = malloc(n * sizeof *l->end_ns);
        l->room_bytes = malloc(n_devices * sizeof *l->room_bytes);
        l->devices = calloc(n_devices, sizeof *l->devices);
        status = l->unit_device && l->device && l->end_ns && l->room_bytes &&
                         l->devices
                     ? MO_OK
                     : mo_fail_memory(err);
    }
    if (status != MO_OK)
        return status;
    for (int u = 0; u < l->units->n; u++)
        l->unit_device[u] = l->units->pin[u];
    mo_placement_units_free_bytes(x, l->units, l->room_bytes);
    return MO_OK;
}

void mo_insertion_close(mo_insertion *l)
{
    for (int k = 0; l->devices && k < l->x->n_devices; k++)
        mo_timeline_clear(&l->devices[k]);
    free(l->inputs);
    free(l->devices);
    free(l->room_bytes);
    free(l->end_ns);
    free(l->device);
    free(l->unit_device);
    close_edges(&l->edges);
    mo_placement_units_free(l->units);
    *l = (mo_insertion){ 0 };
}
