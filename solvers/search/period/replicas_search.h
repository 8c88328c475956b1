/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas_search.h - search for the partition of the devices into groups, each
 * with a copy of the network, of the largest throughput.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_REPLICAS_SEARCH_H
#define MO_SOLVERS_SEARCH_PERIOD_REPLICAS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "schedule/period/replicas.h"
#include "solvers/search/method.h"

/* Groups differ in how many devices of each kind they have; of 12 different
 * devices there are 4096. */
enum { MO_REPLICAS_MAX_DEVICES = 64, MO_REPLICAS_MAX_GROUPS = 4096 };

typedef struct mo_replicas_result {
    mo_replica copies[MO_REPLICAS_MAX_DEVICES]; /* n, the fastest first */
    int n;             /* 0: there are no such copies */
    int64_t period_ns; /* of all */
    int64_t bound_ns;  /* no such copies have a shorter one */
    bool stopped;      /* by the time limit */
} mo_replicas_result;

/* Searches for wanted copies; 0: any number.  task is one of the period; its
 * limit in flight is that of each copy; known is a result of it, a placement on
 * all devices, or NULL.  Devices are left over where they do not help.  Takes
 * the deadline of task->stop; without one, the number of rounds bounds the
 * search of a group.  The caller clears *found, also after a failure. */
mo_status mo_replicas_search(const mo_method_task *task, int wanted,
                             const mo_method_result *known,
                             mo_replicas_result *found, mo_error *err);
void mo_replicas_result_clear(mo_replicas_result *found);

#endif
