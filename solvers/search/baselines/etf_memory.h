/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_room.h - which devices have memory for an op, while time goes on.
 *
 * With static memory a unit takes what its ops ask for, for good.  With live
 * memory it takes its weights; an op has its workspace and its outputs beside
 * what it reads from elsewhere, and the outputs stay until the last op has run
 * that reads them.  Without limits everything fits.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_ETF_MEMORY_H
#define MO_SOLVERS_SEARCH_BASELINES_ETF_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/placement_units.h"
#include "solvers/search/baselines/priority_queue.h"

typedef struct mo_baseline_etf_memory {
    const mo_instance *x;
    const mo_placement_units *units; /* of the same regime */
    bool live;
    int64_t *free_bytes; /* by device; below 0 once too much was put there */
    int *readers;        /* by tensor: those that have not run */
    mo_baseline_pqueue running; /* ops by the time they end */
} mo_baseline_etf_memory;

/* units must outlive it.  Closed also after a failure. */
mo_status mo_baseline_etf_memory_open(mo_baseline_etf_memory *room,
                                      const mo_instance *x,
                                      const mo_regime *regime,
                                      const mo_placement_units *units,
                                      mo_error *err);
void mo_baseline_etf_memory_close(mo_baseline_etf_memory *room);

/* Would op fit device k now, with all of its unit, which is nowhere yet?
 * device has the devices of what op reads. */
bool mo_baseline_etf_memory_fits(const mo_baseline_etf_memory *room,
                                 const int *device, int op, int k);

/* The unit, which is not pinned, is on device k from now on. */
void mo_baseline_etf_memory_reserve_unit(mo_baseline_etf_memory *room, int unit,
                                         int k);

/* op runs on device[op] from now until end_ns; its unit has been settled. */
mo_status mo_baseline_etf_memory_start_op(mo_baseline_etf_memory *room,
                                          const int *device, int op,
                                          int64_t end_ns, mo_error *err);

/* Gives back what nobody needs any more at that time. */
void mo_baseline_etf_memory_release_until(mo_baseline_etf_memory *room,
                                          const int *device, int64_t now_ns);

#endif
