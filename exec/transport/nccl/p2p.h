/* SPDX-License-Identifier: Apache-2.0 */
/*
 * p2p.h - point-to-point transfers by NCCL between GPUs of different
 * processes.
 *
 * One thread of a process drives all its GPUs and calls the carrier, or
 * several that poll it; the creating thread frees the object when they have
 * ended. Sends and receives are enqueued on streams in the order of the plan,
 * the same on all ranks: NCCL matches them by nothing else. With several
 * requests in flight each slot has communicators of its own, so that no order
 * between slots is needed.
 *
 * No call waits for a dead rank: communicators are nonblocking, and every wait
 * also checks whether the job has failed. Then all communicators of the
 * process are aborted, which ends what was enqueued on streams.
 *
 * MOIRAI_NCCL_SAFE=1: one communicator for all GPUs. MOIRAI_NCCL_EAGER=1: no
 * CUDA graphs. MOIRAI_NCCL_REGISTER=1: buffers are registered with NCCL.
 * MOIRAI_NCCL_PATIENCE: seconds a run may take while all ranks are alive, 600
 * by default. MOIRAI_NCCL_PIPELINE=1: NCCL also with several requests in
 * flight; otherwise they go through the memory of the processes.
 */
#ifndef MO_EXEC_TRANSPORT_NCCL_P2P_H
#define MO_EXEC_TRANSPORT_NCCL_P2P_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/plan/ir/plan.h"

typedef struct mo_nccl_p2p mo_nccl_p2p;

typedef struct mo_nccl_p2p_options {
    const mo_exec_plan *plan; /* outlives the object */
    const int *rank_of;       /* by device; outlives the object */
    const bool
        *is_gpu; /* by device; need be right for those of this rank only */
    int rank, n_ranks;
    /* Allgather: every rank passes so many bytes in own and receives those of
     * all, by rank, in all. Called by the creating thread. */
    mo_status (*allgather)(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err);
    /* Returns the error of the job; MO_OK: none. From any thread. */
    mo_status (*failure)(void *context, mo_error *err);
    void *context;
} mo_nccl_p2p_options;

/* Collective over all ranks. Where there is nothing to carry, or a rank lacks
 * NCCL, it is no error: the object carries nothing. The caller frees *nccl
 * with mo_nccl_p2p_free(). */
mo_status mo_nccl_p2p_new(const mo_nccl_p2p_options *options,
                          mo_nccl_p2p **nccl, mo_error *err);
/* Collective over all ranks, unless the job has failed. NULL is allowed. */
void mo_nccl_p2p_free(mo_nccl_p2p *nccl);

/* Returns the carrier, borrowed; NULL: NCCL does not do this transfer. */
const mo_backend_carrier *mo_nccl_p2p_carrier(const mo_nccl_p2p *nccl,
                                              int transfer);

/* Returns the number of transfers that NCCL carries, of this rank or others;
 * and the reason for none though there are GPUs of several ranks, or NULL. */
int mo_nccl_p2p_n_transfers(const mo_nccl_p2p *nccl);
const char *mo_nccl_p2p_unavailable_reason(const mo_nccl_p2p *nccl);

/* Restarts the time limit, at the begin of a run. */
void mo_nccl_p2p_start_run(mo_nccl_p2p *nccl);

/* Appends the last transfers of this rank to *err; from any thread. */
void mo_nccl_p2p_add_error_context(mo_nccl_p2p *nccl, mo_error *err);

#endif
