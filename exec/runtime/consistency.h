/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_alike.h - what must be the same in all ranks of a run.
 *
 * Ranks that were given other files or options would each do their part of
 * another network: what comes of that is no answer, or no end.
 */
#ifndef MO_EXEC_RUNTIME_CONSISTENCY_H
#define MO_EXEC_RUNTIME_CONSISTENCY_H

#include <stdint.h>

#include "base/error.h"
#include "exec/runtime/run.h"

/* Of the plan and of who does what; for the transport, which compares it. */
mo_status mo_run_config_digest(const mo_exec_plan *plan,
                               const mo_run_plan_options *o, uint64_t *digest,
                               mo_error *err);

/* All ranks call it when the world has begun.  An input that several ranks read
 * must be the same in all; at rank 0 the error says who has another. */
mo_status mo_run_check_same_inputs(const mo_exec_plan *plan,
                                   const mo_run_plan_options *o, mo_error *err);

#endif
