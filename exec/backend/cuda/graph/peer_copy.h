/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carry.h - values that go from unit to unit without the process touching them.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_PEER_COPY_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_PEER_COPY_H

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* What is needed once for such a value: GPUs that can reach each other's memory
 * do so from now on.  Before streams are captured; another context may be
 * current then. */
mo_status mo_cuda_peer_copy_prepare(const mo_backend_transfer *carry,
                                    mo_error *err);

/* Puts it, or this process's end of it, into a stream of the unit that drives
 * it, whose context is current. */
mo_status mo_cuda_peer_copy_enqueue(const mo_backend_transfer *carry,
                                    CUstream stream, mo_error *err);

/* The unit that drives it: the one that sends, if it is here. */
static inline mo_backend_unit *
mo_cuda_peer_copy_unit(const mo_backend_transfer *carry)
{
    return carry->from_unit ? carry->from_unit : carry->to_unit;
}

/* The backend's carry. */
mo_status mo_cuda_peer_copy(mo_backend_unit *unit,
                            const mo_backend_transfer *carry, mo_error *err);

#endif
