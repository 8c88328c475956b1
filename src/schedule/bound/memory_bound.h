/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_bound.h - feasibility of the capacity constraints (1d): the memory of
 * all ops against that of all devices together, and its packing.
 */
#ifndef MO_SCHEDULE_BOUND_MEMORY_BOUND_H
#define MO_SCHEDULE_BOUND_MEMORY_BOUND_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

/* Memory of all ops and of all devices, in bytes. With MO_MEMORY_LIVE only
 * weights count. A device without a limit makes available infinite. */
typedef struct mo_memory_totals {
    double needed, available;
} mo_memory_totals;

/* Returns the totals of instance x. */
mo_memory_totals mo_bound_memory_totals(const mo_instance *x,
                                        const mo_regime *regime);

/* Fails with MO_E_INFEASIBLE if the ops need more memory than all devices have
 * together, both amounts in the text, or if a bounded search proves that they
 * cannot be packed (memory_packing.h), with the ops that do not fit together.
 */
mo_status mo_bound_memory(const mo_instance *x, const mo_regime *regime,
                          mo_error *err);

#endif
