/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/stop.h"
#include "exec/transport/tcp/tcp_internal.h"

/* So much of one connection before others have their turn. */
enum { TURN_BYTES = 4 << 20 };

static int peer_of(const mo_transport_world *world, const mo_tcp_conn *link)
{
    return (int) (link - world->links);
}

static void fail(mo_transport_world *world, mo_tcp_conn *link, const char *what)
{
    int peer = peer_of(world, link);
    mo_error why = { 0 };

    mo_fail(&why, MO_E_IO,
            "rank %d (host %s) sends %s: use the same moirai "
            "everywhere, and start all ranks with the same command",
            peer, world->ranks.cards[peer].host, what);
    atomic_store(&link->broken_ns, mo_stop_clock_ns());
    mo_transport_job_fail(&world->ranks, &why);
}

/* ---------------------------------------------------------------- transfers */

/* The transfer that a head is about, if it is one of this link's that goes this
 * way; or NULL. */
static mo_tcp_transfer *find_transfer(const mo_transport_world *world,
                                      const mo_tcp_conn *link, bool inwards)
{
    const mo_tcp_msg_header *head = &link->head;
    const mo_plan_transfer *transfer;
    int receiver;

    if (head->what < 0 || head->what >= world->n_transfers)
        return NULL;
    transfer = &world->ranks.plan->transfers[head->what];
    receiver = world->ranks.rank_of[transfer->to];
    if (world->transfers[head->what].link != link ||
        (receiver == world->ranks.rank) != inwards ||
        head->bytes != (inwards ? transfer->bytes : 0))
        return NULL;
    return &world->transfers[head->what];
}

static void take_data(mo_transport_world *world, mo_tcp_conn *link)
{
    mo_tcp_transfer *t = find_transfer(world, link, true);
    bool good;

    if (!t) {
        fail(world, link, "a value that is not in the plan");
        return;
    }
    pthread_mutex_lock(&link->lock);
    good = t->expected;
    if (t->expected) {
        link->into = mo_transport_local_copy_target(world->ranks.inside.post,
                                                    link->head.what);
    } else if (link->head.bytes <= MO_TCP_EAGER_BYTES && !t->early) {
        t->early = malloc((size_t) link->head.bytes + 1);
        link->into = t->early;
        good = t->early != NULL;
    }
    pthread_mutex_unlock(&link->lock);
    link->left = link->head.bytes;
    if (!good)
        fail(world, link, "a value that nobody has asked for");
}

static void finish_data(mo_transport_world *world, mo_tcp_conn *link)
{
    mo_tcp_transfer *t = &world->transfers[link->head.what];
    mo_transport_local_copy *post = world->ranks.inside.post;
    bool done;

    pthread_mutex_lock(&link->lock);
    done = t->expected;
    if (done && t->early) {
        memcpy(mo_transport_local_copy_target(post, link->head.what), t->early,
               (size_t) link->head.bytes);
        free(t->early);
        t->early = NULL;
    }
    t->arrived = !done;
    t->expected = false;
    pthread_mutex_unlock(&link->lock);
    if (done)
        mo_transport_local_copy_complete(post, link->head.what);
}

static void hear_ready(mo_transport_world *world, mo_tcp_conn *link)
{
    mo_tcp_transfer *t = find_transfer(world, link, false);
    bool wake = false;
    mo_error err = { 0 };

    if (!t) {
        fail(world, link, "what is not in the plan");
        return;
    }
    pthread_mutex_lock(&link->lock);
    if (t->begun) {
        const mo_plan_transfer *transfer =
            &world->ranks.plan->transfers[link->head.what];

        t->begun = false;
        mo_tcp_conn_enqueue(world, link, MO_TCP_MSG_DATA, link->head.what,
                            mo_transport_local_copy_source(
                                world->ranks.inside.post, link->head.what),
                            transfer->bytes, &wake, &err);
        mo_tcp_conn_flush(world, link);
    } else {
        t->ready = true;
    }
    pthread_mutex_unlock(&link->lock);
    if (err.status != MO_OK)
        mo_transport_job_fail(&world->ranks, &err);
}

/* --------------------------------------------------------------- gate, talk */

static void hear_gate(mo_transport_world *world, mo_tcp_conn *link)
{
    mo_error err = { 0 };
    bool vote = link->head.what != 0;

    if (world->ranks.rank != 0) {
        if (peer_of(world, link) == 0 && world->transfers)
            mo_vote_barrier_release(&world->ranks.inside.gate, vote);
        else
            fail(world, link, "what only rank 0 may say");
    } else if (mo_tcp_barrier_arrive(world, vote, &err) != MO_OK) {
        mo_transport_job_fail(&world->ranks, &err);
    }
}

/* False: nobody has asked for it yet. */
static bool take_talk(mo_transport_world *world, mo_tcp_conn *link)
{
    if (!atomic_load(&link->talk_wanted))
        return false;
    if (link->head.bytes != (int64_t) link->talk_bytes)
        fail(world, link, "more or less than was asked for");
    link->into = link->talk;
    link->left = link->head.bytes;
    return true;
}

static void finish_talk(mo_transport_world *world, mo_tcp_conn *link)
{
    atomic_store(&link->talk_wanted, false);
    mo_eventcount_notify(&world->ranks.inside.server);
}

/* ------------------------------------------------------------------ reading */

static bool is_broken(mo_tcp_conn *link)
{
    return atomic_load(&link->broken_ns) != 0;
}

/* At most so many bytes; how many have come.  0: none, or no more ever. */
static size_t read_some(mo_tcp_conn *link, void *into, size_t bytes)
{
    ssize_t got;

    do
        got = recv(link->socket, into, bytes, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
        atomic_store(&link->broken_ns, mo_stop_clock_ns());
    return got > 0 ? (size_t) got : 0;
}

/* The head is complete: what now?  False: not now. */
static bool begin_item(mo_transport_world *world, mo_tcp_conn *link)
{
    link->left = 0;
    switch (link->head.kind) {
    case MO_TCP_MSG_DATA:
        take_data(world, link);
        return true;
    case MO_TCP_MSG_CLEAR_TO_SEND:
        hear_ready(world, link);
        return true;
    case MO_TCP_MSG_BARRIER:
        hear_gate(world, link);
        return true;
    case MO_TCP_MSG_CONTROL:
        return take_talk(world, link);
    default:
        fail(world, link, "what nobody understands");
        return true;
    }
}

static void finish_item(mo_transport_world *world, mo_tcp_conn *link)
{
    if (link->head.kind == MO_TCP_MSG_DATA)
        finish_data(world, link);
    if (link->head.kind == MO_TCP_MSG_CONTROL)
        finish_talk(world, link);
    link->begun = false;
    link->n_head = 0;
}

void mo_tcp_conn_receive(mo_transport_world *world, mo_tcp_conn *link)
{
    const size_t whole = sizeof link->head;
    size_t got, turn = 0;

    while (!is_broken(link) && turn < TURN_BYTES) {
        if (link->n_head < whole) {
            got = read_some(link, (char *) &link->head + link->n_head,
                            whole - link->n_head);
            link->n_head += got;
            if (got == 0)
                return;
            continue;
        }
        if (!link->begun)
            link->begun = begin_item(world, link);
        if (!link->begun || is_broken(link))
            return;
        if (link->left > 0) {
            got = read_some(link, link->into, (size_t) link->left);
            if (got == 0)
                return;
            link->into += got;
            link->left -= (int64_t) got;
            turn += got;
        }
        if (link->left == 0)
            finish_item(world, link);
    }
}
