/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h - values that NCCL carries between GPUs of different processes.
 *
 * One thread of a process drives all its GPUs and calls the carrier; the thread
 * that made this frees it, when that one has ended.  Sends and receives are put
 * into streams in the order of the plan, the same everywhere: NCCL matches them
 * by nothing else.
 *
 * Nothing here waits for the dead: communicators do not block, and whoever
 * waits for one also asks whether the job has failed.  Then all communicators
 * of the process are aborted, and what was put into streams ends.
 *
 * MOIRAI_NCCL_SAFE=1: one communicator for all GPUs.  MOIRAI_NCCL_EAGER=1: not
 * in programs.  MOIRAI_NCCL_REGISTER=1: NCCL is told of the memory that is sent
 * and received.  MOIRAI_NCCL_PATIENCE: seconds a run may take while all ranks
 * are alive, 600 unless given.
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
    const mo_exec_plan *plan; /* outlives it */
    const int *rank_of;       /* by device */
    const bool *is_gpu; /* by device; only of those here it must be right */
    int rank, n_ranks;
    /* Every rank gives so many bytes and gets those of all, by rank; called by
     * who makes it. */
    mo_status (*share)(void *context, const void *own, void *all, size_t bytes,
                       mo_error *err);
    /* Why the job has failed; MO_OK: it has not.  From any thread. */
    mo_status (*failure)(void *context, mo_error *err);
    void *context;
} mo_nccl_p2p_options;

/* All ranks make one together.  Where there is nothing to carry, or somebody
 * lacks NCCL, that is no error: it carries nothing. */
mo_status mo_nccl_p2p_new(const mo_nccl_p2p_options *options,
                          mo_nccl_p2p **nccl, mo_error *err);
/* Of the others who do the same, if nothing has failed. */
void mo_nccl_p2p_free(mo_nccl_p2p *nccl);

/* NULL: it does not carry this transfer. */
const mo_backend_carrier *mo_nccl_p2p_carrier(const mo_nccl_p2p *nccl,
                                              int transfer);

/* How many transfers it carries, of this rank or others; and why none though
 * there are GPUs of several ranks, or NULL. */
int mo_nccl_p2p_n_transfers(const mo_nccl_p2p *nccl);
const char *mo_nccl_p2p_unavailable_reason(const mo_nccl_p2p *nccl);

/* A run begins: it has so much time. */
void mo_nccl_p2p_start_run(mo_nccl_p2p *nccl);

/* Adds what this rank waits for to an error; from any thread. */
void mo_nccl_p2p_add_error_context(mo_nccl_p2p *nccl, mo_error *err);

#endif
