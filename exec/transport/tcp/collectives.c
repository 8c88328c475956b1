#include <config.h>

#include "base/stop.h"
#include "exec/transport/tcp/tcp_internal.h"

static const int64_t look_ns = 100000000;

typedef struct talking {
    mo_world *world;
    mo_tcp_link *link;
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

    return is_over(t) || mo_failure_is(&t->world->ranks.inside.failure);
}

/* What is told, or shall be heard, lies in memory of somebody who does not wait
 * any longer: nobody may look there from here on, and a connection with half of
 * it is of no use. */
static void give_up(mo_world *world, int peer)
{
    mo_tcp_link *link = &world->links[peer];

    pthread_mutex_lock(&world->plan_lock);
    pthread_mutex_lock(&link->lock);
    atomic_store(&link->broken_ns, mo_stop_clock_ns());
    atomic_store(&link->talk_wanted, false);
    link->n = 0;
    pthread_mutex_unlock(&link->lock);
    pthread_mutex_unlock(&world->plan_lock);
}

/* Until it is said, or has been heard. */
static mo_status await(mo_world *world, int peer, bool telling, mo_error *err)
{
    mo_ranks *ranks = &world->ranks;
    talking t = { world, &world->links[peer], telling };
    int64_t since_ns = mo_stop_clock_ns();

    while (!is_over(&t)) {
        if (mo_failure_is(&ranks->inside.failure))
            return mo_failure_get(&ranks->inside.failure, err);
        if (mo_watch_waits_in_vain(ranks->watch, peer, since_ns))
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has left before the end: start "
                           "all ranks with the same command",
                           peer, ranks->cards[peer].host);
        mo_bell_sleep(&ranks->inside.server, may_go_on, &t, look_ns);
    }
    return MO_OK;
}

static mo_status begin_telling(mo_world *world, int peer, const void *data,
                               size_t bytes, mo_error *err)
{
    mo_tcp_link *link = &world->links[peer];
    bool wake = false;
    mo_status status;

    atomic_store(&link->talk_told, false);
    pthread_mutex_lock(&link->lock);
    status = mo_tcp_push(world, link, MO_TCP_TALK, 0, data, (int64_t) bytes,
                         &wake, err);
    pthread_mutex_unlock(&link->lock);
    if (wake)
        mo_tcp_wake(world);
    return status;
}

static void begin_hearing(mo_world *world, int peer, void *data, size_t bytes)
{
    mo_tcp_link *link = &world->links[peer];

    link->talk = data;
    link->talk_bytes = bytes;
    atomic_store(&link->talk_wanted, true);
    mo_tcp_wake(world);
}

mo_status mo_tcp_tell(mo_world *world, int peer, const void *data, size_t bytes,
                      mo_error *err)
{
    mo_status status = begin_telling(world, peer, data, bytes, err);

    if (status == MO_OK)
        status = await(world, peer, true, err);
    if (status != MO_OK)
        give_up(world, peer);
    return status;
}

mo_status mo_tcp_hear(mo_world *world, int peer, void *data, size_t bytes,
                      mo_error *err)
{
    mo_status status;

    begin_hearing(world, peer, data, bytes);
    status = await(world, peer, false, err);
    if (status != MO_OK)
        give_up(world, peer);
    return status;
}

mo_status mo_tcp_swap(mo_world *world, int peer, const void *own, void *other,
                      size_t bytes, mo_error *err)
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

mo_status mo_tcp_collect(mo_world *world, int from, void *data, size_t bytes,
                         mo_error *err)
{
    mo_status status = mo_failure_get(&world->ranks.inside.failure, err);

    if (from == 0 || bytes == 0 || status != MO_OK)
        return status;
    return world->ranks.rank == from
               ? mo_tcp_tell(world, 0, data, bytes, err)
               : mo_tcp_hear(world, from, data, bytes, err);
}

mo_status mo_tcp_spread(mo_world *world, void *data, size_t bytes,
                        mo_error *err)
{
    mo_status status = mo_failure_get(&world->ranks.inside.failure, err);

    if (status != MO_OK || world->ranks.rank != 0)
        return status == MO_OK ? mo_tcp_hear(world, 0, data, bytes, err)
                               : status;
    for (int r = 1; r < world->ranks.n_ranks && status == MO_OK; r++)
        status = mo_tcp_tell(world, r, data, bytes, err);
    return status;
}
