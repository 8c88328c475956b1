/*
 * meets.h - a set of pairs of ops, in the order in which they came.
 */
#ifndef MO_MODELS_COMPACT_OP_PAIR_SET_H
#define MO_MODELS_COMPACT_OP_PAIR_SET_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_meet {
    int i, j; /* i < j */
} mo_meet;

/* All zero is the empty set. */
typedef struct mo_meets {
    mo_meet *pairs;
    size_t n, room;
    int *slots; /* a hash table of numbers of pairs; -1: empty */
    size_t n_slots;
} mo_meets;

/* Puts the pair in, whichever way round, unless it is there. */
mo_status mo_meets_add(mo_meets *meets, int i, int j, mo_error *err);

/* Its number, or -1. */
int mo_meets_find(const mo_meets *meets, int i, int j);

void mo_meets_clear(mo_meets *meets);

#endif
