/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/stop.h"
#include "exec/transport/tcp/tcp_internal.h"

static const int64_t look_ns = 100000000;

typedef struct talking {
    mo_transport_world *world;
    mo_tcp_conn *link;
    bool telling;
} talking;

static bool is_over(const talking *t)
{
    return t->telling ? atomic_load(&t->link->talk_told)
                      : !atomic_load(&t->link->talk_wanted);
}

static bool may_go_on(void *context)
{
    talking *t = context;

    return is_over(t) || mo_first_error_is_set(&t->world->ranks.inside.failure);
}

/* What is told, or shall be heard, lies in memory of somebody who does not wait
 * any longer: nobody may look there from here on, and a connection with half of
 * it is of no use. */
static void give_up(mo_transport_world *world, int peer)
{
    mo_tcp_conn *link = &world->links[peer];

    pthread_mutex_lock(&world->plan_lock);
    pthread_mutex_lock(&link->lock);
    atomic_store(&link->broken_ns, mo_stop_clock_ns());
    atomic_store(&link->talk_wanted, false);
    link->n = 0;
    pthread_mutex_unlock(&link->lock);
    pthread_mutex_unlock(&world->plan_lock);
}

/* Until it is said, or has been heard. */
static mo_status await(mo_transport_world *world, int peer, bool telling,
                       mo_error *err)
{
    mo_transport_job *ranks = &world->ranks;
    talking t = { world, &world->links[peer], telling };
    int64_t since_ns = mo_stop_clock_ns();

    while (!is_over(&t)) {
        if (mo_first_error_is_set(&ranks->inside.failure))
            return mo_first_error_get(&ranks->inside.failure, err);
        if (mo_failure_detector_peer_wait_expired(ranks->watch, peer, since_ns))
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has left before the end: start "
                           "all ranks with the same command",
                           peer, ranks->cards[peer].host);
        mo_eventcount_wait_timed(&ranks->inside.server, may_go_on, &t, look_ns);
    }
    return MO_OK;
}

static mo_status begin_telling(mo_transport_world *world, int peer,
                               const void *data, size_t bytes, mo_error *err)
{
    mo_tcp_conn *link = &world->links[peer];
    bool wake = false;
    mo_status status;

    atomic_store(&link->talk_told, false);
    pthread_mutex_lock(&link->lock);
    status = mo_tcp_conn_enqueue(world, link, MO_TCP_MSG_CONTROL, 0, data,
                                 (int64_t) bytes, &wake, err);
    pthread_mutex_unlock(&link->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

static void begin_hearing(mo_transport_world *world, int peer, void *data,
                          size_t bytes)
{
    mo_tcp_conn *link = &world->links[peer];

    link->talk = data;
    link->talk_bytes = bytes;
    atomic_store(&link->talk_wanted, true);
    mo_tcp_io_thread_wake(world);
}

mo_status mo_tcp_control_send(mo_transport_world *world, int peer,
                              const void *data, size_t bytes, mo_error *err)
{
    mo_status status = begin_telling(world, peer, data, bytes, err);

    if (status == MO_OK)
        status = await(world, peer, true, err);
    if (status != MO_OK)
        give_up(world, peer);
    return status;
}

mo_status mo_tcp_control_receive(mo_transport_world *world, int peer,
                                 void *data, size_t bytes, mo_error *err)
{
    mo_status status;

    begin_hearing(world, peer, data, bytes);
    status = await(world, peer, false, err);
    if (status != MO_OK)
        give_up(world, peer);
    return status;
}

mo_status mo_tcp_control_exchange(mo_transport_world *world, int peer,
                                  const void *own, void *other, size_t bytes,
                                  mo_error *err)
{
    mo_status status;

    begin_hearing(world, peer, other, bytes);
    status = begin_telling(world, peer, own, bytes, err);
    if (status == MO_OK)
        status = await(world, peer, true, err);
    if (status == MO_OK)
        status = await(world, peer, false, err);
    if (status != MO_OK)
        give_up(world, peer);
    return status;
}

mo_status mo_tcp_collect_to_root(mo_transport_world *world, int from,
                                 void *data, size_t bytes, mo_error *err)
{
    mo_status status = mo_first_error_get(&world->ranks.inside.failure, err);

    if (from == 0 || bytes == 0 || status != MO_OK)
        return status;
    return world->ranks.rank == from
               ? mo_tcp_control_send(world, 0, data, bytes, err)
               : mo_tcp_control_receive(world, from, data, bytes, err);
}

mo_status mo_tcp_broadcast(mo_transport_world *world, void *data, size_t bytes,
                           mo_error *err)
{
    mo_status status = mo_first_error_get(&world->ranks.inside.failure, err);

    if (status != MO_OK || world->ranks.rank != 0)
        return status == MO_OK
                   ? mo_tcp_control_receive(world, 0, data, bytes, err)
                   : status;
    for (int r = 1; r < world->ranks.n_ranks && status == MO_OK; r++)
        status = mo_tcp_control_send(world, r, data, bytes, err);
    return status;
}
