/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knapsack.h - minimum knapsack problem: the items of least cost that have so
 * many bytes together.
 *
 * Greedy in the order of cost per byte, which is optimal for items of one size
 * and where a part of an item may be taken; otherwise by lists of sums of which
 * none is dominated (Nemhauser and Ullmann, 1969).
 */
#ifndef MO_REPORT_RUNTIME_KNAPSACK_H
#define MO_REPORT_RUNTIME_KNAPSACK_H

#include <stdbool.h>
#include <stdint.h>

/* Sums of an exact search, and the most items. */
enum { MO_KNAPSACK_SUMS = 8192, MO_KNAPSACK_ITEMS = 1024 };

typedef struct mo_knapsack_item {
    int id;
    double cost; /* items of negative cost are always taken */
    int64_t bytes;
} mo_knapsack_item;

typedef struct mo_knapsack_sum {
    int64_t bytes; /* at most those that are needed */
    double cost;
    int parent, item; /* the sum before it, and the item on top */
} mo_knapsack_sum;

typedef struct mo_knapsack {
    mo_knapsack_item items[MO_KNAPSACK_ITEMS];
    int n_items;
    bool fractional; /* a part of an item may be taken */
    bool gave_up;    /* set: a choice may not be optimal */
    mo_knapsack_sum sums[MO_KNAPSACK_SUMS];
} mo_knapsack;

/* Sorts the items, and returns the cost of those chosen, INFINITY where all of
 * them have fewer bytes.  Sets chosen[id] of them, unless chosen is NULL or
 * parts may be taken. */
double mo_knapsack_solve(mo_knapsack *k, int64_t bytes, bool *chosen);

#endif
