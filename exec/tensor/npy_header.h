/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_header.h - what stands in front of the numbers in numpy's files.
 */
#ifndef MO_EXEC_TENSOR_NPY_HEADER_H
#define MO_EXEC_TENSOR_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/out.h"
#include "exec/tensor/dense_tensor.h"

typedef struct mo_npy_header {
    mo_tensor_desc desc;
    bool columns_first; /* Fortran's order */
    size_t data;        /* where the numbers begin */
} mo_npy_header;

/* Errors have no place yet: the file is the caller's to name. */
mo_status mo_npy_header_read(const void *data, size_t size,
                             mo_npy_header *header, mo_error *err);

/* Rows first, and for what numpy has a type for. */
void mo_npy_header_write(const mo_tensor_desc *desc, mo_out *out);

#endif
