/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_parts.h - the inside of nccl.h.
 */
#ifndef MO_EXEC_TRANSPORT_NCCL_P2P_INTERNAL_H
#define MO_EXEC_TRANSPORT_NCCL_P2P_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>

#include "exec/backend/cuda/driver/cuda_api.h"
#include "exec/transport/nccl/p2p.h"
#include "exec/transport/nccl/nccl_api.h"
#include "exec/transport/nccl/comm_layout.h"
#include "exec/transport/nccl/flight_recorder.h"

typedef struct mo_nccl_comm {
    ncclComm_t comm;   /* NULL: there is none, or none any more */
    CUdevice device;   /* whose primary context is kept as long as this is, for
                          units may be closed before */
    CUcontext context; /* NULL: it is not kept */
} mo_nccl_comm;

/* Communicators that are being aborted, each by a thread of its own: NCCL may
 * wait for programs to be forgotten while it does so. */
typedef struct mo_nccl_abort_count {
    atomic_int under_way;
} mo_nccl_abort_count;

struct mo_nccl_p2p {
    mo_nccl_p2p_options options;
    int n_transfers;           /* of the plan, which may go before this */
    const mo_nccl_api *api;    /* NULL: nothing is carried by this rank */
    const mo_cuda_api *driver; /* the same */
    mo_backend_carrier carrier;
    mo_nccl_comm_layout lines;
    mo_nccl_flight_recorder ring;
    ncclUniqueId *ids;   /* by communicator */
    mo_nccl_comm *comms; /* by seat */
    void **registered;   /* by transfer: what NCCL knows its memory by */
    bool *was_tried;     /* by transfer: whether it wants to */
    bool registers, eager;
    bool given_up; /* all are aborted */
    mo_error error;
    int64_t patience_ns;
    atomic_llong run_began_ns;
    mo_nccl_abort_count *aborts; /* its threads may outlive all else */
    char why_not[256];
};

/* ---- communicators: nccl_comms.c */

/* All of this process, in the order of their numbers. */
mo_status mo_nccl_comms_create(mo_nccl_p2p *nccl, mo_backend_unit *const *units,
                               mo_error *err);

/* Until NCCL is done with what it was told, the job fails, or time is up. */
mo_status mo_nccl_comm_wait(mo_nccl_p2p *nccl, int seat, mo_error *err);

/* NCCL has answered with an error: why is found out, and all are given up. */
mo_status mo_nccl_comm_handle_error(mo_nccl_p2p *nccl, int seat,
                                    ncclResult_t result, mo_error *err);

/* Has something gone wrong here or elsewhere?  Then all are given up. */
mo_status mo_nccl_comms_check(mo_nccl_p2p *nccl, mo_error *err);

/* Nothing hangs any more; why is what everybody is told from now on. */
mo_status mo_nccl_comms_abort(mo_nccl_p2p *nccl, const mo_error *why,
                              mo_error *err);

void mo_nccl_comms_destroy(mo_nccl_p2p *nccl);

/* ---- the carrier: nccl_carrier.c */

void mo_nccl_carrier_init(mo_nccl_p2p *nccl);

/* The rank at the other end of a line. */
int mo_nccl_peer_rank(const mo_nccl_p2p *nccl, int line);

#endif
