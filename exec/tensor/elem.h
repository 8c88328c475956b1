/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elem.h - element types (dtypes) of tensors.
 *
 * Graphs name types by text (graph/dtype.h); the executor switches over this
 * enumeration.
 */
#ifndef MO_EXEC_TENSOR_ELEM_H
#define MO_EXEC_TENSOR_ELEM_H

#include <stdbool.h>
#include <stddef.h>

typedef enum mo_elem {
    MO_ELEM_F32,
    MO_ELEM_F64,
    MO_ELEM_F16,
    MO_ELEM_BF16,
    MO_ELEM_I64,
    MO_ELEM_I32,
    MO_ELEM_I16,
    MO_ELEM_I8,
    MO_ELEM_U64,
    MO_ELEM_U32,
    MO_ELEM_U16,
    MO_ELEM_U8,
    MO_ELEM_BOOL, /* one byte: 0 or 1 */
    MO_ELEM_COUNT
} mo_elem;

/* Finds the type that a graph calls dtype (NULL allowed). Returns false when
 * the executor has no such type. */
bool mo_elem_from_name(const char *dtype, mo_elem *elem);

/* Returns the name ("f32"), a static text the caller must not free. */
const char *mo_elem_name(mo_elem elem);

/* Returns the size of an element in bytes. */
size_t mo_elem_size(mo_elem elem);

/* Returns true for f16, bf16, f32 and f64. */
bool mo_elem_is_float(mo_elem elem);

#endif
