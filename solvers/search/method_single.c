/*
 * Everything on one device, the one on which that takes least: what any other
 * method has to beat.
 *
 * Decided here: of the devices on which memory suffices, or of all where it
 * does on none (the answer then says that it does not fit).  Where ops are
 * pinned to different devices there is no such schedule.
 */
#include <stdio.h>
#include <stdlib.h>

#include "schedule/single.h"
#include "solvers/search/baseline.h"
#include "solvers/search/queue.h"

static mo_status queue_devices(const mo_instance *x, mo_queue *devices,
                               mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = mo_queue_push(devices, mo_single_ns(x, k), k, err);
    return status;
}

/* Takes the schedule as the answer unless there is one already and this one
 * does not fit either. */
static mo_status take(const mo_task *task, mo_schedule *schedule,
                      mo_placed *placed, mo_error *err)
{
    mo_placed other = { 0 };
    mo_status status = mo_baseline_keep(task, schedule, &other, err);

    if (status == MO_OK && (!placed->schedule || other.fits)) {
        mo_placed_clear(placed);
        *placed = other;
    } else {
        mo_placed_clear(&other);
    }
    return status;
}

static mo_status place(const mo_task *task, mo_placed *placed, mo_error *err)
{
    const mo_regime regime = mo_baseline_without_memory(task);
    mo_queue devices = { 0 };
    mo_status status = queue_devices(task->x, &devices, err);

    while (status == MO_OK && devices.n > 0 && !placed->fits) {
        int device = mo_queue_pop(&devices).number;
        mo_schedule *schedule;

        status = mo_single_make(task->x, &regime, device, &schedule, err);
        if (status == MO_OK && schedule)
            status = take(task, schedule, placed, err);
    }
    mo_queue_clear(&devices);
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
    .place = place,
};
