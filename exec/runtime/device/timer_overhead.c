/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/device/timer_overhead.h"

static int64_t corrected(int64_t ns, int64_t cost, int64_t least)
{
    if (ns <= least)
        return ns;
    return ns - cost > least ? ns - cost : least;
}

static int64_t corrected_sum(const int64_t *ns, int n, int64_t cost,
                             int64_t least)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += corrected(ns[i], cost, least);
    return sum;
}

/* The sum falls as the overhead grows: binary search for the least overhead
 * that is enough. */
void mo_run_remove_timer_overhead(int64_t *ns, int n, int64_t whole)
{
    int64_t least = n > 0 ? whole / n / 4 : 0, low = 0, high = 0;

    for (int i = 0; i < n; i++)
        high = ns[i] > high ? ns[i] : high;
    if (corrected_sum(ns, n, 0, least) <= whole)
        return;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (corrected_sum(ns, n, middle, least) > whole)
            low = middle + 1;
        else
            high = middle;
    }
    for (int i = 0; i < n; i++)
        ns[i] = corrected(ns[i], low, least);
}
