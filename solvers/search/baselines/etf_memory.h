/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etf_memory.h - free memory of the devices in the course of an ETF schedule.
 *
 * Under static memory a unit keeps the memory of its ops for good. Under live
 * memory it keeps its weights; an op has its workspace, its outputs and its
 * copies of remote inputs, and an output is released after its last reader has
 * run. Without limits everything fits.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_ETF_MEMORY_H
#define MO_SOLVERS_SEARCH_BASELINES_ETF_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/heap.h"
#include "cost/instance.h"
#include "schedule/placement_units.h"
#include "schedule/regime.h"

typedef struct mo_baseline_etf_memory {
    const mo_instance *x;
    const mo_placement_units *units; /* of the same regime, borrowed */
    bool live;
    int64_t *free_bytes; /* by device; negative after an overflow */
    int *readers;        /* by tensor: readers that have not run */
    mo_heap running;     /* ops by end time */
} mo_baseline_etf_memory;

/* Allocates for an instance; the caller calls mo_baseline_etf_memory_close(),
 * also after an error. units must outlive it. */
mo_status mo_baseline_etf_memory_open(mo_baseline_etf_memory *room,
                                      const mo_instance *x,
                                      const mo_regime *regime,
                                      const mo_placement_units *units,
                                      mo_error *err);

/* Frees the buffers and zeroes the object. */
void mo_baseline_etf_memory_close(mo_baseline_etf_memory *room);

/* Returns whether op fits device k now, with its unit, which is not placed
 * yet. device has the devices of op's inputs. */
bool mo_baseline_etf_memory_fits(const mo_baseline_etf_memory *room,
                                 const int *device, int op, int k);

/* Reserves memory on device k for a unit that is not pinned. */
void mo_baseline_etf_memory_reserve_unit(mo_baseline_etf_memory *room, int unit,
                                         int k);

/* Starts op on device[op] until end_ns; its unit has been reserved. */
mo_status mo_baseline_etf_memory_start_op(mo_baseline_etf_memory *room,
                                          const int *device, int op,
                                          int64_t end_ns, mo_error *err);

/* Releases the memory of all ops that end by now_ns. */
void mo_baseline_etf_memory_release_until(mo_baseline_etf_memory *room,
                                          const int *device, int64_t now_ns);

#endif
