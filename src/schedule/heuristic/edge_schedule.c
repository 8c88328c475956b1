/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/edge_schedule.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"

mo_status mo_edge_schedule_open(mo_edge_schedule *s, const mo_instance *x,
                                const mo_regime *regime, mo_error *err)
{
    int n_items =
        regime->tensors == MO_TENSORS_ONCE ? x->n_tensors : x->n_flows;

    *s = (mo_edge_schedule){ .x = x, .regime = *regime };
    s->n_resources = mo_resource_count(x, regime->congestion);
    s->resources = calloc((size_t) s->n_resources + 1, sizeof *s->resources);
    s->last_entry = malloc(((size_t) n_items + 1) * sizeof *s->last_entry);
    if (!s->resources || !s->last_entry) {
        mo_edge_schedule_close(s);
        return mo_fail_memory(err);
    }
    for (int item = 0; item < n_items; item++)
        s->last_entry[item] = -1;
    return MO_OK;
}

void mo_edge_schedule_close(mo_edge_schedule *s)
{
    for (int r = 0; r < s->n_resources && s->resources; r++)
        mo_timeline_clear(&s->resources[r]);
    free(s->changes);
    free(s->entries);
    free(s->last_entry);
    free(s->resources);
    *s = (mo_edge_schedule){ 0 };
}

const mo_transfer *mo_edge_schedule_find(const mo_edge_schedule *s, int item,
                                         int to)
{
    for (int p = s->last_entry[item]; p >= 0; p = s->entries[p].previous)
        if (s->entries[p].transfer.to == to)
            return &s->entries[p].transfer;
    return NULL;
}

/* The earliest start that suits all resources: each may only postpone it,
 * until all agree. */
static int64_t earliest_common_start(const mo_edge_schedule *s, const int *held,
                                     int n_held, int64_t ready_ns,
                                     int64_t length_ns)
{
    int64_t start_ns = ready_ns;
    int agreed = 0;

    for (int r = 0; agreed < n_held; r = (r + 1) % n_held) {
        int64_t first_ns =
            mo_timeline_earliest(&s->resources[held[r]], start_ns, length_ns);

        agreed = first_ns == start_ns ? agreed + 1 : 1;
        start_ns = first_ns;
    }
    return start_ns;
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

mo_status mo_edge_schedule_insert(mo_edge_schedule *s, int item, int from,
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

    t.start_ns = earliest_common_start(s, held, n_held, ready_ns, length_ns);
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

void mo_edge_schedule_commit(mo_edge_schedule *s)
{
    s->n_changes = 0;
}

static void remove_last(mo_edge_schedule *s)
{
    const mo_edge_schedule_entry *p = &s->entries[--s->n_entries];
    const int *held;
    int pair[2];
    int n_held = mo_resource_list(s->x, s->regime.congestion, p->transfer.from,
                                  p->transfer.to, pair, &held);

    s->last_entry[p->transfer.item] = p->previous;
    for (int r = 0; r < n_held; r++) {
        const mo_edge_schedule_change *change = &s->changes[--s->n_changes];

        mo_timeline_undo(&s->resources[change->resource], &change->change);
    }
}

void mo_edge_schedule_rollback(mo_edge_schedule *s, size_t n_entries)
{
    while (s->n_entries > n_entries)
        remove_last(s);
}
