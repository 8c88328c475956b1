/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <sched.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/stop.h"
#include "exec/transport/mpi/mpi_internal.h"

/* So long one looks again and again while all devices of all ranks wait for
 * each other, and while one of ours waits; so long one sleeps. */
enum {
    LOOK_AT_GATE_NS = 2000000,
    LOOK_FOR_DEVICE_NS = 200000,
    MIN_SLEEP_NS = 20000,
    MAX_SLEEP_NS = 100000,
    IDLE_NS = 1000000000
};

/* -------------------------------------------------------------------- queue */

mo_status mo_mpi_enqueue_transfer(mo_transport_world *world, int transfer,
                                  mo_error *err)
{
    mo_mpi_send_queue *q = &world->queue;

    pthread_mutex_lock(&q->lock);
    q->transfers[atomic_load(&q->n)] = transfer;
    atomic_fetch_add(&q->n, 1);
    pthread_mutex_unlock(&q->lock);
    mo_eventcount_notify(&world->ranks.inside.server);
    return mo_first_error_get(&world->ranks.inside.failure, err);
}

static int take_queue(mo_transport_world *world)
{
    mo_mpi_send_queue *q = &world->queue;
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

/* ---------------------------------------------------------------- transfers */

static mo_status start_piece(mo_transport_world *world, int t, int64_t at,
                             int bytes, mo_error *err)
{
    const mo_plan_transfer *transfer = &world->ranks.plan->transfers[t];
    int to = world->ranks.rank_of[transfer->to],
        from = world->ranks.rank_of[transfer->from];
    MPI_Request *request = &world->requests[world->n_requests];
    int code;

    if (from == world->ranks.rank)
        code = MPI_Isend((const char *) mo_transport_local_copy_source(
                             world->ranks.inside.post, t) +
                             at,
                         bytes, MPI_BYTE, to, t, world->data, request);
    else
        code = MPI_Irecv((char *) mo_transport_local_copy_target(
                             world->ranks.inside.post, t) +
                             at,
                         bytes, MPI_BYTE, from, t, world->data, request);
    world->transfer_of[world->n_requests++] = t;
    world->pieces_left[t]++;
    return mo_mpi_check(code, "begin a transfer", err);
}

/* Pieces of one transfer have one tag: MPI keeps them in order. */
static mo_status start_transfer(mo_transport_world *world, int t, mo_error *err)
{
    int64_t bytes = world->ranks.plan->transfers[t].bytes, at = 0;
    mo_status status;

    do {
        int64_t piece =
            bytes - at < MO_MPI_CHUNK_BYTES ? bytes - at : MO_MPI_CHUNK_BYTES;

        status = start_piece(world, t, at, (int) piece, err);
        at += piece;
    } while (at < bytes && status == MO_OK);
    return status;
}

static void finish_piece(mo_transport_world *world, int request)
{
    int t = world->transfer_of[request];

    if (--world->pieces_left[t] == 0)
        mo_transport_local_copy_complete(world->ranks.inside.post, t);
}

/* MPI leaves holes where requests have been. */
static void close_ranks(mo_transport_world *world)
{
    int kept = 0;

    for (int i = 0; i < world->n_requests; i++)
        if (world->requests[i] != MPI_REQUEST_NULL) {
            world->requests[kept] = world->requests[i];
            world->transfer_of[kept++] = world->transfer_of[i];
        }
    world->n_requests = kept;
}

static mo_status move_transfers(mo_transport_world *world, bool *moved,
                                mo_error *err)
{
    int n = take_queue(world), n_finished = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        status = start_transfer(world, world->taken[i], err);
    if (status == MO_OK && world->n_requests > 0)
        status = mo_mpi_check(MPI_Testsome(world->n_requests, world->requests,
                                           &n_finished, world->finished,
                                           MPI_STATUSES_IGNORE),
                              "a transfer", err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < n_finished; i++)
        finish_piece(world, world->finished[i]);
    if (n_finished > 0)
        close_ranks(world);
    *moved |= n > 0 || n_finished > 0;
    return MO_OK;
}

/* --------------------------------------------------------------------- gate */

static mo_status move_gate(mo_transport_world *world, bool *moved,
                           mo_error *err)
{
    mo_status status = MO_OK;
    int done = 0;

    if (atomic_exchange(&world->gate_full, false)) {
        world->gate_vote =
            mo_vote_barrier_local_vote(&world->ranks.inside.gate);
        world->gate_busy = true;
        *moved = true;
        status = mo_mpi_check(
            MPI_Iallreduce(&world->gate_vote, &world->gate_verdict, 1, MPI_INT,
                           MPI_MAX, world->control, &world->gate_request),
            "meet before a run", err);
    }
    if (status != MO_OK || !world->gate_busy)
        return status;
    status =
        mo_mpi_check(MPI_Test(&world->gate_request, &done, MPI_STATUS_IGNORE),
                     "meet before a run", err);
    if (status == MO_OK && done) {
        world->gate_busy = false;
        *moved = true;
        mo_vote_barrier_release(&world->ranks.inside.gate,
                                world->gate_verdict != 0);
    }
    return status;
}

/* ------------------------------------------------------------------ serving */

typedef struct serving {
    mo_transport_world *world;
    int n_threads;
    bool awaited; /* a device waits already */
} serving;

static bool all_left(void *context)
{
    serving *s = context;

    return atomic_load(&s->world->ranks.inside.left) == s->n_threads;
}

static bool has_work(void *context)
{
    serving *s = context;

    return atomic_load(&s->world->queue.n) > 0 ||
           atomic_load(&s->world->gate_full) || all_left(context) ||
           (!s->awaited &&
            mo_transport_local_copy_has_waiters(s->world->ranks.inside.post)) ||
           mo_first_error_is_set(&s->world->ranks.inside.failure);
}

void mo_mpi_backoff_wait(mo_transport_world *world, int64_t idle_ns,
                         int64_t look_ns, mo_eventcount_predicate *ready,
                         void *context)
{
    int64_t waited_ns = mo_stop_clock_ns() - idle_ns;
    int64_t sleep_ns = waited_ns / 8;

    if (waited_ns < look_ns) {
        sched_yield();
        return;
    }
    if (sleep_ns < MIN_SLEEP_NS)
        sleep_ns = MIN_SLEEP_NS;
    if (sleep_ns > MAX_SLEEP_NS)
        sleep_ns = MAX_SLEEP_NS;
    mo_eventcount_wait_timed(&world->ranks.inside.server, ready, context,
                             sleep_ns);
}

/* Nothing has moved for a while. */
static void rest(serving *s, int64_t idle_ns)
{
    mo_transport_world *world = s->world;
    int64_t look_ns = 0;

    if (world->gate_busy)
        look_ns = LOOK_AT_GATE_NS;
    else if (s->awaited)
        look_ns = LOOK_FOR_DEVICE_NS;
    if (world->n_requests == 0 && !world->gate_busy)
        mo_eventcount_wait_timed(&world->ranks.inside.server, has_work, s,
                                 IDLE_NS);
    else
        mo_mpi_backoff_wait(world, idle_ns, look_ns, has_work, s);
}

static mo_status serve_until_left(serving *s, mo_error *err)
{
    mo_transport_world *world = s->world;
    int64_t idle_ns = mo_stop_clock_ns();
    mo_status status = MO_OK;

    while (!all_left(s) && status == MO_OK) {
        bool before = s->awaited, moved = false;

        if (mo_first_error_is_set(&world->ranks.inside.failure))
            return mo_first_error_get(&world->ranks.inside.failure, err);
        s->awaited =
            mo_transport_local_copy_has_waiters(world->ranks.inside.post);
        status = move_transfers(world, &moved, err);
        if (status == MO_OK)
            status = move_gate(world, &moved, err);
        if (moved || (s->awaited && !before))
            idle_ns = mo_stop_clock_ns();
        else
            rest(s, idle_ns);
    }
    return status;
}

mo_status mo_mpi_progress_loop(mo_transport_world *world, int n_threads,
                               mo_error *err)
{
    serving s = { world, n_threads, false };
    mo_error why = { 0 };

#ifdef __linux__
    /* Timers of ordinary threads are late by 50 us, for the sake of power. */
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
#endif
    if (serve_until_left(&s, &why) != MO_OK) {
        /* Whoever called us speaks, but not before all threads have left. */
        mo_transport_process_fail(&world->ranks.inside, &why);
        mo_failure_detector_broadcast_error(world->ranks.watch);
        mo_eventcount_wait(&world->ranks.inside.server, all_left, &s);
    }
    return mo_transport_process_end(&world->ranks.inside, err);
}
