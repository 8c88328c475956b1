/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/segment_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/digest.h"

/*
 * The key of a segment has all that its class depends on as integers: of each
 * op, by its position in the segment, times, devices, memory and flows within.
 * Keys of all classes are in one array; a hash table with linear probing finds
 * the class of a key.
 */

enum { FIRST_SLOTS = 64 };

typedef struct class_key {
    uint64_t digest;
    size_t first, n; /* range in items */
} class_key;

struct mo_segment_classifier {
    mo_segment_content content;
    bool merges;    /* not switched off */
    int64_t *items; /* of all classes, then of the key in construction */
    size_t n_items, items_room;
    class_key *classes;
    size_t n, room;
    int *slots; /* a class, or -1 */
    size_t n_slots;

    int *position; /* by op: in the segment, from 1 on; else 0 */
    size_t position_room;
    struct group_number {
        size_t segment; /* the last one that has the group, from 1 on */
        int number;     /* in that segment */
    } * groups;
    size_t groups_room, n_segments;
    int n_groups; /* of the present segment so far */
};

mo_status mo_segment_classifier_new(mo_segment_content content,
                                    mo_segment_classifier **classifier,
                                    mo_error *err)
{
    mo_segment_classifier *c = calloc(1, sizeof *c);

    if (!c)
        return mo_fail_memory(err);
    c->content = content;
    c->merges = !mo_ablated(MO_ABLATION_segment_classes);
    *classifier = c;
    return MO_OK;
}

void mo_segment_classifier_free(mo_segment_classifier *c)
{
    if (!c)
        return;
    free(c->items);
    free(c->classes);
    free(c->slots);
    free(c->position);
    free(c->groups);
    free(c);
}

static mo_status append_number(mo_segment_classifier *c, int64_t number,
                               mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(c->items, c->n_items, c->items_room, err);

    if (status == MO_OK)
        c->items[c->n_items++] = number;
    return status;
}

static mo_status append_bound_data(mo_segment_classifier *c,
                                   const mo_allowed_devices *p, int op,
                                   bool is_end, mo_error *err)
{
    mo_status status = MO_OK;

    if (!is_end)
        status =
            append_number(c, mo_allowed_devices_resident_bytes(p, op), err);
    for (int k = 0; k < p->x->n_devices && status == MO_OK; k++) {
        int64_t ns = is_end ? 0 : mo_instance_p_ns(p->x, op, k);

        status = append_number(
            c, mo_allowed_devices_has(p, op, k) ? ns : -1 - ns, err);
    }
    return status;
}

/* Times and memory of u belong to the segment before. */
static mo_status append_schedule_data(mo_segment_classifier *c,
                                      const mo_allowed_devices *p, int op,
                                      bool is_entry, mo_error *err)
{
    const mo_instance *x = p->x;
    mo_status status = append_number(c, x->pin[op], err);

    for (int k = 0; k < x->n_devices && !is_entry && status == MO_OK; k++)
        status = append_number(c, mo_instance_p_ns(x, op, k), err);
    if (p->regime.memory != MO_MEMORY_NONE && !is_entry && status == MO_OK)
        status = append_number(c, x->memory_bytes[op], err);
    if (p->regime.memory == MO_MEMORY_LIVE && !is_entry && status == MO_OK)
        status = append_number(c, x->weight_bytes[op], err);
    return status;
}

/* Flows of op within the segment, with their tensors counted from its first. */
static mo_status append_flows(mo_segment_classifier *c,
                              const mo_allowed_devices *p, int op,
                              mo_error *err)
{
    const mo_instance *x = p->x;
    bool once = p->regime.tensors == MO_TENSORS_ONCE;
    bool has_bytes = c->content == MO_SEGMENT_SCHEDULES &&
                     p->regime.memory == MO_MEMORY_LIVE;
    mo_status status = MO_OK;

    for (int q = x->out_start[op]; q < x->out_start[op + 1] && status == MO_OK;
         q++) {
        int tensor = x->flows[q].tensor;

        if (c->position[x->flows[q].to] == 0)
            continue;
        status = append_number(c, c->position[x->flows[q].to], err);
        if (status == MO_OK)
            status = append_number(
                c, tensor - x->flows[x->out_start[op]].tensor, err);
        if (status == MO_OK)
            status = append_number(
                c, once ? x->comm.tensor_row[tensor] : x->comm.flow_row[q],
                err);
        if (status == MO_OK && has_bytes)
            status = append_number(c, x->tensor_bytes[tensor], err);
    }
    return status == MO_OK ? append_number(c, INT64_MIN, err) : status;
}

static mo_status append_op(mo_segment_classifier *c,
                           const mo_allowed_devices *p,
                           const mo_bound_segment *s, int op, mo_error *err)
{
    mo_status status;
    struct group_number *group;

    /* Groups of schedules are numbered in the order of their first ops. */
    if (c->content == MO_SEGMENT_BOUNDS || p->x->group[op] == MO_FREE) {
        status = append_number(c, p->x->group[op], err);
    } else {
        group = &c->groups[p->x->group[op]];
        if (group->segment != c->n_segments)
            *group = (struct group_number){ c->n_segments, c->n_groups++ };
        status = append_number(c, group->number, err);
    }
    if (status == MO_OK)
        status =
            c->content == MO_SEGMENT_BOUNDS
                ? append_bound_data(c, p, op, op == s->u || op == s->v, err)
                : append_schedule_data(c, p, op, op == s->u, err);
    return status == MO_OK && op != s->v ? append_flows(c, p, op, err) : status;
}

/* Sets or clears the positions of the ops and of both ends. */
static void set_positions(mo_segment_classifier *c, const mo_bound_segment *s,
                          bool set)
{
    if (s->u != MO_FREE)
        c->position[s->u] = set ? 1 : 0;
    for (int i = 0; i < s->n; i++)
        c->position[s->ops[i]] = set ? i + 2 : 0;
    if (s->v != MO_FREE)
        c->position[s->v] = set ? s->n + 2 : 0;
}

/* Reserves items of the present instance; those that are new are zeros. */
static mo_status reserve_zeros(void **items, size_t *room, int n, size_t size,
                               mo_error *err)
{
    size_t old = *room;
    mo_status status = MO_OK;

    if ((size_t) n > old)
        status = mo_array_reserve(items, room, (size_t) n, size, err);
    if (status == MO_OK && *room > old)
        memset((char *) *items + old * size, 0, (*room - old) * size);
    return status;
}

static mo_status build_key(mo_segment_classifier *c,
                           const mo_allowed_devices *p,
                           const mo_bound_segment *s, mo_error *err)
{
    mo_status status = reserve_zeros((void **) &c->position, &c->position_room,
                                     p->x->n, sizeof *c->position, err);

    if (status == MO_OK)
        status = reserve_zeros((void **) &c->groups, &c->groups_room,
                               p->x->n_groups, sizeof *c->groups, err);
    if (status != MO_OK)
        return status;
    c->n_segments++;
    c->n_groups = 0;
    set_positions(c, s, true);
    status = append_number(c, (s->u != MO_FREE) * 2 + (s->v != MO_FREE), err);
    if (s->u != MO_FREE && status == MO_OK)
        status = append_op(c, p, s, s->u, err);
    for (int i = 0; i < s->n && status == MO_OK; i++)
        status = append_op(c, p, s, s->ops[i], err);
    if (s->v != MO_FREE && status == MO_OK)
        status = append_op(c, p, s, s->v, err);
    set_positions(c, s, false);
    return status;
}

/* Returns the slot of a class with the key, or an empty one. */
static size_t find_slot(const mo_segment_classifier *c, const class_key *key)
{
    size_t at = (size_t) key->digest & (c->n_slots - 1);

    for (; c->slots[at] >= 0; at = (at + 1) & (c->n_slots - 1)) {
        const class_key *other = &c->classes[c->slots[at]];

        if (c->merges && other->digest == key->digest && other->n == key->n &&
            memcmp(c->items + other->first, c->items + key->first,
                   key->n * sizeof *c->items) == 0)
            break;
    }
    return at;
}

mo_status mo_segment_classifier_add(mo_segment_classifier *c,
                                    const mo_allowed_devices *domains,
                                    const mo_bound_segment *segment, int *cls,
                                    mo_error *err)
{
    class_key key = { .first = c->n_items };
    size_t slot;
    mo_status status = build_key(c, domains, segment, err);

    if (status == MO_OK && 2 * (c->n + 1) > c->n_slots) {
        size_t n_slots = c->n_slots ? 2 * c->n_slots : FIRST_SLOTS;
        int *slots = malloc(n_slots * sizeof *slots);

        /* Doubles the slots: the load factor stays below one half. */
        if (!slots) {
            status = mo_fail_memory(err);
        } else {
            memset(slots, 0xff, n_slots * sizeof *slots);
            free(c->slots);
            c->slots = slots;
            c->n_slots = n_slots;
            for (size_t i = 0; i < c->n; i++)
                c->slots[find_slot(c, &c->classes[i])] = (int) i;
        }
    }
    if (status == MO_OK)
        status = MO_ARRAY_GROW(c->classes, c->n, c->room, err);
    if (status != MO_OK)
        return status;
    key.n = c->n_items - key.first;
    key.digest = mo_digest_of(c->items + key.first, key.n * sizeof *c->items);
    slot = find_slot(c, &key);
    if (c->slots[slot] >= 0) {
        c->n_items = key.first;
    } else {
        c->slots[slot] = (int) c->n;
        c->classes[c->n++] = key;
    }
    *cls = c->slots[slot];
    return MO_OK;
}

mo_status mo_bound_segment_classes_find(const mo_allowed_devices *domains,
                                        const mo_bound_chain *chain,
                                        mo_bound_segment_classes **classes,
                                        mo_error *err)
{
    mo_bound_segment_classes *found = calloc(1, sizeof *found);
    mo_segment_classifier *c = NULL;
    mo_status status = mo_segment_classifier_new(MO_SEGMENT_BOUNDS, &c, err);

    if (found) {
        found->of = calloc((size_t) chain->n + 1, sizeof *found->of);
        found->first = calloc((size_t) chain->n + 1, sizeof *found->first);
    }
    if (status == MO_OK && (!found || !found->of || !found->first))
        status = mo_fail_memory(err);
    for (int s = 0; s < chain->n && status == MO_OK; s++) {
        status = mo_segment_classifier_add(c, domains, &chain->segments[s],
                                           &found->of[s], err);
        if (status == MO_OK && found->of[s] == found->n)
            found->first[found->n++] = s;
    }
    mo_segment_classifier_free(c);
    if (status == MO_OK)
        *classes = found;
    else
        mo_bound_segment_classes_free(found);
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
