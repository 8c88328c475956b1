/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minset.h - a set of small numbers that hands out its smallest.
 *
 * A bitmap, a bitmap of its words that are not empty, and so on up to one word:
 * adding and taking touch one word a level, which is at most five for the
 * largest graph.  A binary heap does the same with twenty comparisons.
 */
#ifndef MO_GRAPH_BUILD_MINSET_H
#define MO_GRAPH_BUILD_MINSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { MO_MINSET_LEVELS = 6 }; /* 64^6 is more than an int can count */

typedef struct mo_minset {
    uint64_t *levels[MO_MINSET_LEVELS]; /* the numbers themselves first */
    int n_levels;
} mo_minset;

/* An empty set for numbers in [0, size), in memory from arena; false when there
 * is none. */
bool mo_minset_init(mo_minset *set, int size, mo_arena *arena);

void mo_minset_add(mo_minset *set, int number);

/* Takes the smallest number out; -1 when the set is empty. */
int mo_minset_take(mo_minset *set);

#endif
