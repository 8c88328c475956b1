/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - which layers of a model are known before its first input arrives.
 */
#ifndef MO_INGEST_OPENVINO_CONSTNESS_H
#define MO_INGEST_OPENVINO_CONSTNESS_H

#include "base/error.h"
#include "ingest/ir/ir.h"

typedef enum mo_ir_constness {
    MO_IR_CONSTNESS_LIVE,     /* runs */
    MO_IR_CONSTNESS_CONSTANT, /* a Const, or computed from constants alone */
    MO_IR_CONSTNESS_SHAPE,    /* a ShapeOf: its value is the shape of its input,
                         and    it reads nothing any more */
    MO_IR_CONSTNESS_DEAD      /* a constant that no live layer depends on */
} mo_ir_constness;

/*
 * Tells for every layer what it is; the caller frees the n_layers answers.  All
 * shapes must be static.
 *
 * What has a state, draws random numbers, or is an input, an output or a loop
 * is live whatever it depends on.  A cycle is an error.
 */
mo_status mo_ir_find_constness(const mo_ir *ir, mo_ir_constness **folds,
                               mo_error *err);

#endif
