/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/build/minset.h"

enum { WORD = 64 };

bool mo_minset_init(mo_minset *set, int size, mo_arena *arena)
{
    size_t bits = (size_t) size;

    set->n_levels = 0;
    do {
        size_t words = bits / WORD + 1;
        uint64_t *level = mo_arena_array(arena, words, sizeof *level);
        if (!level)
            return false;
        set->levels[set->n_levels++] = level;
        bits = words;
    } while (bits > 1);
    return true;
}

void mo_minset_add(mo_minset *set, int number)
{
    for (int l = 0; l < set->n_levels; l++) {
        uint64_t *word = &set->levels[l][number / WORD];
        bool was_empty = *word == 0;
        *word |= (uint64_t) 1 << (number % WORD);
        if (!was_empty)
            return; /* the levels above have the bit already */
        number /= WORD;
    }
}

static void remove_number(mo_minset *set, int number)
{
    for (int l = 0; l < set->n_levels; l++) {
        uint64_t *word = &set->levels[l][number / WORD];
        *word &= ~((uint64_t) 1 << (number % WORD));
        if (*word != 0)
            return;
        number /= WORD;
    }
}

int mo_minset_take(mo_minset *set)
{
    int number = 0;

    if (set->levels[set->n_levels - 1][0] == 0)
        return -1;
    for (int l = set->n_levels - 1; l >= 0; l--)
        number = number * WORD + __builtin_ctzll(set->levels[l][number]);
    remove_number(set, number);
    return number;
}
