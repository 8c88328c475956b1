/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numeric.h - numeric formats of a network as it will run: the precision of
 * its f32 tensors (mixed precision) and weight quantization.
 *
 * Without options, formats are the element types of the graph. --precision
 * replaces f32 as the executor does: f16 and bf16 store and compute in them,
 * tf32 rounds the operands of products; fp8 and int8 quantize the operands of
 * products and keep 16 bits elsewhere (the executor runs them in f16).
 * --weights sets the bits of the weights of products alone; arithmetic keeps
 * the format of the activations.
 */
#ifndef MO_COST_NUMERIC_H
#define MO_COST_NUMERIC_H

#include <stdbool.h>

#include "base/error.h"
#include "cost/device.h"
#include "graph/graph.h"
#include "ingest/operator.h"

#define MO_NUMERIC_PRECISIONS "f32|tf32|f16|bf16|fp8|int8"

/* All zeros: the graph's own. */
typedef struct mo_numeric {
    mo_math precision;   /* of f32 tensors; MO_MATH_F32: as they are */
    const char *weights; /* "int4"; a literal; NULL: as they are */
    double weight_bits;  /* of one weight, scales included */
} mo_numeric;

enum { MO_NUMERIC_TEXT = 64 };

/* Parses the values of --precision and --weights, NULL where not given.
 * weights is TYPE[:BITS], as in int4:4.5. */
mo_status mo_numeric_parse(const char *precision, const char *weights,
                           mo_numeric *numeric, mo_error *err);

/* Convert to the text that identifies a model, "f16+int4:4.5", "f16",
 * "+int4:4.5", and back; "" is the graph's own. Equal formats have equal
 * texts. */
void mo_numeric_write(const mo_numeric *numeric, char text[MO_NUMERIC_TEXT]);
mo_status mo_numeric_read(const char *text, mo_numeric *numeric, mo_error *err);

/* Changes the numbers of g that costs are made of (bytes of ops, edges, feeds
 * and tensors, memory) to those of the formats. Element types and shapes stay
 * as they are: they are the network's. */
void mo_numeric_apply(const mo_numeric *numeric, mo_graph *g);

/* The same; the phases of a workload (graph/phases.h) are changed, and *g is
 * replaced by their composition. */
mo_status mo_numeric_apply_phases(const mo_numeric *numeric, mo_graph **g,
                                  mo_error *err);

/* Returns whether libraries choose among kernels by device for the class: its
 * ops multiply matrices. */
bool mo_numeric_is_product(mo_class class);

/* Returns the format that op, which is of that class, computes in: that of its
 * first operand, else of its output; of an op without element types, as if they
 * were f32. */
mo_math mo_numeric_math(const mo_numeric *numeric, const mo_graph *g, int op,
                        mo_class class);

/* Returns the format of an element type of graph/dtype.h; of all others, and of
 * NULL, f32. */
mo_math mo_numeric_dtype_math(const char *dtype);

/* Returns the bytes of an operand in that format. */
double mo_numeric_bytes(mo_math math);

#endif
