/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"

/*
 * Hash table with open addressing and linear probing. A slot keeps 32 bits of
 * its text's hash: they decide nearly every comparison without reading the
 * text, and growing needs nothing else.
 *
 *     slots    hash number+1        entries   (in order of insertion)
 *            | 9f01      2 | --------.  0: "conv1"
 *            |    -      0 |          `-> 1: "relu1"
 *            | 4c77      1 |
 */
typedef struct slot {
    uint32_t hash;
    uint32_t number_plus_1; /* 0: empty */
} slot;

typedef struct entry {
    const char *text;
    size_t length;
} entry;

enum { FIRST_SLOTS = 64 };

struct mo_intern {
    mo_arena *arena;
    slot *slots;
    size_t n_slots; /* a power of two, at least a quarter of it empty */
    entry *entries;
    size_t count, room;
};

mo_intern *mo_intern_new(mo_arena *arena)
{
    mo_intern *table = calloc(1, sizeof *table);

    if (!table)
        return NULL;
    table->arena = arena;
    table->n_slots = FIRST_SLOTS;
    table->slots = calloc(FIRST_SLOTS, sizeof *table->slots);
    if (!table->slots) {
        free(table);
        return NULL;
    }
    return table;
}

void mo_intern_free(mo_intern *table)
{
    if (!table)
        return;
    free(table->entries);
    free(table->slots);
    free(table);
}

static uint32_t hash_of(const char *text, size_t length)
{
    return (uint32_t) mo_digest_of(text, length);
}

static bool is_entry(const entry *e, const char *text, size_t length)
{
    return e->length == length && memcmp(e->text, text, length) == 0;
}

/* Returns the slot that holds text, or the empty one where it belongs. */
static slot *find_slot(const mo_intern *table, uint32_t hash, const char *text,
                       size_t length)
{
    size_t mask = table->n_slots - 1, at = hash & mask;

    for (;; at = (at + 1) & mask) {
        slot *s = &table->slots[at];

        if (s->number_plus_1 == 0)
            return s;
        if (s->hash == hash &&
            is_entry(&table->entries[s->number_plus_1 - 1], text, length))
            return s;
    }
}

mo_status mo_intern_append(mo_intern *table, const char *text, size_t length,
                           int *number, mo_error *err)
{
    const char *kept;
    mo_status status;

    if (table->count == INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "more than %d different names",
                       INT_MAX);
    status = MO_ARRAY_GROW(table->entries, table->count, table->room, err);
    if (status != MO_OK)
        return status;
    kept = mo_arena_text(table->arena, text, length);
    if (!kept)
        return mo_fail_memory(err);

    table->entries[table->count] = (entry){ kept, length };
    *number = (int) table->count++;
    return MO_OK;
}

mo_status mo_intern_put(mo_intern *table, const char *text, size_t length,
                        int *number, mo_error *err)
{
    uint32_t hash = hash_of(text, length);
    slot *s = find_slot(table, hash, text, length);
    mo_status status = MO_OK;

    if (s->number_plus_1 == 0) {
        if (table->count >= table->n_slots / 4 * 3) {
            size_t n = table->n_slots * 2, mask = n - 1;
            slot *slots = calloc(n, sizeof *slots);

            if (!slots)
                return mo_fail_memory(err);
            for (size_t i = 0; i < table->n_slots; i++) {
                size_t at = table->slots[i].hash & mask;

                if (table->slots[i].number_plus_1 == 0)
                    continue;
                while (slots[at].number_plus_1 != 0)
                    at = (at + 1) & mask;
                slots[at] = table->slots[i];
            }
            free(table->slots);
            table->slots = slots;
            table->n_slots = n;
            s = find_slot(table, hash, text, length);
        }
        status = mo_intern_append(table, text, length, number, err);
        if (status != MO_OK)
            return status;
        *s = (slot){ hash, (uint32_t) *number + 1 };
    }
    *number = (int) (s->number_plus_1 - 1);
    return MO_OK;
}

int mo_intern_find(const mo_intern *table, const char *text, size_t length)
{
    const slot *s = find_slot(table, hash_of(text, length), text, length);

    return s->number_plus_1 == 0 ? -1 : (int) (s->number_plus_1 - 1);
}

const char *mo_intern_text(const mo_intern *table, int number)
{
    assert(number >= 0 && (size_t) number < table->count);
    return table->entries[number].text;
}

int mo_intern_count(const mo_intern *table)
{
    return (int) table->count;
}
