/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/baselines/etf_memory.h"

#include <stdlib.h>

#include "base/array.h"

mo_status mo_baseline_etf_memory_open(mo_baseline_etf_memory *room,
                                      const mo_instance *x,
                                      const mo_regime *regime,
                                      const mo_placement_units *units,
                                      mo_error *err)
{
    *room = (mo_baseline_etf_memory){
        .x = x, .units = units, .live = regime->memory == MO_MEMORY_LIVE
    };
    room->free_bytes =
        malloc(((size_t) x->n_devices + 1) * sizeof *room->free_bytes);
    room->readers = malloc(((size_t) x->n_tensors + 1) * sizeof *room->readers);
    if (!room->free_bytes || !room->readers)
        return mo_fail_memory(err);
    mo_placement_units_free_bytes(x, units, room->free_bytes);
    for (int t = 0; t < x->n_tensors; t++)
        room->readers[t] = x->tensor_start[t + 1] - x->tensor_start[t];
    return MO_OK;
}

void mo_baseline_etf_memory_close(mo_baseline_etf_memory *room)
{
    mo_heap_clear(&room->running);
    free(room->readers);
    free(room->free_bytes);
    *room = (mo_baseline_etf_memory){ 0 };
}

/* Saturates at INT64_MAX, which fits nowhere. */
static void add_saturating(int64_t *bytes, int64_t more_bytes)
{
    if (more_bytes > 0 && !mo_int64_add(*bytes, more_bytes, bytes))
        *bytes = INT64_MAX;
}

static int64_t output_bytes(const mo_instance *x, int op)
{
    int64_t bytes = 0;

    for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
        if (q == x->tensor_start[x->flows[q].tensor])
            add_saturating(&bytes, x->tensor_bytes[x->flows[q].tensor]);
    return bytes;
}

/* Returns the bytes of op's inputs that come from other devices. */
static int64_t copied_bytes(const mo_instance *x, const int *device, int op,
                            int k)
{
    int64_t bytes = 0;

    for (int at = x->in_start[op]; at < x->in_start[op + 1]; at++) {
        const mo_flow *flow = &x->flows[x->in_flows[at]];

        if (device[flow->from] != k)
            add_saturating(&bytes, x->tensor_bytes[flow->tensor]);
    }
    return bytes;
}

bool mo_baseline_etf_memory_fits(const mo_baseline_etf_memory *room,
                                 const int *device, int op, int k)
{
    int64_t bytes = room->units->bytes[room->units->of_op[op]];

    if (room->live) {
        add_saturating(&bytes,
                       room->x->memory_bytes[op] - room->x->weight_bytes[op]);
        add_saturating(&bytes, output_bytes(room->x, op));
        add_saturating(&bytes, copied_bytes(room->x, device, op, k));
    }
    return bytes <= room->free_bytes[k];
}

/* Saturates at -INT64_MAX. */
static void take_bytes(mo_baseline_etf_memory *room, int k, int64_t bytes)
{
    int64_t *free_bytes = &room->free_bytes[k];

    if (!mo_int64_add(*free_bytes, -bytes, free_bytes))
        *free_bytes = -INT64_MAX;
}

void mo_baseline_etf_memory_reserve_unit(mo_baseline_etf_memory *room, int unit,
                                         int k)
{
    take_bytes(room, k, room->units->bytes[unit]);
}

mo_status mo_baseline_etf_memory_start_op(mo_baseline_etf_memory *room,
                                          const int *device, int op,
                                          int64_t end_ns, mo_error *err)
{
    int k = device[op];

    if (!room->live)
        return MO_OK;
    take_bytes(room, k, output_bytes(room->x, op));
    take_bytes(room, k, copied_bytes(room->x, device, op, k));
    return mo_heap_push(&room->running, end_ns, op, err);
}

static void release_op(mo_baseline_etf_memory *room, const int *device, int op)
{
    const mo_instance *x = room->x;

    take_bytes(room, device[op], -copied_bytes(x, device, op, device[op]));
    for (int at = x->in_start[op]; at < x->in_start[op + 1]; at++) {
        int tensor = x->flows[x->in_flows[at]].tensor;

        if (--room->readers[tensor] == 0 && x->tensor_bytes[tensor] > 0)
            take_bytes(room, device[x->tensor_from[tensor]],
                       -x->tensor_bytes[tensor]);
    }
}

void mo_baseline_etf_memory_release_until(mo_baseline_etf_memory *room,
                                          const int *device, int64_t now_ns)
{
    while (room->running.n > 0 && room->running.items[0].key <= now_ns)
        release_op(room, device, mo_heap_pop(&room->running).id);
}
