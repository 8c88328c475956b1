/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consistency.h - cross-rank consistency check by digests.
 *
 * Ranks with different files or options would each run their part of another
 * network: the result would be meaningless, or the run would not end.
 */
#ifndef MO_EXEC_RUNTIME_CONSISTENCY_H
#define MO_EXEC_RUNTIME_CONSISTENCY_H

#include <stdint.h>

#include "base/error.h"
#include "exec/runtime/run.h"

/* Computes a digest of the plan and of the assignment of devices to ranks; the
 * transport compares it across ranks. */
mo_status mo_run_config_digest(const mo_exec_plan *plan,
                               const mo_run_plan_options *o, uint64_t *digest,
                               mo_error *err);

/* Checks type and shape of input i, and that it has a value. */
mo_status mo_run_check_input(const mo_exec_plan *plan, int i,
                             const mo_tensor_dense *given, mo_error *err);

/* Collective: all ranks call it when the world has begun. An input that
 * several ranks read must be the same in all; at rank 0 the error names the
 * rank that differs. */
mo_status mo_run_check_same_inputs(const mo_exec_plan *plan,
                                   const mo_run_plan_options *o, mo_error *err);

#endif
