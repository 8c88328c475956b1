/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elem.h - element types as programs hold them.
 *
 * Graphs name types by texts (ingest/dtype.h); what runs switches over numbers.
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
    MO_ELEM_BOOL, /* a byte: 0 or 1 */
    MO_ELEM_COUNT
} mo_elem;

/* The type a graph calls dtype; false when nothing can be run in it. */
bool mo_elem_from_name(const char *dtype, mo_elem *elem);

const char *mo_elem_name(mo_elem elem); /* "f32" */
size_t mo_elem_size(mo_elem elem);

/* f16, bf16, f32, f64. */
bool mo_elem_is_float(mo_elem elem);

#endif
