/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnn.h - NVIDIA's cuDNN: the handle of a unit.
 *
 * Its ways are found by mo_cuda_cudnn_algos (way.h).  In a build without its
 * header all of this is there and does nothing.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CUDNN_HANDLE_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CUDNN_HANDLE_H

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* *dnn is NULL where the library is not there.  The library itself, which is
 * large, is only started by the first convolution. */
mo_status mo_cuda_cudnn_open(mo_backend_unit *unit, mo_cuda_cudnn **dnn,
                             mo_error *err);
void mo_cuda_cudnn_close(mo_backend_unit *unit, mo_cuda_cudnn *dnn);

#endif
