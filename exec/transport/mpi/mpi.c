/* SPDX-License-Identifier: Apache-2.0 */
/* The transport mpi: values as point-to-point messages of MPI. */
#include <config.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/failure_detector.h"
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

/*
 * Presence of the ranks of a job on this host, tested before any two are
 * connected: MPI_Init waits for all ranks and does not name the missing ones.
 * Where a launcher guarantees that all ranks are on this host, each listens at
 * an abstract socket whose name contains job and rank and which vanishes with
 * its process, so that the others can test for it.
 */

/* An abstract socket name (Linux): it starts with a zero byte and is no
 * file. */
static socklen_t abstract_name(const mo_rdv_launcher *launcher, int rank,
                               struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                      "moirai-%ld-%.60s-%d", (long) getuid(),
                      launcher->job_name, rank);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t) length);
}

/* Returns the listening socket; -1 where that is not possible, which is no
 * error. */
static int announce_presence(const mo_rdv_launcher *launcher)
{
#ifdef __linux__
    struct sockaddr_un name;
    socklen_t length;
    int listener;

    if (!launcher->one_host || !launcher->job_name || launcher->rank < 0)
        return -1;
    length = abstract_name(launcher, launcher->rank, &name);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0 &&
        bind(listener, (struct sockaddr *) &name, length) == 0 &&
        listen(listener, SOMAXCONN) == 0)
        return listener;
    if (listener >= 0)
        close(listener);
#else
    (void) launcher;
#endif
    return -1;
}

/* Returns the first rank, from the given one on, that is not present; -1: none
 * is missing, or it is unknown. */
static int next_missing(const mo_mpi_world *world, int rank)
{
    for (int r = rank; world->presence >= 0 && r < world->launcher.n_ranks;
         r++) {
        struct sockaddr_un name;
        socklen_t length = abstract_name(&world->launcher, r, &name);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool is_present =
            fd < 0 || connect(fd, (struct sockaddr *) &name, length) == 0;

        if (fd >= 0)
            close(fd);
        if (!is_present)
            return r;
    }
    return -1;
}

enum { MISSING_SIZE = 128, MISSING_ROOM = 16 };

static void describe_missing(void *context, mo_error *why)
{
    mo_mpi_world *world = context;
    int missing = next_missing(world, 0);
    int second = missing < 0 ? -1 : next_missing(world, missing + 1);
    char list[MISSING_SIZE] = { 0 };
    size_t n = 0;

    for (int r = missing; r >= 0 && n < MISSING_SIZE - MISSING_ROOM;
         r = next_missing(world, r + 1))
        n += (size_t) snprintf(list + n, MISSING_SIZE - n, "%s%d",
                               n > 0 ? ", " : "", r);
    /* A rank that has failed since is as absent as the one that it missed. */
    if (second >= 0)
        mo_fail(why, MO_E_IO,
                "ranks %s are gone or have never come: all %d ranks must be "
                "started with this command",
                list, world->launcher.n_ranks);
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
    if (status == MO_OK) {
        world->job.endpoints =
            calloc((size_t) world->job.n_ranks, sizeof *world->job.endpoints);
        status =
            world->job.endpoints
                ? mo_mpi_check(MPI_Allgather(&own, sizeof own, MPI_BYTE,
                                             world->job.endpoints, sizeof own,
                                             MPI_BYTE, world->control),
                               "swap addresses", err)
                : mo_fail_memory(err);
    }
    if (status == MO_OK) {
        const mo_rdv_mesh mesh = { .endpoints = world->job.endpoints,
                                   .n_ranks = world->job.n_ranks,
                                   .rank = world->job.rank,
                                   .listener = listener,
                                   .seconds = world->job.peer_timeout_s / 2,
                                   .n_kinds = 1 };
        status = mo_rdv_mesh_connect(&mesh, channels, err);

        if (status == MO_OK)
            status =
                mo_transport_job_set_connections(&world->job, channels, err);
    }
    if (listener >= 0)
        close(listener);
    free(channels);
    return status;
}

static void free_world(mo_mpi_world *world)
{
    mo_transport_job_destroy(&world->job);
    if (world->presence >= 0)
        close(world->presence);
    free_buffers(world);
    pthread_mutex_destroy(&world->queue.lock);
    pthread_mutex_destroy(&world->lock);
    free(world);
}

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **handle, mo_error *err)
{
    const mo_transport_world_options none = { 0 };
    mo_mpi_world *w = calloc(1, sizeof *w);
    mo_status status;

    *handle = NULL;
    if (!w)
        return mo_fail_memory(err);
    pthread_mutex_init(&w->queue.lock, NULL);
    pthread_mutex_init(&w->lock, NULL);
    w->presence = mo_rdv_launcher_detect(&w->launcher)
                      ? announce_presence(&w->launcher)
                      : -1;
    status = mo_transport_job_init(&w->job, options, err);
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

static mo_status begin_plan(mo_transport_world *handle,
                            const mo_exec_plan *plan, const int *rank_of,
                            int n_threads, uint64_t digest, mo_error *err)
{
    mo_mpi_world *world = mo_mpi_world_of(handle);
    mo_status status =
        mo_transport_job_begin(&world->job, plan, rank_of, n_threads, err);
    int *last_tag = NULL, found = 0;

    if (status == MO_OK)
        MPI_Comm_get_attr(world->data, MPI_TAG_UB, &last_tag, &found);
    if (found && plan->n_transfers - 1 > *last_tag)
        status = mo_fail(err, MO_E_LIMIT,
                         "%d transfers are more than this MPI has tags for "
                         "(%d)",
                         plan->n_transfers, *last_tag);
    if (status == MO_OK) {
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
            status = mo_fail_memory(err);
        else {
            world->n_requests = 0;
            atomic_store(&world->queue.n, 0);
            atomic_store(&world->has_posted, false);
            atomic_store(&world->barrier_full, false);
            world->barrier_pending = false;
        }
    }
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
