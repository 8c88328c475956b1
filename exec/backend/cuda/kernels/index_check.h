/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.h - indices that come with the data.
 *
 * They count from the end when negative, and whatever they are, nothing outside
 * of a tensor is touched: a gather makes zeros of what is out of range, a
 * scatter leaves it out.  Either says so in memory of the process; it is an
 * error when all that was run has been waited for.  Indices that never change
 * are looked at before anything runs.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_INDEX_CHECK_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_INDEX_CHECK_H

#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/* sizes: index i is within sizes[i % n] elements; n is at least 1.  MO_OK where
 * the indices are not constant. */
mo_status mo_cuda_check_constant_indices(const mo_backend_operand *indices,
                                         const int64_t *sizes, int n,
                                         mo_error *err);

/* Defines long long mo_index(const T *indices, long long i, long long size,
 * long long *wrong): index i counted from the front, or -1, which is told to
 * wrong. */
void mo_cuda_emit_index_check(mo_cuda_source *code, mo_elem elem);

/* Sees to it that there is a unit->index_error: the argument of kernels. */
mo_status mo_cuda_index_error_enable(mo_backend_unit *unit, mo_error *err);
void mo_cuda_index_error_disable(mo_backend_unit *unit);

/* Was an index out of range in what has been waited for?  Forgets it. */
mo_status mo_cuda_index_error_check(mo_backend_unit *unit, mo_error *err);

#endif
