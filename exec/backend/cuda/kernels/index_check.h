/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_check.h - bounds checks of indices that are data.
 *
 * Negative indices count from the end; those of an unsigned type are never
 * negative, so that 2^64 - 1 is out of range. Nothing outside of a tensor is
 * accessed: a gather writes zeros for an index out of range, a scatter skips
 * it. Both report it in mapped host memory, and it becomes an error after the
 * next synchronisation. Constant indices are checked before anything runs.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_INDEX_CHECK_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_INDEX_CHECK_H

#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/* Index i must be within sizes[i % n] elements; n is at least 1. Returns MO_OK
 * where the indices are not constant. */
mo_status mo_cuda_check_constant_indices(const mo_backend_operand *indices,
                                         const int64_t *sizes, int n,
                                         mo_error *err);

/* Emits long long mo_index(const T *indices, long long i, long long size, long
 * long *wrong): returns index i counted from the front, or -1, which it
 * reports in *wrong. */
void mo_cuda_emit_index_check(mo_cuda_source *code, mo_elem elem);

/* Emits code that adds the linear offset of an index tuple (sum of index *
 * stride) to the variable `offset`, or sets it to -1 if an index is out of
 * range. The tuple has n indices, those from number `first` on, which
 * mo_index() checks by these sizes. Declares long long at. */
void mo_cuda_emit_tuple_offset(mo_cuda_source *code, const char *offset,
                               const char *first, const int64_t *sizes,
                               const int64_t *strides, int n);

/* Emits " + i0 * 12 + i2 * 3", the linear offset of the indices of
 * mo_cuda_emit_indices() except that of one axis. */
void mo_cuda_emit_offset_except(mo_cuda_source *code, const int64_t *strides,
                                int rank, int axis);

/* Allocates unit->index_error, an argument of kernels, on the first call;
 * disable frees it. */
mo_status mo_cuda_index_error_enable(mo_backend_unit *unit, mo_error *err);
void mo_cuda_index_error_disable(mo_backend_unit *unit);

/* Returns an error if a completed kernel reported an index out of range, and
 * resets the report. */
mo_status mo_cuda_index_error_check(mo_backend_unit *unit, mo_error *err);

#endif
