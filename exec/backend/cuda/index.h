/*
 * index.h - indices that come with the data.
 *
 * They count from the end when negative.  A kernel on a GPU cannot say that one
 * is out of range, where the CPU's would fail: nothing outside of a tensor is
 * touched, a gather makes zeros of it, a scatter leaves it out.  Indices that
 * never change are looked at before anything runs, and wrong ones refused.
 */
#ifndef MO_EXEC_BACKEND_CUDA_INDEX_H
#define MO_EXEC_BACKEND_CUDA_INDEX_H

#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/backend/cuda/code.h"

/* sizes: index i is within sizes[i % n] elements; n is at least 1.  MO_OK where
 * the indices are not constant. */
mo_status mo_cuda_indices_check(const mo_call_operand *indices,
                                const int64_t *sizes, int n, mo_error *err);

/* Defines long long mo_index(const T *indices, long long i, long long size):
 * index i counted from the front, or -1. */
void mo_code_index(mo_code *code, mo_elem elem);

#endif
