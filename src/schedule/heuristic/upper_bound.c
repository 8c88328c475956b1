/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/upper_bound.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/heuristic/threshold_accepting.h"
#include "schedule/heuristic/heft.h"
#include "schedule/heuristic/bin_packing.h"
#include "schedule/bound/memory_packing.h"
#include "schedule/serial_makespan.h"
#include "schedule/heuristic/single_device.h"
#include "schedule/placement_units.h"

static mo_status try_heft(const mo_instance *x, const mo_regime *regime,
                          const int *placement, mo_schedule **best,
                          mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_heft(x, regime, placement, &s, err);

    if (status == MO_OK)
        mo_schedule_keep_better(best, s);
    return status;
}

/* A packing of the resident memory under a memory model. */
static mo_status try_exact_packing(const mo_instance *x,
                                   const mo_regime *regime, mo_memory memory,
                                   int *placement, mo_schedule **best,
                                   mo_error *err)
{
    const mo_regime packed = { regime->congestion, regime->tensors, memory };
    mo_packing_verdict verdict = MO_PACKING_UNKNOWN;
    mo_placement_units *units = NULL;
    mo_status status = mo_placement_units_make(x, &packed, &units, err);

    if (status == MO_OK)
        status = mo_packing_find(x, units, placement, &verdict, err);
    if (status == MO_OK && verdict == MO_PACKING_FOUND)
        status = try_heft(x, regime, placement, best, err);
    mo_placement_units_free(units);
    return status;
}

/* Placements by memory first.  Where live tensors exceed what the weights
 * leave, a packing of the static memory leaves room for them. */
static mo_status try_packing(const mo_instance *x, const mo_regime *regime,
                             const mo_placement_units *units,
                             mo_schedule **best, mo_error *err)
{
    int *placement = malloc(((size_t) x->n + 1) * sizeof *placement);
    bool found = false;
    mo_status status =
        placement ? mo_bin_packing_in_order(x, units, placement, &found, err)
                  : mo_fail_memory(err);

    if (status == MO_OK && found)
        status = try_heft(x, regime, placement, best, err);
    if (status == MO_OK && !*best)
        status =
            try_exact_packing(x, regime, regime->memory, placement, best, err);
    if (status == MO_OK && !*best && regime->memory == MO_MEMORY_LIVE)
        status = try_exact_packing(x, regime, MO_MEMORY_STATIC, placement, best,
                                   err);
    free(placement);
    return status;
}

mo_status mo_bound_upper(const mo_instance *x, const mo_regime *regime,
                         mo_schedule **schedule, int64_t *bound_ns,
                         mo_error *err)
{
    mo_schedule *best = NULL;
    mo_placement_units *units = NULL;
    int64_t serial_ns;
    mo_status status = mo_serial_makespan(x, regime, &serial_ns, err);

    if (status == MO_OK)
        status = mo_placement_units_make(x, regime, &units, err);
    if (status == MO_OK) {
        status = try_heft(x, regime, NULL, &best, err);
        for (int k = 0; k < x->n_devices && status == MO_OK; k++) {
            mo_schedule *s = NULL;

            if (best && mo_single_device_ns(x, k) >= best->makespan_ns)
                continue;
            status = mo_single_device_schedule(x, regime, k, &s, err);
            if (status == MO_OK)
                mo_schedule_keep_better(&best, s);
        }
        if (status == MO_OK)
            status = try_packing(x, regime, units, &best, err);
        if (status == MO_OK && best)
            status = mo_threshold_accepting(x, units, &best, err);
    }
    mo_placement_units_free(units);
    if (status != MO_OK) {
        mo_schedule_free(best);
        return status;
    }
    *schedule = best;
    *bound_ns = best ? best->makespan_ns : serial_ns;
    return MO_OK;
}
