/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.h - NumPy's .npy format: one tensor per file.
 *
 * Reads format versions 1 to 3, little endian or one byte wide, C or Fortran
 * order, bool, integers, f2, f4, f8. Writes version 1 in C order; bf16, which
 * NumPy lacks, is written as f4.
 */
#ifndef MO_EXEC_TENSOR_NPY_H
#define MO_EXEC_TENSOR_NPY_H

#include <stddef.h>

#include "base/error.h"
#include "base/out.h"
#include "exec/tensor/dense_tensor.h"

/* Read a file, or a buffer; errors name `file`. On success *dense owns
 * its data and the caller frees it with mo_tensor_clear(); on failure *dense
 * is zeroed. */
mo_status mo_npy_read(const char *path, mo_tensor_dense *dense, mo_error *err);
mo_status mo_npy_read_memory(const char *file, const void *data, size_t size,
                             mo_tensor_dense *dense, mo_error *err);

/* Reads type and shape only, whatever the size of the data: of a file, or of a
 * header in memory, whose errors carry no file. */
mo_status mo_npy_read_desc(const char *path, mo_tensor_desc *desc,
                           mo_error *err);

mo_status mo_npy_parse_header(const void *data, size_t size,
                              mo_tensor_desc *desc, mo_error *err);

/* The size of the header that begins with these MO_NPY_FRONT_SIZE bytes; 0:
 * they begin none. */
enum { MO_NPY_FRONT_SIZE = 12 };
size_t mo_npy_header_size(const unsigned char front[MO_NPY_FRONT_SIZE]);

/* Writes the tensor to out; errors stay in out, where the caller checks them.
 */
void mo_npy_write_to(const mo_tensor_dense *dense, mo_out *out);

/* Writes atomically: the file appears whole or not at all. */
mo_status mo_npy_write(const char *path, const mo_tensor_dense *dense,
                       mo_error *err);

#endif
