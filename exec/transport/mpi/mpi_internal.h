/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_internal.h - state of the MPI transport, shared by its files.
 *
 * While devices run, the opening thread is the progress thread: it takes
 * posted transfers from a queue, starts them as nonblocking requests, and tests
 * all pending ones. It may have no processor while a device computes. So the
 * thread that posts a transfer starts it at once where MPI permits that
 * (MPI_THREAD_SERIALIZED) and no other thread is in MPI; and values of a
 * moderate size are sent in chunks that MPI sends eagerly, without a handshake
 * that the sender had to answer.
 * Meanwhile the failure detector (failure_detector.h) ends every wait for a
 * dead rank.
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
#include "exec/transport/rendezvous/launcher.h"
#include "exec/transport/transport.h"

/* MPI counts are ints: larger transfers are cut into chunks, at no cost. An
 * eager chunk is below the limits of common MPIs, 4 KiB with their header. */
enum {
    MO_MPI_CHUNK_BYTES = 32 << 20,
    MO_MPI_EAGER_CHUNK_BYTES = 3968,
    MO_MPI_EAGER_BYTES = 256 << 10 /* largest transfer in such chunks */
};

/* Transfers that devices have posted. */
typedef struct mo_mpi_transfer_queue {
    pthread_mutex_t lock;
    int *transfers; /* posted, no request started yet */
    atomic_int n;
} mo_mpi_transfer_queue;

typedef struct mo_mpi_world {
    mo_transport_job job; /* first member: the failure detector's context is
                             cast to the world */
    mo_rdv_launcher launcher;
    int presence; /* socket by which others see this rank; -1: none (mpi.c) */
    MPI_Comm data, control;

    mo_mpi_transfer_queue queue;
    bool posts_inline;      /* any thread may call MPI, one at a time */
    pthread_mutex_t lock;   /* in a run: held by the thread that calls MPI; for
                               the members up to barrier_full */
    atomic_bool has_posted; /* a posting thread left pending requests */
    int *taken;             /* taken from the queue; as large */
    int *chunks_left;       /* by transfer */
    MPI_Request *requests;
    int *transfer_of; /* by request */
    int n_requests;
    int *finished; /* indices of finished requests; as large */

    atomic_bool barrier_full; /* all devices of this rank have arrived */
    bool barrier_pending;
    MPI_Request barrier_request;
    int barrier_vote, barrier_verdict;
} mo_mpi_world;

/* The state behind the handle of the transport interface. */
static inline mo_mpi_world *mo_mpi_world_of(mo_transport_world *world)
{
    return (mo_mpi_world *) world;
}

/* Returns MO_OK, or the error with MPI's text for the code. */
mo_status mo_mpi_check(int code, const char *doing, mo_error *err);

/* progress.c */

/* Bytes of the chunks of a transfer, but for the last. */
int64_t mo_mpi_chunk_bytes(int64_t transfer_bytes);

/* Posts a transfer; from any thread. */
mo_status mo_mpi_enqueue_transfer(mo_mpi_world *world, int transfer,
                                  mo_error *err);

/* Waits until the request is complete; returns the stored error, or an error
 * when the peer it depends on (-1: any) has left. */
mo_status mo_mpi_request_wait(mo_mpi_world *world, MPI_Request *request,
                              int peer, mo_error *err);

/* Members of the transport interface (transport.h). */
mo_status mo_mpi_serve(mo_transport_world *handle, int n_threads,
                       mo_error *err);
mo_status mo_mpi_collect(mo_transport_world *handle, int from, void *data,
                         size_t bytes, mo_error *err);
mo_status mo_mpi_broadcast(mo_transport_world *handle, void *data, size_t bytes,
                           mo_error *err);

#endif
