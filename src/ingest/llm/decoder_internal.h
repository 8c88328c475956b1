/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder_internal.h - the graph of a phase while it is made, shared by the
 * files of decoder.h.
 */
#ifndef MO_INGEST_LLM_DECODER_INTERNAL_H
#define MO_INGEST_LLM_DECODER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/build.h"
#include "graph/shape.h"
#include "ingest/llm/decoder.h"

enum {
    MO_LLM_RUN_NAME = 160,
    MO_LLM_RUN_INPUTS = 6,
    MO_LLM_RUN_FORMAT = 48,
    MO_LLM_MAX_HEAD = 1 << 10 /* elements */
};

/* Layers attend to all tokens before, or to those in a window. */
enum { MO_LLM_WHOLE, MO_LLM_WINDOW, MO_LLM_N_VIEWS };

/* Slots of what the layers of a view share. */
typedef struct mo_llm_view {
    bool is_made;
    int cosines, sines; /* [tokens, 1, head] */
    int mask;           /* [tokens, context] */
} mo_llm_view;

/* The first failure is kept in status, and nothing is added behind it. */
typedef struct mo_llm_run {
    mo_llm_decoder *decoder;
    const mo_llm_options *options;
    mo_builder *builder;
    int64_t tokens, head; /* head: elements of one */
    int layer;
    /* Slots: positions of the tokens, [tokens] and [tokens, 1, 1]; sign of the
     * sine and number of the partner of an element of a head. */
    int at, rows, signs, partners;
    mo_llm_view views[MO_LLM_N_VIEWS];
    mo_status status;
    mo_error *err;
} mo_llm_run;

/* An op to be added, and the slots of its inputs: their only output, or of the
 * first one that of a port.  Of several outputs, the types are separated by
 * ';', and the shapes are the same. */
typedef struct mo_llm_run_op {
    const char *role; /* of the placed op; NULL: none */
    const char *part; /* of that op; NULL: the op itself */
    const char *type, *attrs;
    const char *dtype; /* NULL: f32 */
    mo_shape shape;
    int in[MO_LLM_RUN_INPUTS], n_in, port;
    int n_out; /* 0: one */
    bool is_constant;
    const char *state;
} mo_llm_run_op;

#define MO_LLM_SHAPE(...)                                                      \
    mo_llm_run_shape(                                                          \
        (int) (sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),          \
        (int64_t[]){ __VA_ARGS__ })

/* decoder_ops.c */

mo_shape mo_llm_run_shape(int rank, const int64_t *dims);

void mo_llm_run_fail(mo_llm_run *m, mo_status status, const char *format, ...)
    MO_PRINTF(3, 4);

/* Writes "blk.7.attn/keys" for role and part, each or NULL. */
void mo_llm_run_name(const mo_llm_run *m, const char *role, const char *part,
                     char name[MO_LLM_RUN_NAME]);

/* All of these return the slot of what they add. */
int mo_llm_run_add(mo_llm_run *m, const mo_llm_run_op *d);

/* An op that makes f32 of one input, or of two: b is not -1. */
int mo_llm_run_add_f32(mo_llm_run *m, const char *role, const char *part,
                       const char *type, mo_shape shape, int a, int b);

int mo_llm_run_add_reshape(mo_llm_run *m, const char *role, const char *part,
                           int x, const char *dtype, mo_shape shape);

/* [1, a, b, c] becomes [1, b, a, c], which is a view where a or b is 1. */
int mo_llm_run_add_swap(mo_llm_run *m, const char *role, const char *part,
                        int x, const char *dtype, const int64_t sizes[3]);

/* Elements of x along an axis; what: all but type and inputs. */
int mo_llm_run_add_gather(mo_llm_run *m, const mo_llm_run_op *what, int x,
                          int at, int axis);

/* Elements begin, ... of the last axis of x, as many as the shape has there. */
int mo_llm_run_add_slice(mo_llm_run *m, const char *role, const char *part,
                         int x, int64_t begin, mo_shape shape);

/* x in f32, rounded to a type if that is f16 or bf16, as llama.cpp rounds what
 * it multiplies by weights and keys of that type; parts: names of the ops. */
int mo_llm_run_add_rounding(mo_llm_run *m, const char *role,
                            const char *const parts[2], int x,
                            const char *dtype, mo_shape shape);

/* The product with the weight of a role, plus its bias; w: that weight. */
int mo_llm_run_add_linear(mo_llm_run *m, const char *role, int x);
int mo_llm_run_add_product(mo_llm_run *m, const char *role, mo_llm_weight *w,
                           int x, int64_t rows);

/* Constants with n numbers, one number, an integer, 0 ... n - 1; one that
 * exists under that name is taken again, but for ranges. */
int mo_llm_run_add_numbers(mo_llm_run *m, const char *part, const char *dtype,
                           int n, const double *numbers);
int mo_llm_run_add_number(mo_llm_run *m, const char *part, const char *dtype,
                          double number);
int mo_llm_run_add_int(mo_llm_run *m, int64_t number);
int mo_llm_run_add_range(mo_llm_run *m, const char *part, int64_t n);

/* Returns the tensor of that name, or of a role and suffix; NULL: none. */
mo_llm_weight *mo_llm_run_find_named(const mo_llm_decoder *d, const char *name);
mo_llm_weight *mo_llm_run_find(const mo_llm_run *m, const char *role,
                               const char *suffix);
/* The weight of a role; without it m fails, and the result is an empty one. */
mo_llm_weight *mo_llm_run_find_weight(mo_llm_run *m, const char *role);

/* The constant of a tensor in the file: [experts, outputs, inputs], [outputs,
 * inputs] or [inputs], rows of quantized ones as bytes. */
int mo_llm_run_add_weight(mo_llm_run *m, mo_llm_weight *w);
/* The same of a tensor that pointwise ops read, which must be f32. */
int mo_llm_run_add_vector(mo_llm_run *m, mo_llm_weight *w);

bool mo_llm_run_is_quantized(const mo_llm_weight *w);
/* Returns the attributes of ops that read it: its format, or NULL. */
const char *mo_llm_run_block_format(const mo_llm_weight *w,
                                    char attrs[MO_LLM_RUN_FORMAT]);

/* An RMS norm with the weight of a role; or x, if there is none. */
int mo_llm_run_add_norm(mo_llm_run *m, const char *role, int x, mo_shape shape);
int mo_llm_run_add_optional_norm(mo_llm_run *m, const char *role, int x,
                                 mo_shape shape);

/* decoder_attention.c */

/* Attention to the cache: [1, tokens, ...] for the product with its output. */
int mo_llm_run_add_attention(mo_llm_run *m, int h);

/* decoder_feed_forward.c */

/* The products of x, a row for each token or for each chosen expert, with their
 * weights of a role, and their biases; chosen: [1, tokens, used]. */
int mo_llm_run_add_experts(mo_llm_run *m, const char *role, int x,
                           mo_shape shape, int chosen, int64_t used);

/* The feed-forward part of a layer, dense or of experts. */
int mo_llm_run_add_feed_forward(mo_llm_run *m, int h);

/* decoder_positions.c */

/* Adds what all views share. */
void mo_llm_run_add_positions(mo_llm_run *m);

/* Returns the view of the layer, which is made for the first one. */
const mo_llm_view *mo_llm_run_find_view(mo_llm_run *m);

/* Turns heads [1, tokens, heads, head] to their positions; parts: names of the
 * ops, the last one of the result. */
int mo_llm_run_rotate(mo_llm_run *m, const mo_llm_view *v, const char *role,
                      const char *const parts[4], int x, mo_shape shape);

#endif
