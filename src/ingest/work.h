/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - cost estimate of known operators: flops and memory traffic of an
 * op.
 *
 * flops: a multiply-add counts two; the formula of an operator is in its row
 * of operators.def. bytes: every input read once (weights too), every output
 * written once, nothing for ops that only change the view; a gather reads the
 * rows it takes, not the table.
 */
#ifndef MO_INGEST_WORK_H
#define MO_INGEST_WORK_H

#include "base/error.h"
#include "graph/graph.h"
#include "ingest/operator.h"
#include "graph/shape.h"

enum {
    MO_WORK_MAX_PORTS = 64
}; /* further inputs are counted, but not passed to formulas */

/* One op as a formula reads it; the caller owns all arrays. */
typedef struct mo_work_input {
    const mo_attr_list *attrs; /* the op's parameters, or NULL */
    const mo_operator *kind;
    const mo_shape *inputs; /* by port; rank -1 where unknown */
    const char *const *dtypes;
    int n_inputs;
    const mo_shape *outputs;
    int n_outputs;
} mo_work_input;

/* Fills flops, bytes and output_bytes of every op that lacks them and whose
 * operator and shapes are known, weight_bytes and memory_bytes from the
 * constants of those that give neither, and the bytes of edges and tensors
 * that have none. Unknown values stay MO_UNKNOWN. Fails only without memory. */
mo_status mo_work_fill(mo_graph *g, mo_error *err);

#endif
