/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "schedule/validate/validate_internal.h"

/*
 * Two spans are apart when one ends before, or when, the other begins.  Sorted
 * by start and then by end,
 *
 *       |---- a ----|
 *     z                     z takes no time and lies at a's start: in front
 *       |  z  |--- b ---|   one inside a, and b, begin before a has ended
 *
 * a span overlaps some earlier one exactly when the latest end so far lies
 * behind its start: what takes no time comes before all that begins with it.
 * Something that holds a resource twice is not in its own way.
 */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_spans(const void *a, const void *b)
{
    const mo_validate_interval *s = a, *t = b;
    int by = order(s->resource, t->resource);

    if (by == 0)
        by = order(s->start_ns, t->start_ns);
    if (by == 0)
        by = order(s->end_ns, t->end_ns);
    return by != 0 ? by : order(s->number, t->number);
}

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* By how much b, which begins inside a, is in a's way. */
static int64_t amount_of(const mo_validate_interval *a,
                         const mo_validate_interval *b)
{
    if (b->start_ns == b->end_ns)
        return less(b->start_ns - a->start_ns, a->end_ns - b->start_ns);
    return less(a->end_ns, b->end_ns) - b->start_ns;
}

void mo_validate_overlaps(mo_validate_state *j, mo_validate_interval *spans,
                          size_t n, mo_validate_overlap_fn *found)
{
    const mo_validate_interval *last =
        NULL; /* to end, on the resource we are at */

    if (n > 1)
        qsort(spans, n, sizeof *spans, compare_spans);
    for (size_t i = 0; i < n; i++) {
        const mo_validate_interval *here = &spans[i];

        if (last && last->resource != here->resource)
            last = NULL;
        if (last && last->end_ns > here->start_ns &&
            last->number != here->number)
            found(j, last, here, amount_of(last, here));
        if (!last || here->end_ns > last->end_ns)
            last = here;
    }
}
