/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_steps.h - the scheduling passes over a plan: transfer insertion,
 * step order, stream assignment and memory planning.
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_SCHEDULE_STEPS_H
#define MO_EXEC_PLAN_SCHEDULE_SCHEDULE_STEPS_H

#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

/*
 * Transfer insertion: replicates every value on the devices that read it and
 * creates the transfers.
 *
 *     device A     conv --> x --> view v          x, made here
 *                           :
 *     device B              x' --> view v'        one transfer for both
 *
 * A tensor is sent to a device once, whatever reads it there and through
 * whatever view. A transfer of a value that another one brought has the larger
 * number. *start_ns, by transfer: its start in the schedule; the caller frees
 * it with free().
 */
mo_status mo_plan_insert_transfers(const mo_plan_source *source,
                                   mo_exec_plan *plan, int64_t **start_ns,
                                   mo_error *err);

/* Step order: the steps of every device; start_ns from
 * mo_plan_insert_transfers(). May be repeated, as may streams and memory,
 * which follow from it. */
mo_status mo_plan_order_steps(const mo_plan_source *source, mo_exec_plan *plan,
                              const int64_t *start_ns, mo_error *err);
/* Stream assignment: concurrent calls on devices with several streams;
 * max_streams as in mo_plan_source. */
mo_status mo_plan_assign_streams(const int *max_streams, mo_exec_plan *plan,
                                 mo_error *err);
/* Memory planning: assigns every value its offset. Two values with overlapping
 * live ranges never share a byte. */
mo_status mo_plan_assign_memory(mo_exec_plan *plan, mo_error *err);

/* Sets the bytes of the weights that each device reads, each once. */
mo_status mo_plan_count_weights(mo_exec_plan *plan, mo_error *err);

#endif
