/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/pending_conns.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/stop.h"

/* Time for the handshake, and the time before which a connection is not
 * evicted. */
static const int64_t handshake_ns = 3000000000, min_age_ns = 100000000;

mo_status mo_rdv_pending_conns_init(mo_rdv_pending_conns *pending, int listener,
                                    size_t first_wanted,
                                    mo_rdv_pending_handler *handler,
                                    void *context, mo_error *err)
{
    *pending = (mo_rdv_pending_conns){ .listener = listener,
                                       .first_wanted = first_wanted,
                                       .handler = handler,
                                       .context = context };
    pending->conns = calloc(MO_RDV_MAX_PENDING, sizeof *pending->conns);
    return pending->conns ? MO_OK : mo_fail_memory(err);
}

static void remove_conn(mo_rdv_pending_conns *pending, int i)
{
    pending->conns[i] = pending->conns[--pending->n_conns];
}

static void close_conn(mo_rdv_pending_conns *pending, int i)
{
    mo_secure_channel_free(pending->conns[i].channel);
    remove_conn(pending, i);
}

void mo_rdv_pending_conns_clear(mo_rdv_pending_conns *pending)
{
    while (pending->n_conns > 0)
        close_conn(pending, 0);
    free(pending->conns);
    pending->conns = NULL;
}

/* Evicts the oldest connection if the table is full; returns false if all are
 * too recent for that. */
static bool evict_oldest(mo_rdv_pending_conns *pending)
{
    int oldest = 0;

    if (pending->n_conns < MO_RDV_MAX_PENDING)
        return true;
    for (int i = 1; i < pending->n_conns; i++)
        if (pending->conns[i].deadline_ns < pending->conns[oldest].deadline_ns)
            oldest = i;
    if (pending->conns[oldest].deadline_ns - handshake_ns + min_age_ns >
        mo_stop_clock_ns())
        return false;
    close_conn(pending, oldest);
    return true;
}

static void accept_conns(mo_rdv_pending_conns *pending)
{
    while (evict_oldest(pending)) {
        struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
        socklen_t length = sizeof from;
        int fd = accept4(pending->listener, (struct sockaddr *) &from, &length,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);
        mo_secure_channel *channel;
        mo_rdv_pending_conn *conn;

        if (fd < 0)
            return;
        channel = mo_secure_channel_new(fd);
        if (!channel) {
            pending->lacks_memory = true;
            return;
        }
        conn = &pending->conns[pending->n_conns++];
        conn->channel = channel;
        mo_rdv_address_format((struct sockaddr *) &from, conn->address);
        conn->stage = 0;
        conn->wanted = pending->first_wanted;
        conn->received = 0;
        conn->deadline_ns = mo_stop_clock_ns() + handshake_ns;
    }
}

/* One step: the handshake, if there is one, then bytes, then the handler. */
static mo_rdv_pending_action step_conn(mo_rdv_pending_conns *pending,
                                       mo_rdv_pending_conn *conn)
{
    mo_error why = { 0 };
    ssize_t got;

    switch (mo_secure_channel_handshake(conn->channel, &why)) {
    case MO_SECURE_FAILED:
        if (pending->on_failure)
            pending->on_failure(pending->context, conn, &why);
        return why.status == MO_E_MEMORY ? MO_RDV_PENDING_NO_MEMORY
                                         : MO_RDV_PENDING_CLOSE;
    case MO_SECURE_AGAIN:
        return MO_RDV_PENDING_KEEP;
    case MO_SECURE_DONE:
        break;
    }
    if (conn->received < conn->wanted) {
        got = mo_secure_channel_receive(conn->channel,
                                        conn->bytes + conn->received,
                                        conn->wanted - conn->received);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
            return MO_RDV_PENDING_CLOSE;
        if (got > 0)
            conn->received += (size_t) got;
    }
    if (conn->received < conn->wanted)
        return MO_RDV_PENDING_KEEP;
    conn->received = 0;
    return pending->handler(pending->context, conn);
}

mo_status mo_rdv_pending_conns_poll(mo_rdv_pending_conns *pending, int wait_ms,
                                    mo_error *err)
{
    struct pollfd polled[MO_RDV_MAX_PENDING + 1];
    nfds_t n = 0;

    polled[n++] = (struct pollfd){ .fd = pending->listener, .events = POLLIN };
    for (int i = 0; i < pending->n_conns; i++) {
        const mo_secure_channel *channel = pending->conns[i].channel;

        polled[n++] =
            (struct pollfd){ .fd = mo_secure_channel_socket(channel),
                             .events = mo_secure_channel_events(channel) };
    }
    if (poll(polled, n, wait_ms) < 0 && errno != EINTR)
        return mo_fail_errno(err, NULL, "cannot wait for the other ranks");
    for (int i = pending->n_conns - 1; i >= 0; i--) {
        mo_rdv_pending_conn *conn = &pending->conns[i];
        mo_rdv_pending_action action;
        int stage;

        /* Steps until the connection waits for its peer: received bytes may
         * be in the channel already, where poll() does not see them. */
        do {
            stage = conn->stage;
            action = step_conn(pending, conn);
        } while (action == MO_RDV_PENDING_KEEP && conn->stage != stage);
        if (action == MO_RDV_PENDING_KEEP &&
            mo_stop_clock_ns() > conn->deadline_ns)
            action = MO_RDV_PENDING_CLOSE;
        pending->lacks_memory |= action == MO_RDV_PENDING_NO_MEMORY;
        if (action == MO_RDV_PENDING_CLOSE ||
            action == MO_RDV_PENDING_NO_MEMORY)
            close_conn(pending, i);
        else if (action == MO_RDV_PENDING_ACCEPTED)
            remove_conn(pending, i);
    }
    accept_conns(pending);
    return pending->lacks_memory ? mo_fail_memory(err) : MO_OK;
}
