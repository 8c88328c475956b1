/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/knapsack.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"

enum { NONE = -1 };

/* Of equal items the last one comes first. */
static int compare_items(const void *a, const void *b)
{
    const mo_knapsack_item *x = a, *y = b;
    double left = x->cost * (double) y->bytes;
    double right = y->cost * (double) x->bytes;

    if (left != right)
        return left < right ? -1 : 1;
    return y->id - x->id;
}

/* Least cost of so many bytes of the items from first on, of the last one a
 * part; INFINITY where they have too few. */
static double relaxed_cost(const mo_knapsack *k, int first, int64_t bytes)
{
    double cost = 0;

    for (int i = first; i < k->n_items && bytes > 0; i++) {
        int64_t taken = mo_min_i64(bytes, k->items[i].bytes);

        cost += k->items[i].cost * (double) taken / (double) k->items[i].bytes;
        bytes -= taken;
    }
    return bytes > 0 ? INFINITY : cost;
}

static bool are_equal(const mo_knapsack *k, int first)
{
    for (int i = first + 1; i < k->n_items; i++)
        if (k->items[i].bytes != k->items[first].bytes)
            return false;
    return true;
}

/* The sums with and without item i, in ascending order of bytes: sums[from] to
 * sums[to - 1] are those of the items before it.  Those follow that no other
 * one dominates and that may still cost less than most.  Returns the end, or
 * NONE where there is no room. */
static int add_item(mo_knapsack *k, int i, int from, int to, int64_t bytes,
                    double most)
{
    const mo_knapsack_item *item = &k->items[i];
    int without = from, with = from, end = to;

    while (without < to || with < to) {
        mo_knapsack_sum sum = { 0 };
        int64_t more = 0;

        if (with < to)
            more = mo_min_i64(k->sums[with].bytes + item->bytes, bytes);
        if (with == to || (without < to && k->sums[without].bytes <= more)) {
            sum = k->sums[without];
            sum.parent = without++;
            sum.item = NONE;
        } else {
            sum = (mo_knapsack_sum){ more, k->sums[with].cost + item->cost,
                                     with, i };
            with++;
        }
        if (sum.cost + relaxed_cost(k, i + 1, bytes - sum.bytes) >= most)
            continue;
        while (end > to && k->sums[end - 1].cost >= sum.cost)
            end--;
        if (end > to && k->sums[end - 1].bytes == sum.bytes)
            continue;
        if (end == MO_KNAPSACK_SUMS)
            return NONE;
        k->sums[end++] = sum;
    }
    return end;
}

/* Searches for less than most with the items from first on; returns the sum of
 * it, or NONE. */
static int search(mo_knapsack *k, int first, int64_t bytes, double most)
{
    int from = 0, to = 1;

    k->sums[0] = (mo_knapsack_sum){ 0, 0, NONE, NONE };
    for (int i = first; i < k->n_items && from < to; i++) {
        int end = add_item(k, i, from, to, bytes, most);

        if (end == NONE) {
            k->gave_up = true;
            return NONE;
        }
        from = to;
        to = end;
    }
    /* Others have too few bytes, and relaxed_cost() dropped them. */
    return from < to ? to - 1 : NONE;
}

double mo_knapsack_solve(mo_knapsack *k, int64_t bytes, bool *chosen)
{
    double sure = 0, cost = 0;
    int64_t left;
    int first = 0, end, best = NONE;

    qsort(k->items, (size_t) k->n_items, sizeof *k->items, compare_items);
    for (; first < k->n_items && k->items[first].cost < 0; first++) {
        sure += k->items[first].cost;
        bytes -= mo_min_i64(bytes, k->items[first].bytes);
    }
    if (k->fractional || isinf(relaxed_cost(k, first, bytes)))
        return sure + relaxed_cost(k, first, bytes);
    for (end = first, left = bytes; left > 0; end++) {
        cost += k->items[end].cost;
        left -= mo_min_i64(left, k->items[end].bytes);
    }
    if (bytes > 0 && !are_equal(k, first))
        best = search(k, first, bytes, cost);
    if (best != NONE)
        cost = k->sums[best].cost;
    for (int i = 0; i < (best == NONE ? end : first) && chosen; i++)
        chosen[k->items[i].id] = true;
    for (int i = best; i != NONE && chosen; i = k->sums[i].parent)
        if (k->sums[i].item != NONE)
            chosen[k->items[k->sums[i].item].id] = true;
    return sure + cost;
}
