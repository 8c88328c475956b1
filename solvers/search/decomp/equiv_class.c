/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/decomp/equiv_class.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"

typedef struct known {
    uint64_t digest;
    int first;
} known;

struct mo_decomp_equiv {
    mo_decomp_equiv_encode *write;
    void *context;
    known *classes;
    size_t n, room;
    int *slots; /* classes by digest, open addressing; -1: free */
    size_t n_slots;
    mo_decomp_key fresh, old;
};

enum { FIRST_SLOTS = 64 };

mo_status mo_decomp_key_append(mo_decomp_key *numbers, int64_t number,
                               mo_error *err)
{
    mo_status status =
        MO_ARRAY_GROW(numbers->items, numbers->n, numbers->room, err);

    if (status == MO_OK)
        numbers->items[numbers->n++] = number;
    return status;
}

mo_status mo_decomp_equiv_new(mo_decomp_equiv_encode *write, void *context,
                              mo_decomp_equiv **alike, mo_error *err)
{
    mo_decomp_equiv *a = calloc(1, sizeof *a);

    if (!a)
        return mo_fail_memory(err);
    a->write = write;
    a->context = context;
    *alike = a;
    return MO_OK;
}

void mo_decomp_equiv_free(mo_decomp_equiv *a)
{
    if (!a)
        return;
    free(a->classes);
    free(a->slots);
    free(a->fresh.items);
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

static void put_into_slot(mo_decomp_equiv *a, int cls)
{
    size_t at = (size_t) a->classes[cls].digest & (a->n_slots - 1);

    while (a->slots[at] >= 0)
        at = (at + 1) & (a->n_slots - 1);
    a->slots[at] = cls;
}

/* Twice as many slots, so that half of them stay free. */
static mo_status grow(mo_decomp_equiv *a, mo_error *err)
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
        put_into_slot(a, (int) cls);
    return MO_OK;
}

static mo_status is_same(mo_decomp_equiv *a, int cls, bool *same, mo_error *err)
{
    mo_status status;

    a->old.n = 0;
    status = a->write(a->context, a->classes[cls].first, &a->old, err);
    *same = status == MO_OK && a->old.n == a->fresh.n &&
            (a->old.n == 0 || memcmp(a->old.items, a->fresh.items,
                                     a->old.n * sizeof *a->old.items) == 0);
    return status;
}

/* The class of what is in fresh, or -1. */
static mo_status look_up(mo_decomp_equiv *a, uint64_t digest, int *cls,
                         mo_error *err)
{
    size_t at = (size_t) digest & (a->n_slots - 1);

    for (; a->slots[at] >= 0; at = (at + 1) & (a->n_slots - 1)) {
        bool same = false;
        mo_status status = MO_OK;

        if (a->classes[a->slots[at]].digest == digest)
            status = is_same(a, a->slots[at], &same, err);
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

static mo_status add(mo_decomp_equiv *a, uint64_t digest, int thing, int *cls,
                     mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(a->classes, a->n, a->room, err);

    if (status != MO_OK)
        return status;
    *cls = (int) a->n;
    a->classes[a->n++] = (known){ digest, thing };
    put_into_slot(a, *cls);
    return MO_OK;
}

mo_status mo_decomp_equiv_class_of(mo_decomp_equiv *a, int thing, int *cls,
                                   mo_error *err)
{
    mo_status status = MO_OK;
    uint64_t digest;

    if (2 * (a->n + 1) > a->n_slots)
        status = grow(a, err);
    a->fresh.n = 0;
    if (status == MO_OK)
        status = a->write(a->context, thing, &a->fresh, err);
    if (status != MO_OK)
        return status;
    digest = mo_digest_of(a->fresh.items, a->fresh.n * sizeof *a->fresh.items);
    status = look_up(a, digest, cls, err);
    return status == MO_OK && *cls < 0 ? add(a, digest, thing, cls, err)
                                       : status;
}
