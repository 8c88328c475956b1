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
#include "exec/transport/transport.h"
#include "exec/transport/failure_detector.h"

/* Adds detail to an error of the failure detector; called from its thread. */
typedef void mo_transport_job_error_context_fn(void *context, mo_error *why);

typedef struct mo_transport_job {
    mo_transport_process process;
    mo_failure_detector *detector;
    pthread_t opener;
    double peer_timeout_s;
    int rank, n_ranks;
    mo_rdv_endpoint *endpoints; /* by rank; owned */

    mo_transport_job_error_context_fn *_Atomic add_context; /* or NULL */
    void *add_context_arg;

    const mo_exec_plan *plan; /* from begin on; borrowed from the caller */
    int *rank_of;             /* by device; an owned copy */
    int64_t clock_offset_ns;
} mo_transport_job;

/* Starts from zeros; on failure, too, mo_transport_job_destroy() frees all. */
mo_status mo_transport_job_init(mo_transport_job *job,
                                const mo_transport_world_options *options,
                                mo_error *err);
void mo_transport_job_destroy(mo_transport_job *job);

/* Starts the failure detector; the other ranks have to be connected within so
 * many seconds, or missing() fills the error. options may be NULL. */
mo_status mo_transport_job_start_detector(
    mo_transport_job *job, const mo_transport_world_options *options,
    double seconds, void (*describe_missing)(void *job, mo_error *why),
    mo_error *err);

/* Hands the connections to all other ranks to the failure detector, which owns
 * and closes them; closes them itself on failure. endpoints is set before. */
mo_status mo_transport_job_set_connections(mo_transport_job *job,
                                           const int *sockets, mo_error *err);

/* explain is called from here on for errors of the failure detector. */
void mo_transport_job_set_error_context(
    mo_transport_job *job, mo_transport_job_error_context_fn *add_context,
    void *context);

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

/* Returns the error that rank other has another plan than rank 0; other is the
 * first such rank. */
mo_status mo_transport_job_plan_mismatch(const mo_transport_job *job, int other,
                                         mo_error *err);

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
