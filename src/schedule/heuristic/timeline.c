/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/array.h"

enum { UNCHANGED = -1 };

void mo_timeline_clear(mo_timeline *t)
{
    free(t->busy);
    free(t->gaps);
    *t = (mo_timeline){ 0 };
}

/* The first span that ends after at_ns. */
static size_t first_ending_after(const mo_timeline_span *spans, size_t n,
                                 int64_t at_ns)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (spans[middle].to_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t mo_timeline_earliest(const mo_timeline *t, int64_t ready_ns,
                             int64_t length_ns)
{
    size_t at;

    if (length_ns == 0) {
        at = first_ending_after(t->busy, t->n_busy, ready_ns);
        return at < t->n_busy && t->busy[at].from_ns < ready_ns
                   ? t->busy[at].to_ns
                   : ready_ns;
    }
    if (t->n_gaps == 0)
        return ready_ns;
    at = first_ending_after(t->gaps, t->n_gaps, ready_ns);
    while (mo_max_i64(t->gaps[at].from_ns, ready_ns) >
           t->gaps[at].to_ns - length_ns)
        at++;
    return mo_max_i64(t->gaps[at].from_ns, ready_ns);
}

/* Replaces the n_old spans at index by the n_new new ones. */
static void replace_spans(mo_timeline_span *spans, size_t *n_spans,
                          size_t index, size_t n_old,
                          const mo_timeline_span *new_spans, size_t n_new)
{
    memmove(spans + index + n_new, spans + index + n_old,
            (*n_spans - index - n_old) * sizeof *spans);
    for (size_t i = 0; i < n_new; i++)
        spans[index + i] = new_spans[i];
    *n_spans += n_new - n_old;
}

mo_status mo_timeline_insert(mo_timeline *t, int64_t start_ns,
                             int64_t length_ns, mo_timeline_change *change,
                             mo_error *err)
{
    mo_timeline_span span = { start_ns, start_ns + length_ns }, rest[2];
    mo_status status = mo_array_reserve((void **) &t->gaps, &t->gaps_room,
                                        t->n_gaps + 2, sizeof *t->gaps, err);

    if (status == MO_OK)
        status = MO_ARRAY_GROW(t->busy, t->n_busy, t->busy_room, err);
    if (status == MO_OK && t->n_gaps == 0)
        t->gaps[t->n_gaps++] = (mo_timeline_span){ 0, INT64_MAX };

    if (status != MO_OK)
        return status;
    *change = (mo_timeline_change){ .n_new_gaps = UNCHANGED };
    change->gap = first_ending_after(t->gaps, t->n_gaps, start_ns);
    change->busy = first_ending_after(t->busy, t->n_busy, start_ns);
    change->old_gap = t->gaps[change->gap];
    if (length_ns == 0 && change->old_gap.from_ns >= start_ns)
        return MO_OK;
    assert(change->old_gap.from_ns <= span.from_ns &&
           span.to_ns <= change->old_gap.to_ns);
    /* The remainders of the gap around the span, before and behind. */
    int n = 0;

    if (change->old_gap.from_ns < span.from_ns)
        rest[n++] = (mo_timeline_span){ change->old_gap.from_ns, span.from_ns };
    if (span.to_ns < change->old_gap.to_ns)
        rest[n++] = (mo_timeline_span){ span.to_ns, change->old_gap.to_ns };
    change->n_new_gaps = n;
    replace_spans(t->gaps, &t->n_gaps, change->gap, 1, rest,
                  (size_t) change->n_new_gaps);
    if (length_ns > 0)
        replace_spans(t->busy, &t->n_busy, change->busy, 0, &span, 1);
    else
        change->busy = t->n_busy;
    return MO_OK;
}

void mo_timeline_undo(mo_timeline *t, const mo_timeline_change *change)
{
    if (change->n_new_gaps == UNCHANGED)
        return;
    replace_spans(t->gaps, &t->n_gaps, change->gap, (size_t) change->n_new_gaps,
                  &change->old_gap, 1);
    if (change->busy < t->n_busy)
        replace_spans(t->busy, &t->n_busy, change->busy, 1, NULL, 0);
}
