/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_world.h - the world of MPI ranks, for the files that make it up.
 *
 * The thread that opened the world is the only one that calls MPI.  While
 * devices run it serves: it takes transfers from a queue, starts them, and
 * looks after all that are under way.  Meanwhile a watch (watch.h) sees to it
 * that nobody waits for the dead.
 */
#ifndef MO_EXEC_TRANSPORT_MPI_MPI_INTERNAL_H
#define MO_EXEC_TRANSPORT_MPI_MPI_INTERNAL_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/transport/job.h"
#include "exec/transport/rendezvous/presence.h"
#include "exec/transport/transport.h"

/* Counts of MPI are ints, and nothing is lost by cutting large messages. */
enum { MO_MPI_CHUNK_BYTES = 32 << 20 };

/* A transfer on its way, or a part of it. */
typedef struct mo_mpi_send_queue {
    pthread_mutex_t lock;
    int *transfers; /* begun by devices, not yet by MPI */
    atomic_int n;
} mo_mpi_send_queue;

struct mo_transport_world {
    mo_transport_job ranks; /* first: the watch knows the world by it */
    mo_rdv_presence *roll;
    mo_rdv_launcher launcher;
    MPI_Comm data, control;

    mo_mpi_send_queue queue;
    int *taken;       /* room for as many */
    int *pieces_left; /* by transfer */
    MPI_Request *requests;
    int *transfer_of; /* by request */
    int n_requests;
    int *finished; /* room for as many */

    atomic_bool gate_full; /* all devices of this rank have arrived */
    bool gate_busy;
    MPI_Request gate_request;
    int gate_vote, gate_verdict;
};

/* Turns what MPI returns into an error. */
mo_status mo_mpi_check(int code, const char *doing, mo_error *err);

/* mpi_serve.c */
mo_status mo_mpi_enqueue_transfer(mo_transport_world *world, int transfer,
                                  mo_error *err);
mo_status mo_mpi_progress_loop(mo_transport_world *world, int n_threads,
                               mo_error *err);

/* Waits a little, the longer the more has been waited since idle_ns: a wait
 * gets longer by an eighth or 20 us, and the processor is others' meanwhile.
 * Within look_ns it does not sleep. */
void mo_mpi_backoff_wait(mo_transport_world *world, int64_t idle_ns,
                         int64_t look_ns, mo_eventcount_predicate *ready,
                         void *context);

/* mpi_talk.c: what ranks tell each other between runs. */

/* Until the request is done, or somebody has failed; or the peer it depends on
 * (-1: everybody) has left. */
mo_status mo_mpi_request_wait(mo_transport_world *world, MPI_Request *request,
                              int peer, mo_error *err);
mo_status mo_mpi_broadcast(mo_transport_world *world, void *data, size_t bytes,
                           mo_error *err);
mo_status mo_mpi_collect_to_root(mo_transport_world *world, int from,
                                 void *data, size_t bytes, mo_error *err);

/* mpi_begin.c */
mo_status mo_mpi_plan_begin(mo_transport_world *world, const mo_exec_plan *plan,
                            const int *rank_of, int n_threads, uint64_t digest,
                            mo_error *err);
void mo_mpi_plan_clear(mo_transport_world *world);

#endif
