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

/* How long a guest may take, and how long nobody pushes it out. */
static const int64_t guest_ns = 3000000000, safe_ns = 100000000;

mo_status mo_rdv_pending_conns_init(mo_rdv_pending_conns *lobby, int listener,
                                    size_t first_wanted,
                                    mo_rdv_pending_handler *hear, void *context,
                                    mo_error *err)
{
    *lobby = (mo_rdv_pending_conns){ .listener = listener,
                                     .first_wanted = first_wanted,
                                     .hear = hear,
                                     .context = context };
    lobby->guests = calloc(MO_RDV_MAX_PENDING, sizeof *lobby->guests);
    return lobby->guests ? MO_OK : mo_fail_memory(err);
}

static void remove_guest(mo_rdv_pending_conns *lobby, int i)
{
    lobby->guests[i] = lobby->guests[--lobby->n_guests];
}

static void throw_out(mo_rdv_pending_conns *lobby, int i)
{
    close(lobby->guests[i].socket);
    remove_guest(lobby, i);
}

void mo_rdv_pending_conns_clear(mo_rdv_pending_conns *lobby)
{
    while (lobby->n_guests > 0)
        throw_out(lobby, 0);
    free(lobby->guests);
    lobby->guests = NULL;
}

/* Somebody must go, unless all have only just come. */
static bool make_room(mo_rdv_pending_conns *lobby)
{
    int oldest = 0;

    if (lobby->n_guests < MO_RDV_MAX_PENDING)
        return true;
    for (int i = 1; i < lobby->n_guests; i++)
        if (lobby->guests[i].until_ns < lobby->guests[oldest].until_ns)
            oldest = i;
    if (lobby->guests[oldest].until_ns - guest_ns + safe_ns >
        mo_stop_clock_ns())
        return false;
    throw_out(lobby, oldest);
    return true;
}

static void let_in(mo_rdv_pending_conns *lobby)
{
    while (make_room(lobby)) {
        int fd =
            accept4(lobby->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        mo_rdv_pending_conn *guest;

        if (fd < 0)
            return;
        guest = &lobby->guests[lobby->n_guests++];
        guest->socket = fd;
        guest->stage = 0;
        guest->wanted = lobby->first_wanted;
        guest->heard = 0;
        guest->until_ns = mo_stop_clock_ns() + guest_ns;
    }
}

/* True when all has come that was wanted; *gone: there is nobody any more. */
static bool listen_to(mo_rdv_pending_conn *guest, bool *gone)
{
    ssize_t got = recv(guest->socket, guest->bytes + guest->heard,
                       guest->wanted - guest->heard, MSG_DONTWAIT);

    if (got > 0)
        guest->heard += (size_t) got;
    else
        *gone = got == 0 ||
                (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    return guest->heard == guest->wanted;
}

static mo_rdv_pending_action serve_guest(mo_rdv_pending_conns *lobby,
                                         mo_rdv_pending_conn *guest)
{
    mo_rdv_pending_action fate = MO_RDV_PENDING_KEEP;
    bool gone = false;

    if (listen_to(guest, &gone)) {
        guest->heard = 0;
        fate = lobby->hear(lobby->context, guest);
    }
    if (fate == MO_RDV_PENDING_KEEP &&
        (gone || mo_stop_clock_ns() > guest->until_ns))
        return MO_RDV_PENDING_CLOSE;
    return fate;
}

void mo_rdv_pending_conns_poll(mo_rdv_pending_conns *lobby, int wait_ms)
{
    struct pollfd polled[MO_RDV_MAX_PENDING + 1];
    nfds_t n = 0;

    polled[n++] = (struct pollfd){ .fd = lobby->listener, .events = POLLIN };
    for (int i = 0; i < lobby->n_guests; i++)
        polled[n++] =
            (struct pollfd){ .fd = lobby->guests[i].socket, .events = POLLIN };
    poll(polled, n, wait_ms);
    for (int i = lobby->n_guests - 1; i >= 0; i--) {
        mo_rdv_pending_action fate = serve_guest(lobby, &lobby->guests[i]);

        if (fate == MO_RDV_PENDING_CLOSE)
            throw_out(lobby, i);
        else if (fate == MO_RDV_PENDING_ACCEPTED)
            remove_guest(lobby, i);
    }
    let_in(lobby);
}
