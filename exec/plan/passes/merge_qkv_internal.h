/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend_merging.h - the inside of mo_pass_merge_qkv: products that become one.
 */
#ifndef MO_EXEC_PLAN_PASSES_MERGE_QKV_INTERNAL_H
#define MO_EXEC_PLAN_PASSES_MERGE_QKV_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/passes/fuse_attention_internal.h"
#include "exec/plan/ir/value_table.h"

typedef struct mo_pass_qkv {
    mo_exec_plan *plan;
    mo_plan_values values;
    mo_pass_def_use uses; /* of the values that were there before */
    bool *gone;           /* by call: it is a part of another */
} mo_pass_qkv;

/* Products of the same rows, with constant weights and alike in all but how
 * many columns they have. */
enum { MO_PASS_QKV_MAX_PRODUCTS = 3 };

typedef struct mo_pass_qkv_group {
    int n;
    int calls[MO_PASS_QKV_MAX_PRODUCTS];
    int operands[MO_PASS_QKV_MAX_PRODUCTS]; /* which ones of the attention they
                                               make */
    int last;                               /* the last of the calls */
    int64_t columns;                        /* of all together */
} mo_pass_qkv_group;

static inline const mo_plan_value *mo_pass_qkv_value(const mo_pass_qkv *m,
                                                     int value)
{
    return &m->values.items[value];
}

/* The constant that value is, maybe under another shape; NULL: none. */
const mo_tensor_dense *mo_pass_qkv_constant(const mo_pass_qkv *m, int value);

/* The call that they become; makes the values that it needs. */
mo_status mo_pass_qkv_concat(mo_pass_qkv *m, const mo_pass_qkv_group *g,
                             mo_call *joined, mo_error *err);

#endif
