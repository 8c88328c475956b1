/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attending.h - the inside of mo_pass_fuse_attention, for the files attend*.c.
 *
 *     q -.                                     what moves q, k and v about and
 *         product - program - softmax -.       scales them is gone: the call
 *     k -'                              product - turn       reads where they
 *     v -------------------------------'       come from, and writes where the
 *                                              result goes in the end
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
    bool *gone; /* by call: it is a part of another */
} mo_pass_attention;

/* A value, and the elements of it that are meant. */
typedef struct mo_pass_attention_operand {
    int value;
    mo_tensor_view trail;
} mo_pass_attention_operand;

/* What attention reads and writes, over [batches ..., rows, columns]. */
typedef struct mo_pass_attention_operands {
    mo_pass_attention_operand q, k, v, out;
    mo_pass_attention_operand mask; /* where there is one */
} mo_pass_attention_operands;

/* From a call, and into one: batches, offsets and strides. */
mo_pass_attention_operands mo_pass_attention_get_operands(const mo_call *call);
void mo_pass_attention_set_operands(const mo_pass_attention_operands *ends,
                                    mo_call_attention *attention);

/* The constant that value is, maybe under another shape; NULL: none. */
const mo_tensor_dense *mo_pass_attention_constant(const mo_exec_plan *plan,
                                                  int value);

/* Reads a value on device from where it was copied from, as far back as rows
 * stay contiguous; where factor is not NULL, what it was multiplied by on the
 * way goes there. */
void mo_pass_attention_trace_source(const mo_pass_attention *a, int device,
                                    mo_pass_attention_operand *from,
                                    double *factor);

/* Writes to where a value of call c is copied to, if nobody else reads it.
 * The number of the copy's call, or MO_PLAN_NONE: nothing changed. */
int mo_pass_attention_trace_sink(const mo_pass_attention *a, int c,
                                 mo_pass_attention_operand *to);

/* Does the program multiply operand at, element by element, and nothing
 * else? */
bool mo_pass_attention_is_scaling(const mo_exec_plan *plan, const mo_call *call,
                                  int at, double *factor);

/* Does operand at of a pointwise call lie as its result does? */
bool mo_pass_attention_is_elementwise(const mo_exec_plan *plan,
                                      const mo_call *call, int at);

/* What a mask that is constant and the same for all heads comes to. */
typedef enum mo_pass_attention_mask {
    MO_PASS_ATTENTION_MASK_NONE,   /* hides nothing */
    MO_PASS_ATTENTION_MASK_CAUSAL, /* from every query the keys behind its own
                                      number */
    MO_PASS_ATTENTION_MASK_GENERAL
} mo_pass_attention_mask;

/* A mask that is added (a bool one: keeps what is true, or, where hides, what
 * is not), over the last two dimensions of access, which is over shape. */
mo_pass_attention_mask
mo_pass_attention_classify_mask(const mo_tensor_dense *mask,
                                const mo_point_access *access,
                                const mo_shape *shape, bool hides);

/* The calls between the first product and the softmax, the last one first. */
enum { MO_PASS_ATTENTION_MAX_SCORE_CALLS = 8 };

typedef struct mo_pass_attention_score_call {
    int call, at; /* a pointwise call, and which operand the scores are */
} mo_pass_attention_score_call;

typedef struct mo_pass_attention_scores {
    int product; /* the call that makes them */
    int n;
    mo_pass_attention_score_call links[MO_PASS_ATTENTION_MAX_SCORE_CALLS];
    /* What the links come to. */
    double scale;
    bool causal;
    mo_point_program *program;           /* NULL: nothing else */
    int operands[MO_POINT_MAX_OPERANDS]; /* by operand of it: a value */
} mo_pass_attention_scores;

/* From the softmax's operand back to a product; false where there is none. */
bool mo_pass_attention_match_scores(const mo_pass_attention *a, int device,
                                    int value,
                                    mo_pass_attention_scores *scores);

/* Fills in what the links come to, over scores of that shape ([batches ...,
 * queries, keys]).  *works: false where attention cannot do it. */
mo_status mo_pass_attention_score_program(const mo_pass_attention *a,
                                          const mo_shape *shape,
                                          mo_pass_attention_scores *scores,
                                          bool *works, mo_error *err);

#endif
