/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constness.h - constness analysis: layers with outputs that do not depend on
 * the model's inputs.
 */
#ifndef MO_INGEST_OPENVINO_CONSTNESS_H
#define MO_INGEST_OPENVINO_CONSTNESS_H

#include "base/error.h"
#include "ingest/ir/ir.h"

typedef enum mo_ir_constness {
    MO_IR_CONSTNESS_LIVE,     /* runs */
    MO_IR_CONSTNESS_CONSTANT, /* a Const, or computed from constants alone */
    MO_IR_CONSTNESS_SHAPE,    /* a ShapeOf: its value is the shape of its input,
                                 which it does not read */
    MO_IR_CONSTNESS_DEAD      /* a constant that no live layer depends on */
} mo_ir_constness;

/*
 * Computes the constness of every layer: an array of ir->n_layers, which the
 * caller frees with free(). All shapes must be static.
 *
 * Layers with a state, random numbers, inputs, outputs and loops are live
 * whatever they depend on. A cycle is an error.
 */
mo_status mo_ir_find_constness(const mo_ir *ir, mo_ir_constness **folds,
                               mo_error *err);

#endif
