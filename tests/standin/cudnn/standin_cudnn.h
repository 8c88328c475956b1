/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cudnn.h - inside of a cuDNN that convolves on the CPU.
 *
 * standin_cudnn.c keeps descriptors; what a finished graph of them means is a
 * program, which standin_cudnn_read.c makes and standin_cudnn_run.c does.
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
    tensor from, with, to; /* with: weights, or what is added */
    int64_t before[MOST_RANK], stride[MOST_RANK], dilation[MOST_RANK];
    double factor;       /* of what is added */
    double lower, upper; /* ends of a relu */
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
    program program; /* of a graph, and all that is made for it */
    int engine;
} descriptor;

/* The values of an attribute; NULL where there are not so many. */
const void *attribute_of(const descriptor *d, cudnnBackendAttributeName_t name,
                         int64_t count);
const descriptor *descriptor_of(const descriptor *d,
                                cudnnBackendAttributeName_t name);

/* Of a graph whose operations are finished. */
cudnnStatus_t read_program(const descriptor *graph, program *p);

/* rounds: inputs to TF32 before they are multiplied. */
cudnnStatus_t run_program(const program *p, const int64_t *ids,
                          void *const *pointers, int64_t n, bool rounds);

#endif
