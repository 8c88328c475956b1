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
#include "exec/plan/ir/plan.h"
#include "exec/tensor/elem.h"
#include "exec/weights/constants.h"
#include "graph/graph.h"
#include "schedule/schedule.h"

typedef struct mo_plan_source {
    const mo_graph *fine; /* as read */
    const mo_graph
        *placed; /* the graph that was placed: fine itself, or coarser */
    const mo_coarsen_map *map; /* between them; NULL when they are the same */
    const mo_instance *instance;
    const mo_schedule *schedule;
    mo_weights_store *constants;
    bool fuse; /* fuse calls by the default rules */
    /* Fuse only within one placed op, so that each op of the placed graph has
     * a time of its own; can_jit, fuses_attention and concat_inplace are
     * ignored. */
    bool as_placed;
    const mo_exec_plan *earlier; /* of another phase, which outlives the plan:
                                    its narrowed weights are shared; or NULL */
    bool keeps_state; /* states stay on their devices between runs; else they
                         are inputs and outputs as others */
    bool layout;      /* allow convolutions in channels-last layout */
    /* By device, NULL for none: its backend compiles kernels at run time
     * (JIT). All calls are fused with pointwise ones, and copies
     * eliminated. */
    const bool *can_jit;
    /* By device: matmul-softmax-matmul becomes attention. NULL: nowhere. */
    const bool *fuses_attention;
    /* By device: convolutions write into the concatenated result. NULL:
     * nowhere. */
    const bool *concat_inplace;
    const int *max_streams; /* by device: upper bound; NULL: one each */
    mo_elem storage_elem; /* type in which f32 tensors are stored: MO_ELEM_F32,
                             MO_ELEM_F16, MO_ELEM_BF16 */
    /* Called for every op without a lowering before the build fails; may be
     * NULL. */
    void (*on_unsupported)(void *context, int line, const char *what);
    void *context;
} mo_plan_source;

#endif
