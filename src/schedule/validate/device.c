/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "schedule/validate/validate_internal.h"

/* (1c), pins, groups and (1e): constraints on ops and devices. */

static void check_pin(mo_validate_state *j, int op)
{
    const mo_instance *x = j->x;
    int pin = x->pin[op];

    if (pin != MO_FREE && pin != j->device[op])
        mo_validate_add_violation(
            j, MO_VIOLATION_PIN, 0, "op %s is pinned to %s and is on %s",
            mo_validate_label_op(x, op).text,
            mo_validate_label_device(x, pin).text,
            mo_validate_label_device(x, j->device[op]).text);
}

/* first: by group, its first op, plus 1. */
static void check_group(mo_validate_state *j, int op, int *first)
{
    const mo_instance *x = j->x;
    int group = x->group[op], other;

    if (group == MO_FREE)
        return;
    if (first[group] == 0) {
        first[group] = op + 1;
        return;
    }
    other = first[group] - 1;
    if (j->device[op] != j->device[other])
        mo_validate_add_violation(
            j, MO_VIOLATION_GROUP, 0,
            "ops %s and %s belong on one device and are on %s and %s",
            mo_validate_label_op(x, other).text,
            mo_validate_label_op(x, op).text,
            mo_validate_label_device(x, j->device[other]).text,
            mo_validate_label_device(x, j->device[op]).text);
}

static void report_overlap(mo_validate_state *j, const mo_validate_interval *a,
                           const mo_validate_interval *b, int64_t amount_ns)
{
    mo_validate_label device =
        mo_validate_label_device(j->x, (int) a->resource);

    if (b->start_ns == b->end_ns)
        mo_validate_add_violation(
            j, MO_VIOLATION_OVERLAP, amount_ns,
            "op %s takes no time and lies inside op %s on %s, by %s",
            mo_validate_label_op(j->x, b->number).text,
            mo_validate_label_op(j->x, a->number).text, device.text,
            mo_validate_label_us(amount_ns).text);
    else
        mo_validate_add_violation(j, MO_VIOLATION_OVERLAP, amount_ns,
                                  "ops %s and %s overlap on %s by %s",
                                  mo_validate_label_op(j->x, a->number).text,
                                  mo_validate_label_op(j->x, b->number).text,
                                  device.text,
                                  mo_validate_label_us(amount_ns).text);
}

static void check_overlaps(mo_validate_state *j,
                           mo_validate_interval *intervals)
{
    size_t n = 0;

    for (int i = 0; i < j->x->n; i++)
        if (j->device[i] != MO_FREE)
            intervals[n++] =
                (mo_validate_interval){ j->device[i], j->start_ns[i],
                                        j->end_ns[i], i };
    mo_validate_overlaps(j, intervals, n, report_overlap);
}

mo_status mo_validate_devices(mo_validate_state *j, mo_error *err)
{
    const mo_instance *x = j->x;
    int *first = calloc((size_t) x->n_groups + 1, sizeof *first);
    mo_validate_interval *intervals =
        calloc((size_t) x->n + 1, sizeof *intervals);
    mo_status status = MO_OK;

    if (first && intervals) {
        for (int i = 0; i < x->n; i++) {
            if (j->device[i] == MO_FREE)
                continue;
            j->verdict->busy_ns[j->device[i]] +=
                mo_instance_p_ns(x, i, j->device[i]);
            check_pin(j, i);
            check_group(j, i, first);
        }
        check_overlaps(j, intervals);
    } else {
        status = mo_fail_memory(err);
    }
    free(intervals);
    free(first);
    return status;
}
