/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translate.h - translation of the nodes of an ONNX model to layers.
 *
 * A translator (operators.def) handles one operator: it reads its node through
 * the functions below, adds layers with builder.h and sets op->outputs.
 */
#ifndef MO_INGEST_ONNX_TRANSLATE_H
#define MO_INGEST_ONNX_TRANSLATE_H

#include "base/error.h"
#include "ingest/onnx/builder.h"
#include "ingest/onnx/model.h"
#include "ingest/read.h"

typedef struct mo_onnx_scope mo_onnx_scope;

/* One node, as its translator has it. */
typedef struct mo_onnx_op {
    mo_onnx_builder *b;
    const mo_onnx_node *node;
    const mo_onnx_scope *scope;
    const char *argument;         /* of the operator's row */
    const mo_onnx_info *declared; /* output 0 in the file, or NULL */
    int version;                  /* of the operator set */
    int n_inputs, n_outputs;
    const mo_onnx_ref *inputs; /* MO_ONNX_NONE: absent */
    mo_onnx_ref *outputs;      /* MO_ONNX_NONE unless the translator sets it */
} mo_onnx_op;

typedef void mo_onnx_translator(mo_onnx_op *op);

typedef struct mo_onnx_row {
    const char *op_type;
    mo_onnx_translator *translate;
    const char *argument;
    /* Inputs that a node must have, since which operator set, and before. */
    int required[3];
} mo_onnx_row;

/* Returns the row of an operator of ONNX's own domain, or of ONNX Runtime's; or
 * NULL. */
const mo_onnx_row *mo_onnx_find_row(const char *op_type, const char *domain);

/* Translates the whole model; the caller frees *ir with mo_ir_free(). options
 * may be NULL. Errors name all operators that cannot be translated. */
mo_status mo_onnx_translate(const char *file, const mo_onnx_model *model,
                            const mo_read_options *options, mo_ir **ir,
                            mo_error *err);

/* The node */

mo_onnx_ref mo_onnx_in(const mo_onnx_op *op, int i); /* or MO_ONNX_NONE */
bool mo_onnx_has(const mo_onnx_op *op, int i);
bool mo_onnx_uses(const mo_onnx_op *op, int i); /* output i has a name */
/* Sets output 0. */
void mo_onnx_out(mo_onnx_op *op, mo_onnx_ref value);

/* Attributes; of a node of a function, those of its caller. */
const mo_onnx_attribute *mo_onnx_attr(const mo_onnx_op *op, const char *name);
int64_t mo_onnx_attr_int(const mo_onnx_op *op, const char *name,
                         int64_t fallback);
double mo_onnx_attr_real(const mo_onnx_op *op, const char *name,
                         double fallback);
const char *mo_onnx_attr_text(const mo_onnx_op *op, const char *name,
                              const char *fallback);

/* Sets all attributes of the node but tensors and graphs, as those of the next
 * layer. */
void mo_onnx_copy_attributes(const mo_onnx_op *op);

/* A list of integers: axes, sizes, pads. n is -1 where there is none. */
enum { MO_ONNX_MAX_LIST = 2 * MO_MAX_RANK };
typedef struct mo_onnx_list {
    int n;
    int64_t at[MO_ONNX_MAX_LIST];
} mo_onnx_list;

mo_onnx_list mo_onnx_attr_ints(const mo_onnx_op *op, const char *name);
/* The value of input i, which must be known; what names it in an error. */
mo_onnx_list mo_onnx_in_ints(const mo_onnx_op *op, int i, const char *what);
/* An attribute before opset since, then an input. */
mo_onnx_list mo_onnx_list_of(const mo_onnx_op *op, const char *name, int i,
                             int since);
/* One number that must be known; fallback where the input is absent. */
double mo_onnx_in_number(const mo_onnx_op *op, int i, const char *what,
                         double fallback);
/* The same of an integer, clamped to +-2^40: sums of a few do not overflow. */
int64_t mo_onnx_in_int(const mo_onnx_op *op, int i, const char *what,
                       int64_t fallback);

/* Types and tensors (tensor.c) */

/* Returns the type of elements with this number in ONNX; NULL: unknown. */
const char *mo_onnx_dtype_of(int type);
/* A tensor of the model as a constant. */
mo_onnx_ref mo_onnx_constant(mo_onnx_builder *b, const mo_onnx_tensor *tensor,
                             const char *name);

#endif
