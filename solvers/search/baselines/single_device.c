/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-device baseline: everything on the device with the shortest total
 * time.
 *
 * Decided here: of the devices with enough memory, or of all where none has
 * (then the result does not fit). Where ops are pinned to different devices
 * there is no such schedule.
 */
#include <stdio.h>

#include "base/array.h"
#include "base/heap.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/placement_units.h"
#include "solvers/search/baselines/baseline.h"

/* Sums the memory of all units. */
static mo_status sum_resident_bytes(const mo_method_task *task, int64_t *bytes,
                                    mo_error *err)
{
    mo_placement_units *units;
    mo_status status =
        mo_placement_units_make(task->x, &task->regime, &units, err);

    if (status != MO_OK)
        return status;
    *bytes = 0;
    for (int u = 0; u < units->n; u++)
        if (!mo_int64_add(*bytes, units->bytes[u], bytes))
            *bytes = INT64_MAX;
    mo_placement_units_free(units);
    return MO_OK;
}

static mo_status place_single(const mo_method_task *task,
                              mo_method_result *placed, mo_error *err)
{
    mo_heap devices = { 0 };
    int64_t bytes = 0;
    mo_status status = sum_resident_bytes(task, &bytes, err);

    for (int k = 0; k < task->x->n_devices && status == MO_OK; k++)
        status =
            mo_heap_push(&devices, mo_single_device_ns(task->x, k), k, err);
    if (status == MO_OK) {
        /* Tries the devices until the schedule fits. The first is kept in case
         * none does; others with too little memory are skipped. */
        const mo_regime regime = mo_baseline_regime_without_memory(task);

        while (status == MO_OK && devices.n > 0 && !placed->fits) {
            int device = mo_heap_pop(&devices).id;
            mo_schedule *schedule;

            if (placed->schedule && bytes > task->x->capacity_bytes[device])
                continue;
            status = mo_single_device_schedule(task->x, &regime, device,
                                               &schedule, err);
            if (status == MO_OK && schedule) {
                /* Takes over the schedule as the result, unless there is one
                 * and this does not fit either. */
                mo_method_result other = { 0 };

                status = mo_baseline_set_schedule(task, schedule, &other, err);
                if (status == MO_OK && (!placed->schedule || other.fits)) {
                    mo_method_result_clear(placed);
                    *placed = other;
                } else {
                    mo_method_result_clear(&other);
                }
            }
        }
    }
    mo_heap_clear(&devices);
    if (status == MO_OK && !placed->schedule)
        snprintf(placed->why, sizeof placed->why,
                 "ops are pinned to different devices");
    return status;
}

const mo_method mo_method_single = {
    .name = "single",
    .help = "everything on the one device that is fastest",
    .source = "-",
    .all = true,
    .place = place_single,
};
