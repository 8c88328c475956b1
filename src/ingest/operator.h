/*
 * operator.h - what an operator's name means.
 *
 * The internal set follows the OpenVINO opsets.  ONNX, torch.fx and ATen names
 * are aliases; case, a leading "aten." / "aten::" / "torch.nn.functional." and
 * an overload (".default", ".Tensor") do not matter.
 */
#ifndef MO_INGEST_OPERATOR_H
#define MO_INGEST_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>

/* What an operator does to memory and arithmetic units: enough for a cost
 * model.  One word each in moirai-graph(5). */
typedef enum mo_class {
    MO_CLASS_NONE,          /* no work at run time: parameter, result, constant */
    MO_CLASS_FREE,          /* changes the view only: reshape, squeeze, ... */
    MO_CLASS_MATMUL,
    MO_CLASS_CONVOLUTION,
    MO_CLASS_POOL,
    MO_CLASS_ELEMENTWISE,
    MO_CLASS_ACTIVATION,    /* elementwise of one input */
    MO_CLASS_NORMALIZATION,
    MO_CLASS_SOFTMAX,
    MO_CLASS_REDUCTION,
    MO_CLASS_ATTENTION,
    MO_CLASS_GATHER,        /* gather, embedding, scatter, topk: by index */
    MO_CLASS_MOVE,          /* transpose, concat, split, pad, tile: copies */
    MO_CLASS_SHAPE          /* shape arithmetic */
} mo_class;

typedef struct mo_operator mo_operator;

/* How a formula sees an op (ingest/work.h). */
struct mo_work_input;

struct mo_operator {
    const char *name;       /* canonical: "Convolution" */
    mo_class class;
    const char *aliases;    /* "conv conv1d conv2d conv3d convolution" */
    /* flops of one execution; the op's shapes are in the input.  < 0 when what
     * it needs is not known. */
    double (*flops)(const struct mo_work_input *input);
    double per_element;     /* constant of the simple formulas */
};

/* The operator a name stands for, or NULL when nobody told us about it. */
const mo_operator *mo_operator_find(const char *name);

const char *mo_class_name(mo_class class);

/* The whole table, for tests and manuals; ends with a NULL name. */
extern const mo_operator mo_operators[];

/* Short names and long ones, "FP32", "torch.float32", "float" -> "f32"; NULL
 * when unknown.  And its size in bits. */
const char *mo_dtype_find(const char *name, size_t length);
int mo_dtype_bits(const char *dtype);

#endif
