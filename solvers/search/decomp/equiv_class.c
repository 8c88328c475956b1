/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/equiv_class.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"

typedef struct class_entry {
    uint64_t digest;
    int first;
} class_entry;

struct mo_decomp_equiv {
    mo_decomp_equiv_encode *encode;
    void *context;
    class_entry *classes;
    size_t n, room;
    int *slots; /* class by digest, open addressing with linear probing; -1:
                   empty */
    size_t n_slots;
    mo_decomp_key current, old;
};

enum { FIRST_SLOTS = 64 };

mo_status mo_decomp_key_append(mo_decomp_key *key, int64_t number,
                               mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(key->items, key->n, key->room, err);

    if (status == MO_OK)
        key->items[key->n++] = number;
    return status;
}

mo_status mo_decomp_equiv_new(mo_decomp_equiv_encode *encode, void *context,
                              mo_decomp_equiv **equiv, mo_error *err)
{
    mo_decomp_equiv *a = calloc(1, sizeof *a);

    if (!a)
        return mo_fail_memory(err);
    a->encode = encode;
    a->context = context;
    *equiv = a;
    return MO_OK;
}

void mo_decomp_equiv_free(mo_decomp_equiv *a)
{
    if (!a)
        return;
    free(a->classes);
    free(a->slots);
    free(a->current.items);
    free(a->old.items);
    free(a);
}

int mo_decomp_equiv_n_classes(const mo_decomp_equiv *a)
{
    return (int) a->n;
}

int mo_decomp_equiv_representative(const mo_decomp_equiv *a, int cls)
{
    return a->classes[cls].first;
}

static void insert_into_slot(mo_decomp_equiv *a, int cls)
{
    size_t at = (size_t) a->classes[cls].digest & (a->n_slots - 1);

    while (a->slots[at] >= 0)
        at = (at + 1) & (a->n_slots - 1);
    a->slots[at] = cls;
}

/* Doubles the slots: the load factor stays below one half. */
static mo_status grow_slots(mo_decomp_equiv *a, mo_error *err)
{
    size_t n_slots = a->n_slots ? 2 * a->n_slots : FIRST_SLOTS;
    int *slots = malloc(n_slots * sizeof *slots);

    if (!slots)
        return mo_fail_memory(err);
    memset(slots, 0xff, n_slots * sizeof *slots);
    free(a->slots);
    a->slots = slots;
    a->n_slots = n_slots;
    for (size_t cls = 0; cls < a->n; cls++)
        insert_into_slot(a, (int) cls);
    return MO_OK;
}

static mo_status key_equals(mo_decomp_equiv *a, int cls, bool *same,
                            mo_error *err)
{
    mo_status status;

    a->old.n = 0;
    status = a->encode(a->context, a->classes[cls].first, &a->old, err);
    *same = status == MO_OK && a->old.n == a->current.n &&
            (a->old.n == 0 || memcmp(a->old.items, a->current.items,
                                     a->old.n * sizeof *a->old.items) == 0);
    return status;
}

/* Sets *cls to the class with the key in current, -1 if there is
 * none. */
static mo_status find_class(mo_decomp_equiv *a, uint64_t digest, int *cls,
                            mo_error *err)
{
    size_t at = (size_t) digest & (a->n_slots - 1);

    for (; a->slots[at] >= 0; at = (at + 1) & (a->n_slots - 1)) {
        bool same = false;
        mo_status status = MO_OK;

        if (a->classes[a->slots[at]].digest == digest)
            status = key_equals(a, a->slots[at], &same, err);
        if (status != MO_OK)
            return status;
        if (same) {
            *cls = a->slots[at];
            return MO_OK;
        }
    }
    *cls = -1;
    return MO_OK;
}

static mo_status add_class(mo_decomp_equiv *a, uint64_t digest, int item,
                           int *cls, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(a->classes, a->n, a->room, err);

    if (status != MO_OK)
        return status;
    *cls = (int) a->n;
    a->classes[a->n++] = (class_entry){ digest, item };
    insert_into_slot(a, *cls);
    return MO_OK;
}

mo_status mo_decomp_equiv_class_of(mo_decomp_equiv *a, int item, int *cls,
                                   mo_error *err)
{
    mo_status status = MO_OK;
    uint64_t digest;

    if (2 * (a->n + 1) > a->n_slots)
        status = grow_slots(a, err);
    a->current.n = 0;
    if (status == MO_OK)
        status = a->encode(a->context, item, &a->current, err);
    if (status != MO_OK)
        return status;
    digest =
        mo_digest_of(a->current.items, a->current.n * sizeof *a->current.items);
    status = find_class(a, digest, cls, err);
    return status == MO_OK && *cls < 0 ? add_class(a, digest, item, cls, err)
                                       : status;
}
