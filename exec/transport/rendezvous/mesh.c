/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/mesh.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/pending_conns.h"

/* What a caller says first. */
typedef struct hello {
    uint64_t secret;
    uint32_t rank;
    uint32_t kind;
} hello;

static const int64_t look_ns = 20000000;

/* -------------------------------------------------------------------- cards */

static void list_addresses(mo_rdv_endpoint *card)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && (i->ifa_flags & IFF_UP) &&
            !(i->ifa_flags & IFF_LOOPBACK) &&
            card->n_addresses < MO_RDV_ENDPOINT_ADDRESSES &&
            mo_rdv_address_from_sockaddr(i->ifa_addr,
                                         card->addresses[card->n_addresses]))
            card->n_addresses++;
    freeifaddrs(all);
}

/* Two containers of one machine have one clock, whatever they call it; but each
 * may have a network of its own. */
static void name_machine(mo_rdv_endpoint *card)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!file || !fgets(card->machine, (int) sizeof card->machine, file))
        memcpy(card->machine, card->host, sizeof card->machine);
    if (file)
        fclose(file);
    if (readlink("/proc/self/ns/net", card->network, sizeof card->network - 1) <
        0)
        snprintf(card->network, sizeof card->network, "the only one");
}

bool mo_rdv_endpoint_same_machine(const mo_rdv_endpoint *a,
                                  const mo_rdv_endpoint *b)
{
    return memcmp(a->machine, b->machine, sizeof a->machine) == 0;
}

static bool share_loopback(const mo_rdv_endpoint *a, const mo_rdv_endpoint *b)
{
    return mo_rdv_endpoint_same_machine(a, b) && *a->network &&
           memcmp(a->network, b->network, sizeof a->network) == 0;
}

void mo_rdv_endpoint_prefer_address(mo_rdv_endpoint *card,
                                    const uint8_t address[MO_RDV_ADDRESS_BYTES])
{
    int at = 0, last = card->n_addresses;

    while (at < last && !mo_rdv_address_equal(card->addresses[at], address))
        at++;
    if (at == last && last < MO_RDV_ENDPOINT_ADDRESSES)
        card->n_addresses++;
    if (at == MO_RDV_ENDPOINT_ADDRESSES)
        at--;
    memmove(card->addresses[1], card->addresses[0],
            (size_t) at * MO_RDV_ADDRESS_BYTES);
    memcpy(card->addresses[0], address, MO_RDV_ADDRESS_BYTES);
}

static mo_rdv_endpoint write_card(const uint8_t *bind)
{
    mo_rdv_endpoint card = { .host = "unknown" };

    if (gethostname(card.host, sizeof card.host - 1) != 0)
        card.host[0] = '?';
    name_machine(&card);
    if (bind)
        mo_rdv_endpoint_prefer_address(&card, bind);
    else
        list_addresses(&card);
    if (bind && !mo_rdv_address_is_loopback(bind))
        card.network[0] = '\0'; /* it does not listen there */
    if (getrandom(&card.secret, sizeof card.secret, 0) < 0)
        card.secret = (uint64_t) mo_stop_clock_ns() ^ (uint64_t) getpid();
    return card;
}

mo_status mo_rdv_endpoint_listen(int n_ranks, const uint8_t *bind,
                                 mo_rdv_endpoint *card, int *listener,
                                 mo_error *err)
{
    *card = write_card(bind);
    *listener = mo_rdv_socket_listen(bind, 0, 2 * n_ranks + 16);
    if (*listener < 0)
        return mo_fail_errno(err, NULL, "listen for the other ranks");
    card->port = mo_rdv_socket_local_port(*listener);
    return MO_OK;
}

/* ------------------------------------------------------------------ calling */

/* Who listens at one address only has one on his card. */
static int call(const mo_rdv_endpoint *own, const mo_rdv_endpoint *other,
                int64_t deadline_ns)
{
    int fd = -1;

    for (int i = 0; i < other->n_addresses && fd < 0; i++)
        if (!mo_rdv_address_is_loopback(other->addresses[i]) ||
            share_loopback(own, other))
            fd = mo_rdv_socket_connect(other->addresses[i], other->port,
                                       deadline_ns);
    return fd;
}

/* Whoever listens everywhere does so here, too; who listens at one of the
 * addresses that never leave a machine says at which. */
static int call_near_or_far(const mo_rdv_endpoint *own,
                            const mo_rdv_endpoint *other, int64_t deadline_ns)
{
    bool told = other->n_addresses > 0 &&
                mo_rdv_address_is_loopback(other->addresses[0]);
    int fd = -1;

    if (share_loopback(own, other) && !told)
        fd = mo_rdv_socket_connect(mo_rdv_address_loopback, other->port,
                                   deadline_ns);
    return fd >= 0 ? fd : call(own, other, deadline_ns);
}

static mo_status call_one(const mo_rdv_mesh *m, int r, int kind,
                          int64_t deadline_ns, int *socket, mo_error *err)
{
    const mo_rdv_endpoint *own = &m->cards[m->rank], *other = &m->cards[r];
    hello h = { m->cards[0].secret, (uint32_t) m->rank, (uint32_t) kind };

    *socket = call_near_or_far(own, other, deadline_ns);
    if (*socket >= 0 && send(*socket, &h, sizeof h, MSG_NOSIGNAL) == sizeof h)
        return MO_OK;
    return mo_fail(err, MO_E_IO,
                   "rank %d (host %s) cannot be reached at port %d: see that "
                   "it is still there, and that no firewall is between it and "
                   "host %s",
                   r, other->host, (int) other->port, own->host);
}

static mo_status call_those_before(const mo_rdv_mesh *m, int64_t deadline_ns,
                                   int *sockets, mo_error *err)
{
    mo_status status = MO_OK;

    for (int r = 0; r < m->rank && status == MO_OK; r++)
        for (int k = 0; k < m->n_kinds && status == MO_OK; k++)
            status = call_one(m, r, k, deadline_ns,
                              &sockets[k * m->n_ranks + r], err);
    return status;
}

/* ---------------------------------------------------------------- answering */

typedef struct answering {
    const mo_rdv_mesh *meeting;
    int *sockets;
} answering;

static mo_rdv_pending_action hear(void *context, mo_rdv_pending_conn *guest)
{
    const answering *a = context;
    const mo_rdv_mesh *m = a->meeting;
    int *socket;
    hello h;

    memcpy(&h, guest->bytes, sizeof h);
    if (h.secret != m->cards[0].secret || h.rank >= (uint32_t) m->n_ranks ||
        h.rank <= (uint32_t) m->rank || h.kind >= (uint32_t) m->n_kinds)
        return MO_RDV_PENDING_CLOSE;
    socket = &a->sockets[h.kind * (uint32_t) m->n_ranks + h.rank];
    if (*socket >= 0)
        return MO_RDV_PENDING_CLOSE;
    *socket = guest->socket;
    return MO_RDV_PENDING_ACCEPTED;
}

static int first_missing(const mo_rdv_mesh *m, const int *sockets)
{
    for (int r = m->rank + 1; r < m->n_ranks; r++)
        for (int k = 0; k < m->n_kinds; k++)
            if (sockets[k * m->n_ranks + r] < 0)
                return r;
    return -1;
}

/* One we are connected to and that has ended since; -1: none. */
static int first_gone(const mo_rdv_mesh *m, const int *sockets)
{
    char byte;

    for (int i = 0; i < m->n_kinds * m->n_ranks; i++)
        if (sockets[i] >= 0 &&
            recv(sockets[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            return i % m->n_ranks;
    return -1;
}

static mo_status check(const mo_rdv_mesh *m, const int *sockets, mo_error *err)
{
    mo_error why = { 0 };
    int gone;

    if (m->called_off) {
        if (m->called_off(m->context, &why) && err)
            *err = why;
        return why.status;
    }
    gone = first_gone(m, sockets);
    if (gone < 0)
        return MO_OK;
    return mo_fail(err, MO_E_IO,
                   "rank %d (host %s) is gone: it was killed, or has failed",
                   gone, m->cards[gone].host);
}

static mo_status answer_in(mo_rdv_pending_conns *lobby, const mo_rdv_mesh *m,
                           int64_t deadline_ns, int *sockets, mo_error *err)
{
    int missing;

    while ((missing = first_missing(m, sockets)) >= 0) {
        int wait_ms = mo_rdv_timeout_ms(deadline_ns, look_ns);
        mo_status status = check(m, sockets, err);

        if (status != MO_OK)
            return status;
        if (wait_ms == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has not called in time: see "
                           "that it is still there, and that no firewall is "
                           "between it and host %s",
                           missing, m->cards[missing].host,
                           m->cards[m->rank].host);
        mo_rdv_pending_conns_poll(lobby, wait_ms);
    }
    return MO_OK;
}

static mo_status answer_those_behind(const mo_rdv_mesh *m, int64_t deadline_ns,
                                     int *sockets, mo_error *err)
{
    answering a = { m, sockets };
    mo_rdv_pending_conns lobby;
    mo_status status = mo_rdv_pending_conns_init(&lobby, m->listener,
                                                 sizeof(hello), hear, &a, err);

    if (status == MO_OK)
        status = answer_in(&lobby, m, deadline_ns, sockets, err);
    mo_rdv_pending_conns_clear(&lobby);
    return status;
}

mo_status mo_rdv_mesh_connect(const mo_rdv_mesh *meeting, int *sockets,
                              mo_error *err)
{
    int64_t deadline_ns =
        mo_stop_clock_ns() + (int64_t) (meeting->seconds * 1e9);
    int n = meeting->n_kinds * meeting->n_ranks;
    mo_status status;

    for (int i = 0; i < n; i++)
        sockets[i] = -1;
    status = call_those_before(meeting, deadline_ns, sockets, err);
    if (status == MO_OK)
        status = answer_those_behind(meeting, deadline_ns, sockets, err);
    for (int i = 0; i < n && status != MO_OK; i++) {
        if (sockets[i] >= 0)
            close(sockets[i]);
        sockets[i] = -1;
    }
    return status;
}
