/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - element types: one short name for each, whoever wrote it.
 */
#ifndef MO_INGEST_DTYPE_H
#define MO_INGEST_DTYPE_H

#include <stddef.h>

/* Short names and long ones, "FP32", "torch.float32", "float" -> "f32"; case
 * and white space around it do not matter.  NULL when unknown.  The result is
 * a constant text: two equal types are the same pointer. */
const char *mo_dtype_find(const char *name, size_t length);

/* The size of one element in bits; -1 when it has none ("string") or the type
 * is unknown (NULL, too).  Fast for the texts mo_dtype_find returns. */
int mo_dtype_bits(const char *dtype);

/* The type of the port-th output in a text such as "f32;i64".  A single type
 * stands for every output.  NULL when there is none. */
const char *mo_dtype_at(const char *text, int port);

#endif
