/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_copy.h - transfers between units without a copy through the host:
 * device to device, peer to peer, or by a carrier such as NCCL.
 */
#ifndef MO_EXEC_BACKEND_CUDA_GRAPH_PEER_COPY_H
#define MO_EXEC_BACKEND_CUDA_GRAPH_PEER_COPY_H

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Enables peer access and prepares link emulation for a transfer. Called
 * before streams are captured; leaves any context current. */
mo_status mo_cuda_peer_copy_prepare(const mo_backend_transfer *transfer,
                                    mo_error *err);

/* Enqueues the transfer, or this process's end of it, on a stream of
 * mo_cuda_peer_copy_unit(), whose context is current. */
mo_status mo_cuda_peer_copy_enqueue(const mo_backend_transfer *transfer,
                                    CUstream stream, mo_error *err);

/* Returns the unit whose stream runs the transfer: the sender, if it is in
 * this process. */
static inline mo_backend_unit *
mo_cuda_peer_copy_unit(const mo_backend_transfer *transfer)
{
    return transfer->from_unit ? transfer->from_unit : transfer->to_unit;
}

/* The member transfer of mo_backend: a transfer ordered behind both units'
 * streams. Makes unit's context current again. */
mo_status mo_cuda_peer_copy(mo_backend_unit *unit,
                            const mo_backend_transfer *transfer, mo_error *err);

#endif
