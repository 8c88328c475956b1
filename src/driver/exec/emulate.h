/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulate.h - emulation of unequal devices by parts of one GPU: --emulate
 * 64,32,16,8.
 *
 * Each device is a partition of SMs, and transfers are delayed to the time of
 * their link in the cluster. Memory, its bandwidth, the L2 cache and the
 * clocks are shared.
 */
#ifndef MO_DRIVER_EXEC_EMULATE_H
#define MO_DRIVER_EXEC_EMULATE_H

#include <stdint.h>

#include "base/error.h"
#include "driver/exec/backend_choice.h"
#include "driver/prepare.h"
#include "cost/cluster.h"
#include "exec/plan/ir/plan.h"

/* Fails with MO_E_USAGE if the options contradict each other; --emulate
 * selects the CUDA backend for all devices. */
mo_status mo_emulate_check(mo_exec_config *wants, mo_error *err);

/* Parses the SM count of each device of the cluster, in its order; the caller
 * frees the array. */
mo_status mo_emulate_sm_counts(const char *spec, const mo_cluster *cluster,
                               int n_ranks, int **parts, mo_error *err);

/* Computes the duration of each transfer of the plan: by the placed instance,
 * or, where the plan sends other bytes, by the profile or the cluster. The
 * caller frees the array. */
mo_status mo_emulate_transfer_times(const mo_exec_plan *plan,
                                    const mo_problem *problem,
                                    int64_t **hold_ns, mo_error *err);

#endif
