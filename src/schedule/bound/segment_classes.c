/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/segment_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * The key of a segment has all that a table depends on as integers: of each
 * op, by its position in the segment, its times, devices, memory and flows
 * within.  Equal keys, equal tables.  Classes are found by a hash table with
 * linear probing; the key of each class is kept.
 */

typedef struct segment_key {
    int64_t *items;
    size_t n, room;
} segment_key;

typedef struct class_finder {
    const mo_allowed_devices *domains;
    mo_bound_segment_classes *found;
    int *position;     /* by op: position in the segment, from 1 on; else 0 */
    segment_key *keys; /* by class */
    segment_key current;
    int *slots; /* of the hash table: a class, or -1 */
    size_t n_slots;
} class_finder;

static mo_status append_number(class_finder *f, int64_t number, mo_error *err)
{
    segment_key *to = &f->current;
    mo_status status = MO_ARRAY_GROW(to->items, to->n, to->room, err);

    if (status == MO_OK)
        to->items[to->n++] = number;
    return status;
}

/* Groups enter the key by their numbers: segments that share a group with
 * others never match. */
static mo_status append_op(class_finder *f, int op, mo_error *err)
{
    const mo_instance *x = f->domains->x;
    bool once = f->domains->regime.tensors == MO_TENSORS_ONCE;
    mo_status status = append_number(
        f, mo_allowed_devices_resident_bytes(f->domains, op), err);

    if (status == MO_OK)
        status = append_number(f, x->group[op], err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = append_number(f,
                               mo_allowed_devices_has(f->domains, op, k)
                                   ? mo_instance_p_ns(x, op, k)
                                   : -1 - mo_instance_p_ns(x, op, k),
                               err);
    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++) {
        if (f->position[x->flows[q].to] == 0)
            continue;
        status = append_number(f, f->position[x->flows[q].to], err);
        if (status == MO_OK)
            status = append_number(
                f, once ? x->tensor_row[x->flows[q].tensor] : x->flow_row[q],
                err);
    }
    return status == MO_OK ? append_number(f, INT64_MIN, err) : status;
}

/* Sets or clears the positions of the ops and of both ends. */
static void set_positions(class_finder *f, const mo_bound_segment *segment,
                          bool set)
{
    for (int i = 0; i < segment->n; i++)
        f->position[segment->ops[i]] = set ? i + 1 : 0;
    if (segment->v != MO_FREE)
        f->position[segment->v] = set ? segment->n + 1 : 0;
}

static mo_status build_key(class_finder *f, const mo_bound_segment *segment,
                           mo_error *err)
{
    mo_status status;

    f->current.n = 0;
    status = append_number(
        f, (segment->u != MO_FREE) * 2 + (segment->v != MO_FREE), err);
    set_positions(f, segment, true);
    if (segment->u != MO_FREE && status == MO_OK)
        status = append_op(f, segment->u, err);
    for (int i = 0; i < segment->n && status == MO_OK; i++)
        status = append_op(f, segment->ops[i], err);
    set_positions(f, segment, false);
    if (segment->v != MO_FREE && status == MO_OK)
        status = append_number(f, f->domains->x->group[segment->v], err);
    for (int k = 0; segment->v != MO_FREE && status == MO_OK &&
                    k < f->domains->x->n_devices;
         k++)
        status = append_number(
            f, mo_allowed_devices_has(f->domains, segment->v, k), err);
    return status;
}

/* FNV-1a over the numbers. */
static uint64_t hash_key(const segment_key *key)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < key->n; i++) {
        hash = (hash ^ (uint64_t) key->items[i]) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool is_equal(const segment_key *a, const segment_key *b)
{
    return a->n == b->n &&
           memcmp(a->items, b->items, a->n * sizeof *a->items) == 0;
}

/* Sets the class of a segment whose key is built. */
static void classify_segment(class_finder *f, int segment)
{
    size_t slot = (size_t) hash_key(&f->current) & (f->n_slots - 1);

    while (f->slots[slot] >= 0 &&
           !is_equal(&f->keys[f->slots[slot]], &f->current))
        slot = (slot + 1) & (f->n_slots - 1);
    if (f->slots[slot] < 0) {
        f->slots[slot] = f->found->n;
        f->keys[f->found->n] = f->current;
        f->found->first[f->found->n++] = segment;
        f->current = (segment_key){ 0 };
    }
    f->found->of[segment] = f->slots[slot];
}

static mo_status allocate_finder(class_finder *f, int n_segments, mo_error *err)
{
    size_t n = (size_t) n_segments + 1;

    for (f->n_slots = 16; f->n_slots < 2 * n; f->n_slots *= 2)
        ;
    f->found = calloc(1, sizeof *f->found);
    f->position = calloc((size_t) f->domains->x->n + 1, sizeof *f->position);
    f->keys = calloc(n, sizeof *f->keys);
    f->slots = malloc(f->n_slots * sizeof *f->slots);
    if (f->found) {
        f->found->of = calloc(n, sizeof *f->found->of);
        f->found->first = calloc(n, sizeof *f->found->first);
    }
    if (!f->found || !f->position || !f->keys || !f->slots || !f->found->of ||
        !f->found->first)
        return mo_fail_memory(err);
    for (size_t i = 0; i < f->n_slots; i++)
        f->slots[i] = -1;
    return MO_OK;
}

mo_status mo_bound_segment_classes_find(const mo_allowed_devices *domains,
                                        const mo_bound_chain *chain,
                                        mo_bound_segment_classes **classes,
                                        mo_error *err)
{
    class_finder f = { .domains = domains };
    mo_status status = allocate_finder(&f, chain->n, err);

    for (int s = 0; s < chain->n && status == MO_OK; s++) {
        status = build_key(&f, &chain->segments[s], err);
        if (status == MO_OK)
            classify_segment(&f, s);
    }
    for (int c = 0; f.keys && f.found && c < f.found->n; c++)
        free(f.keys[c].items);
    free(f.keys);
    free(f.current.items);
    free(f.position);
    free(f.slots);
    if (status == MO_OK)
        *classes = f.found;
    else
        mo_bound_segment_classes_free(f.found);
    return status;
}

void mo_bound_segment_classes_free(mo_bound_segment_classes *classes)
{
    if (!classes)
        return;
    free(classes->of);
    free(classes->first);
    free(classes);
}
