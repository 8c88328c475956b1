/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/tcp/tcp_internal.h"

static mo_status send_vote(mo_transport_world *world, int peer, bool vote,
                           mo_error *err)
{
    mo_tcp_conn *link = &world->links[peer];
    bool wake = false;
    mo_status status;

    pthread_mutex_lock(&link->lock);
    status = mo_tcp_conn_enqueue(world, link, MO_TCP_MSG_BARRIER, vote, NULL, 0,
                                 &wake, err);
    pthread_mutex_unlock(&link->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

/* Rank 0 counts.  Nobody arrives for the next run before this one has been
 * opened for him. */
static bool count(mo_transport_world *world, bool vote, bool *verdict)
{
    bool all;

    pthread_mutex_lock(&world->gate_lock);
    world->gate_vote |= vote;
    all = ++world->gate_arrived == world->ranks.n_ranks;
    *verdict = world->gate_vote;
    if (all) {
        world->gate_arrived = 0;
        world->gate_vote = false;
    }
    pthread_mutex_unlock(&world->gate_lock);
    return all;
}

mo_status mo_tcp_barrier_arrive(mo_transport_world *world, bool vote,
                                mo_error *err)
{
    mo_status status = MO_OK;
    bool verdict;

    if (world->ranks.rank != 0)
        return send_vote(world, 0, vote, err);
    if (!count(world, vote, &verdict))
        return MO_OK;
    for (int r = 1; r < world->ranks.n_ranks && status == MO_OK; r++)
        status = send_vote(world, r, verdict, err);
    if (status == MO_OK)
        mo_vote_barrier_release(&world->ranks.inside.gate, verdict);
    return status;
}
