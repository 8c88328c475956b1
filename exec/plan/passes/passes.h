/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.h - the optimization passes over a plan, in the order in which
 * exec/plan/build.c runs them, except for mo_pass_dce(), which runs twice. All
 * run before transfers and steps are inserted. enabled[d]: whether a pass runs
 * on device d; NULL: on no device.
 */
#ifndef MO_EXEC_PLAN_PASSES_PASSES_H
#define MO_EXEC_PLAN_PASSES_PASSES_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

/* Dead-code elimination: keeps the calls that outputs of the network depend
 * on, in their order, and the values of these calls. Renumbers values and
 * lists the values of every input. */
mo_status mo_pass_dce(mo_exec_plan *plan, mo_error *err);

/* Constant folding: calls with constant operands only are evaluated now,
 * if their results are small (for example the scale of a batch
 * normalization). */
mo_status mo_pass_const_fold(mo_exec_plan *plan, mo_error *err);

/* Attention fusion on the devices of source->fuses_attention. */
mo_status mo_pass_fuse_attention(const mo_plan_source *source,
                                 mo_exec_plan *plan, mo_error *err);

/* Normalization fusion: the ops of RMS normalization become one call. Before
 * pointwise fusion, which would join them. */
mo_status mo_pass_fuse_norm(const bool *enabled, mo_exec_plan *plan,
                            mo_error *err);

/* GELU fusion: the ops of an exact GELU become one step. Before pointwise
 * fusion, which their second reader of the argument would keep from it. */
mo_status mo_pass_fuse_gelu(mo_exec_plan *plan, mo_error *err);

/* Rotation fusion: the sign of a rotation by halves goes to its factor. Before
 * pointwise fusion, which joins the factors. */
mo_status mo_pass_fuse_rotate(const bool *enabled, mo_exec_plan *plan,
                              mo_error *err);

/* Pointwise fusion: fuses calls of one item, or of items in one default fusion
 * group on one device. */
mo_status mo_pass_fuse_pointwise(const mo_plan_source *source,
                                 mo_exec_plan *plan, mo_error *err);

/* Layout assignment: channels-last convolutions. */
mo_status mo_pass_nhwc_layout(mo_exec_plan *plan, mo_error *err);

/* Copy elimination: readers of a copy (transposes, slices) read its source by
 * strides. After layouts are assigned. Copies without readers are left to
 * mo_pass_dce(). */
mo_status mo_pass_copy_elim(const bool *enabled, mo_exec_plan *plan,
                            mo_error *err);

/* QKV merging: query, key and value of attention, if they are products of the
 * same left matrix, are computed as one product. After pointwise fusion, which
 * turns biases into epilogues. */
mo_status mo_pass_merge_qkv(const bool *enabled, mo_exec_plan *plan,
                            mo_error *err);

/* Batch folding of matrix products, see mo_call_matmul_fold(). After the
 * passes that match products by their dimensions: attention, QKV, copies. */
void mo_pass_fold_batches(mo_exec_plan *plan);

/* In-place concatenation, after layouts are assigned. */
mo_status mo_pass_concat_inplace(const bool *enabled, mo_exec_plan *plan,
                                 mo_error *err);

/* Mixed precision: stores f32 tensors as storage_elem; the network's inputs
 * and outputs keep their type for the caller. earlier: as in mo_plan_source. */
mo_status mo_pass_precision(mo_elem storage_elem, const mo_exec_plan *earlier,
                            mo_exec_plan *plan, mo_error *err);

/* Value reuse: pointwise calls that compute a value once more, or copy one as
 * it is, become views. After mo_pass_precision(), which makes conversions
 * copies. */
mo_status mo_pass_reuse_values(const bool *enabled, mo_exec_plan *plan,
                               mo_error *err);

/* Weight conversion: products of many rows with weights in a storage format
 * become products of converted weights. After mo_pass_precision(), which sets
 * the types. */
mo_status mo_pass_convert_weights(const bool *enabled, mo_exec_plan *plan,
                                  mo_error *err);

/* States: the output that writes a state gets the bytes of the input that reads
 * it. Last, when types and layouts are final. */
mo_status mo_pass_state_inplace(mo_exec_plan *plan, mo_error *err);

/* Moves a call that is kept to position *n, and increments *n. A call already
 * there is not assigned to itself: the compiler may use memcpy, whose operands
 * must not overlap. */
static inline void mo_pass_keep_call(mo_exec_plan *plan, int call, int *n)
{
    if (*n != call)
        plan->calls[*n] = plan->calls[call];
    (*n)++;
}

/* Removes the calls for which dropped, indexed by call, is true. */
void mo_pass_drop_calls(mo_exec_plan *plan, const bool *dropped);

#endif
