/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/schedule/transfer_times.h"

#include <stdlib.h>

mo_status mo_plan_transfer_times_new(const mo_plan_source *source,
                                     mo_plan_transfer_times *dues,
                                     mo_error *err)
{
    dues->x = source->instance;
    dues->schedule = source->schedule;
    dues->taken =
        calloc((size_t) dues->schedule->n_transfers + 1, sizeof *dues->taken);
    return dues->taken ? MO_OK : mo_fail_memory(err);
}

void mo_plan_transfer_times_clear(mo_plan_transfer_times *dues)
{
    free(dues->taken);
}

/* The transfer by which a flow goes to a device, or NULL. */
static const mo_transfer *transfer_of(const mo_plan_transfer_times *dues,
                                      int flow, int to)
{
    const mo_schedule *s = dues->schedule;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;

    return mo_schedule_transfer(s, once ? dues->x->flows[flow].tensor : flow,
                                to);
}

/* How well a flow is what we look for; -1: not at all. */
static int fitness(const mo_plan_transfer_times *dues, int flow, int reader,
                   int to, int64_t bytes)
{
    const mo_flow *it = &dues->x->flows[flow];
    const mo_transfer *transfer;

    if (it->to != reader)
        return -1;
    transfer = transfer_of(dues, flow, to);
    if (!transfer)
        return -1;
    return 2 * (dues->x->tensor_bytes[it->tensor] == bytes) +
           !dues->taken[transfer - dues->schedule->transfers];
}

/* Sent for each reader, it goes when the first of them is sent it. */
static int64_t first_start(const mo_plan_transfer_times *dues, int tensor,
                           int to)
{
    int64_t first = INT64_MAX;

    for (int q = dues->x->tensor_start[tensor];
         q < dues->x->tensor_start[tensor + 1]; q++) {
        const mo_transfer *transfer = NULL;

        if (dues->schedule->device[dues->x->flows[q].to] == to)
            transfer = transfer_of(dues, q, to);
        if (transfer && transfer->start_ns < first)
            first = transfer->start_ns;
    }
    return first;
}

mo_plan_transfer_time mo_plan_transfer_times_match(mo_plan_transfer_times *dues,
                                                   int maker, int reader,
                                                   int to, int64_t bytes)
{
    const mo_instance *x = dues->x;
    int best = -1, best_fitness = -1, tensor;

    if (maker == MO_PLAN_NONE || reader == MO_PLAN_NONE)
        return (mo_plan_transfer_time){ MO_PLAN_NONE, 0 };
    for (int q = x->out_start[maker]; q < x->out_start[maker + 1]; q++) {
        int fit = fitness(dues, q, reader, to, bytes);

        if (fit > best_fitness) {
            best = q;
            best_fitness = fit;
        }
    }
    if (best < 0)
        return (mo_plan_transfer_time){ MO_PLAN_NONE, 0 };
    tensor = x->flows[best].tensor;
    dues->taken[transfer_of(dues, best, to) - dues->schedule->transfers] = true;
    return (mo_plan_transfer_time){ tensor, first_start(dues, tensor, to) };
}
