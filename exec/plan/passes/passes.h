/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.h - the optimization passes over a plan; exec/plan/build.c runs them
 * in order.
 */
#ifndef MO_EXEC_PLAN_PASSES_PASSES_H
#define MO_EXEC_PLAN_PASSES_PASSES_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

/* Before there are transfers and steps.  Keeps the calls that outputs of the
 * network depend on, in their order, and the values that these calls touch;
 * values have new numbers.  Says for every input which values it is. */
mo_status mo_pass_dce(mo_exec_plan *plan, mo_error *err);


/* Before there are transfers and steps.  Small results only. */
mo_status mo_pass_const_fold(mo_exec_plan *plan, mo_error *err);

/* Attention where source->attend says so; exec/plan/passes/fuse_attention.c */
mo_status mo_pass_fuse_attention(const mo_plan_source *source,
                                 mo_exec_plan *plan, mo_error *err);
/* One product for what attention reads of the same rows, when biases are in
 * their products; on the devices that want it.  exec/plan/passes/merge_qkv.c */
mo_status mo_pass_merge_qkv(const bool *wants, mo_exec_plan *plan,
                            mo_error *err);
/* Calls of one item, or of neighbours of one default group on one device, that
 * a backend does as one.  exec/plan/passes/fuse_pointwise.c */
mo_status mo_pass_fuse_pointwise(const mo_plan_source *source,
                                 mo_exec_plan *plan, mo_error *err);
/* exec/plan/passes/nhwc_layout.c */
mo_status mo_pass_nhwc_layout(mo_exec_plan *plan, mo_error *err);
/* Tensors of f32 become reals; the network's inputs and outputs stay as they
 * are for those who give and get them.  exec/plan/passes/precision.c */
mo_status mo_pass_precision(mo_elem reals, mo_exec_plan *plan, mo_error *err);

/* Before there are transfers and steps, when it is known how values lie; on the
 * devices that want it (NULL: none).  What nobody reads any more is left to be
 * pruned. */
mo_status mo_pass_copy_elim(const bool *wants, mo_exec_plan *plan,
                            mo_error *err);

/* Before there are transfers and steps, when it is known how values lie; on the
 * devices that want it (NULL: none). */
mo_status mo_pass_concat_inplace(const bool *wants, mo_exec_plan *plan,
                                 mo_error *err);


/* Calls that stay move up, one after the other: *n are there so far.  One that
 * is in its place already must not be copied onto itself: that may be done by
 * memcpy. */
static inline void mo_pass_keep_call(mo_exec_plan *plan, int call, int *n)
{
    if (*n != call)
        plan->calls[*n] = plan->calls[call];
    (*n)++;
}

/* gone: by call. */
void mo_pass_drop_calls(mo_exec_plan *plan, const bool *gone);

#endif
