/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - state of one process among the ranks of a job: common to all
 * transports between processes (tcp, nccl, mpi).
 *
 * Only the opening thread calls these functions, except where stated.
 */
#ifndef MO_EXEC_TRANSPORT_JOB_H
#define MO_EXEC_TRANSPORT_JOB_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/transport/process.h"
#include "exec/transport/rendezvous/mesh.h"
#include "exec/transport/shm/shm.h"
#include "exec/transport/transport.h"

/* Adds detail to an error of the failure detector; called from its thread. */
typedef void mo_transport_job_error_context_fn(void *context, mo_error *why);

typedef struct mo_transport_job {
    mo_transport_process process;
    struct mo_failure_detector *detector; /* failure_detector.h */
    pthread_t opener;
    bool tolerates_losses;
    double peer_timeout_s, join_timeout_s;
    int rank, n_ranks;
    mo_rdv_endpoint *endpoints; /* by rank; owned */
    int *origins;           /* by rank: its number before any was lost; owned */
    atomic_llong failed_ns; /* when the first error was detected */
    atomic_bool errs;       /* the first error is of this rank itself */

    mo_transport_job_error_context_fn *_Atomic add_context; /* or NULL */
    void *add_context_arg;

    const mo_exec_plan *plan; /* from begin on; borrowed from the caller */
    int *rank_of;             /* by device; an owned copy */
    mo_shm *shm;     /* transfers with ranks of this host; owned, or NULL */
    bool *is_shared; /* by transfer of the last plan: shm carries it; owned */
    int64_t clock_offset_ns;
} mo_transport_job;

/* Returns the number that a rank had before any was lost. */
static inline int mo_transport_job_origin(const mo_transport_job *job, int rank)
{
    return job->origins ? job->origins[rank] : rank;
}

/* Starts from zeros; on failure, too, mo_transport_job_destroy() frees all. */
mo_status mo_transport_job_init(mo_transport_job *job,
                                const mo_transport_world_options *options,
                                mo_error *err);
void mo_transport_job_destroy(mo_transport_job *job);

/* Starts the failure detector; the other ranks have to be connected within so
 * many seconds, or describe_missing() fills the error. options may be NULL. */
mo_status mo_transport_job_start_detector(
    mo_transport_job *job, const mo_transport_world_options *options,
    double seconds, void (*describe_missing)(void *job, mo_error *why),
    mo_error *err);

/* Hands the connections to all other ranks to the failure detector, which owns
 * and closes them; closes them itself on failure. endpoints is set before. */
mo_status mo_transport_job_set_connections(mo_transport_job *job,
                                           mo_secure_channel *const *channels,
                                           mo_error *err);

/* add_context is called from here on for errors of the failure detector. */
void mo_transport_job_set_error_context(
    mo_transport_job *job, mo_transport_job_error_context_fn *add_context,
    void *context);

/* An error in what rank peer does, which is lost where that is tolerated; else
 * as mo_transport_job_fail(). From any thread. */
void mo_transport_job_fail_peer(mo_transport_job *job, int peer,
                                const mo_error *why);

/* mo_transport.loss() */
bool mo_transport_job_loss(mo_transport_job *job, mo_transport_loss *loss);

/* mo_transport.fail(): stores, broadcasts; the first error counts. From any
 * thread. */
void mo_transport_job_fail(mo_transport_job *job, const mo_error *why);

/* The same when opening has failed; why NULL: unknown. */
void mo_transport_job_abort_open(mo_transport_job *job, const mo_error *why);

/* Returns true when all ranks have sent DONE; false after a failure, which the
 * command reports. */
bool mo_transport_job_finish(mo_transport_job *job);

/* Checks rank_of, stores the plan, and starts the in-process part for it. */
mo_status mo_transport_job_begin(mo_transport_job *job,
                                 const mo_exec_plan *plan, const int *rank_of,
                                 int n_threads, mo_error *err);

/* Shares memory with the ranks of this host (shm.h), once all are known to
 * have the same plan. Collective, as allgather. */
mo_status mo_transport_job_share_memory(mo_transport_job *job,
                                        mo_shm_allgather_fn *allgather,
                                        void *context, mo_error *err);

/* Post a transfer at one end; return whether that is all: its ends are both in
 * this process, or shared memory carries it. If not, the transport does the
 * transfer. From any thread that runs a device. */
bool mo_transport_job_send(mo_transport_job *job, int transfer,
                           const void *data);
bool mo_transport_job_receive(mo_transport_job *job, int transfer, void *data);

/* Returns MO_OK when the transfer is complete at this end, or the stored
 * error. */
mo_status mo_transport_job_wait(mo_transport_job *job, int transfer,
                                bool sending, mo_error *err);

/* Called by the last thread of this process to arrive at the barrier. Where
 * all ranks share memory: waits for them, releases the threads of this process
 * and sets *released. */
mo_status mo_transport_job_barrier(mo_transport_job *job, bool *released,
                                   mo_error *err);

/* mo_transport_process_end(), and frees the shared memory. */
mo_status mo_transport_job_end(mo_transport_job *job, mo_error *err);

/* Returns the path of a transfer of the last plan: "local", "shm", or other
 * where its ends are on ranks that share no memory. */
const char *mo_transport_job_path(const mo_transport_job *job, int transfer,
                                  const char *other);

/* Returns the error that rank other has another plan than rank 0; other is the
 * first such rank. */
mo_status mo_transport_job_plan_mismatch(const mo_transport_job *job, int other,
                                         mo_error *err);

/* Completes the error of a decoder (rendezvous/decode.h) for a message of rank
 * from: "rank 3 (host tau) sends ...". Returns status. */
mo_status mo_transport_job_check_sent(const mo_transport_job *job, int from,
                                      mo_status status, mo_error *err);

/* One round trip of a number: the rank with first sends any number and
 * receives the clock (mo_stop_clock_ns) of the other. */
typedef mo_status mo_transport_job_ping_fn(void *context, int peer, bool first,
                                           int64_t *number, mo_error *err);

/* Sets clock_offset_ns, the difference to the clock of rank 0; called by all
 * ranks. Ranks on the machine of rank 0 share its clock. */
mo_status mo_transport_job_sync_clocks(mo_transport_job *job,
                                       mo_transport_job_ping_fn *ping,
                                       void *context, mo_error *err);

#endif
