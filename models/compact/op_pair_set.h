/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meets.h - a set of pairs of ops, in the order in which they came.
 */
#ifndef MO_MODELS_COMPACT_OP_PAIR_SET_H
#define MO_MODELS_COMPACT_OP_PAIR_SET_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_op_pair {
    int i, j; /* i < j */
} mo_op_pair;

/* All zero is the empty set. */
typedef struct mo_op_pair_set {
    mo_op_pair *pairs;
    size_t n, room;
    int *slots; /* a hash table of numbers of pairs; -1: empty */
    size_t n_slots;
} mo_op_pair_set;

/* Puts the pair in, whichever way round, unless it is there. */
mo_status mo_op_pair_set_add(mo_op_pair_set *meets, int i, int j,
                             mo_error *err);

/* Its number, or -1. */
int mo_op_pair_set_find(const mo_op_pair_set *meets, int i, int j);

void mo_op_pair_set_clear(mo_op_pair_set *meets);

#endif
