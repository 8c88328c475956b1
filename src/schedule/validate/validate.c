/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/validate/validate.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "schedule/validate/validate_internal.h"

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
                                  "op %s starts at %s, before all begins",
                                  mo_validate_label_op(j->x, op).text,
                                  mo_validate_label_us(start_ns).text);
    if (start_ns > LATEST_NS)
        mo_validate_add_violation(j, MO_VIOLATION_OBJECTIVE,
                                  start_ns - LATEST_NS,
                                  "op %s starts at %s, later than can be",
                                  mo_validate_label_op(j->x, op).text,
                                  mo_validate_label_us(start_ns).text);
}

static bool item_exists(const mo_validate_state *j, const mo_transfer *t)
{
    int n_items = j->s->regime.tensors == MO_TENSORS_ONCE ? j->x->n_tensors
                                                          : j->x->n_flows;

    return t->item >= 0 && t->item < n_items && t->from >= 0 &&
           t->from < j->x->n_devices && t->to >= 0 && t->to < j->x->n_devices;
}

/* A transfer that ends before it starts is reported and counts as taking no
 * time. */
static void check_transfer_claim(mo_validate_state *j,
                                 const mo_transfer *claimed)
{
    mo_transfer t = *claimed;

    if (!item_exists(j, &t)) {
        mo_validate_add_violation(
            j, MO_VIOLATION_TRANSFER, 0,
            "there is no item %d to send from device number %d to %d", t.item,
            t.from, t.to);
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

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_transfers(const void *a, const void *b)
{
    const mo_transfer *s = a, *t = b;
    int by = compare_i64(s->item, t->item);

    if (by == 0)
        by = compare_i64(s->to, t->to);
    if (by == 0)
        by = compare_i64(s->start_ns, t->start_ns);
    if (by == 0)
        by = compare_i64(s->end_ns, t->end_ns);
    return by != 0 ? by : compare_i64(s->from, t->from);
}

static void check_claims(mo_validate_state *j)
{
    const mo_schedule *s = j->s;

    for (int i = 0; i < j->x->n; i++)
        check_op_claim(j, i);
    for (int t = 0; t < s->n_transfers; t++)
        check_transfer_claim(j, &s->transfers[t]);
    if (j->n_sent > 1)
        qsort(j->sent, (size_t) j->n_sent, sizeof *j->sent, compare_transfers);
    j->verdict->n_transfers = s->n_transfers;
}

static void check_objective(mo_validate_state *j)
{
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
}

static mo_status check_all(mo_validate_state *j, mo_error *err)
{
    mo_status status;

    check_claims(j);
    status = mo_validate_devices(j, err);
    if (status == MO_OK)
        status = mo_validate_transfers(j, err);
    if (status == MO_OK)
        status = mo_validate_congestion(j, err);
    if (status == MO_OK)
        status = mo_validate_memory(j, err);
    check_objective(j);
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
