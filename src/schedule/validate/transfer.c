/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of transfers and precedence: (1f) and (1a). */
#include <stdlib.h>

#include "base/array.h"
#include "schedule/validate/validate_internal.h"

/*
 * (1f) and (1a).  The required transfers follow from the placement: per edge,
 * each flow between two devices; once, each tensor to each other device where
 * it is read.  They are merged with the actual ones, both in the order of item
 * and target.  Then every flow must arrive before it is read.
 */

typedef struct required_transfer {
    int item, to;
} required_transfer;

int mo_validate_tensor(const mo_validate_state *j, int item)
{
    return j->s->regime.tensors == MO_TENSORS_ONCE ? item
                                                   : j->x->flows[item].tensor;
}

static int producer_of(const mo_validate_state *j, int item)
{
    return j->x->tensor_from[mo_validate_tensor(j, item)];
}

static int item_of(const mo_validate_state *j, int flow)
{
    return j->s->regime.tensors == MO_TENSORS_ONCE ? j->x->flows[flow].tensor
                                                   : flow;
}

static int64_t transfer_ns(const mo_validate_state *j, int item, int a, int b)
{
    return j->s->regime.tensors == MO_TENSORS_ONCE
               ? mo_instance_tensor_ns(j->x, item, a, b)
               : mo_instance_flow_ns(j->x, item, a, b);
}

static int compare_item_target(int item, int to, int other_item, int other_to)
{
    if (item != other_item)
        return item < other_item ? -1 : 1;
    return (to > other_to) - (to < other_to);
}

const mo_transfer *mo_validate_find_transfer(const mo_validate_state *j,
                                             int item, int to)
{
    int first = 0, last = j->n_sent;

    while (first < last) {
        int middle = first + (last - first) / 2;

        if (compare_item_target(j->sent[middle].item, j->sent[middle].to, item,
                                to) < 0)
            first = middle + 1;
        else
            last = middle;
    }
    if (first < j->n_sent && j->sent[first].item == item &&
        j->sent[first].to == to)
        return &j->sent[first];
    return NULL;
}

static void report_missing(mo_validate_state *j,
                           const required_transfer *needed)
{
    mo_transfer t = { .item = needed->item, .to = needed->to };
    int64_t missing_ns;

    t.from = j->device[producer_of(j, t.item)];
    missing_ns = transfer_ns(j, t.item, t.from, t.to);
    mo_validate_add_violation(j, MO_VIOLATION_TRANSFER, missing_ns,
                              "the transfer of %s, which takes %s, is missing",
                              mo_validate_label_transfer(j, &t).text,
                              mo_validate_label_us(missing_ns).text);
}

static void report_superfluous(mo_validate_state *j, const mo_transfer *t,
                               const char *why)
{
    mo_validate_add_violation(
        j, MO_VIOLATION_TRANSFER, t->end_ns - t->start_ns,
        "the transfer of %s, which takes %s, %s",
        mo_validate_label_transfer(j, t).text,
        mo_validate_label_us(t->end_ns - t->start_ns).text, why);
}

/* A required transfer: source, duration and start. */
static void check_transfer(mo_validate_state *j, const mo_transfer *t)
{
    int producer = producer_of(j, t->item);
    int64_t early_ns = j->end_ns[producer] - t->start_ns;

    if (t->from == j->device[producer]) {
        int64_t right_ns = transfer_ns(j, t->item, t->from, t->to);
        int64_t claimed_ns = t->end_ns - t->start_ns;

        if (claimed_ns != right_ns)
            mo_validate_add_violation(j, MO_VIOLATION_TRANSFER,
                                      claimed_ns > right_ns
                                          ? claimed_ns - right_ns
                                          : right_ns - claimed_ns,
                                      "the transfer of %s takes %s and not %s",
                                      mo_validate_label_transfer(j, t).text,
                                      mo_validate_label_us(right_ns).text,
                                      mo_validate_label_us(claimed_ns).text);
    } else
        mo_validate_add_violation(
            j, MO_VIOLATION_TRANSFER, 0,
            "the transfer of %s does not begin on %s, where %s is",
            mo_validate_label_transfer(j, t).text,
            mo_validate_label_device(j->x, j->device[producer]).text,
            mo_validate_label_op(j->x, producer).text);
    if (early_ns > 0)
        mo_validate_add_violation(
            j, MO_VIOLATION_PRECEDENCE, early_ns,
            "the transfer of %s starts %s before %s has ended",
            mo_validate_label_transfer(j, t).text,
            mo_validate_label_us(early_ns).text,
            mo_validate_label_op(j->x, producer).text);
}

static void match_transfers(mo_validate_state *j,
                            const required_transfer *required,
                            size_t n_required)
{
    size_t at = 0;

    for (int i = 0; i < j->n_sent; i++) {
        const mo_transfer *t = &j->sent[i];
        bool again = i > 0 && t[-1].item == t->item && t[-1].to == t->to;

        while (at < n_required &&
               compare_item_target(required[at].item, required[at].to, t->item,
                                   t->to) < 0)
            report_missing(j, &required[at++]);
        if (again) {
            report_superfluous(j, t, "is there already");
        } else if (at < n_required && required[at].item == t->item &&
                   required[at].to == t->to) {
            check_transfer(j, t);
            at++;
        } else if (j->device[producer_of(j, t->item)] != MO_FREE) {
            report_superfluous(j, t, "is for nobody");
        }
    }
    while (at < n_required)
        report_missing(j, &required[at++]);
}

/* A flow between devices arrives with its transfer; without one, or where none
 * is required, at the end of its producer. */
static void check_flow(mo_validate_state *j, int flow)
{
    const mo_flow *f = &j->x->flows[flow];
    int to = j->device[f->to];
    const mo_transfer *t = NULL;
    int64_t late_ns = j->end_ns[f->from] - j->start_ns[f->to];

    if (j->device[f->from] != to)
        t = mo_validate_find_transfer(j, item_of(j, flow), to);
    if (t && t->end_ns > j->start_ns[f->to]) {
        late_ns = t->end_ns - j->start_ns[f->to];
        mo_validate_add_violation(
            j, MO_VIOLATION_PRECEDENCE, late_ns,
            "op %s starts %s before the transfer of %s has ended",
            mo_validate_label_op(j->x, f->to).text,
            mo_validate_label_us(late_ns).text,
            mo_validate_label_transfer(j, t).text);
    } else if (!t && late_ns > 0) {
        mo_validate_add_violation(
            j, MO_VIOLATION_PRECEDENCE, late_ns,
            "op %s starts %s before %s has ended, which it reads",
            mo_validate_label_op(j->x, f->to).text,
            mo_validate_label_us(late_ns).text,
            mo_validate_label_op(j->x, f->from).text);
    }
}

static int compare_required(const void *a, const void *b)
{
    const required_transfer *s = a, *t = b;

    return compare_item_target(s->item, s->to, t->item, t->to);
}

/* Sorted, each once; returns their number. */
static size_t find_required(const mo_validate_state *j,
                            required_transfer *required)
{
    size_t n = 0, kept = 0;

    for (int q = 0; q < j->x->n_flows; q++) {
        int a = j->device[j->x->flows[q].from];
        int b = j->device[j->x->flows[q].to];

        if (a != b && a != MO_FREE && b != MO_FREE)
            required[n++] = (required_transfer){ item_of(j, q), b };
    }
    if (n > 1)
        qsort(required, n, sizeof *required, compare_required);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 ||
            compare_required(&required[kept - 1], &required[i]) != 0)
            required[kept++] = required[i];
    return kept;
}

mo_status mo_validate_transfers(mo_validate_state *j, mo_error *err)
{
    required_transfer *required =
        calloc((size_t) j->x->n_flows + 1, sizeof *required);

    if (!required)
        return mo_fail_memory(err);
    match_transfers(j, required, find_required(j, required));
    for (int q = 0; q < j->x->n_flows; q++)
        if (j->device[j->x->flows[q].from] != MO_FREE &&
            j->device[j->x->flows[q].to] != MO_FREE)
            check_flow(j, q);
    free(required);
    return MO_OK;
}
