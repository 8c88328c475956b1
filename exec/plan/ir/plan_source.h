/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_source.h - the inputs of plan construction: the two graphs, the
 * schedule, the weights, and which optimization passes apply where.
 */
#ifndef MO_EXEC_PLAN_IR_PLAN_SOURCE_H
#define MO_EXEC_PLAN_IR_PLAN_SOURCE_H

#include <stdbool.h>

#include "coarsen/coarsen_map.h"
#include "cost/instance.h"
#include "exec/tensor/elem.h"
#include "exec/weights/constants.h"
#include "graph/graph.h"
#include "schedule/schedule.h"

typedef struct mo_plan_source {
    const mo_graph *fine;      /* as read */
    const mo_graph *placed;    /* what was placed: fine itself, or coarser */
    const mo_coarsen_map *map; /* between them; NULL when they are the same */
    const mo_instance *instance;
    const mo_schedule *schedule;
    mo_weights_store *constants;
    bool fuse; /* several calls into one, as the default rules say */
    /* Only those of ops that were placed as one, so that each op of the placed
     * graph has a time of its own; keen, attend and nest count for nothing. */
    bool as_placed;
    bool layout; /* let convolutions have channels last */
    /* By device, NULL for none: its backend compiles what it is given.  Calls
     * are fused whatever the rules say, and copies absorbed. */
    const bool *keen;
    /* By device: products around a softmax become attention.  NULL: nowhere */
    const bool *attend;
    /* By device: convolutions write where their results are joined.  NULL:
     * nowhere */
    const bool *nest;
    const int *lanes; /* by device: at most so many; NULL: one each */
    mo_elem reals;    /* what f32 becomes inside: MO_ELEM_F32, MO_ELEM_F16,
                         MO_ELEM_BF16 */
    /* Told of every op that cannot be run before making the plan fails; may be
     * NULL. */
    void (*cannot)(void *context, int line, const char *what);
    void *context;
} mo_plan_source;

#endif
