/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_pair_set.h - hash set of pairs of ops, in order of insertion.
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
    int *slots; /* open addressing: numbers of pairs; -1: empty */
    size_t n_slots;
} mo_op_pair_set;

/* Adds the pair, in either order, unless it is there. */
mo_status mo_op_pair_set_add(mo_op_pair_set *set, int i, int j, mo_error *err);

/* Returns its number, or -1. */
int mo_op_pair_set_find(const mo_op_pair_set *set, int i, int j);

/* Frees the arrays; the set is empty again. */
void mo_op_pair_set_clear(mo_op_pair_set *set);

#endif
