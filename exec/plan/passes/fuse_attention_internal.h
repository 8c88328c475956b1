/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuse_attention_internal.h - data of attention fusion, shared by its files.
 *
 *     q -.
 *         product - program - softmax -.
 *     k -'                              product - transpose
 *     v -------------------------------'
 *
 * Copies and scaling of q, k and v, and the copy of the result, are removed:
 * the fused call reads their sources and writes their target.
 */
#ifndef MO_EXEC_PLAN_PASSES_FUSE_ATTENTION_INTERNAL_H
#define MO_EXEC_PLAN_PASSES_FUSE_ATTENTION_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/passes/copy_map.h"
#include "exec/plan/passes/def_use.h"
#include "exec/tensor/strided_view.h"

typedef struct mo_pass_attention {
    mo_exec_plan *plan;
    mo_pass_def_use uses;
    bool *dropped; /* by call: fused into another */
} mo_pass_attention;

/* A value and a view of it. */
typedef struct mo_pass_attention_operand {
    int value;
    mo_tensor_view view;
} mo_pass_attention_operand;

/* Operands and result of attention, over [batches ..., rows, columns]. */
typedef struct mo_pass_attention_operands {
    mo_pass_attention_operand q, k, v, out;
    mo_pass_attention_operand mask; /* where there is one */
} mo_pass_attention_operands;

/* Conversion from and to the call's batches, offsets and strides. */
mo_pass_attention_operands mo_pass_attention_get_operands(const mo_call *call);
void mo_pass_attention_set_operands(const mo_pass_attention_operands *ends,
                                    mo_call_attention *attention);

/* Returns the constant behind value and its views, or NULL; only an aligned
 * one. */
const mo_tensor_dense *mo_pass_attention_constant(const mo_exec_plan *plan,
                                                  int value);

/* Moves the view from a value to the value on the same device that it was
 * copied from, as far back as rows stay contiguous. Scaling on the way is
 * multiplied into *factor, unless that is NULL. */
void mo_pass_attention_trace_source(const mo_pass_attention *a, int device,
                                    mo_pass_attention_operand *from,
                                    double *factor);

/* Splits the batches of all operands where one of them, from, is a copy that
 * repeats some: keys of grouped queries, repeated for the heads of a group. */
void mo_pass_attention_split_batches(const mo_pass_attention *a, int device,
                                     mo_pass_attention_operand *from,
                                     mo_pass_attention_operands *ends);

/* Makes the heads of a group, which read the same keys, the rows of queries where
 * each has one. Returns the number of queries. */
int64_t mo_pass_attention_group_queries(mo_pass_attention_operands *ends);

/* Moves the view from the result of call c to the value it is copied to, if
 * the copy is its only reader. Returns the number of the copy's call, or
 * MO_PLAN_NONE with nothing changed. */
int mo_pass_attention_trace_sink(const mo_pass_attention *a, int c,
                                 mo_pass_attention_operand *to);

/* Returns whether the program only multiplies operand at by *factor. */
bool mo_pass_attention_is_scaling(const mo_exec_plan *plan, const mo_call *call,
                                  int at, double *factor);

/* Returns whether operand at of a pointwise call is accessed like its
 * result. */
bool mo_pass_attention_is_elementwise(const mo_exec_plan *plan,
                                      const mo_call *call, int at);

/* Classes of constant masks that are the same for all heads. */
typedef enum mo_pass_attention_mask {
    MO_PASS_ATTENTION_MASK_NONE,   /* hides nothing */
    MO_PASS_ATTENTION_MASK_CAUSAL, /* from every query the keys with a larger
                                      index */
    MO_PASS_ATTENTION_MASK_GENERAL
} mo_pass_attention_mask;

/* Classifies an additive mask (a bool one keeps what is true, or, where hides,
 * what is false), over the last two dimensions of access, which is over
 * shape. */
mo_pass_attention_mask
mo_pass_attention_classify_mask(const mo_tensor_dense *mask,
                                const mo_point_access *access,
                                const mo_shape *shape, bool hides);

/* The pointwise calls between the first product and the softmax, the last one
 * first. */
enum { MO_PASS_ATTENTION_MAX_SCORE_CALLS = 8 };

typedef struct mo_pass_attention_score_call {
    int call, at; /* a pointwise call, and the operand that is the scores */
} mo_pass_attention_score_call;

typedef struct mo_pass_attention_scores {
    int product; /* the call that produces the scores */
    int n;
    mo_pass_attention_score_call links[MO_PASS_ATTENTION_MAX_SCORE_CALLS];
    /* The combined effect of the calls. */
    double scale;
    bool causal;
    mo_point_program *program;           /* NULL: nothing else */
    int operands[MO_POINT_MAX_OPERANDS]; /* by operand of it: a value */
} mo_pass_attention_scores;

/* Traces the softmax's operand back to a product; false where there is none. */
bool mo_pass_attention_match_scores(const mo_pass_attention *a, int device,
                                    int value,
                                    mo_pass_attention_scores *scores);

/* Combines the calls over scores of that shape ([batches ..., queries, keys]).
 * *works: false where an attention call cannot express them. */
mo_status mo_pass_attention_score_program(const mo_pass_attention *a,
                                          const mo_shape *shape,
                                          mo_pass_attention_scores *scores,
                                          bool *works, mo_error *err);

#endif
