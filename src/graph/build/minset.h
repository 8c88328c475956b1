/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minset.h - priority queue of small integers: a hierarchical bitmap.
 *
 * A bitmap of the numbers, a bitmap of its nonzero words, and so on up to one
 * word: insertion and removal of the minimum touch one word per level, which
 * is at most five for the largest graph. A binary heap needs some twenty
 * comparisons.
 */
#ifndef MO_GRAPH_BUILD_MINSET_H
#define MO_GRAPH_BUILD_MINSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { MO_MINSET_LEVELS = 6 }; /* 64^6 exceeds INT_MAX */

typedef struct mo_minset {
    uint64_t
        *levels[MO_MINSET_LEVELS]; /* levels[0] is the bitmap of the numbers */
    int n_levels;
} mo_minset;

/* Makes an empty set for numbers in [0, size), allocated in arena; returns
 * false when memory is exhausted. */
bool mo_minset_init(mo_minset *set, int size, mo_arena *arena);

void mo_minset_add(mo_minset *set, int number);

/* Removes and returns the smallest number; -1 when the set is empty. */
int mo_minset_take(mo_minset *set);

#endif
