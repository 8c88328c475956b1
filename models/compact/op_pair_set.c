/* SPDX-License-Identifier: Apache-2.0 */
#include "models/compact/op_pair_set.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64 };

static mo_op_pair ordered(int i, int j)
{
    return i < j ? (mo_op_pair){ i, j } : (mo_op_pair){ j, i };
}

/* Where the pair is, or the empty slot where it would be. */
static size_t slot_of(const mo_op_pair_set *meets, mo_op_pair pair)
{
    uint64_t key = (uint64_t) pair.i << 32 | (uint64_t) pair.j;
    size_t mask = meets->n_slots - 1;
    size_t at = (size_t) ((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;

    while (meets->slots[at] >= 0) {
        const mo_op_pair *found = &meets->pairs[meets->slots[at]];

        if (found->i == pair.i && found->j == pair.j)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

static mo_status rehash(mo_op_pair_set *meets, size_t n_slots, mo_error *err)
{
    int *slots = malloc(n_slots * sizeof *slots);

    if (!slots)
        return mo_fail_memory(err);
    for (size_t s = 0; s < n_slots; s++)
        slots[s] = -1;
    free(meets->slots);
    meets->slots = slots;
    meets->n_slots = n_slots;
    for (size_t p = 0; p < meets->n; p++)
        slots[slot_of(meets, meets->pairs[p])] = (int) p;
    return MO_OK;
}

/* At most half of the slots are taken. */
static mo_status make_room(mo_op_pair_set *meets, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(meets->pairs, meets->n, meets->room, err);

    if (status == MO_OK && meets->n >= INT_MAX / 4)
        status = mo_fail(err, MO_E_LIMIT, "too many pairs of ops for a model");
    if (status == MO_OK && 2 * (meets->n + 1) > meets->n_slots)
        status = rehash(meets,
                        meets->n_slots ? 2 * meets->n_slots : FIRST_SLOTS, err);
    return status;
}

mo_status mo_op_pair_set_add(mo_op_pair_set *meets, int i, int j, mo_error *err)
{
    mo_op_pair pair = ordered(i, j);
    mo_status status = make_room(meets, err);
    size_t at;

    if (status != MO_OK)
        return status;
    at = slot_of(meets, pair);
    if (meets->slots[at] < 0) {
        meets->slots[at] = (int) meets->n;
        meets->pairs[meets->n++] = pair;
    }
    return MO_OK;
}

int mo_op_pair_set_find(const mo_op_pair_set *meets, int i, int j)
{
    return meets->n == 0 ? -1 : meets->slots[slot_of(meets, ordered(i, j))];
}

void mo_op_pair_set_clear(mo_op_pair_set *meets)
{
    free(meets->pairs);
    free(meets->slots);
    *meets = (mo_op_pair_set){ 0 };
}
