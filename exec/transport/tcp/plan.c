/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a TCP job: transfers of this rank, and what all ranks agree on
 * before the first run. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/decode.h"
#include "exec/transport/tcp/tcp_internal.h"

void mo_tcp_plan_clear(mo_tcp_world *world)
{
    pthread_mutex_lock(&world->plan_lock);
    for (int r = 0; r < world->job.n_ranks && world->transfers; r++) {
        mo_tcp_conn *conn = &world->conns[r];
        bool values =
            conn->body_started && conn->header.kind == MO_TCP_MSG_DATA;

        /* The memory of a value that is partly read, or not yet written, is
         * about to be freed: the connection becomes unusable. */
        pthread_mutex_lock(&conn->lock);
        for (size_t i = 0; i < conn->n; i++)
            values |=
                conn->queue[conn->first + i].header.kind == MO_TCP_MSG_DATA;
        if (values) {
            conn->n = 0;
            atomic_store(&conn->broken_ns, mo_stop_clock_ns());
        }
        pthread_mutex_unlock(&conn->lock);
    }
    for (int t = 0; t < world->n_transfers; t++)
        free(world->transfers[t].unexpected);
    free(world->transfers);
    world->transfers = NULL;
    world->n_transfers = 0;
    pthread_mutex_unlock(&world->plan_lock);
}

static mo_status install_plan(mo_tcp_world *world, const mo_exec_plan *plan,
                              const int *rank_of, int n_threads, mo_error *err)
{
    mo_tcp_transfer *transfers =
        calloc((size_t) plan->n_transfers + 1, sizeof *transfers);
    mo_status status;
    const mo_transport_job *job = &world->job;

    if (!transfers)
        return mo_fail_memory(err);
    mo_tcp_plan_clear(world);
    pthread_mutex_lock(&world->plan_lock);
    status = mo_transport_job_begin(&world->job, plan, rank_of, n_threads, err);
    if (status == MO_OK) {
        world->transfers = transfers;
        world->n_transfers = plan->n_transfers;
        for (int t = 0; t < plan->n_transfers; t++) {
            int from = job->rank_of[plan->transfers[t].from];
            int to = job->rank_of[plan->transfers[t].to];

            if (from != to && (from == job->rank || to == job->rank))
                world->transfers[t].conn =
                    &world->conns[from == job->rank ? to : from];
        }
    }
    pthread_mutex_unlock(&world->plan_lock);
    if (status != MO_OK)
        free(transfers);
    return status;
}

/* Rank 0 receives all digests and sends the first rank that differs; -1:
 * none. */
static mo_status find_other_digest(mo_tcp_world *world, uint64_t digest,
                                   int64_t *other, mo_error *err)
{
    mo_status status = MO_OK;
    uint64_t theirs;

    *other = -1;
    for (int r = 1; r < world->job.n_ranks && status == MO_OK; r++) {
        status = mo_tcp_control_receive(world, r, &theirs, sizeof theirs, err);
        if (status == MO_OK && *other < 0 && theirs != digest)
            *other = r;
    }
    for (int r = 1; r < world->job.n_ranks && status == MO_OK; r++)
        status = mo_tcp_control_send(world, r, other, sizeof *other, err);
    return status;
}

static mo_status compare_plans(mo_tcp_world *world, uint64_t digest,
                               mo_error *err)
{
    int64_t other = -1;
    int rank = -1;
    mo_status status;

    if (world->job.rank == 0) {
        status = find_other_digest(world, digest, &other, err);
    } else {
        status = mo_tcp_control_send(world, 0, &digest, sizeof digest, err);
        if (status == MO_OK)
            status =
                mo_tcp_control_receive(world, 0, &other, sizeof other, err);
    }
    if (status == MO_OK)
        status = mo_transport_job_check_sent(
            &world->job, 0,
            mo_rdv_decode_rank(other, world->job.n_ranks, &rank, err), err);
    if (status != MO_OK || rank < 0)
        return status;
    return mo_transport_job_plan_mismatch(&world->job, rank, err);
}

static mo_status ping_clock(void *world, int peer, bool first, int64_t *number,
                            mo_error *err)
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

/* Pairwise exchanges in ascending order of ranks: no cycle of waiting ranks
 * can form. */
static mo_status allgather(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err)
{
    mo_tcp_world *world = context;
    mo_status status = MO_OK;

    memcpy((char *) all + (size_t) world->job.rank * bytes, own, bytes);
    for (int r = 0; r < world->job.n_ranks && status == MO_OK; r++)
        if (r != world->job.rank)
            status = mo_tcp_control_exchange(
                world, r, own, (char *) all + (size_t) r * bytes, bytes, err);
    return status;
}

mo_status mo_tcp_begin(mo_transport_world *handle, const mo_exec_plan *plan,
                       const int *rank_of, int n_threads, uint64_t digest,
                       mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = install_plan(world, plan, rank_of, n_threads, err);
    int n;
    uint8_t own, theirs = 0;

    if (status == MO_OK)
        status = compare_plans(world, digest, err);
    if (status != MO_OK)
        return status;
    /* Exchanges which ranks have an extension, since builds may differ. */
    n = world->job.n_ranks;
    own = world->extension != NULL;
    if (!world->peer_has_extension)
        world->peer_has_extension =
            calloc((size_t) n, sizeof *world->peer_has_extension);
    if (!world->peer_has_extension)
        return mo_fail_memory(err);
    for (int r = 0; r < n && status == MO_OK; r++) {
        if (r == world->job.rank)
            continue;
        status =
            mo_tcp_control_exchange(world, r, &own, &theirs, sizeof own, err);
        if (status == MO_OK)
            status = mo_transport_job_check_sent(
                &world->job, r,
                mo_rdv_decode_flag(theirs, &world->peer_has_extension[r], err),
                err);
    }
    world->peer_has_extension[world->job.rank] = own == 1;
    if (status == MO_OK)
        status =
            mo_transport_job_share_memory(&world->job, allgather, world, err);
    if (status == MO_OK)
        status =
            mo_transport_job_sync_clocks(&world->job, ping_clock, world, err);
    return status;
}
