/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/validate/validate_internal.h"

/*
 * Overlaps by a sweep over sorted intervals.
 *
 * Two intervals are apart when one ends before, or when, the other begins.
 * Sorted by start and then by end,
 *
 *       |---- a ----|
 *     z                     z takes no time and lies at a's start: in front
 *       |  z  |--- b ---|   one inside a, and b, begin before a has ended
 *
 * an interval overlaps some earlier one exactly when the latest end so far
 * lies behind its start: what takes no time comes before all that begins with
 * it.  Something that holds a resource twice does not conflict with itself.
 */

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_intervals(const void *a, const void *b)
{
    const mo_validate_interval *s = a, *t = b;
    int by = compare_i64(s->resource, t->resource);

    if (by == 0)
        by = compare_i64(s->start_ns, t->start_ns);
    if (by == 0)
        by = compare_i64(s->end_ns, t->end_ns);
    return by != 0 ? by : compare_i64(s->number, t->number);
}

/* The amount by which b, which begins inside a, overlaps a. */
static int64_t overlap_amount(const mo_validate_interval *a,
                              const mo_validate_interval *b)
{
    if (b->start_ns == b->end_ns)
        return mo_min_i64(b->start_ns - a->start_ns, a->end_ns - b->start_ns);
    return mo_min_i64(a->end_ns, b->end_ns) - b->start_ns;
}

void mo_validate_overlaps(mo_validate_state *j, mo_validate_interval *intervals,
                          size_t n, mo_validate_overlap_fn *found)
{
    const mo_validate_interval *last =
        NULL; /* to end, on the current resource */

    if (n > 1)
        qsort(intervals, n, sizeof *intervals, compare_intervals);
    for (size_t i = 0; i < n; i++) {
        const mo_validate_interval *here = &intervals[i];

        if (last && last->resource != here->resource)
            last = NULL;
        if (last && last->end_ns > here->start_ns &&
            last->number != here->number)
            found(j, last, here, overlap_amount(last, here));
        if (!last || here->end_ns > last->end_ns)
            last = here;
    }
}
