/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mean_cost.h - mean computation and communication costs, for the ranks of
 * list schedulers, which are computed before anything is placed.
 */
#ifndef MO_SCHEDULE_HEURISTIC_MEAN_COST_H
#define MO_SCHEDULE_HEURISTIC_MEAN_COST_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* Returns the mean over the devices, or the time on its pin; rounded down, as
 * all here. */
int64_t mo_mean_cost_op_ns(const mo_instance *x, int op);

/* The mean of each row of transfer times over the ordered pairs of different
 * devices; the caller frees *rows_ns. */
mo_status mo_mean_cost_rows(const mo_instance *x, int64_t **rows_ns,
                            mo_error *err);

/* Returns the mean cost of a flow from those rows. */
static inline int64_t mo_mean_cost_flow_ns(const mo_instance *x,
                                           const mo_regime *regime,
                                           const int64_t *rows_ns, int flow)
{
    return rows_ns[regime->tensors == MO_TENSORS_ONCE
                       ? x->comm.tensor_row[x->flows[flow].tensor]
                       : x->comm.flow_row[flow]];
}

#endif
