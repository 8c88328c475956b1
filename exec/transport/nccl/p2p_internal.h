/* SPDX-License-Identifier: Apache-2.0 */
/*
 * p2p_internal.h - state of mo_nccl_p2p, shared by its files.
 */
#ifndef MO_EXEC_TRANSPORT_NCCL_P2P_INTERNAL_H
#define MO_EXEC_TRANSPORT_NCCL_P2P_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "exec/backend/cuda/driver/cuda_api.h"
#include "exec/transport/nccl/p2p.h"
#include "exec/transport/nccl/nccl_api.h"
#include "exec/transport/nccl/comm_layout.h"

typedef struct mo_nccl_comm {
    ncclComm_t comm;   /* NULL: none, or destroyed */
    CUdevice device;   /* its primary context is retained for the lifetime of
                          comm, since units may be closed before */
    CUcontext context; /* NULL: not retained */
} mo_nccl_comm;

enum { MO_NCCL_FLIGHT_RECORDS = 6 };

/* Ring buffer of the last transfers that this rank has started, for error
 * messages. Written by the thread that starts them, read by any. */
typedef struct mo_nccl_flight_recorder {
    pthread_mutex_t lock;
    struct {
        int transfer;
        bool sending;
    } items[MO_NCCL_FLIGHT_RECORDS];
    int n; /* number of records, modulo the size */
} mo_nccl_flight_recorder;

/* Number of communicators that are being aborted, each in a thread of its own:
 * ncclCommAbort may wait until CUDA graphs are destroyed. */
typedef struct mo_nccl_abort_count {
    atomic_int n_pending;
} mo_nccl_abort_count;

struct mo_nccl_p2p {
    mo_nccl_p2p_options options;
    int n_transfers;           /* of the plan, which may be freed before this */
    const mo_nccl_api *api;    /* NULL: this rank carries nothing */
    const mo_cuda_api *driver; /* NULL likewise */
    mo_backend_carrier carrier;
    mo_nccl_comm_layout layout;
    mo_nccl_flight_recorder recorder;
    ncclUniqueId *ids;    /* by communicator */
    mo_nccl_comm *comms;  /* by member */
    void **registered;    /* by transfer: handle of its registered buffer */
    bool *register_tried; /* by transfer: registration was attempted */
    bool register_buffers, eager;
    pthread_mutex_t poll_lock; /* for aborted, error and comms of polls */
    bool aborted;              /* all communicators are aborted */
    mo_error error;
    int64_t time_limit_ns;
    atomic_llong run_started_ns;
    mo_nccl_abort_count *abort_count; /* its threads may outlive the object */
    char unavailable[256];
};

/* communicators.c */

/* Creates all communicators of this process, by ascending id. */
mo_status mo_nccl_comms_create(mo_nccl_p2p *nccl, mo_backend_unit *const *units,
                               mo_error *err);

/* Waits until the pending call on this communicator is complete, the job
 * fails, or the time limit is reached. */
mo_status mo_nccl_comm_wait(mo_nccl_p2p *nccl, int member, mo_error *err);

/* NCCL has returned an error: waits for the cause, then aborts all
 * communicators and returns the error. */
mo_status mo_nccl_comm_handle_error(mo_nccl_p2p *nccl, int member,
                                    ncclResult_t result, mo_error *err);

/* Checks for errors here and on other ranks, and the time limit; on error
 * aborts all communicators. */
mo_status mo_nccl_comms_check(mo_nccl_p2p *nccl, mo_error *err);

/* Aborts all communicators, so that no stream hangs. Returns *why, now and in
 * all later calls. */
mo_status mo_nccl_comms_abort(mo_nccl_p2p *nccl, const mo_error *why,
                              mo_error *err);

void mo_nccl_comms_destroy(mo_nccl_p2p *nccl);

/* p2p.c */

/* Returns the rank at the other end of a pair. */
int mo_nccl_peer_rank(const mo_nccl_p2p *nccl, int pair);

#endif
