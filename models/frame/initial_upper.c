/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "models/frame/single_device_start.h"
#include "models/frame/frame_internal.h"
#include "models/frame/memory_rows.h"
#include "schedule/heuristic/upper_bound.h"

/* The best of the schedules on one device that models accept. */
static mo_status find_accepted_start(mo_frame *f, const mo_memory_rows *rows,
                                     mo_error *err)
{
    int n_devices = f->x->n_devices;
    int *devices = calloc((size_t) n_devices + 1, sizeof *devices);
    mo_status status;

    if (!devices)
        return mo_fail_memory(err);
    for (int k = 0; k < n_devices; k++)
        devices[k] = k;
    mo_schedule_free(f->start);
    f->start = NULL;
    status =
        mo_frame_single_device_start(f->x, &f->regime, rows, devices, n_devices,
                                     &f->start, &f->upper_ns, err);
    free(devices);
    return status;
}

/* Models bound live memory from above, so that they reject schedules that
 * would fit; the makespan of one of these does not bound theirs. */
static mo_status check_live_start(mo_frame *f, mo_error *err)
{
    mo_memory_rows *rows;
    mo_status status = mo_memory_rows_new(f, &rows, err);

    if (status != MO_OK)
        return status;
    if (!mo_memory_rows_accept(rows, f->start->device))
        status = find_accepted_start(f, rows, err);
    mo_memory_rows_free(rows);
    return status;
}

/* Drops a given start if models would reject it. */
static mo_status check_given_start(mo_frame *f, mo_error *err)
{
    mo_memory_rows *rows;
    mo_status status;

    if (f->regime.memory != MO_MEMORY_LIVE)
        return MO_OK;
    status = mo_memory_rows_new(f, &rows, err);
    if (status != MO_OK)
        return status;
    if (!mo_memory_rows_accept(rows, f->start->device)) {
        mo_schedule_free(f->start);
        f->start = NULL;
    }
    mo_memory_rows_free(rows);
    return MO_OK;
}

mo_status mo_frame_find_upper(mo_frame *f, mo_error *err)
{
    mo_status status = f->start ? check_given_start(f, err) : MO_OK;

    if (status != MO_OK)
        return status;
    if (f->start) {
        f->upper_ns = f->start->makespan_ns;
        return MO_OK;
    }
    status = mo_bound_upper(f->x, &f->regime, &f->start, &f->upper_ns, err);
    if (status == MO_OK && f->start && f->regime.memory == MO_MEMORY_LIVE)
        status = check_live_start(f, err);
    return status;
}
