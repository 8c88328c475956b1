/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/segment_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * All that a table depends on is written down as numbers: of each op, by its
 * place in the segment, its times, devices, memory and flows within.  Equal
 * numbers, equal tables.  The last few different ones are kept, in a ring.
 */

enum { KEPT = 32 };

typedef struct note {
    int64_t *numbers;
    size_t n, room;
    int64_t *table;
} note;

struct mo_bound_segment_cache {
    const mo_allowed_devices *places;
    int *place; /* by op: its place in the segment, from 1 on; else 0 */
    note notes[KEPT];
    int next;
    note fresh;
};

mo_status mo_bound_segment_cache_new(const mo_allowed_devices *places,
                                     mo_bound_segment_cache **memo,
                                     mo_error *err)
{
    mo_bound_segment_cache *m = calloc(1, sizeof *m);

    if (!m)
        return mo_fail_memory(err);
    m->places = places;
    m->place = calloc((size_t) places->x->n + 1, sizeof *m->place);
    if (!m->place) {
        mo_bound_segment_cache_free(m);
        return mo_fail_memory(err);
    }
    *memo = m;
    return MO_OK;
}

void mo_bound_segment_cache_free(mo_bound_segment_cache *m)
{
    if (!m)
        return;
    for (int i = 0; i < KEPT; i++) {
        free(m->notes[i].numbers);
        free(m->notes[i].table);
    }
    free(m->fresh.numbers);
    free(m->place);
    free(m);
}

static mo_status put(mo_bound_segment_cache *m, int64_t number, mo_error *err)
{
    note *to = &m->fresh;
    mo_status status = MO_ARRAY_GROW(to->numbers, to->n, to->room, err);

    if (status == MO_OK)
        to->numbers[to->n++] = number;
    return status;
}

/* Groups are told by their numbers: those that reach into several segments are
 * simply never the same again. */
static mo_status write_op(mo_bound_segment_cache *m, int op, mo_error *err)
{
    const mo_instance *x = m->places->x;
    bool once = m->places->regime.tensors == MO_TENSORS_ONCE;
    mo_status status =
        put(m, mo_allowed_devices_resident_bytes(m->places, op), err);

    if (status == MO_OK)
        status = put(m, x->group[op], err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = put(m,
                     mo_allowed_devices_has(m->places, op, k)
                         ? mo_instance_p_ns(x, op, k)
                         : -1 - mo_instance_p_ns(x, op, k),
                     err);
    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++) {
        if (m->place[x->flows[q].to] == 0)
            continue;
        status = put(m, m->place[x->flows[q].to], err);
        if (status == MO_OK)
            status = put(
                m, once ? x->tensor_row[x->flows[q].tensor] : x->flow_row[q],
                err);
    }
    return status == MO_OK ? put(m, INT64_MIN, err) : status;
}

/* The ops and both ends get their places, or lose them. */
static void set_places(mo_bound_segment_cache *m,
                       const mo_bound_segment *segment, bool set)
{
    for (int i = 0; i < segment->n; i++)
        m->place[segment->ops[i]] = set ? i + 1 : 0;
    if (segment->v != MO_FREE)
        m->place[segment->v] = set ? segment->n + 1 : 0;
}

static mo_status write_segment(mo_bound_segment_cache *m,
                               const mo_bound_segment *segment, mo_error *err)
{
    mo_status status;

    m->fresh.n = 0;
    status = put(m, (segment->u != MO_FREE) * 2 + (segment->v != MO_FREE), err);
    set_places(m, segment, true);
    if (segment->u != MO_FREE && status == MO_OK)
        status = write_op(m, segment->u, err);
    for (int i = 0; i < segment->n && status == MO_OK; i++)
        status = write_op(m, segment->ops[i], err);
    set_places(m, segment, false);
    if (segment->v != MO_FREE && status == MO_OK)
        status = put(m, m->places->x->group[segment->v], err);
    for (int k = 0; segment->v != MO_FREE && status == MO_OK &&
                    k < m->places->x->n_devices;
         k++)
        status = put(m, mo_allowed_devices_has(m->places, segment->v, k), err);
    return status;
}

static const note *find(const mo_bound_segment_cache *m)
{
    for (int i = 0; i < KEPT; i++) {
        const note *old = &m->notes[i];

        if (old->table && old->n == m->fresh.n &&
            memcmp(old->numbers, m->fresh.numbers,
                   old->n * sizeof *old->numbers) == 0)
            return old;
    }
    return NULL;
}

/* Takes the place of the oldest. */
static mo_status keep(mo_bound_segment_cache *m, const int64_t *table,
                      size_t size, mo_error *err)
{
    note *old = &m->notes[m->next];
    note kept = m->fresh;

    kept.table = malloc(size);
    if (!kept.table)
        return mo_fail_memory(err);
    memcpy(kept.table, table, size);
    free(old->table);
    m->fresh = (note){ .numbers = old->numbers, .room = old->room };
    *old = kept;
    m->next = (m->next + 1) % KEPT;
    return MO_OK;
}

mo_status mo_bound_segment_cache_table(mo_bound_segment_cache *m,
                                       mo_bound_segments *segments,
                                       const mo_bound_segment *segment,
                                       int64_t most_ns, int64_t *table,
                                       mo_error *err)
{
    size_t n_devices = (size_t) m->places->x->n_devices;
    size_t size = n_devices * n_devices * sizeof *table;
    mo_status status = write_segment(m, segment, err);
    const note *known;

    if (status != MO_OK)
        return status;
    known = find(m);
    if (known) {
        memcpy(table, known->table, size);
        return MO_OK;
    }
    mo_bound_segments_table(segments, segment, most_ns, table);
    return keep(m, table, size, err);
}
