/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.h - numpy's files: one tensor each.
 *
 * Read: format versions 1 to 3, little endian or one byte wide, rows first or
 * columns first, bool, integers, f2, f4, f8.  Written: version 1, rows first;
 * bf16, which numpy has not, becomes f4.
 */
#ifndef MO_EXEC_TENSOR_NPY_H
#define MO_EXEC_TENSOR_NPY_H

#include <stddef.h>

#include "base/error.h"
#include "base/out.h"
#include "exec/tensor/dense_tensor.h"

/* dense is the caller's to clear. */
mo_status mo_npy_read(const char *path, mo_tensor_dense *dense, mo_error *err);
mo_status mo_npy_read_memory(const char *file, const void *data, size_t size,
                             mo_tensor_dense *dense, mo_error *err);

void mo_npy_write_to(const mo_tensor_dense *dense, mo_out *out);

/* The file appears whole or not at all. */
mo_status mo_npy_write(const char *path, const mo_tensor_dense *dense,
                       mo_error *err);

#endif
