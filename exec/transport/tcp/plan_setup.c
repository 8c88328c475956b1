/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>
#include <sys/socket.h>

#include "base/stop.h"
#include "exec/transport/tcp/tcp_internal.h"

/* ----------------------------------------------------------------- the plan */

/* A value that is half read, or not yet written, is of no use any more, and its
 * memory is about to go: neither is the connection. */
static void give_up_values(mo_tcp_conn *link)
{
    bool values = link->begun && link->head.kind == MO_TCP_MSG_DATA;

    pthread_mutex_lock(&link->lock);
    for (size_t i = 0; i < link->n; i++)
        values |= link->queue[link->first + i].head.kind == MO_TCP_MSG_DATA;
    if (values) {
        link->n = 0;
        atomic_store(&link->broken_ns, mo_stop_clock_ns());
    }
    pthread_mutex_unlock(&link->lock);
}

void mo_tcp_plan_clear(mo_transport_world *world)
{
    pthread_mutex_lock(&world->plan_lock);
    for (int r = 0; r < world->ranks.n_ranks && world->transfers; r++)
        give_up_values(&world->links[r]);
    for (int t = 0; t < world->n_transfers; t++)
        free(world->transfers[t].early);
    free(world->transfers);
    world->transfers = NULL;
    world->n_transfers = 0;
    pthread_mutex_unlock(&world->plan_lock);
}

static void link_transfers(mo_transport_world *world, const mo_exec_plan *plan)
{
    const mo_transport_job *ranks = &world->ranks;

    for (int t = 0; t < plan->n_transfers; t++) {
        int from = ranks->rank_of[plan->transfers[t].from];
        int to = ranks->rank_of[plan->transfers[t].to];

        if (from != to && (from == ranks->rank || to == ranks->rank))
            world->transfers[t].link =
                &world->links[from == ranks->rank ? to : from];
    }
}

static mo_status install(mo_transport_world *world, const mo_exec_plan *plan,
                         const int *rank_of, int n_threads, mo_error *err)
{
    mo_tcp_transfer *transfers =
        calloc((size_t) plan->n_transfers + 1, sizeof *transfers);
    mo_status status;

    if (!transfers)
        return mo_fail_memory(err);
    mo_tcp_plan_clear(world);
    pthread_mutex_lock(&world->plan_lock);
    status =
        mo_transport_job_begin(&world->ranks, plan, rank_of, n_threads, err);
    if (status == MO_OK) {
        world->transfers = transfers;
        world->n_transfers = plan->n_transfers;
        link_transfers(world, plan);
    }
    pthread_mutex_unlock(&world->plan_lock);
    if (status != MO_OK)
        free(transfers);
    return status;
}

/* ---------------------------------------------------------------- comparing */

/* Rank 0 hears all digests and says which is the first that is not its own. */
static mo_status find_other(mo_transport_world *world, uint64_t digest,
                            int64_t *other, mo_error *err)
{
    mo_status status = MO_OK;
    uint64_t theirs;

    *other = -1;
    for (int r = 1; r < world->ranks.n_ranks && status == MO_OK; r++) {
        status = mo_tcp_control_receive(world, r, &theirs, sizeof theirs, err);
        if (status == MO_OK && *other < 0 && theirs != digest)
            *other = r;
    }
    for (int r = 1; r < world->ranks.n_ranks && status == MO_OK; r++)
        status = mo_tcp_control_send(world, r, other, sizeof *other, err);
    return status;
}

static mo_status compare_plans(mo_transport_world *world, uint64_t digest,
                               mo_error *err)
{
    int64_t other = -1;
    mo_status status;

    if (world->ranks.rank == 0) {
        status = find_other(world, digest, &other, err);
    } else {
        status = mo_tcp_control_send(world, 0, &digest, sizeof digest, err);
        if (status == MO_OK)
            status =
                mo_tcp_control_receive(world, 0, &other, sizeof other, err);
    }
    if (status != MO_OK || other < 0)
        return status;
    return mo_transport_job_plan_mismatch(&world->ranks, (int) other, err);
}

static mo_status swap_times(mo_transport_world *world, int peer, bool first,
                            int64_t *number, mo_error *err)
{
    mo_status status;

    if (first) {
        status = mo_tcp_control_send(world, peer, number, sizeof *number, err);
        return status == MO_OK ? mo_tcp_control_receive(world, peer, number,
                                                        sizeof *number, err)
                               : status;
    }
    status = mo_tcp_control_receive(world, peer, number, sizeof *number, err);
    *number = mo_stop_clock_ns();
    return status == MO_OK
               ? mo_tcp_control_send(world, peer, number, sizeof *number, err)
               : status;
}

/* Builds differ, and so may what ranks can do beside this. */
static mo_status swap_besides(mo_transport_world *world, mo_error *err)
{
    int n = world->ranks.n_ranks;
    bool own = world->beside != NULL;
    mo_status status = MO_OK;

    if (!world->have_beside)
        world->have_beside = calloc((size_t) n, sizeof *world->have_beside);
    if (!world->have_beside)
        return mo_fail_memory(err);
    for (int r = 0; r < n && status == MO_OK; r++)
        if (r != world->ranks.rank)
            status = mo_tcp_control_exchange(
                world, r, &own, &world->have_beside[r], sizeof own, err);
    world->have_beside[world->ranks.rank] = own;
    return status;
}

mo_status mo_tcp_plan_begin(mo_transport_world *world, const mo_exec_plan *plan,
                            const int *rank_of, int n_threads, uint64_t digest,
                            mo_error *err)
{
    mo_status status = install(world, plan, rank_of, n_threads, err);

    if (status == MO_OK)
        status = compare_plans(world, digest, err);
    if (status == MO_OK)
        status = swap_besides(world, err);
    if (status == MO_OK)
        status =
            mo_transport_job_sync_clocks(&world->ranks, swap_times, world, err);
    return status;
}
