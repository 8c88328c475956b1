/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_types.h - typed outputs of an op: their shapes and element types.
 *
 * mo_op.shape and mo_op.dtype are the texts as read, one item per output
 * ("1,64;1,32"); files, digests and messages use them.  mo_builder_finish
 * parses every text once, and all other code reads the result here.  An item
 * that is not a static shape, or not an element type, is unknown.
 */
#ifndef MO_GRAPH_OUTPUT_TYPES_H
#define MO_GRAPH_OUTPUT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "graph/graph.h"
#include "graph/shape.h"

/* The shapes of a text, in arrays of their own: most ops have one output. */
struct mo_shape_list {
    int n;
    const int8_t *ranks;    /* -1: unknown */
    const uint32_t *starts; /* the first dimension of each in dims */
    const int64_t *dims;
};

/* The element types of a text. */
struct mo_dtype_list {
    int n;
    const int8_t *indices; /* for mo_dtype_name; -1: unknown */
};

/* Parse a text into memory of the arena, which the result borrows from; NULL
 * when memory is exhausted. */
const mo_shape_list *mo_shape_list_parse(const char *text, mo_arena *arena);
const mo_dtype_list *mo_dtype_list_parse(const char *text, mo_arena *arena);

/* Copies shape i of the list; returns false when the list is NULL or shorter,
 * or that shape is unknown. */
bool mo_shape_list_get(const mo_shape_list *list, int i, mo_shape *shape);

/* Returns element type i of the list: one of the constant texts of dtype.h, or
 * NULL.  A list of one type applies to every output. */
const char *mo_dtype_list_get(const mo_dtype_list *list, int i);

/* Executions and cost models use no more outputs of an op than these. */
enum { MO_MAX_OUTPUTS = 1024 };

/* Returns the number of outputs that op has a shape for, known or not, up to
 * MO_MAX_OUTPUTS. */
int mo_op_n_outputs(const mo_op *op);

/* The same as the functions above for output i < MO_MAX_OUTPUTS of op. */
bool mo_op_shape(const mo_op *op, int i, mo_shape *shape);
const char *mo_op_dtype(const mo_op *op, int i);

/* Items of such a text as written, to compose new texts.  A text may come from
 * a file and be of any length, and be searched once per edge; so only a bounded
 * part of it is ever read: items beyond these limits are not found. */
enum { MO_TEXT_LIST_MAX_ITEMS = 1024, MO_TEXT_LIST_MAX_BYTES = 1 << 16 };

/* Returns item number index of text, a borrowed pointer into it, and sets
 * *length to its bytes; NULL when there are fewer or text is NULL. */
const char *mo_text_list_at(const char *text, int index, size_t *length);

/* Returns the number of items, at most MO_TEXT_LIST_MAX_ITEMS: 0 for NULL, 1
 * for "". */
int mo_text_list_count(const char *text);

#endif
