/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>

#include "base/array.h"
#include "cost/instance/sub_instance.h"
#include "driver/exec/recover.h"
#include "report/format_units.h"
#include "solvers/search/method.h"
#include "solvers/search/replan/replan.h"

/* The instance without the devices that are lost. */
typedef struct remainder {
    const mo_instance *x;
    mo_instance **parts; /* x and what it was made from, owned */
    int n_parts;
    int *in_whole; /* by device of x */
} remainder;

static void clear_remainder(remainder *r)
{
    while (r->n_parts > 0)
        mo_instance_free(r->parts[--r->n_parts]);
    free(r->parts);
    free(r->in_whole);
}

static mo_status make_remainder(const mo_instance *whole, const bool *is_lost,
                                remainder *r, mo_error *err)
{
    mo_status status = MO_OK;
    int n = 0;

    r->x = whole;
    r->parts = calloc((size_t) whole->n_devices + 1, sizeof(mo_instance *));
    r->in_whole = calloc((size_t) whole->n_devices + 1, sizeof *r->in_whole);
    if (!r->parts || !r->in_whole)
        return mo_fail_memory(err);
    for (int k = 0; k < whole->n_devices && status == MO_OK; k++) {
        mo_instance *part;
        int pinned;

        r->in_whole[n] = k;
        n += !is_lost[k];
        if (!is_lost[k])
            continue;
        if (r->x->n_devices == 1)
            return mo_fail(err, MO_E_INFEASIBLE, "no device is left");
        pinned = mo_instance_first_pinned_to(r->x, n);
        if (pinned != MO_FREE)
            return mo_fail(err, MO_E_INFEASIBLE,
                           "op '%.100s' is pinned to '%.60s', which is lost",
                           whole->op_names[pinned], whole->device_ids[k]);
        status = mo_instance_without_device(r->x, n, &part, err);
        if (status == MO_OK)
            r->x = r->parts[r->n_parts++] = part;
    }
    return status;
}

static int64_t sum(const int64_t *bytes, int n)
{
    int64_t total = 0;

    for (int i = 0; i < n; i++)
        if (!mo_int64_add(total, bytes[i], &total))
            return INT64_MAX;
    return total;
}

static mo_status fail_full(const mo_instance *x, const char *why, mo_error *err)
{
    int64_t need = sum(x->memory_bytes, x->n);
    int64_t have = sum(x->capacity_bytes, x->n_devices);
    char a[MO_FORMAT_SIZE], b[MO_FORMAT_SIZE], c[MO_FORMAT_SIZE];

    if (need <= have)
        return mo_fail(err, MO_E_INFEASIBLE,
                       "the devices that are left cannot hold the network: "
                       "%.300s; it needs %s, and they have %s",
                       why, mo_format_bytes((double) need, a),
                       have == INT64_MAX ? "no limit"
                                         : mo_format_bytes((double) have, b));
    return mo_fail(err, MO_E_INFEASIBLE,
                   "the devices that are left cannot hold the network: it "
                   "needs %s, and '%.60s'%s %s: %s are missing",
                   mo_format_bytes((double) need, a), x->device_ids[0],
                   x->n_devices > 1 ? " and the others have" : " has",
                   mo_format_bytes((double) have, b),
                   mo_format_bytes((double) (need - have), c));
}

mo_status mo_exec_recover_place(const mo_exec_job *job, const bool *is_lost,
                                int *device, mo_error *err)
{
    const mo_review *review = &job->review;
    const mo_instance *whole = review->problem.instance;
    const mo_schedule *old = review->evaluation.schedule;
    mo_method_result placed = { 0 };
    mo_stop never;
    remainder r = { 0 };
    mo_status status = make_remainder(whole, is_lost, &r, err);

    for (int i = 0; i < whole->n && status == MO_OK; i++) {
        int k = r.x->n_devices - 1;

        while (k >= 0 && r.in_whole[k] != old->device[i])
            k--;
        device[i] = k < 0 ? MO_FREE : k;
    }
    if (status == MO_OK) {
        const mo_method_start start = { .device = device };
        const mo_method_task task = {
            .method = &mo_method_replan,
            .x = r.x,
            .regime = review->regime,
            .objective = review->evaluation.period_ns >= 0
                             ? MO_OBJECTIVE_PERIOD
                             : MO_OBJECTIVE_LATENCY,
            .in_flight = (int) review->origin.in_flight,
            .threads = 1,
            .stop = &never,
            .start = &start,
        };

        mo_stop_after(&never, 0);
        status = mo_method_replan.place(&task, &placed, err);
    }
    if (status == MO_OK && (!placed.schedule || !placed.fits))
        status = fail_full(r.x, placed.why, err);
    for (int i = 0; i < whole->n && status == MO_OK; i++)
        device[i] = r.in_whole[placed.schedule->device[i]];
    mo_method_result_clear(&placed);
    clear_remainder(&r);
    return status;
}

mo_status mo_exec_decode_placement(const int32_t *sent, int n_ops,
                                   int n_devices, const bool *is_lost,
                                   int *device, mo_error *err)
{
    for (int i = 0; i < n_ops; i++) {
        if (sent[i] < 0 || sent[i] >= n_devices || is_lost[sent[i]])
            return mo_fail(err, MO_E_IO,
                           "rank 0 places an op on device %d, which there is "
                           "not: use the same moirai everywhere",
                           (int) sent[i]);
        device[i] = sent[i];
    }
    return MO_OK;
}
