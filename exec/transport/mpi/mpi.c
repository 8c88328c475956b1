/* SPDX-License-Identifier: Apache-2.0 */
/* The transport mpi: values as point-to-point messages of MPI. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/mpi/mpi_internal.h"
#include "exec/transport/rendezvous/launch.h"

enum { CLOCK_TAG = 2 };

static void free_buffers(mo_mpi_world *world)
{
    free(world->queue.transfers);
    free(world->taken);
    free(world->chunks_left);
    free(world->requests);
    free(world->transfer_of);
    free(world->finished);
    world->queue.transfers = world->taken = NULL;
    world->chunks_left = world->transfer_of = world->finished = NULL;
    world->requests = NULL;
}

enum { MISSING_SIZE = 128, MISSING_ROOM = 16 };

/* Writes the numbers of missing ranks from the first on; returns text. */
static const char *list_missing(const mo_mpi_world *world, int first,
                                char text[MISSING_SIZE])
{
    size_t n = 0;

    for (int r = first; r >= 0 && n < MISSING_SIZE - MISSING_ROOM;
         r = mo_rdv_presence_next_missing(world->presence, r + 1))
        n += (size_t) snprintf(text + n, MISSING_SIZE - n, "%s%d",
                               n > 0 ? ", " : "", r);
    return text;
}

static void describe_missing(void *context, mo_error *why)
{
    mo_mpi_world *world = context;
    int missing = mo_rdv_presence_next_missing(world->presence, 0);
    int second = missing < 0 ? -1
                             : mo_rdv_presence_next_missing(world->presence,
                                                            missing + 1);

    /* A rank that has failed since is as absent as the one that it missed. */
    if (second >= 0)
        mo_fail(why, MO_E_IO,
                "ranks %s are gone or have never come: all %d ranks must be "
                "started with this command",
                list_missing(world, missing, (char[MISSING_SIZE]){ 0 }),
                world->launcher.n_ranks);
    else if (missing >= 0)
        mo_fail(why, MO_E_IO,
                "rank %d is gone or has never come: all %d ranks must be "
                "started with this command",
                missing, world->launcher.n_ranks);
    else
        mo_fail(why, MO_E_IO,
                "some of the other ranks have not come, or left at once: see "
                "that each is started with this command and reaches the "
                "others");
}

static mo_status start_mpi(mo_mpi_world *world, mo_error *err)
{
    int initialized = 0, support = 0;
    mo_status status;

    MPI_Initialized(&initialized);
    if (initialized)
        return mo_fail(err, MO_E_SUPPORT,
                       "MPI was started before; it can be only once");
    status = mo_mpi_check(
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &support), "start",
        err);
    if (status == MO_OK && support < MPI_THREAD_FUNNELED)
        return mo_fail(err, MO_E_SUPPORT,
                       "this MPI was built without support for threads");
    if (status != MO_OK)
        return status;
    world->posts_inline = support >= MPI_THREAD_SERIALIZED;
    MPI_Comm_rank(MPI_COMM_WORLD, &world->job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->job.n_ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    status =
        mo_mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &world->data), "start", err);
    if (status == MO_OK)
        status = mo_mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &world->control),
                              "start", err);
    return status;
}

static mo_status exchange_endpoints(mo_mpi_world *world,
                                    const mo_rdv_endpoint *own, mo_error *err)
{
    world->job.endpoints =
        calloc((size_t) world->job.n_ranks, sizeof *world->job.endpoints);
    if (!world->job.endpoints)
        return mo_fail_memory(err);
    return mo_mpi_check(MPI_Allgather(own, sizeof *own, MPI_BYTE,
                                      world->job.endpoints, sizeof *own,
                                      MPI_BYTE, world->control),
                        "swap addresses", err);
}

static mo_status connect_all(mo_mpi_world *world, int listener,
                             mo_secure_channel **channels, mo_error *err)
{
    const mo_rdv_mesh mesh = { .endpoints = world->job.endpoints,
                               .n_ranks = world->job.n_ranks,
                               .rank = world->job.rank,
                               .listener = listener,
                               .seconds = world->job.peer_timeout_s / 2,
                               .n_kinds = 1 };
    mo_status status = mo_rdv_mesh_connect(&mesh, channels, err);

    return status == MO_OK
               ? mo_transport_job_set_connections(&world->job, channels, err)
               : status;
}

static mo_status connect_ranks(mo_mpi_world *world,
                               const mo_transport_world_options *options,
                               mo_error *err)
{
    mo_secure_channel **channels =
        calloc((size_t) world->job.n_ranks, sizeof *channels);
    int listener = -1;
    mo_rdv_endpoint own;
    mo_status status;

    if (!channels)
        return mo_fail_memory(err);
    status =
        mo_rdv_endpoint_listen(world->job.n_ranks, NULL, &own, &listener, err);
    if (status == MO_OK && mo_rdv_launch_excludes_shm(&options->launch))
        own.memory[0] = '\0';
    if (status == MO_OK)
        status = exchange_endpoints(world, &own, err);
    if (status == MO_OK)
        status = connect_all(world, listener, channels, err);
    if (listener >= 0)
        close(listener);
    free(channels);
    return status;
}

static void free_world(mo_mpi_world *world)
{
    mo_transport_job_destroy(&world->job);
    mo_rdv_presence_free(world->presence);
    free_buffers(world);
    pthread_mutex_destroy(&world->queue.lock);
    pthread_mutex_destroy(&world->lock);
    free(world);
}

/* *world is NULL only when out of memory. */
static mo_status new_world(const mo_transport_world_options *options,
                           mo_mpi_world **world, mo_error *err)
{
    mo_mpi_world *w = calloc(1, sizeof *w);

    *world = w;
    if (!w)
        return mo_fail_memory(err);
    pthread_mutex_init(&w->queue.lock, NULL);
    pthread_mutex_init(&w->lock, NULL);
    if (mo_rdv_launcher_detect(&w->launcher))
        w->presence = mo_rdv_presence_new(&w->launcher);
    return mo_transport_job_init(&w->job, options, err);
}

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **handle, mo_error *err)
{
    const mo_transport_world_options none = { 0 };
    mo_mpi_world *w;
    mo_status status = new_world(options, &w, err);

    *handle = NULL;
    if (!w)
        return status;
    if (status == MO_OK)
        status = mo_transport_job_start_detector(
            &w->job, options, w->job.peer_timeout_s, describe_missing, err);
    if (status == MO_OK)
        status = start_mpi(w, err);
    if (status == MO_OK)
        status = connect_ranks(w, options ? options : &none, err);
    if (status == MO_OK) {
        *handle = (mo_transport_world *) w;
        return MO_OK;
    }
    mo_transport_job_abort_open(&w->job, err);
    free_world(w);
    return status;
}

static void close_world(mo_transport_world *handle)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);

    if (!world)
        return;
    if (mo_transport_job_finish(&world->job)) {
        MPI_Comm_free(&world->data);
        MPI_Comm_free(&world->control);
        MPI_Finalize();
        mo_failure_detector_stop(world->job.detector);
    }
    free_world(world);
}

/* MPI_Finalize() still needs the other ranks: their failures are reported. */
static mo_status settle(mo_transport_world *handle, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);

    return mo_failure_detector_await_done(world->job.detector, err);
}

static mo_status check_tags(const mo_mpi_world *world, const mo_exec_plan *plan,
                            mo_error *err)
{
    int *upper = NULL, found = 0;

    MPI_Comm_get_attr(world->data, MPI_TAG_UB, &upper, &found);
    if (found && plan->n_transfers - 1 > *upper)
        return mo_fail(err, MO_E_LIMIT,
                       "%d transfers are more than this MPI has tags for "
                       "(%d)",
                       plan->n_transfers, *upper);
    return MO_OK;
}

static mo_status allgather(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err)
{
    mo_mpi_world *world = context;
    MPI_Request request;
    mo_status status = mo_mpi_check(MPI_Iallgather(own, (int) bytes, MPI_BYTE,
                                                   all, (int) bytes, MPI_BYTE,
                                                   world->control, &request),
                                    "compare plans", err);

    return status == MO_OK ? mo_mpi_request_wait(world, &request, -1, err)
                           : status;
}

static mo_status check_digests(mo_mpi_world *world, uint64_t digest,
                               mo_error *err)
{
    uint64_t *all = calloc((size_t) world->job.n_ranks, sizeof *all);
    mo_status status;
    int other = 0;

    if (!all)
        return mo_fail_memory(err);
    status = allgather(world, &digest, all, sizeof digest, err);
    while (status == MO_OK && other < world->job.n_ranks &&
           all[other] == all[0])
        other++;
    if (status == MO_OK && other < world->job.n_ranks)
        status = mo_transport_job_plan_mismatch(&world->job, other, err);
    free(all);
    return status;
}

static mo_status ping_clock(void *context, int peer, bool first,
                            int64_t *number, mo_error *err)
{
    mo_mpi_world *world = context;
    mo_status status = MO_OK;

    for (int turn = 0; turn < 2 && status == MO_OK; turn++) {
        bool sends = (turn == 0) == first;
        MPI_Request request;
        int code;

        if (sends)
            code = MPI_Isend(number, 1, MPI_INT64_T, peer, CLOCK_TAG,
                             world->control, &request);
        else
            code = MPI_Irecv(number, 1, MPI_INT64_T, peer, CLOCK_TAG,
                             world->control, &request);
        status = mo_mpi_check(code, "compare clocks", err);
        if (status == MO_OK)
            status = mo_mpi_request_wait(world, &request, peer, err);
        if (!first && turn == 0)
            *number = mo_stop_clock_ns();
    }
    return status;
}

/* Number of requests when every chunk of every transfer of this rank is
 * pending. */
static size_t count_chunks(const mo_mpi_world *world, const mo_exec_plan *plan,
                           const int *rank_of)
{
    size_t n = 0;

    for (int t = 0; t < plan->n_transfers; t++) {
        const mo_plan_transfer *transfer = &plan->transfers[t];

        if (rank_of[transfer->from] == world->job.rank ||
            rank_of[transfer->to] == world->job.rank)
            n += (size_t) (transfer->bytes /
                           mo_mpi_chunk_bytes(transfer->bytes)) +
                 1;
    }
    return n;
}

static mo_status alloc_buffers(mo_mpi_world *world, const mo_exec_plan *plan,
                               const int *rank_of, mo_error *err)
{
    size_t n_chunks = count_chunks(world, plan, rank_of) + 1;
    size_t n_transfers = (size_t) plan->n_transfers + 1;

    free_buffers(world);
    world->queue.transfers = calloc(n_transfers, sizeof(int));
    world->taken = calloc(n_transfers, sizeof *world->taken);
    world->chunks_left = calloc(n_transfers, sizeof *world->chunks_left);
    world->requests = calloc(n_chunks, sizeof *world->requests);
    world->transfer_of = calloc(n_chunks, sizeof *world->transfer_of);
    world->finished = calloc(n_chunks, sizeof *world->finished);
    if (!world->queue.transfers || !world->taken || !world->chunks_left ||
        !world->requests || !world->transfer_of || !world->finished)
        return mo_fail_memory(err);
    world->n_requests = 0;
    atomic_store(&world->queue.n, 0);
    atomic_store(&world->has_posted, false);
    atomic_store(&world->barrier_full, false);
    world->barrier_pending = false;
    return MO_OK;
}

static mo_status begin_plan(mo_transport_world *handle,
                            const mo_exec_plan *plan, const int *rank_of,
                            int n_threads, uint64_t digest, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);
    mo_status status =
        mo_transport_job_begin(&world->job, plan, rank_of, n_threads, err);

    if (status == MO_OK)
        status = check_tags(world, plan, err);
    if (status == MO_OK)
        status = alloc_buffers(world, plan, rank_of, err);
    if (status == MO_OK)
        status = check_digests(world, digest, err);
    if (status == MO_OK)
        status =
            mo_transport_job_share_memory(&world->job, allgather, world, err);
    if (status == MO_OK)
        status =
            mo_transport_job_sync_clocks(&world->job, ping_clock, world, err);
    return status;
}

static int count_ranks(const mo_transport_world *handle)
{
    return ((const mo_mpi_world *) handle)->job.n_ranks;
}

static int own_rank(const mo_transport_world *handle)
{
    return ((const mo_mpi_world *) handle)->job.rank;
}

static mo_status send_value(mo_transport_world *handle, int transfer,
                            const void *data, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);

    if (mo_transport_job_send(&world->job, transfer, data))
        return MO_OK;
    return mo_mpi_enqueue_transfer(world, transfer, err);
}

static mo_status receive_value(mo_transport_world *handle, int transfer,
                               void *data, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);

    if (mo_transport_job_receive(&world->job, transfer, data))
        return MO_OK;
    return mo_mpi_enqueue_transfer(world, transfer, err);
}

static mo_status wait_transfer(mo_transport_world *handle, int transfer,
                               bool sending, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);

    return mo_transport_job_wait(&world->job, transfer, sending, err);
}

static mo_status wait_at_barrier(mo_transport_world *handle, bool *stop,
                                 mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);
    mo_vote_barrier *barrier = &world->job.process.barrier;
    mo_status status = MO_OK;
    bool released = true;
    unsigned round;

    if (mo_vote_barrier_arrive(barrier, *stop, &round))
        status = mo_transport_job_barrier(&world->job, &released, err);
    if (status != MO_OK)
        return status;
    if (!released) {
        atomic_store(&world->barrier_full, true);
        mo_eventcount_notify(&world->job.process.server_event);
    }
    return mo_vote_barrier_wait(barrier, round, &world->job.process.failure,
                                stop, err);
}

static int64_t clock_offset_ns(const mo_transport_world *handle)
{
    return ((const mo_mpi_world *) handle)->job.clock_offset_ns;
}

static void leave(mo_transport_world *handle)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);

    mo_transport_process_leave(&world->job.process);
}

static void fail(mo_transport_world *handle, const mo_error *why)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);

    mo_transport_job_fail(&world->job, why);
}

static const char *path(const mo_transport_world *handle, int transfer)
{
    return mo_transport_job_path(&((const mo_mpi_world *) handle)->job,
                                 transfer, mo_transport_mpi.name);
}

const mo_transport mo_transport_mpi = {
    .name = "mpi",
    .help = "processes that mpirun or srun has started",
    .open = open_world,
    .close = close_world,
    .settle = settle,
    .n_ranks = count_ranks,
    .rank = own_rank,
    .begin = begin_plan,
    .send = send_value,
    .receive = receive_value,
    .wait = wait_transfer,
    .barrier = wait_at_barrier,
    .clock_offset_ns = clock_offset_ns,
    .serve = mo_mpi_serve,
    .leave = leave,
    .collect = mo_mpi_collect,
    .broadcast = mo_mpi_broadcast,
    .fail = fail,
    .path = path,
};
