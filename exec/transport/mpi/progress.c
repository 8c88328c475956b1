/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress engine of MPI: starts posted transfers and tests pending requests,
 * in the opening thread, and once in the thread that posts.
 */
#include <config.h>

#include <sched.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/transport/failure_detector.h"
#include "exec/transport/local_copy.h"
#include "exec/transport/mpi/mpi_internal.h"

/* Time of busy polling while all devices of all ranks wait at the barrier, and
 * while a device of this rank waits; bounds of the backoff. */
enum {
    SPIN_AT_BARRIER_NS = 2000000,
    SPIN_FOR_DEVICE_NS = 200000,
    MIN_SLEEP_NS = 20000,
    MAX_SLEEP_NS = 100000,
    IDLE_NS = 1000000000,
    CONTROL_SPIN_NS = 50000
};

enum { COLLECT_TAG = 1 };

mo_status mo_mpi_check(int code, const char *doing, mo_error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    if (code == MPI_SUCCESS)
        return MO_OK;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        strcpy(text, "an error without a name");
    return mo_fail(err, MO_E_IO, "MPI: %s: %s", doing, text);
}

static int take_queue(mo_mpi_world *world)
{
    mo_mpi_transfer_queue *q = &world->queue;
    int n;

    if (atomic_load(&q->n) == 0)
        return 0;
    pthread_mutex_lock(&q->lock);
    n = atomic_load(&q->n);
    memcpy(world->taken, q->transfers, (size_t) n * sizeof *q->transfers);
    atomic_store(&q->n, 0);
    pthread_mutex_unlock(&q->lock);
    return n;
}

int64_t mo_mpi_chunk_bytes(int64_t transfer_bytes)
{
    return transfer_bytes <= MO_MPI_EAGER_BYTES ? MO_MPI_EAGER_CHUNK_BYTES
                                                : MO_MPI_CHUNK_BYTES;
}

static mo_status start_chunk(mo_mpi_world *world, int t, int64_t at, int bytes,
                             mo_error *err)
{
    const mo_plan_transfer *transfer = &world->job.plan->transfers[t];
    int to = world->job.rank_of[transfer->to],
        from = world->job.rank_of[transfer->from];
    MPI_Request *request = &world->requests[world->n_requests];
    int code;

    if (from == world->job.rank)
        code = MPI_Isend((const char *) mo_transport_local_copy_source(
                             world->job.process.copier, t) +
                             at,
                         bytes, MPI_BYTE, to, t, world->data, request);
    else
        code = MPI_Irecv((char *) mo_transport_local_copy_target(
                             world->job.process.copier, t) +
                             at,
                         bytes, MPI_BYTE, from, t, world->data, request);
    world->transfer_of[world->n_requests++] = t;
    world->chunks_left[t]++;
    return mo_mpi_check(code, "begin a transfer", err);
}

static mo_status progress_transfers(mo_mpi_world *world, bool *moved,
                                    mo_error *err)
{
    int n = take_queue(world), n_finished = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++) {
        /* Chunks of one transfer share its tag: MPI keeps them in order. */
        int64_t bytes = world->job.plan->transfers[world->taken[i]].bytes,
                at = 0;

        do {
            int64_t chunk = mo_min_i64(bytes - at, mo_mpi_chunk_bytes(bytes));

            status = start_chunk(world, world->taken[i], at, (int) chunk, err);
            at += chunk;
        } while (at < bytes && status == MO_OK);
    }
    if (status == MO_OK && world->n_requests > 0)
        status = mo_mpi_check(MPI_Testsome(world->n_requests, world->requests,
                                           &n_finished, world->finished,
                                           MPI_STATUSES_IGNORE),
                              "a transfer", err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < n_finished; i++) {
        int t = world->transfer_of[world->finished[i]];

        if (--world->chunks_left[t] == 0)
            mo_transport_local_copy_complete(world->job.process.copier, t);
    }
    if (n_finished > 0) {
        /* Removes completed requests, which MPI sets to MPI_REQUEST_NULL. */
        int kept = 0;

        for (int i = 0; i < world->n_requests; i++)
            if (world->requests[i] != MPI_REQUEST_NULL) {
                world->requests[kept] = world->requests[i];
                world->transfer_of[kept++] = world->transfer_of[i];
            }
        world->n_requests = kept;
    }
    *moved |= n > 0 || n_finished > 0;
    return MO_OK;
}

mo_status mo_mpi_enqueue_transfer(mo_mpi_world *world, int transfer,
                                  mo_error *err)
{
    mo_mpi_transfer_queue *q = &world->queue;
    bool done = false, moved = false;
    mo_status status = MO_OK;

    pthread_mutex_lock(&q->lock);
    q->transfers[atomic_load(&q->n)] = transfer;
    atomic_fetch_add(&q->n, 1);
    pthread_mutex_unlock(&q->lock);
    /* Starts what is queued, unless another thread is in MPI, which then does.
     * With done nothing is left to do for the opening thread. */
    if (world->posts_inline && pthread_mutex_trylock(&world->lock) == 0) {
        status = progress_transfers(world, &moved, err);
        done = world->n_requests == 0;
        pthread_mutex_unlock(&world->lock);
        if (!done)
            atomic_store(&world->has_posted, true);
    }
    if (!done)
        mo_eventcount_notify(&world->job.process.server_event);
    return status == MO_OK
               ? mo_first_error_get(&world->job.process.failure, err)
               : status;
}

static mo_status progress_barrier(mo_mpi_world *world, bool *moved,
                                  mo_error *err)
{
    mo_status status = MO_OK;
    int done = 0;

    if (atomic_exchange(&world->barrier_full, false)) {
        world->barrier_vote =
            mo_vote_barrier_local_vote(&world->job.process.barrier);
        world->barrier_pending = true;
        *moved = true;
        status = mo_mpi_check(MPI_Iallreduce(&world->barrier_vote,
                                             &world->barrier_verdict, 1,
                                             MPI_INT, MPI_MAX, world->control,
                                             &world->barrier_request),
                              "meet before a run", err);
    }
    if (status != MO_OK || !world->barrier_pending)
        return status;
    status = mo_mpi_check(
        MPI_Test(&world->barrier_request, &done, MPI_STATUS_IGNORE),
        "meet before a run", err);
    if (status == MO_OK && done) {
        world->barrier_pending = false;
        *moved = true;
        mo_vote_barrier_release(&world->job.process.barrier,
                                world->barrier_verdict != 0);
    }
    return status;
}

typedef struct serve_context {
    mo_mpi_world *world;
    int n_threads;
    bool device_waiting; /* a device was waiting at the last look */
    bool pending;        /* so were requests, or the barrier */
} serve_context;

static bool all_left(void *context)
{
    serve_context *s = context;

    return atomic_load(&s->world->job.process.n_exited) == s->n_threads;
}

static bool has_work(void *context)
{
    serve_context *s = context;

    return atomic_load(&s->world->queue.n) > 0 ||
           atomic_load(&s->world->has_posted) ||
           atomic_load(&s->world->barrier_full) || all_left(context) ||
           (!s->device_waiting && mo_transport_local_copy_has_waiters(
                                      s->world->job.process.copier)) ||
           mo_first_error_is_set(&s->world->job.process.failure);
}

/* Exponential backoff: waits an eighth of the time since idle_ns, 20 to 100 us,
 * or until ready(context).  Within spin_ns it yields instead of blocking. */
static void backoff_wait(mo_mpi_world *world, int64_t idle_ns, int64_t spin_ns,
                         mo_eventcount_predicate *ready, void *context)
{
    int64_t waited_ns = mo_stop_clock_ns() - idle_ns;
    int64_t sleep_ns = waited_ns / 8;

    if (waited_ns < spin_ns) {
        sched_yield();
        return;
    }
    if (sleep_ns < MIN_SLEEP_NS)
        sleep_ns = MIN_SLEEP_NS;
    if (sleep_ns > MAX_SLEEP_NS)
        sleep_ns = MAX_SLEEP_NS;
    mo_eventcount_wait_timed(&world->job.process.server_event, ready, context,
                             sleep_ns);
}

static mo_status progress_until_left(serve_context *s, mo_error *err)
{
    mo_mpi_world *world = s->world;
    int64_t idle_ns = mo_stop_clock_ns();
    mo_status status = MO_OK;

    while (!all_left(s) && status == MO_OK) {
        bool was_waiting = s->device_waiting, moved = false;
        int64_t spin_ns = 0;

        if (mo_first_error_is_set(&world->job.process.failure))
            return mo_first_error_get(&world->job.process.failure, err);
        s->device_waiting =
            mo_transport_local_copy_has_waiters(world->job.process.copier);
        pthread_mutex_lock(&world->lock);
        moved = atomic_exchange(&world->has_posted, false);
        status = progress_transfers(world, &moved, err);
        if (status == MO_OK)
            status = progress_barrier(world, &moved, err);
        s->pending = world->n_requests > 0 || world->barrier_pending;
        pthread_mutex_unlock(&world->lock);
        if (moved || (s->device_waiting && !was_waiting))
            idle_ns = mo_stop_clock_ns();
        else if (!s->pending)
            mo_eventcount_wait_timed(&world->job.process.server_event, has_work,
                                     s, IDLE_NS);
        else {
            if (world->barrier_pending)
                spin_ns = SPIN_AT_BARRIER_NS;
            else if (s->device_waiting)
                spin_ns = SPIN_FOR_DEVICE_NS;
            backoff_wait(world, idle_ns, spin_ns, has_work, s);
        }
    }
    return status;
}

mo_status mo_mpi_serve(mo_transport_world *handle, int n_threads, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);
    serve_context s = { .world = world, .n_threads = n_threads };
    mo_error why = { 0 };

#ifdef __linux__
    /* The default timer slack of 50 us would dominate the backoff. */
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
#endif
    if (progress_until_left(&s, &why) != MO_OK) {
        /* The caller reports the error, but not before all threads have
         * left. */
        mo_transport_process_fail(&world->job.process, &why);
        mo_failure_detector_broadcast_error(world->job.detector);
        mo_eventcount_wait(&world->job.process.server_event, all_left, &s);
    }
    return mo_transport_job_end(&world->job, err);
}

static bool has_failed(void *context)
{
    mo_mpi_world *world = context;

    return mo_first_error_is_set(&world->job.process.failure);
}

mo_status mo_mpi_request_wait(mo_mpi_world *world, MPI_Request *request,
                              int peer, mo_error *err)
{
    int64_t idle_ns = mo_stop_clock_ns();
    mo_status status;
    int done = 0;

    for (;;) {
        status = mo_mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE),
                              "wait for another rank", err);
        if (status != MO_OK || done)
            return status;
        if (has_failed(world))
            return mo_first_error_get(&world->job.process.failure, err);
        if (mo_failure_detector_peer_wait_expired(world->job.detector, peer,
                                                  idle_ns))
            return mo_fail(err, MO_E_IO,
                           "another rank has left before the end: start all "
                           "ranks with the same command");
        backoff_wait(world, idle_ns, CONTROL_SPIN_NS, has_failed, world);
    }
}

static mo_status transfer_control(mo_mpi_world *world, int peer, bool sending,
                                  void *data, size_t bytes, mo_error *err)
{
    char *at = data;
    mo_status status = mo_first_error_get(&world->job.process.failure, err);

    while (bytes > 0 && status == MO_OK) {
        size_t chunk = mo_min_size(bytes, MO_MPI_CHUNK_BYTES);
        MPI_Request request;
        int code = sending ? MPI_Isend(at, (int) chunk, MPI_BYTE, peer,
                                       COLLECT_TAG, world->control, &request)
                           : MPI_Irecv(at, (int) chunk, MPI_BYTE, peer,
                                       COLLECT_TAG, world->control, &request);

        status = mo_mpi_check(code, "exchange with another rank", err);
        if (status == MO_OK)
            status = mo_mpi_request_wait(world, &request, peer, err);
        at += chunk;
        bytes -= chunk;
    }
    return status;
}

mo_status mo_mpi_collect(mo_transport_world *handle, int from, void *data,
                         size_t bytes, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);
    bool sending = world->job.rank == from;

    if (from == 0)
        return mo_first_error_get(&world->job.process.failure, err);
    return transfer_control(world, sending ? 0 : from, sending, data, bytes,
                            err);
}

mo_status mo_mpi_broadcast(mo_transport_world *handle, void *data, size_t bytes,
                           mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);
    mo_status status = MO_OK;

    if (world->job.rank != 0)
        return transfer_control(world, 0, false, data, bytes, err);
    for (int r = 1; r < world->job.n_ranks && status == MO_OK; r++)
        status = transfer_control(world, r, true, data, bytes, err);
    return status;
}
