/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/detector_peers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/transport/rendezvous/decode.h"

static const int64_t heartbeat_ns = 1000000000;

/* Heartbeats within the timeout of the others, which is this rank's. */
enum { HEARTBEATS_PER_TIMEOUT = 4 };

mo_status mo_detector_peers_init(mo_detector_peers *peers, int n_ranks,
                                 int rank, mo_secure_channel *const *channels,
                                 mo_error *err)
{
    int64_t now = mo_stop_clock_ns();
    mo_detector_peer *made;

    if (n_ranks > MO_DETECTOR_MAX_PEERS)
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
    peers->peers = made;
    peers->n_ranks = n_ranks;
    peers->rank = rank;
    peers->next_heartbeat_ns = now;
    return MO_OK;
}

void mo_detector_peers_broadcast(mo_detector_peers *peers, mo_rdv_msg_kind kind,
                                 const char *text)
{
    peers->done_sent |= kind == MO_RDV_MSG_DONE;
    for (int r = 0; r < peers->n_ranks; r++)
        mo_rdv_msg_send(&peers->peers[r].channel, kind, text);
}

void mo_detector_peers_lose(mo_detector_peers *peers, int rank,
                            const mo_error *why)
{
    mo_detector_peer *p = &peers->peers[rank];
    char text[MO_RDV_MSG_TEXT_SIZE];

    if (p->lost)
        return;
    p->lost = true;
    if (rank == 0)
        peers->alone = *why;
    p->silent_ns = mo_stop_clock_ns() - p->last_message_ns;
    snprintf(text, sizeof text, "%d %.1200s", rank, why->text);
    mo_detector_peers_broadcast(peers, MO_RDV_MSG_LOSS, text);
}

/* Rank from has lost another one, which is no fault of it: that goes to
 * peers->news. Of two ranks that have lost each other rank 0 gives up the one
 * that it hears of first, and the other one waits for that. */
static void handle_loss(mo_detector_peers *peers, int from, const char *text,
                        mo_error *fault)
{
    const char *reason;
    mo_error loss = { 0 };
    int rank;

    if (mo_rdv_decode_loss(text, peers->n_ranks, &rank, &reason, fault) !=
            MO_OK ||
        peers->peers[from].lost)
        return;
    peers->given_up |= peers->tolerant && rank == peers->rank && from == 0;
    mo_fail(&loss, MO_E_IO, "%s%.1000s",
            peers->given_up ? "the other ranks go on without this one: " : "",
            reason);
    if (peers->news.status == MO_OK && !peers->peers[rank].lost)
        peers->news = loss;
    if (peers->given_up)
        peers->alone = loss;
    if (peers->tolerant && rank != peers->rank)
        mo_detector_peers_lose(peers, rank, &loss);
}

/* Messages that precede the end of the connection are handled before it. */
static void read_peer(mo_detector_peers *peers, int rank, int64_t now,
                      mo_error *why)
{
    mo_detector_peer *p = &peers->peers[rank];
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_rdv_msg_kind kind;
    bool closed = false, more = true;

    while (more) {
        mo_rdv_msg_receive(&p->channel, &closed);
        more = false;
        while (mo_rdv_msg_next(&p->channel, &kind, text, &closed)) {
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
                /* A rank closes when all have sent DONE; before that its end
                 * is a failure. */
                p->close_received = peers->done_sent && p->done_ns != 0;
                if (!p->close_received && why->status == MO_OK)
                    mo_fail(why, MO_E_IO, "%s has left before the end",
                            p->name);
                break;
            case MO_RDV_MSG_LOSS:
                if (why->status == MO_OK)
                    handle_loss(peers, rank, text, why);
                break;
            case MO_RDV_MSG_HEARTBEAT:
                break;
            }
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
        mo_fail(why, MO_E_IO, "%s is gone: it was killed, or has crashed%s",
                p->name,
                !peers->tolerant ? "; nothing more can be done without it"
                : rank == 0      ? ", or has gone on without this rank"
                                 : "");
}

/* Reads pending messages of a rank; *why receives an error: the rank has
 * failed, is gone, or was silent for longer than timeout_s. */
static void poll_peer(mo_detector_peers *peers, int rank, double timeout_s,
                      int64_t now, mo_error *why)
{
    mo_detector_peer *p = &peers->peers[rank];
    double silent_s;

    if (p->channel.conn)
        read_peer(peers, rank, now, why);
    silent_s = (double) (now - p->last_message_ns) * 1e-9;
    if (p->channel.conn && silent_s > timeout_s && why->status == MO_OK)
        mo_fail(why, MO_E_IO,
                "%s has sent nothing for %.*f s: it was stopped, or its "
                "machine or the network is down",
                p->name, peers->tolerant ? 1 : 0, silent_s);
}

void mo_detector_peers_poll(mo_detector_peers *peers, double timeout_s,
                            mo_error *why)
{
    int64_t now = mo_stop_clock_ns();
    int64_t part;

    for (int r = 0; r < peers->n_ranks; r++) {
        bool was_lost = peers->peers[r].lost;
        mo_error own = { 0 };

        poll_peer(peers, r, timeout_s, now, &own);
        if (own.status == MO_OK || was_lost)
            continue;
        if (why->status == MO_OK)
            *why = own;
        if (peers->tolerant)
            mo_detector_peers_lose(peers, r, &own);
    }
    if (why->status == MO_OK)
        *why = peers->news;
    peers->news = (mo_error){ 0 };
    if (now < peers->next_heartbeat_ns)
        return;
    mo_detector_peers_broadcast(peers, MO_RDV_MSG_HEARTBEAT, NULL);
    part = (int64_t) (timeout_s * 1e9 / HEARTBEATS_PER_TIMEOUT);
    peers->next_heartbeat_ns = now + mo_min_i64(part, heartbeat_ns);
}

bool mo_detector_peers_all_done(const mo_detector_peers *peers)
{
    for (int r = 0; r < peers->n_ranks; r++)
        if (r != peers->rank && peers->peers[r].done_ns == 0)
            return false;
    return true;
}
