/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.h - operators by name: class, flops formula, aliases.
 *
 * The internal set follows the OpenVINO opsets (operators.def). ONNX, torch.fx
 * and ATen names are aliases; case, a leading "aten." / "aten::" /
 * "torch.nn.functional.", an overload (".default", ".Tensor") and the "_" of
 * an in-place variant do not matter. Where ATen means something else than the
 * others by the same name ("select", "gather", "max"), "aten" in front of it
 * decides.
 *
 * Both tables are constant and may be read from any thread.
 */
#ifndef MO_INGEST_OPERATOR_H
#define MO_INGEST_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/graph.h"

/* Classes of the cost model: what an operator does to memory and arithmetic
 * units. One word each in moirai-graph(5). */
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

/* An op as a formula reads it (ingest/work.h). */
struct mo_work_input;

struct mo_operator {
    const char *name; /* canonical: "Convolution" */
    mo_class class;
    /* Returns the flops of one execution; the op's shapes are in the input. <
     * 0 when a shape or attribute that it needs is not known. NULL: the
     * operator computes nothing. */
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

/* Returns the operator of a name or alias, a row of mo_operators; NULL when it
 * is unknown, or name is NULL. */
const mo_operator *mo_operator_find(const char *name);

/* Sets kind of every op and constant of g to the operator that its type stands
 * for.  Called once for every graph that mo_builder_finish makes. */
void mo_operator_resolve(mo_graph *g);

const char *mo_class_name(mo_class class);

/* Finds the class of a name; false when there is none, and *class is not
 * set. */
bool mo_class_find(const char *name, mo_class *class);

/* The tables, sorted by their first column without regard to case. */
extern const mo_operator mo_operators[];
extern const size_t mo_n_operators;
extern const mo_operator_alias mo_operator_aliases[];
extern const size_t mo_n_operator_aliases;

#endif
