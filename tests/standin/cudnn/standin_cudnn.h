/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cudnn.h - internals of a cuDNN that convolves on the CPU.
 *
 * standin_cudnn.c keeps descriptors; a finalised graph of them becomes a
 * program, which graph_read.c makes and graph_run.c executes.
 */
#ifndef MO_TESTS_STANDIN_CUDNN_STANDIN_CUDNN_H
#define MO_TESTS_STANDIN_CUDNN_STANDIN_CUDNN_H

#include <cudnn.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/standin/typed_real.h"

enum { MOST_RANK = 5, MOST_OPS = 4 };

typedef struct tensor {
    int64_t id;
    bool is_virtual;
    real_type type;
    int rank;
    int64_t dims[MOST_RANK], strides[MOST_RANK];
} tensor;

typedef enum op_kind { FORWARD, BACKWARD, ADD, RELU } op_kind;

typedef struct operation {
    op_kind kind;
    tensor from, with, to; /* with: weights, or the addend */
    int64_t before[MOST_RANK], stride[MOST_RANK], dilation[MOST_RANK];
    double factor;       /* of the addend */
    double lower, upper; /* bounds of a relu */
} operation;

typedef struct program {
    operation ops[MOST_OPS];
    int n;
} program;

typedef struct attribute {
    cudnnBackendAttributeName_t name;
    int64_t count;
    void *values;
} attribute;

enum { MOST_ATTRIBUTES = 16 };

typedef struct descriptor {
    cudnnBackendDescriptorType_t type;
    bool finished;
    attribute attributes[MOST_ATTRIBUTES];
    int n;
    program program; /* of a graph, and of all descriptors made for it */
    int engine;
} descriptor;

/* Returns the values of an attribute, owned by d; NULL where there are not so
 * many. */
const void *attribute_of(const descriptor *d, cudnnBackendAttributeName_t name,
                         int64_t count);
const descriptor *descriptor_of(const descriptor *d,
                                cudnnBackendAttributeName_t name);

/* Reads a graph with finalised operations. */
cudnnStatus_t read_program(const descriptor *graph, program *p);

/* rounds: inputs are rounded to TF32. */
cudnnStatus_t run_program(const program *p, const int64_t *ids,
                          void *const *pointers, int64_t n, bool rounds);

#endif
