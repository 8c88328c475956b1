#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "exec/transport/mpi_world.h"

enum { CLOCK_TAG = 2, CLOCK_ROUNDS = 32, NAME_SIZE = 512 };

void mo_mpi_forget_plan(mo_world *world)
{
    free(world->rank_of);
    free(world->queue.transfers);
    free(world->taken);
    free(world->pieces_left);
    free(world->requests);
    free(world->transfer_of);
    free(world->finished);
    world->rank_of = world->queue.transfers = world->taken = NULL;
    world->pieces_left = world->transfer_of = world->finished = NULL;
    world->requests = NULL;
    world->plan = NULL;
}

/* ----------------------------------------------------------------- checking */

static mo_status check_ranks(const mo_world *world, const mo_plan *plan,
                             const int *rank_of, mo_error *err)
{
    for (int d = 0; d < plan->n_devices; d++)
        if (rank_of[d] < 0 || rank_of[d] >= world->n_ranks)
            return mo_fail(err, MO_E_INPUT,
                           "device '%s' is of rank %d, but there are %d ranks; "
                           "start as many as the cluster has",
                           plan->devices[d].id, rank_of[d], world->n_ranks);
    return MO_OK;
}

static mo_status check_tags(const mo_world *world, const mo_plan *plan,
                            mo_error *err)
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

static mo_status check_digests(mo_world *world, uint64_t digest, mo_error *err)
{
    uint64_t *all = calloc((size_t) world->n_ranks, sizeof *all);
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
        status = mo_mpi_await(world, &request, -1, err);
    while (status == MO_OK && other < world->n_ranks && all[other] == all[0])
        other++;
    if (status == MO_OK && other < world->n_ranks)
        status = mo_fail(err, MO_E_INPUT,
                         "rank %d (host %s) has made another plan than rank 0: "
                         "give all ranks the same files and options",
                         other, world->cards[other].host);
    free(all);
    return status;
}

/* ------------------------------------------------------------------- clocks */

static mo_status swap(mo_world *world, int peer, bool first, int64_t *number,
                      mo_error *err)
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
            status = mo_mpi_await(world, &request, peer, err);
        if (!first && turn == 0)
            *number = mo_stop_clock_ns();
    }
    return status;
}

/* The quickest of many questions is the one whose answer was given in the
 * middle of it. */
static mo_status ask_the_time(mo_world *world, mo_error *err)
{
    int64_t quickest = INT64_MAX;
    mo_status status = MO_OK;

    for (int i = 0; i < CLOCK_ROUNDS && status == MO_OK; i++) {
        int64_t before = mo_stop_clock_ns(), there = 0, after;

        status = swap(world, 0, true, &there, err);
        after = mo_stop_clock_ns();
        if (after - before >= quickest)
            continue;
        quickest = after - before;
        world->clock_offset_ns = there - before - quickest / 2;
    }
    return status;
}

static mo_status tell_the_time(mo_world *world, int peer, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < CLOCK_ROUNDS && status == MO_OK; i++) {
        int64_t number = 0;

        status = swap(world, peer, false, &number, err);
    }
    return status;
}

static mo_status compare_clocks(mo_world *world, mo_error *err)
{
    mo_status status = MO_OK;

    world->clock_offset_ns = 0;
    if (world->rank != 0)
        return mo_meet_same_machine(&world->cards[0],
                                    &world->cards[world->rank])
                   ? MO_OK
                   : ask_the_time(world, err);
    for (int r = 1; r < world->n_ranks && status == MO_OK; r++)
        if (!mo_meet_same_machine(&world->cards[0], &world->cards[r]))
            status = tell_the_time(world, r, err);
    return status;
}

/* --------------------------------------------------------------- the plan's */

/* "rank 1 (host tau, device 'B', 'C')" */
static void name_rank(mo_world *world, int rank)
{
    char name[NAME_SIZE];
    const char *before = ", device '";
    int n = snprintf(name, sizeof name, "rank %d (host %s", rank,
                     world->cards[rank].host);

    for (int d = 0; d < world->plan->n_devices && n < NAME_SIZE - 128; d++)
        if (world->rank_of[d] == rank) {
            n += snprintf(name + n, sizeof name - (size_t) n, "%s%.64s'",
                          before, world->plan->devices[d].id);
            before = ", '";
        }
    snprintf(name + n, sizeof name - (size_t) n, ")");
    mo_watch_name(world->watch, rank, name);
}

/* Every piece of every transfer of ours at once. */
static size_t count_pieces(const mo_world *world, const mo_plan *plan,
                           const int *rank_of)
{
    size_t n = 0;

    for (int t = 0; t < plan->n_transfers; t++) {
        const mo_plan_transfer *transfer = &plan->transfers[t];

        if (rank_of[transfer->from] == world->rank ||
            rank_of[transfer->to] == world->rank)
            n += (size_t) (transfer->bytes / MO_MPI_PIECE) + 1;
    }
    return n;
}

static mo_status make_room(mo_world *world, const mo_plan *plan,
                           const int *rank_of, mo_error *err)
{
    size_t n_pieces = count_pieces(world, plan, rank_of) + 1;
    size_t n_transfers = (size_t) plan->n_transfers + 1;
    size_t n_devices = (size_t) plan->n_devices;

    mo_mpi_forget_plan(world);
    world->rank_of = calloc(n_devices + 1, sizeof *world->rank_of);
    world->queue.transfers = calloc(n_transfers, sizeof(int));
    world->taken = calloc(n_transfers, sizeof *world->taken);
    world->pieces_left = calloc(n_transfers, sizeof *world->pieces_left);
    world->requests = calloc(n_pieces, sizeof *world->requests);
    world->transfer_of = calloc(n_pieces, sizeof *world->transfer_of);
    world->finished = calloc(n_pieces, sizeof *world->finished);
    if (!world->rank_of || !world->queue.transfers || !world->taken ||
        !world->pieces_left || !world->requests || !world->transfer_of ||
        !world->finished)
        return mo_fail_memory(err);
    memcpy(world->rank_of, rank_of, n_devices * sizeof *rank_of);
    world->plan = plan;
    world->n_requests = 0;
    atomic_store(&world->queue.n, 0);
    atomic_store(&world->gate_full, false);
    world->gate_busy = false;
    return MO_OK;
}

mo_status mo_mpi_begin(mo_world *world, const mo_plan *plan, const int *rank_of,
                       int n_threads, uint64_t digest, mo_error *err)
{
    mo_status status = check_ranks(world, plan, rank_of, err);

    if (status == MO_OK)
        status = check_tags(world, plan, err);
    if (status == MO_OK)
        status = make_room(world, plan, rank_of, err);
    if (status == MO_OK)
        status = mo_inside_begin(&world->inside, plan, rank_of, world->rank,
                                 n_threads, err);
    for (int r = 0; r < world->n_ranks && status == MO_OK; r++)
        name_rank(world, r);
    if (status == MO_OK)
        status = check_digests(world, digest, err);
    if (status == MO_OK)
        status = compare_clocks(world, err);
    return status;
}
