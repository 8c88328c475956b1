/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "exec/transport/mpi/mpi_internal.h"

enum { CLOCK_TAG = 2 };

void mo_mpi_plan_clear(mo_transport_world *world)
{
    free(world->queue.transfers);
    free(world->taken);
    free(world->pieces_left);
    free(world->requests);
    free(world->transfer_of);
    free(world->finished);
    world->queue.transfers = world->taken = NULL;
    world->pieces_left = world->transfer_of = world->finished = NULL;
    world->requests = NULL;
}

/* ----------------------------------------------------------------- checking */

static mo_status check_tags(const mo_transport_world *world,
                            const mo_exec_plan *plan, mo_error *err)
{
    int *upper = NULL, found = 0;

    MPI_Comm_get_attr(world->data, MPI_TAG_UB, &upper, &found);
    if (found && plan->n_transfers - 1 > *upper)
        return mo_fail(err, MO_E_LIMIT,
                       "%d transfers are more than this MPI can tell apart "
                       "(%d)",
                       plan->n_transfers, *upper);
    return MO_OK;
}

static mo_status check_digests(mo_transport_world *world, uint64_t digest,
                               mo_error *err)
{
    uint64_t *all = calloc((size_t) world->ranks.n_ranks, sizeof *all);
    MPI_Request request;
    mo_status status;
    int other = 0;

    if (!all)
        return mo_fail_memory(err);
    status = mo_mpi_check(MPI_Iallgather(&digest, sizeof digest, MPI_BYTE, all,
                                         sizeof digest, MPI_BYTE,
                                         world->control, &request),
                          "compare plans", err);
    if (status == MO_OK)
        status = mo_mpi_request_wait(world, &request, -1, err);
    while (status == MO_OK && other < world->ranks.n_ranks &&
           all[other] == all[0])
        other++;
    if (status == MO_OK && other < world->ranks.n_ranks)
        status = mo_transport_job_plan_mismatch(&world->ranks, other, err);
    free(all);
    return status;
}

/* ------------------------------------------------------------------- clocks */

static mo_status swap(mo_transport_world *world, int peer, bool first,
                      int64_t *number, mo_error *err)
{
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

/* --------------------------------------------------------------- the plan's */

/* Every piece of every transfer of ours at once. */
static size_t count_pieces(const mo_transport_world *world,
                           const mo_exec_plan *plan, const int *rank_of)
{
    size_t n = 0;

    for (int t = 0; t < plan->n_transfers; t++) {
        const mo_plan_transfer *transfer = &plan->transfers[t];

        if (rank_of[transfer->from] == world->ranks.rank ||
            rank_of[transfer->to] == world->ranks.rank)
            n += (size_t) (transfer->bytes / MO_MPI_CHUNK_BYTES) + 1;
    }
    return n;
}

static mo_status make_room(mo_transport_world *world, const mo_exec_plan *plan,
                           const int *rank_of, mo_error *err)
{
    size_t n_pieces = count_pieces(world, plan, rank_of) + 1;
    size_t n_transfers = (size_t) plan->n_transfers + 1;

    mo_mpi_plan_clear(world);
    world->queue.transfers = calloc(n_transfers, sizeof(int));
    world->taken = calloc(n_transfers, sizeof *world->taken);
    world->pieces_left = calloc(n_transfers, sizeof *world->pieces_left);
    world->requests = calloc(n_pieces, sizeof *world->requests);
    world->transfer_of = calloc(n_pieces, sizeof *world->transfer_of);
    world->finished = calloc(n_pieces, sizeof *world->finished);
    if (!world->queue.transfers || !world->taken || !world->pieces_left ||
        !world->requests || !world->transfer_of || !world->finished)
        return mo_fail_memory(err);
    world->n_requests = 0;
    atomic_store(&world->queue.n, 0);
    atomic_store(&world->gate_full, false);
    world->gate_busy = false;
    return MO_OK;
}

mo_status mo_mpi_plan_begin(mo_transport_world *world, const mo_exec_plan *plan,
                            const int *rank_of, int n_threads, uint64_t digest,
                            mo_error *err)
{
    mo_status status =
        mo_transport_job_begin(&world->ranks, plan, rank_of, n_threads, err);

    if (status == MO_OK)
        status = check_tags(world, plan, err);
    if (status == MO_OK)
        status = make_room(world, plan, rank_of, err);
    if (status == MO_OK)
        status = check_digests(world, digest, err);
    if (status == MO_OK)
        status = mo_transport_job_sync_clocks(&world->ranks, swap, world, err);
    return status;
}
