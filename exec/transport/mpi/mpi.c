/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <unistd.h>

#include "exec/transport/mpi/mpi_internal.h"

/* ------------------------------------------------------------------ opening */

static void say_missing(void *context, mo_error *why)
{
    mo_transport_world *world = context;
    int missing = mo_rdv_presence_first_missing(world->roll);

    if (missing >= 0)
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

static mo_status start_mpi(mo_transport_world *world, mo_error *err)
{
    int there = 0, support = 0;
    mo_status status;

    MPI_Initialized(&there);
    if (there)
        return mo_fail(err, MO_E_SUPPORT,
                       "MPI was started before; it can be only once");
    status =
        mo_mpi_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &support),
                     "start", err);
    if (status == MO_OK && support < MPI_THREAD_FUNNELED)
        return mo_fail(err, MO_E_SUPPORT,
                       "this MPI was built without support for threads");
    if (status != MO_OK)
        return status;
    MPI_Comm_rank(MPI_COMM_WORLD, &world->ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world->ranks.n_ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    status =
        mo_mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &world->data), "start", err);
    if (status == MO_OK)
        status = mo_mpi_check(MPI_Comm_dup(MPI_COMM_WORLD, &world->control),
                              "start", err);
    return status;
}

static mo_status swap_cards(mo_transport_world *world,
                            const mo_rdv_endpoint *own, mo_error *err)
{
    world->ranks.cards =
        calloc((size_t) world->ranks.n_ranks, sizeof *world->ranks.cards);
    if (!world->ranks.cards)
        return mo_fail_memory(err);
    return mo_mpi_check(MPI_Allgather(own, sizeof *own, MPI_BYTE,
                                      world->ranks.cards, sizeof *own, MPI_BYTE,
                                      world->control),
                        "swap addresses", err);
}

static mo_status connect_all(mo_transport_world *world, int listener,
                             int *sockets, mo_error *err)
{
    const mo_rdv_mesh meeting = { .cards = world->ranks.cards,
                                  .n_ranks = world->ranks.n_ranks,
                                  .rank = world->ranks.rank,
                                  .listener = listener,
                                  .seconds = world->ranks.patience_s / 2,
                                  .n_kinds = 1 };
    mo_status status = mo_rdv_mesh_connect(&meeting, sockets, err);

    return status == MO_OK
               ? mo_transport_job_set_connections(&world->ranks, sockets, err)
               : status;
}

static mo_status meet(mo_transport_world *world, mo_error *err)
{
    int *sockets = calloc((size_t) world->ranks.n_ranks, sizeof *sockets);
    int listener = -1;
    mo_rdv_endpoint own;
    mo_status status;

    if (!sockets)
        return mo_fail_memory(err);
    status = mo_rdv_endpoint_listen(world->ranks.n_ranks, NULL, &own, &listener,
                                    err);
    if (status == MO_OK)
        status = swap_cards(world, &own, err);
    if (status == MO_OK)
        status = connect_all(world, listener, sockets, err);
    if (listener >= 0)
        close(listener);
    free(sockets);
    return status;
}

static void free_world(mo_transport_world *world)
{
    mo_transport_job_destroy(&world->ranks);
    mo_rdv_presence_free(world->roll);
    mo_mpi_plan_clear(world);
    pthread_mutex_destroy(&world->queue.lock);
    free(world);
}

/* *world is NULL only where there is no memory. */
static mo_status new_world(const mo_transport_world_options *options,
                           mo_transport_world **world, mo_error *err)
{
    mo_transport_world *w = calloc(1, sizeof *w);

    *world = w;
    if (!w)
        return mo_fail_memory(err);
    pthread_mutex_init(&w->queue.lock, NULL);
    if (mo_rdv_launcher_detect(&w->launcher))
        w->roll = mo_rdv_presence_new(&w->launcher);
    return mo_transport_job_init(&w->ranks, options, err);
}

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **world, mo_error *err)
{
    mo_transport_world *w;
    mo_status status = new_world(options, &w, err);

    *world = NULL;
    if (!w)
        return status;
    if (status == MO_OK)
        status = mo_transport_job_start_detector(
            &w->ranks, options, w->ranks.patience_s, say_missing, err);
    if (status == MO_OK)
        status = start_mpi(w, err);
    if (status == MO_OK)
        status = meet(w, err);
    if (status == MO_OK) {
        *world = w;
        return MO_OK;
    }
    mo_transport_job_abort_open(&w->ranks, err);
    free_world(w);
    return status;
}

/* ------------------------------------------------------------------ closing */

static void close_world(mo_transport_world *world)
{
    if (!world)
        return;
    if (mo_transport_job_finish(&world->ranks)) {
        MPI_Comm_free(&world->data);
        MPI_Comm_free(&world->control);
        MPI_Finalize();
        mo_failure_detector_stop(world->ranks.watch);
    }
    free_world(world);
}

/* -------------------------------------------------------------------- a run */

static int count_ranks(const mo_transport_world *world)
{
    return world->ranks.n_ranks;
}

static int own_rank(const mo_transport_world *world)
{
    return world->ranks.rank;
}

static mo_status send_value(mo_transport_world *world, int transfer,
                            const void *data, mo_error *err)
{
    mo_transport_local_copy_send(world->ranks.inside.post, transfer, data);
    if (mo_transport_local_copy_is_local(world->ranks.inside.post, transfer))
        return MO_OK;
    return mo_mpi_enqueue_transfer(world, transfer, err);
}

static mo_status receive_value(mo_transport_world *world, int transfer,
                               void *data, mo_error *err)
{
    mo_transport_local_copy_receive(world->ranks.inside.post, transfer, data);
    if (mo_transport_local_copy_is_local(world->ranks.inside.post, transfer))
        return MO_OK;
    return mo_mpi_enqueue_transfer(world, transfer, err);
}

static mo_status await(mo_transport_world *world, int transfer, bool sending,
                       mo_error *err)
{
    return mo_transport_process_await(&world->ranks.inside, transfer, sending,
                                      err);
}

static mo_status barrier(mo_transport_world *world, bool *stop, mo_error *err)
{
    mo_vote_barrier *gate = &world->ranks.inside.gate;
    unsigned round;

    if (mo_vote_barrier_arrive(gate, *stop, &round)) {
        atomic_store(&world->gate_full, true);
        mo_eventcount_notify(&world->ranks.inside.server);
    }
    return mo_vote_barrier_wait(gate, round, &world->ranks.inside.failure, stop,
                                err);
}

static int64_t clock_offset_ns(const mo_transport_world *world)
{
    return world->ranks.clock_offset_ns;
}

static void leave(mo_transport_world *world)
{
    mo_transport_process_leave(&world->ranks.inside);
}

static void fail(mo_transport_world *world, const mo_error *why)
{
    mo_transport_job_fail(&world->ranks, why);
}

const mo_transport mo_transport_mpi = {
    .name = "mpi",
    .help = "processes that mpirun or srun has started",
    .open = open_world,
    .close = close_world,
    .n_ranks = count_ranks,
    .rank = own_rank,
    .begin = mo_mpi_plan_begin,
    .send = send_value,
    .receive = receive_value,
    .await = await,
    .barrier = barrier,
    .clock_offset_ns = clock_offset_ns,
    .serve = mo_mpi_progress_loop,
    .leave = leave,
    .collect = mo_mpi_collect_to_root,
    .spread = mo_mpi_broadcast,
    .fail = fail,
};
