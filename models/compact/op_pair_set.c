/* SPDX-License-Identifier: Apache-2.0 */
#include "models/compact/op_pair_set.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64 };

static mo_op_pair ordered_pair(int i, int j)
{
    return i < j ? (mo_op_pair){ i, j } : (mo_op_pair){ j, i };
}

/* Returns the slot of the pair, or the empty slot where it would be. */
static size_t slot_of(const mo_op_pair_set *set, mo_op_pair pair)
{
    uint64_t key = (uint64_t) pair.i << 32 | (uint64_t) pair.j;
    size_t mask = set->n_slots - 1;
    size_t at = (size_t) ((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;

    while (set->slots[at] >= 0) {
        const mo_op_pair *found = &set->pairs[set->slots[at]];

        if (found->i == pair.i && found->j == pair.j)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

static mo_status rehash(mo_op_pair_set *set, size_t n_slots, mo_error *err)
{
    int *slots = malloc(n_slots * sizeof *slots);

    if (!slots)
        return mo_fail_memory(err);
    for (size_t s = 0; s < n_slots; s++)
        slots[s] = -1;
    free(set->slots);
    set->slots = slots;
    set->n_slots = n_slots;
    for (size_t p = 0; p < set->n; p++)
        slots[slot_of(set, set->pairs[p])] = (int) p;
    return MO_OK;
}

/* At most half of the slots are taken. */
static mo_status reserve_slot(mo_op_pair_set *set, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(set->pairs, set->n, set->room, err);

    if (status == MO_OK && set->n >= INT_MAX / 4)
        status = mo_fail(err, MO_E_LIMIT, "too many pairs of ops for a model");
    if (status == MO_OK && 2 * (set->n + 1) > set->n_slots)
        status =
            rehash(set, set->n_slots ? 2 * set->n_slots : FIRST_SLOTS, err);
    return status;
}

mo_status mo_op_pair_set_add(mo_op_pair_set *set, int i, int j, mo_error *err)
{
    mo_op_pair pair = ordered_pair(i, j);
    mo_status status = reserve_slot(set, err);
    size_t at;

    if (status != MO_OK)
        return status;
    at = slot_of(set, pair);
    if (set->slots[at] < 0) {
        set->slots[at] = (int) set->n;
        set->pairs[set->n++] = pair;
    }
    return MO_OK;
}

int mo_op_pair_set_find(const mo_op_pair_set *set, int i, int j)
{
    return set->n == 0 ? -1 : set->slots[slot_of(set, ordered_pair(i, j))];
}

void mo_op_pair_set_clear(mo_op_pair_set *set)
{
    free(set->pairs);
    free(set->slots);
    *set = (mo_op_pair_set){ 0 };
}
