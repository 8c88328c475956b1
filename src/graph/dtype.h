/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - element types: one canonical short name for each.
 */
#ifndef MO_GRAPH_DTYPE_H
#define MO_GRAPH_DTYPE_H

#include <stddef.h>

/* Returns the canonical name of an element type: "FP32", "torch.float32",
 * "float" -> "f32".  Case and white space around it are ignored.  NULL when it
 * is unknown.  The result is a constant text, and equal types give the same
 * pointer. */
const char *mo_dtype_find(const char *name, size_t length);

/* Returns the same as an index, or -1; and the name of an index, NULL for -1.
 */
int mo_dtype_index(const char *name, size_t length);
const char *mo_dtype_name(int index);

/* Returns the size of an element in bits; -1 for a type without a fixed size
 * ("string"), for an unknown one and for NULL.  Fast for the texts that
 * mo_dtype_find returns. */
int mo_dtype_bits(const char *dtype);

#endif
