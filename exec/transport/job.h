/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - one process among the ranks of a job: what every transport between
 * processes keeps and does, however values travel.
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

/* Adds to what the watch has found, from its thread. */
typedef void mo_transport_job_error_context_fn(void *context, mo_error *why);

typedef struct mo_transport_job {
    mo_transport_process inside;
    mo_failure_detector *watch;
    pthread_t opener;
    double patience_s;
    int rank, n_ranks;
    mo_rdv_endpoint *cards; /* by rank */

    mo_transport_job_error_context_fn *_Atomic explain; /* or NULL */
    void *explainer;

    const mo_exec_plan *plan; /* from begin on */
    int *rank_of;             /* by device */
    int64_t clock_offset_ns;
} mo_transport_job;

/* To be destroyed in any case. */
mo_status mo_transport_job_init(mo_transport_job *ranks,
                                const mo_transport_world_options *options,
                                mo_error *err);
void mo_transport_job_destroy(mo_transport_job *ranks);

/* Begins to watch; the others must be there within seconds, or missing says
 * who is not. */
mo_status mo_transport_job_start_detector(
    mo_transport_job *ranks, const mo_transport_world_options *options,
    double seconds, void (*missing)(void *ranks, mo_error *why), mo_error *err);

/* Connections to all others are there, which the watch owns from here on; cards
 * are, too. */
mo_status mo_transport_job_set_connections(mo_transport_job *ranks,
                                           const int *sockets, mo_error *err);

/* From here on. */
void mo_transport_job_set_error_context(
    mo_transport_job *ranks, mo_transport_job_error_context_fn *explain,
    void *context);

/* As the transport's. */
void mo_transport_job_fail(mo_transport_job *ranks, const mo_error *why);

/* When opening has failed. */
void mo_transport_job_abort_open(mo_transport_job *ranks, const mo_error *why);

/* Says good-bye and returns when all others have; false after a failure, of
 * which somebody else speaks. */
bool mo_transport_job_finish(mo_transport_job *ranks);

/* Looks at the plan, keeps it, and opens the inside for it. */
mo_status mo_transport_job_begin(mo_transport_job *ranks,
                                 const mo_exec_plan *plan, const int *rank_of,
                                 int n_threads, mo_error *err);
void mo_transport_job_clear_plan(mo_transport_job *ranks);

/* other: the first rank whose plan is not that of rank 0. */
mo_status mo_transport_job_plan_mismatch(const mo_transport_job *ranks,
                                         int other, mo_error *err);

/* A number there and back: whoever is first asks with any, and has the other's
 * clock (mo_stop_clock_ns) at the end. */
typedef mo_status mo_transport_job_ping_fn(mo_transport_world *world, int peer,
                                           bool first, int64_t *number,
                                           mo_error *err);

/* How far our clock is from that of rank 0; called by all. */
mo_status mo_transport_job_sync_clocks(mo_transport_job *ranks,
                                       mo_transport_job_ping_fn *swap,
                                       mo_transport_world *world,
                                       mo_error *err);

#endif
