/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/schedule.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/live_memory.h"

mo_status mo_schedule_peak_memory(const mo_instance *x, const mo_schedule *s,
                                  int64_t *peak_bytes, mo_error *err)
{
    if (s->regime.memory == MO_MEMORY_LIVE)
        return mo_live_memory_peak(x, s, peak_bytes, err);
    for (int k = 0; k < x->n_devices; k++)
        peak_bytes[k] = 0;
    for (int i = 0; i < s->n; i++)
        peak_bytes[s->device[i]] += x->memory_bytes[i];
    return MO_OK;
}

mo_status mo_schedule_fits_memory(const mo_instance *x, const mo_schedule *s,
                                  bool *fits, mo_error *err)
{
    int64_t *peak_bytes;
    mo_status status;

    *fits = true;
    if (s->regime.memory == MO_MEMORY_NONE)
        return MO_OK;
    peak_bytes = calloc((size_t) x->n_devices + 1, sizeof *peak_bytes);
    if (!peak_bytes)
        return mo_fail_memory(err);
    status = mo_schedule_peak_memory(x, s, peak_bytes, err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        *fits = *fits && peak_bytes[k] <= x->capacity_bytes[k];
    free(peak_bytes);
    return status;
}

void mo_schedule_keep_better(mo_schedule **best, mo_schedule *other)
{
    if (!*best || (other && other->makespan_ns < (*best)->makespan_ns)) {
        mo_schedule *kept = *best;

        *best = other;
        other = kept;
    }
    mo_schedule_free(other);
}

int64_t mo_schedule_item_ns(const mo_instance *x, const mo_regime *regime,
                            int item, int a, int b)
{
    return regime->tensors == MO_TENSORS_ONCE
               ? mo_instance_tensor_ns(x, item, a, b)
               : mo_instance_flow_ns(x, item, a, b);
}

int64_t mo_schedule_flow_ns(const mo_instance *x, const mo_regime *regime,
                            int flow, int a, int b)
{
    bool once = regime->tensors == MO_TENSORS_ONCE;

    return mo_schedule_item_ns(x, regime, once ? x->flows[flow].tensor : flow,
                               a, b);
}

/* State while the transfers are listed. */
typedef struct transfer_list {
    const mo_instance *x;
    mo_schedule *s;
    size_t n, room;
    int64_t total_ns; /* of all transfers */
    int *sent_to;     /* by device: the last tensor sent there, plus 1 */
} transfer_list;

static mo_status add_transfer(transfer_list *f, int item, int from, int to,
                              mo_error *err)
{
    mo_schedule *s = f->s;
    int64_t length_ns = mo_schedule_item_ns(f->x, &s->regime, item, from, to);
    mo_status status;

    /* Ops and flows are bounded when the instance is made.  A tensor sent to
     * many devices, at the speed of its slowest flow, may take longer than its
     * flows. */
    if (mo_int64_add(f->total_ns, length_ns, &f->total_ns) &&
        f->total_ns <= INT64_MAX / 2) {
        status = MO_OK;
    } else {
        status =
            mo_fail(err, MO_E_INPUT,
                    "all transfers together take more than 4 * 10^15 us (146 "
                    "years); are their times in microseconds?");
    }
    if (status == MO_OK)
        status = MO_ARRAY_GROW(s->transfers, f->n, f->room, err);
    if (status == MO_OK)
        s->transfers[f->n++] = (mo_transfer){
            .item = item, .from = from, .to = to, .end_ns = length_ns
        };
    return status;
}

static mo_status add_flow_transfers(transfer_list *f, mo_error *err)
{
    const int *device = f->s->device;
    mo_status status = MO_OK;

    for (int q = 0; q < f->x->n_flows && status == MO_OK; q++) {
        const mo_flow *flow = &f->x->flows[q];

        if (device[flow->from] != device[flow->to])
            status =
                add_transfer(f, q, device[flow->from], device[flow->to], err);
    }
    return status;
}

static int compare_transfers(const void *a, const void *b)
{
    const mo_transfer *s = a, *t = b;

    if (s->item != t->item)
        return s->item < t->item ? -1 : 1;
    return (s->to > t->to) - (s->to < t->to);
}

static mo_status add_tensor_transfers(transfer_list *f, int tensor,
                                      mo_error *err)
{
    const mo_instance *x = f->x;
    const int *device = f->s->device;
    int from = device[x->tensor_from[tensor]];
    size_t first = f->n;

    f->sent_to[from] = tensor + 1;
    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        int to = device[x->flows[q].to];
        mo_status status;

        if (f->sent_to[to] == tensor + 1)
            continue;
        f->sent_to[to] = tensor + 1;
        status = add_transfer(f, tensor, from, to, err);
        if (status != MO_OK)
            return status;
    }
    if (f->n > first + 1)
        qsort(f->s->transfers + first, f->n - first, sizeof *f->s->transfers,
              compare_transfers);
    return MO_OK;
}

static mo_status add_all_tensors(transfer_list *f, mo_error *err)
{
    mo_status status = MO_OK;

    f->sent_to = calloc((size_t) f->x->n_devices + 1, sizeof *f->sent_to);
    if (!f->sent_to)
        return mo_fail_memory(err);
    for (int t = 0; t < f->x->n_tensors && status == MO_OK; t++)
        status = add_tensor_transfers(f, t, err);
    free(f->sent_to);
    return status;
}

mo_status mo_schedule_new(const mo_instance *x, const mo_regime *regime,
                          const int *device, mo_schedule **schedule,
                          mo_error *err)
{
    mo_schedule *s = calloc(1, sizeof *s);
    mo_status status;

    if (!s)
        return mo_fail_memory(err);
    s->regime = *regime;
    s->n = x->n;
    s->device = calloc((size_t) x->n + 1, sizeof *s->device);
    s->start_ns = calloc((size_t) x->n + 1, sizeof *s->start_ns);
    if (!s->device || !s->start_ns) {
        status = mo_fail_memory(err);
    } else {
        for (int i = 0; i < x->n; i++) {
            assert(device[i] >= 0 && device[i] < x->n_devices);
            s->device[i] = device[i];
        }
        status = MO_OK;
    }
    if (status == MO_OK) {
        transfer_list f = { .x = x, .s = s };

        status = s->regime.tensors == MO_TENSORS_ONCE
                     ? add_all_tensors(&f, err)
                     : add_flow_transfers(&f, err);
        s->n_transfers = (int) f.n;
    }
    if (status == MO_OK)
        *schedule = s;
    else
        mo_schedule_free(s);
    return status;
}

void mo_schedule_free(mo_schedule *schedule)
{
    if (!schedule)
        return;
    free(schedule->transfers);
    free(schedule->start_ns);
    free(schedule->device);
    free(schedule);
}

mo_status mo_schedule_copy(const mo_instance *x, const mo_schedule *s,
                           mo_schedule **copy, mo_error *err)
{
    mo_status status = mo_schedule_new(x, &s->regime, s->device, copy, err);

    if (status != MO_OK)
        return status;
    memcpy((*copy)->start_ns, s->start_ns, (size_t) s->n * sizeof *s->start_ns);
    for (int i = 0; i < s->n_transfers; i++)
        (*copy)->transfers[i] = s->transfers[i];
    (*copy)->makespan_ns = s->makespan_ns;
    return MO_OK;
}

mo_transfer *mo_schedule_transfer(const mo_schedule *s, int item, int to)
{
    const mo_transfer key = { .item = item, .to = to };

    if (s->n_transfers == 0)
        return NULL;
    return bsearch(&key, s->transfers, (size_t) s->n_transfers,
                   sizeof *s->transfers, compare_transfers);
}
