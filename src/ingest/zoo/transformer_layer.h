/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transformer_layer.h - the transformer layer that all models of the zoo are
 * stacks of.
 *
 * The parts in the frame exist once per head:
 *
 *                   +--------------------------------------------+
 *                   | q, q_bias --------------.                  |
 *   x --> ln1 ------> k, k_bias, transpose --> scores, scale,    |
 *   |               |                          mask, softmax --. |
 *   |               | v, v_bias --------------------------> context
 *   |               +--------------------------------------------+ |
 *   |                                         concat <-------------'
 *   `-------> add1 <--- proj_bias <--- proj <----'
 *              | `--> ln2, fc1, fc1_bias, gelu, fc2 --.
 *              `------------------------------------> add2 --> the next x
 *
 * All layers are alike but for the first, whose x is the network's input.
 */
#ifndef MO_INGEST_ZOO_TRANSFORMER_LAYER_H
#define MO_INGEST_ZOO_TRANSFORMER_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"
#include "ingest/zoo.h"

enum {
    MO_ZOO_LAYER_OPS = 23,
    MO_ZOO_HEAD_FIRST = 1, /* these and those between, once per head */
    MO_ZOO_HEAD_LAST = 12,
    MO_ZOO_MAX_INPUTS = 2,
    MO_ZOO_MAX_WEIGHTS = 2
};

/* Inputs that are no part of the layer. */
#define MO_ZOO_LAYER_INPUT "x"
#define MO_ZOO_ALL_HEADS   "heads"

/*
 * Shapes are texts of one letter per dimension: b batch, t tokens, d hidden
 * size, h hidden size of one head, i inner size of the feed-forward part, 4 d.
 */
typedef struct mo_zoo_layer_op {
    const char *name, *type;
    const char *output;                      /* shape */
    const char *inputs[MO_ZOO_MAX_INPUTS];   /* names, by port */
    const char *weights[MO_ZOO_MAX_WEIGHTS]; /* shapes of the constants, on
                                                the ports behind the inputs */
    double work;       /* flops for each element of the output, ... */
    char inner;        /* ... times the size of this dimension, if any */
    const char *attrs; /* further members of the attrs, or NULL */
    bool scales;       /* multiplies by one over the root of the head size */
} mo_zoo_layer_op;

/* In an order in which each follows what it reads. */
extern const mo_zoo_layer_op mo_zoo_layer_ops[MO_ZOO_LAYER_OPS];

/* Returns the number of inputs of a part; all heads count as one. */
int mo_zoo_count_inputs(const mo_zoo_layer_op *part);

/* Returns the port of the layer's input, or -1. */
int mo_zoo_layer_input_port(const mo_zoo_layer_op *part);

/* Fails when a tensor is too large; the functions below rely on it. */
mo_status mo_zoo_check_sizes(const mo_zoo_config *config, mo_error *err);

double mo_zoo_flops(const mo_zoo_config *config, const mo_zoo_layer_op *part);

/* Returns the memory traffic in bytes: everything is read once and written
 * once. */
double mo_zoo_bytes(const mo_zoo_config *config, const mo_zoo_layer_op *part);

int64_t mo_zoo_weight_bytes(const mo_zoo_config *config,
                            const mo_zoo_layer_op *part);
int64_t mo_zoo_output_bytes(const mo_zoo_config *config,
                            const mo_zoo_layer_op *part);

/* Write the shape of the output, and the attrs as a JSON object or nothing
 * when there are none. network_port is the port of the network's input, or
 * -1. */
void mo_zoo_write_shape(const mo_zoo_config *config,
                        const mo_zoo_layer_op *part, mo_out *out);
void mo_zoo_write_attrs(const mo_zoo_config *config,
                        const mo_zoo_layer_op *part, int network_port,
                        mo_out *out);

#endif
