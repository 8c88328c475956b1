/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/validate/validate.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "schedule/validate/validate_internal.h"

/* Texts of violations begin with the number of the constraint in the paper, and
 * have names in quotes and exact amounts. */

enum { TEXT_SIZE = 2048, NAME_SIZE = 150 };

static const char *const rule_numbers[] = {
    [MO_VIOLATION_ASSIGNMENT] = "(1c)", [MO_VIOLATION_PIN] = "pin:",
    [MO_VIOLATION_GROUP] = "group:",    [MO_VIOLATION_PRECEDENCE] = "(1a)",
    [MO_VIOLATION_MEMORY] = "(1d)",     [MO_VIOLATION_OVERLAP] = "(1e)",
    [MO_VIOLATION_TRANSFER] = "(1f)",   [MO_VIOLATION_CONGESTION] = "(1g)",
    [MO_VIOLATION_OBJECTIVE] = "(1)",
};

void mo_validate_add_violation(mo_validate_state *j, mo_violation_kind rule,
                               int64_t amount, const char *format, ...)
{
    mo_verdict *v = j->verdict;
    char line[TEXT_SIZE], *text;
    int length;
    va_list args;

    if (v->n == j->max) {
        v->more = true;
        return;
    }
    length = snprintf(line, sizeof line, "%s ", rule_numbers[rule]);
    va_start(args, format);
    vsnprintf(line + length, sizeof line - (size_t) length, format, args);
    va_end(args);
    text = mo_arena_text(v->arena, line, strlen(line));
    if (text)
        v->violations[v->n++] = (mo_violation){ rule, amount, text };
    else
        j->status = mo_fail_memory(j->err);
}

mo_validate_label mo_validate_label_op(const mo_instance *x, int op)
{
    const char *name = x->op_names[op];
    mo_validate_label label;
    char visible[NAME_SIZE];

    snprintf(label.text, sizeof label.text, "\"%s\"",
             mo_utf8_escape_controls(visible, sizeof visible, name));
    return label;
}

mo_validate_label mo_validate_label_device(const mo_instance *x, int device)
{
    mo_validate_label label = { "" };

    mo_utf8_escape_controls(label.text, NAME_SIZE, x->device_ids[device]);
    return label;
}

mo_validate_label mo_validate_label_us(int64_t ns)
{
    uint64_t size = ns < 0 ? -(uint64_t) ns : (uint64_t) ns;
    mo_validate_label label;
    size_t end;

    snprintf(label.text, sizeof label.text, "%s%llu.%03u", ns < 0 ? "-" : "",
             (unsigned long long) (size / 1000), (unsigned) (size % 1000));
    end = strlen(label.text);
    while (label.text[end - 1] == '0')
        end--;
    if (label.text[end - 1] == '.')
        end--;
    memcpy(label.text + end, " us", sizeof " us");
    return label;
}

/* An op may have several outputs, which have no names here. */
static mo_validate_label label_tensor(const mo_instance *x, int tensor)
{
    int from = x->tensor_from[tensor], first = tensor;
    bool is_only;
    mo_validate_label label;

    while (first > 0 && x->tensor_from[first - 1] == from)
        first--;
    is_only = tensor == first && (tensor + 1 == x->n_tensors ||
                                  x->tensor_from[tensor + 1] != from);
    if (is_only)
        return mo_validate_label_op(x, from);
    snprintf(label.text, sizeof label.text, "output %d of %.160s",
             tensor - first + 1, mo_validate_label_op(x, from).text);
    return label;
}

mo_validate_label mo_validate_label_transfer(const mo_validate_state *j,
                                             const mo_transfer *t)
{
    const mo_instance *x = j->x;
    mo_validate_label from = mo_validate_label_device(x, t->from);
    mo_validate_label to = mo_validate_label_device(x, t->to);
    mo_validate_label what = label_tensor(x, mo_validate_tensor(j, t->item)),
                      label;

    if (j->s->regime.tensors == MO_TENSORS_ONCE)
        snprintf(label.text, sizeof label.text, "%.180s from %.160s to %.160s",
                 what.text, from.text, to.text);
    else
        snprintf(label.text, sizeof label.text,
                 "%.180s to %.160s from %.160s to %.160s", what.text,
                 mo_validate_label_op(x, x->flows[t->item].to).text, from.text,
                 to.text);
    return label;
}

/* Claimed times are clamped to these limits, so that sums with one cannot
 * overflow. */
#define LATEST_NS   (INT64_MAX / 4)
#define EARLIEST_NS (-LATEST_NS)

static int64_t clamp_time(int64_t time_ns)
{
    if (time_ns < EARLIEST_NS)
        return EARLIEST_NS;
    return time_ns > LATEST_NS ? LATEST_NS : time_ns;
}

static void check_op_claim(mo_validate_state *j, int op)
{
    int device = j->s->device[op];
    int64_t start_ns = j->s->start_ns[op];

    j->start_ns[op] = j->end_ns[op] = clamp_time(start_ns);
    j->device[op] = MO_FREE;
    if (device < 0 || device >= j->x->n_devices) {
        mo_validate_add_violation(
            j, MO_VIOLATION_ASSIGNMENT, 0, "op %s is on device number %d of %d",
            mo_validate_label_op(j->x, op).text, device, j->x->n_devices);
        return;
    }
    j->device[op] = device;
    j->end_ns[op] += mo_instance_p_ns(j->x, op, device);
    if (start_ns < 0)
        mo_validate_add_violation(j, MO_VIOLATION_PRECEDENCE, -j->start_ns[op],
                                  "op %s starts at %s, before time 0",
                                  mo_validate_label_op(j->x, op).text,
                                  mo_validate_label_us(start_ns).text);
    if (start_ns > LATEST_NS)
        mo_validate_add_violation(
            j, MO_VIOLATION_OBJECTIVE, start_ns - LATEST_NS,
            "op %s starts at %s, beyond the range of times",
            mo_validate_label_op(j->x, op).text,
            mo_validate_label_us(start_ns).text);
}

/* A transfer that ends before it starts is reported and counts as taking no
 * time. */
static void check_transfer_claim(mo_validate_state *j,
                                 const mo_transfer *claimed)
{
    mo_transfer t = *claimed;

    int n_items = j->s->regime.tensors == MO_TENSORS_ONCE ? j->x->n_tensors
                                                          : j->x->n_flows;
    if (!(t.item >= 0 && t.item < n_items && t.from >= 0 &&
          t.from < j->x->n_devices && t.to >= 0 && t.to < j->x->n_devices)) {
        mo_validate_add_violation(
            j, MO_VIOLATION_TRANSFER, 0,
            "a transfer has no such item or device: item %d from "
            "device number %d to %d",
            t.item, t.from, t.to);
        return;
    }
    t.start_ns = clamp_time(t.start_ns);
    t.end_ns = clamp_time(t.end_ns);
    if (claimed->end_ns < claimed->start_ns) {
        mo_validate_add_violation(
            j, MO_VIOLATION_TRANSFER, t.start_ns - t.end_ns,
            "the transfer of %s ends %s before it starts",
            mo_validate_label_transfer(j, &t).text,
            mo_validate_label_us(t.start_ns - t.end_ns).text);
        t.end_ns = t.start_ns;
    }
    if (!mo_int64_add(j->verdict->sent_ns, t.end_ns - t.start_ns,
                      &j->verdict->sent_ns))
        j->verdict->sent_ns = INT64_MAX;
    j->sent[j->n_sent++] = t;
}

static int compare_transfers(const void *a, const void *b)
{
    const mo_transfer *s = a, *t = b;
    int by = mo_validate_compare(s->item, t->item);

    if (by == 0)
        by = mo_validate_compare(s->to, t->to);
    if (by == 0)
        by = mo_validate_compare(s->start_ns, t->start_ns);
    if (by == 0)
        by = mo_validate_compare(s->end_ns, t->end_ns);
    return by != 0 ? by : mo_validate_compare(s->from, t->from);
}

static mo_status check_all(mo_validate_state *j, mo_error *err)
{
    mo_status status;

    for (int i = 0; i < j->x->n; i++)
        check_op_claim(j, i);
    for (int t = 0; t < j->s->n_transfers; t++)
        check_transfer_claim(j, &j->s->transfers[t]);
    if (j->n_sent > 1)
        qsort(j->sent, (size_t) j->n_sent, sizeof *j->sent, compare_transfers);
    j->verdict->n_transfers = j->s->n_transfers;
    status = mo_validate_devices(j, err);
    if (status == MO_OK)
        status = mo_validate_transfers(j, err);
    if (status == MO_OK)
        status = mo_validate_congestion(j, err);
    if (status == MO_OK)
        status = mo_validate_memory(j, err);
    int64_t claimed_ns = clamp_time(j->s->makespan_ns), last_ns = 0, off_ns;

    for (int i = 0; i < j->x->n; i++)
        if (j->end_ns[i] > last_ns)
            last_ns = j->end_ns[i];
    off_ns = claimed_ns > last_ns ? claimed_ns - last_ns : last_ns - claimed_ns;
    if (off_ns > 0)
        mo_validate_add_violation(j, MO_VIOLATION_OBJECTIVE, off_ns,
                                  "the makespan is %s and not %s, %s %s",
                                  mo_validate_label_us(last_ns).text,
                                  mo_validate_label_us(j->s->makespan_ns).text,
                                  mo_validate_label_us(off_ns).text,
                                  claimed_ns > last_ns ? "less" : "more");
    return status != MO_OK ? status : j->status;
}

static mo_status allocate_buffers(mo_validate_state *j, mo_error *err)
{
    size_t n = (size_t) j->x->n, n_devices = (size_t) j->x->n_devices;
    mo_verdict *v = j->verdict;

    v->arena = mo_arena_new();
    if (!v->arena)
        return mo_fail_memory(err);
    v->violations =
        mo_arena_array(v->arena, (size_t) j->max, sizeof *v->violations);
    v->busy_ns = mo_arena_array(v->arena, n_devices, sizeof *v->busy_ns);
    v->peak_bytes = mo_arena_array(v->arena, n_devices, sizeof *v->peak_bytes);
    j->device = calloc(n + 1, sizeof *j->device);
    j->start_ns = calloc(n + 1, sizeof *j->start_ns);
    j->end_ns = calloc(n + 1, sizeof *j->end_ns);
    j->sent = calloc((size_t) j->s->n_transfers + 1, sizeof *j->sent);
    if (!v->violations || !v->busy_ns || !v->peak_bytes || !j->device ||
        !j->start_ns || !j->end_ns || !j->sent)
        return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_validate(const mo_instance *x, const mo_schedule *s, int max,
                      mo_verdict **verdict, mo_error *err)
{
    mo_validate_state j = { .x = x, .s = s, .max = max, .err = err };
    mo_status status;

    assert(s->n == x->n && max > 0);
    j.verdict = calloc(1, sizeof *j.verdict);
    if (!j.verdict)
        return mo_fail_memory(err);
    status = allocate_buffers(&j, err);
    if (status == MO_OK)
        status = check_all(&j, err);
    free(j.device);
    free(j.start_ns);
    free(j.end_ns);
    free(j.sent);
    if (status == MO_OK)
        *verdict = j.verdict;
    else
        mo_verdict_free(j.verdict);
    return status;
}

void mo_verdict_free(mo_verdict *verdict)
{
    if (!verdict)
        return;
    mo_arena_free(verdict->arena);
    free(verdict);
}
