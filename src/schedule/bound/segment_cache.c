/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/segment_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Key: all that a table depends on as integers: of each op, by its position in
 * the segment, its times, devices, memory and flows within.  Equal keys, equal
 * tables.  The most recent distinct ones are kept, in a ring.
 */

enum { MAX_ENTRIES = 32 };

typedef struct entry {
    int64_t *key;
    size_t n, room;
    int64_t *table;
} entry;

struct mo_bound_segment_cache {
    const mo_allowed_devices *domains;
    int *position; /* by op: position in the segment, from 1 on; else 0 */
    entry entries[MAX_ENTRIES];
    int next;
    entry current;
};

mo_status mo_bound_segment_cache_new(const mo_allowed_devices *domains,
                                     mo_bound_segment_cache **cache,
                                     mo_error *err)
{
    mo_bound_segment_cache *m = calloc(1, sizeof *m);

    if (!m)
        return mo_fail_memory(err);
    m->domains = domains;
    m->position = calloc((size_t) domains->x->n + 1, sizeof *m->position);
    if (!m->position) {
        mo_bound_segment_cache_free(m);
        return mo_fail_memory(err);
    }
    *cache = m;
    return MO_OK;
}

void mo_bound_segment_cache_free(mo_bound_segment_cache *m)
{
    if (!m)
        return;
    for (int i = 0; i < MAX_ENTRIES; i++) {
        free(m->entries[i].key);
        free(m->entries[i].table);
    }
    free(m->current.key);
    free(m->position);
    free(m);
}

static mo_status append(mo_bound_segment_cache *m, int64_t number,
                        mo_error *err)
{
    entry *to = &m->current;
    mo_status status = MO_ARRAY_GROW(to->key, to->n, to->room, err);

    if (status == MO_OK)
        to->key[to->n++] = number;
    return status;
}

/* Groups enter the key by their numbers: segments that share a group with
 * others never match. */
static mo_status append_op(mo_bound_segment_cache *m, int op, mo_error *err)
{
    const mo_instance *x = m->domains->x;
    bool once = m->domains->regime.tensors == MO_TENSORS_ONCE;
    mo_status status =
        append(m, mo_allowed_devices_resident_bytes(m->domains, op), err);

    if (status == MO_OK)
        status = append(m, x->group[op], err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = append(m,
                        mo_allowed_devices_has(m->domains, op, k)
                            ? mo_instance_p_ns(x, op, k)
                            : -1 - mo_instance_p_ns(x, op, k),
                        err);
    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++) {
        if (m->position[x->flows[q].to] == 0)
            continue;
        status = append(m, m->position[x->flows[q].to], err);
        if (status == MO_OK)
            status = append(
                m, once ? x->tensor_row[x->flows[q].tensor] : x->flow_row[q],
                err);
    }
    return status == MO_OK ? append(m, INT64_MIN, err) : status;
}

/* Sets or clears the positions of the ops and of both ends. */
static void set_positions(mo_bound_segment_cache *m,
                          const mo_bound_segment *segment, bool set)
{
    for (int i = 0; i < segment->n; i++)
        m->position[segment->ops[i]] = set ? i + 1 : 0;
    if (segment->v != MO_FREE)
        m->position[segment->v] = set ? segment->n + 1 : 0;
}

static mo_status build_key(mo_bound_segment_cache *m,
                           const mo_bound_segment *segment, mo_error *err)
{
    mo_status status;

    m->current.n = 0;
    status =
        append(m, (segment->u != MO_FREE) * 2 + (segment->v != MO_FREE), err);
    set_positions(m, segment, true);
    if (segment->u != MO_FREE && status == MO_OK)
        status = append_op(m, segment->u, err);
    for (int i = 0; i < segment->n && status == MO_OK; i++)
        status = append_op(m, segment->ops[i], err);
    set_positions(m, segment, false);
    if (segment->v != MO_FREE && status == MO_OK)
        status = append(m, m->domains->x->group[segment->v], err);
    for (int k = 0; segment->v != MO_FREE && status == MO_OK &&
                    k < m->domains->x->n_devices;
         k++)
        status =
            append(m, mo_allowed_devices_has(m->domains, segment->v, k), err);
    return status;
}

static const entry *find_entry(const mo_bound_segment_cache *m)
{
    for (int i = 0; i < MAX_ENTRIES; i++) {
        const entry *old = &m->entries[i];

        if (old->table && old->n == m->current.n &&
            memcmp(old->key, m->current.key, old->n * sizeof *old->key) == 0)
            return old;
    }
    return NULL;
}

/* Replaces the oldest entry. */
static mo_status store_entry(mo_bound_segment_cache *m, const int64_t *table,
                             size_t size, mo_error *err)
{
    entry *old = &m->entries[m->next];
    entry kept = m->current;

    kept.table = malloc(size);
    if (!kept.table)
        return mo_fail_memory(err);
    memcpy(kept.table, table, size);
    free(old->table);
    m->current = (entry){ .key = old->key, .room = old->room };
    *old = kept;
    m->next = (m->next + 1) % MAX_ENTRIES;
    return MO_OK;
}

mo_status mo_bound_segment_cache_table(mo_bound_segment_cache *m,
                                       mo_bound_segments *segments,
                                       const mo_bound_segment *segment,
                                       int64_t most_ns, int64_t *table,
                                       mo_error *err)
{
    size_t n_devices = (size_t) m->domains->x->n_devices;
    size_t size = n_devices * n_devices * sizeof *table;
    mo_status status = build_key(m, segment, err);
    const entry *known;

    if (status != MO_OK)
        return status;
    known = find_entry(m);
    if (known) {
        memcpy(table, known->table, size);
        return MO_OK;
    }
    mo_bound_segments_table(segments, segment, most_ns, table);
    return store_entry(m, table, size, err);
}
