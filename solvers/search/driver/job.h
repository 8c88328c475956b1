/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - a job of the search `moirai`: one kind of work that shortens the
 * incumbent or raises the lower bound, such as local search in segments, a
 * bound of blocks or annealing of the whole.  A job is a struct of functions
 * in a file of its own and one row of the table in jobs.c; the driver
 * (moirai.c) knows none of them by name.
 *
 * In a round every job plans items within the work that the ledger grants it
 * (ledger.h).  All items run on all threads, beside each other; then the jobs
 * merge their results, one after the other in the order of the table.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ablation.h"
#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/driver/state.h"

/* What a job may spend in a round. */
typedef struct mo_search_grant {
    int64_t work;       /* units of mo_stop_spend(), of all items together */
    int64_t fresh_work; /* by all jobs, since schedules of segments were
                           composed within memory last */
    uint64_t seed;      /* of the job and round */
} mo_search_grant;

typedef struct mo_search_job {
    const char *name; /* for progress reports */
    mo_ablation ablation;
    int weight; /* of its share of the work, beside the others' at equal gain */
    bool opens; /* runs in the opening round, which every search has */
    bool on_segments; /* makes schedules of segments ... */
    bool composes;    /* ... that this one composes within memory; the gain is
                         that of the jobs whose schedules it uses */

    /* Allocates *self, or leaves it NULL where the job does not apply to the
     * instance; close frees it.  search outlives it. */
    mo_status (*open)(mo_search_state *search, void **self, mo_error *err);
    void (*close)(void *self);

    /* Plans the items of a round and sets their number; 0: nothing to do at
     * present, or not for so little work.  May read the state. */
    mo_status (*plan)(void *self, const mo_search_grant *grant, int *n,
                      mo_error *err);

    /* Runs an item on the calling thread until it ends or is stopped: it writes
     * nothing but what the item owns, and reads what no other item writes. */
    mo_status (*run)(void *self, int item, const mo_stop *stop, mo_error *err);

    /* Takes over the results of all items in the order of planning: updates
     * the state.  Work done here counts for the job by stop. */
    mo_status (*merge)(void *self, const mo_stop *stop, mo_error *err);
} mo_search_job;

/* In the order in which items are started and results are merged: items that
 * take longest come first.  Ends with NULL. */
extern const mo_search_job *const mo_search_jobs[];

#endif
