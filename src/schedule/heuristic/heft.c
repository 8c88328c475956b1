/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/heft.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/heuristic/insertion.h"
#include "schedule/heuristic/upward_rank.h"

/* *all: every op found a device. */
static mo_status place_ops(mo_insertion *l, const int *placement,
                           const int *order, bool *all, mo_error *err)
{
    mo_status status = MO_OK;

    *all = true;
    for (int k = 0; k < l->x->n_devices; k++)
        *all = *all && l->room_bytes[k] >= 0;
    for (int i = 0; i < l->x->n && *all && status == MO_OK; i++) {
        /* The fixed device, or that of the earliest finish. */
        int device = placement ? placement[order[i]]
                               : mo_insertion_fixed_device(l, order[i]);

        if (device == MO_FREE)
            status = mo_insertion_best_device(l, order[i], NULL, &device, err);
        else if (!mo_insertion_is_allowed(l, order[i], device))
            device = MO_FREE;
        *all = status == MO_OK && device != MO_FREE;
        if (*all)
            status = mo_insertion_place(l, order[i], device, err);
    }
    return status;
}

/* Sets *schedule, or leaves it NULL where the live memory does not fit. */
static mo_status make_schedule(const mo_insertion *l, mo_schedule **schedule,
                               mo_error *err)
{
    mo_schedule *s = NULL;
    bool fits = false;
    mo_status status = mo_insertion_schedule(l, &s, err);

    if (status == MO_OK)
        status = mo_schedule_fits_memory(l->x, s, &fits, err);
    if (status == MO_OK && fits)
        *schedule = s;
    else
        mo_schedule_free(s);
    return status;
}

mo_status mo_heft(const mo_instance *x, const mo_regime *regime,
                  const int *placement, mo_schedule **schedule, mo_error *err)
{
    mo_insertion l;
    int *order = malloc(((size_t) x->n + 1) * sizeof *order);
    bool all = false;
    mo_status status = mo_insertion_open(&l, x, regime, err);

    *schedule = NULL;
    if (status == MO_OK && !order)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_upward_rank_order(x, regime, placement, order, err);
    if (status == MO_OK)
        status = place_ops(&l, placement, order, &all, err);
    if (status == MO_OK && all)
        status = make_schedule(&l, schedule, err);
    mo_insertion_close(&l);
    free(order);
    return status;
}
