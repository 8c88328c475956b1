/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partition_green.h - the inside of partition.h: the green contexts of a
 * division.  In a build with headers of CUDA before 12.5 there are none to be
 * had.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_GREEN_CONTEXT_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_GREEN_CONTEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

typedef struct mo_cuda_green_contexts {
    struct CUgreenCtx_st **parts;
    int n;
    struct CUgreenCtx_st *rest; /* NULL: nothing is left over */
} mo_cuda_green_contexts;

/* Begins as zeros, and is the caller's to clear whatever the result. */
mo_status mo_cuda_green_contexts_create(const mo_backend_unit *unit,
                                        const int *parts, int n,
                                        mo_cuda_green_contexts *green,
                                        mo_error *err);
void mo_cuda_green_contexts_clear(const mo_cuda_api *api,
                                  mo_cuda_green_contexts *green);

/* In a part, or left over where there is a rest. */
mo_status mo_cuda_green_contexts_stream_create(
    const mo_cuda_api *api, const mo_cuda_green_contexts *green, int part,
    bool left_over, CUstream *stream, mo_error *err);

/* "parts of 64,32,16,8 SMs", or "a whole" for none. */
enum { MO_CUDA_SM_PARTS_TEXT_SIZE = 160 };
const char *mo_cuda_sm_parts_format(const int *parts, int n,
                                    char text[MO_CUDA_SM_PARTS_TEXT_SIZE]);

#endif
