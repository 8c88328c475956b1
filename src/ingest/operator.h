/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.h - what an operator's name means.
 *
 * The internal set follows the OpenVINO opsets.  ONNX, torch.fx and ATen names
 * are aliases; case, a leading "aten." / "aten::" / "torch.nn.functional.", an
 * overload (".default", ".Tensor") and the "_" of an in-place variant do not
 * matter.  Where ATen means something else than the others by the same name
 * ("select", "gather", "max"), "aten" in front of it decides.
 *
 * Two tables: the operators, and the other names they go by.
 */
#ifndef MO_INGEST_OPERATOR_H
#define MO_INGEST_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/dtype.h"

/* What an operator does to memory and arithmetic units: enough for a cost
 * model.  One word each in moirai-graph(5). */
typedef enum mo_class {
    MO_CLASS_NONE, /* no work at run time: parameter, result, ... */
    MO_CLASS_FREE, /* changes the view only: reshape, squeeze, ... */
    MO_CLASS_MATMUL,
    MO_CLASS_CONVOLUTION,
    MO_CLASS_POOL,
    MO_CLASS_ELEMENTWISE,
    MO_CLASS_ACTIVATION, /* elementwise of one input */
    MO_CLASS_NORMALIZATION,
    MO_CLASS_SOFTMAX,
    MO_CLASS_REDUCTION,
    MO_CLASS_ATTENTION,
    MO_CLASS_GATHER, /* gather, embedding, scatter, topk: by index */
    MO_CLASS_MOVE,   /* transpose, concat, split, pad, tile: copies */
    MO_CLASS_SHAPE   /* shape arithmetic */
} mo_class;

typedef struct mo_operator mo_operator;

/* How a formula sees an op (ingest/work.h). */
struct mo_work_input;

struct mo_operator {
    const char *name; /* canonical: "Convolution" */
    mo_class class;
    /* flops of one execution; the op's shapes are in the input.  < 0 when what
     * it needs is not known.  NULL: it computes nothing. */
    double (*flops)(const struct mo_work_input *input);
    double per_element; /* constant of the simple formulas */
    bool picks;         /* of its first input it reads only as much as it
                           writes: gather, slice */
};

/* A name that stands for the operator called name in the table. */
typedef struct mo_operator_alias {
    const char *alias; /* in lower case */
    const char *name;
    int index; /* of the operator in mo_operators */
} mo_operator_alias;

/* The operator a name stands for, or NULL when nobody told us about it. */
const mo_operator *mo_operator_find(const char *name);

const char *mo_class_name(mo_class class);

/* The class of that name; false when there is none. */
bool mo_class_find(const char *name, mo_class *class);

/* The whole tables, for tests and manuals, sorted by their first column
 * without regard to case. */
extern const mo_operator mo_operators[];
extern const size_t mo_n_operators;
extern const mo_operator_alias mo_operator_aliases[];
extern const size_t mo_n_operator_aliases;

#endif
