/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulate.h - one GPU as all devices of a cluster: --emulate 64,32,16,8.
 *
 * Each device is a part of the GPU, and links are held to what the cluster says
 * they take.  Memory, its bandwidth, the L2 cache and the clocks are shared.
 */
#ifndef MO_DRIVER_EXEC_EMULATE_H
#define MO_DRIVER_EXEC_EMULATE_H

#include <stdint.h>

#include "base/error.h"
#include "driver/exec/backend_choice.h"
#include "driver/load_instance.h"
#include "cost/cluster.h"
#include "exec/plan/ir/plan.h"

/* Whether the options go together; --emulate makes all devices GPUs. */
mo_status mo_emulate_check(mo_exec_config *wants, mo_error *err);

/* How many SMs each device of the cluster has, in its order; free() it. */
mo_status mo_emulate_sm_counts(const char *spec, const mo_cluster *cluster,
                               int n_ranks, int **parts, mo_error *err);

/* By transfer of the plan: what it takes by the instance that was placed, or,
 * where that sends other bytes, by the profile or the cluster; free() it. */
mo_status mo_emulate_transfer_times(const mo_exec_plan *plan,
                                    const mo_driver_loaded *loaded,
                                    int64_t **hold_ns, mo_error *err);

#endif
