/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/peers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/stop.h"

static const int64_t heartbeat_ns = 1000000000;

/* Heartbeats within the timeout of the others, which is this rank's. */
enum { HEARTBEATS_PER_TIMEOUT = 4 };

static int64_t next_heartbeat(double timeout_s, int64_t now)
{
    int64_t part = (int64_t) (timeout_s * 1e9 / HEARTBEATS_PER_TIMEOUT);

    return now + mo_min_i64(part, heartbeat_ns);
}

mo_status mo_transport_peers_init(mo_transport_peers *peers, int n_ranks,
                                  int rank, mo_secure_channel *const *channels,
                                  mo_error *err)
{
    int64_t now = mo_stop_clock_ns();
    mo_transport_peer *made;

    if (n_ranks > MO_TRANSPORT_MAX_PEERS)
        return mo_fail(err, MO_E_LIMIT, "%d ranks are more than can be watched",
                       n_ranks);
    made = calloc((size_t) n_ranks, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    for (int r = 0; r < n_ranks; r++) {
        mo_rdv_msg_channel_init(&made[r].channel,
                                r == rank ? NULL : channels[r]);
        made[r].last_message_ns = now;
        snprintf(made[r].name, sizeof made[r].name, "rank %d", r);
    }
    *peers = (mo_transport_peers){ made, n_ranks, rank, now, false };
    return MO_OK;
}

void mo_transport_peers_clear(mo_transport_peers *peers)
{
    for (int r = 0; r < peers->n_ranks; r++)
        mo_rdv_msg_channel_close(&peers->peers[r].channel);
    free(peers->peers);
    *peers = (mo_transport_peers){ NULL, 0, 0, 0, false };
}

void mo_transport_peers_broadcast(mo_transport_peers *peers,
                                  mo_rdv_msg_kind kind, const char *text)
{
    peers->done_sent |= kind == MO_RDV_MSG_DONE;
    for (int r = 0; r < peers->n_ranks; r++)
        mo_rdv_msg_send(&peers->peers[r].channel, kind, text);
}

/* A rank closes when all have sent DONE; before that its end is a failure. */
static void handle_message(mo_transport_peer *p, mo_rdv_msg_kind kind,
                           const char *text, bool done_sent, int64_t now,
                           mo_error *why)
{
    p->last_message_ns = now;
    switch (kind) {
    case MO_RDV_MSG_ERROR:
        if (why->status == MO_OK)
            mo_fail(why, MO_E_IO, "%s", text);
        break;
    case MO_RDV_MSG_DONE:
        p->done_ns = now;
        break;
    case MO_RDV_MSG_CLOSE:
        p->close_received = done_sent && p->done_ns != 0;
        if (!p->close_received && why->status == MO_OK)
            mo_fail(why, MO_E_IO, "%s has left before the end", p->name);
        break;
    case MO_RDV_MSG_HEARTBEAT:
        break;
    }
}

/* Messages that precede the end of the connection are handled before it. */
static void read_peer(mo_transport_peer *p, bool done_sent, int64_t now,
                      mo_error *why)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_rdv_msg_kind kind;
    bool closed = false, more = true;

    while (more) {
        mo_rdv_msg_receive(&p->channel, &closed);
        more = false;
        while (mo_rdv_msg_next(&p->channel, &kind, text, &closed)) {
            handle_message(p, kind, text, done_sent, now, why);
            more = !closed;
        }
    }
    if (!closed)
        return;
    if (*mo_secure_channel_failure(p->channel.conn) && why->status == MO_OK)
        mo_fail(why, MO_E_IO, "%s %s", p->name,
                mo_secure_channel_failure(p->channel.conn));
    mo_rdv_msg_channel_close(&p->channel);
    if (!p->close_received && why->status == MO_OK)
        mo_fail(why, MO_E_IO,
                "%s is gone: it was killed, or has crashed; nothing more can "
                "be done without it",
                p->name);
}

void mo_transport_peers_poll_messages(mo_transport_peers *peers,
                                      double timeout_s, mo_error *why)
{
    int64_t now = mo_stop_clock_ns();

    for (int r = 0; r < peers->n_ranks; r++) {
        mo_transport_peer *p = &peers->peers[r];

        if (p->channel.conn)
            read_peer(p, peers->done_sent, now, why);
        if (p->channel.conn) {
            double silent_s = (double) (now - p->last_message_ns) * 1e-9;

            if (silent_s > timeout_s && why->status == MO_OK)
                mo_fail(
                    why, MO_E_IO,
                    "%s has sent nothing for %.0f s: it was stopped, or its "
                    "machine or the network is down",
                    p->name, silent_s);
        }
    }
    if (now < peers->next_heartbeat_ns)
        return;
    mo_transport_peers_broadcast(peers, MO_RDV_MSG_HEARTBEAT, NULL);
    peers->next_heartbeat_ns = next_heartbeat(timeout_s, now);
}

nfds_t mo_transport_peers_add_pollfds(const mo_transport_peers *peers,
                                      struct pollfd *polled, nfds_t n)
{
    for (int r = 0; r < peers->n_ranks; r++)
        if (peers->peers[r].channel.conn)
            polled[n++] = (struct pollfd){ .fd = mo_rdv_msg_channel_socket(
                                               &peers->peers[r].channel),
                                           .events = POLLIN };
    return n;
}

bool mo_transport_peers_all_done(const mo_transport_peers *peers)
{
    for (int r = 0; r < peers->n_ranks; r++)
        if (r != peers->rank && peers->peers[r].done_ns == 0)
            return false;
    return true;
}

bool mo_transport_peers_has_left(const mo_transport_peers *peers, int rank,
                                 int64_t ago_ns)
{
    int64_t now = mo_stop_clock_ns();

    for (int r = 0; r < peers->n_ranks; r++) {
        int64_t done = peers->peers[r].done_ns;

        if ((rank < 0 || r == rank) && done != 0 && now - done > ago_ns)
            return true;
    }
    return false;
}
