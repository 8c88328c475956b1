/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/mesh.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/stop.h"
#include "exec/transport/rendezvous/control_msg.h"
#include "exec/transport/rendezvous/decode.h"
#include "exec/transport/rendezvous/handshake.h"
#include "exec/transport/rendezvous/pending_conns.h"

/* The first message of a connecting rank on a plain connection. */
typedef struct hello {
    uint8_t secret[MO_SECURE_KEY_BYTES];
    uint32_t rank;
    uint32_t kind;
} hello;

static const int64_t poll_ns = 20000000;

bool mo_rdv_endpoint_same_machine(const mo_rdv_endpoint *a,
                                  const mo_rdv_endpoint *b)
{
    return memcmp(a->machine, b->machine, sizeof a->machine) == 0;
}

void mo_rdv_endpoint_prefer_address(mo_rdv_endpoint *endpoint,
                                    const uint8_t address[MO_RDV_ADDRESS_BYTES])
{
    int at = 0, last = endpoint->n_addresses;

    while (at < last && !mo_rdv_address_equal(endpoint->addresses[at], address))
        at++;
    if (at == last && last < MO_RDV_ENDPOINT_ADDRESSES)
        endpoint->n_addresses++;
    if (at == MO_RDV_ENDPOINT_ADDRESSES)
        at--;
    memmove(endpoint->addresses[1], endpoint->addresses[0],
            (size_t) at * MO_RDV_ADDRESS_BYTES);
    memcpy(endpoint->addresses[0], address, MO_RDV_ADDRESS_BYTES);
}

static mo_rdv_endpoint make_endpoint(const uint8_t *bind)
{
    mo_rdv_endpoint endpoint = { .host = "unknown" };

    if (gethostname(endpoint.host, sizeof endpoint.host - 1) != 0)
        endpoint.host[0] = '?';

    /* The boot id identifies the clock: containers of one machine share it, but
     * each may have its own network namespace. */
    int fd = mo_open_nonblocking("/proc/sys/kernel/random/boot_id");
    size_t length = 0, room = sizeof endpoint.machine - 1;
    ssize_t got = fd < 0 ? 0 : 1;

    while (length < room && (got > 0 || (got < 0 && errno == EINTR))) {
        got = read(fd, endpoint.machine + length, room - length);
        length += got > 0 ? (size_t) got : 0;
    }
    if (length == 0)
        memcpy(endpoint.machine, endpoint.host, sizeof endpoint.machine);
    if (fd >= 0)
        close(fd);
    if (readlink("/proc/self/ns/net", endpoint.network,
                 sizeof endpoint.network - 1) < 0)
        snprintf(endpoint.network, sizeof endpoint.network, "the only one");

    /* A process opens memory of another by its number, as the same user. */
    char namespace[MO_RDV_ENDPOINT_NAME_SIZE / 2] = "";

    if (readlink("/proc/self/ns/pid", namespace, sizeof namespace - 1) > 0)
        snprintf(endpoint.memory, sizeof endpoint.memory, "%s %ld", namespace,
                 (long) geteuid());

    struct ifaddrs *all = NULL;

    if (bind)
        mo_rdv_endpoint_prefer_address(&endpoint, bind);
    else if (getifaddrs(&all) == 0) {
        for (struct ifaddrs *i = all; i; i = i->ifa_next)
            if (i->ifa_addr && (i->ifa_flags & IFF_UP) &&
                !(i->ifa_flags & IFF_LOOPBACK) &&
                endpoint.n_addresses < MO_RDV_ENDPOINT_ADDRESSES &&
                mo_rdv_address_from_sockaddr(
                    i->ifa_addr, endpoint.addresses[endpoint.n_addresses]))
                endpoint.n_addresses++;
        freeifaddrs(all);
    }
    if (bind && !mo_rdv_address_is_loopback(bind))
        endpoint.network[0] = '\0'; /* no listening on loopback */
    return endpoint;
}

mo_status mo_rdv_endpoint_listen(int n_ranks, const uint8_t *bind,
                                 mo_rdv_endpoint *endpoint, int *listener,
                                 mo_error *err)
{
    mo_status status;

    *endpoint = make_endpoint(bind);
    status = mo_secure_random(endpoint->secret, sizeof endpoint->secret, err);
    if (status != MO_OK)
        return status;
    *listener = mo_rdv_socket_listen(bind, 0, 2 * n_ranks + 16);
    if (*listener < 0)
        return mo_fail_errno(err, NULL, "listen for the other ranks");
    endpoint->port = mo_rdv_socket_local_port(*listener);
    if (endpoint->port > 0)
        return MO_OK;
    mo_fail_errno(err, NULL, "cannot get the port of a socket");
    close(*listener);
    *listener = -1;
    return MO_E_IO;
}

typedef struct connecting {
    const mo_rdv_mesh *mesh;
    mo_secure_credentials *credentials; /* NULL: plain; owned */
    mo_secure_channel **channels;
    int64_t deadline_ns;
    bool is_aborted;
} connecting;

/* Returns whether the first bytes that a connected rank has sent are the error
 * it ended with, and copies its text. */
static bool peek_error(const mo_rdv_mesh *m, const mo_secure_channel *channel,
                       char text[MO_RDV_MSG_TEXT_SIZE])
{
    char bytes[MO_RDV_MSG_TEXT_SIZE + 3];
    mo_rdv_msg_kind kind;
    size_t n_used;
    ssize_t n;

    if (m->is_secure || !channel)
        return false;
    n = recv(mo_secure_channel_socket(channel), bytes, sizeof bytes,
             MSG_PEEK | MSG_DONTWAIT);
    return n > 0 &&
           mo_rdv_decode_control(bytes, (size_t) n, &kind, text, &n_used) ==
               MO_RDV_DECODED &&
           kind == MO_RDV_MSG_ERROR;
}

static mo_status check_abort(const mo_rdv_mesh *m,
                             mo_secure_channel *const *channels, mo_error *err)
{
    char text[MO_RDV_MSG_TEXT_SIZE];
    mo_error why = { 0 };

    if (m->is_aborted) {
        if (m->is_aborted(m->context, &why) && err)
            *err = why;
        return why.status;
    }
    for (int i = 0; i < m->n_kinds * m->n_ranks; i++)
        if (peek_error(m, channels[i], text))
            return mo_fail(err, MO_E_IO, "rank %d (host %s): %s",
                           i % m->n_ranks, m->endpoints[i % m->n_ranks].host,
                           text);
    for (int i = 0; i < m->n_kinds * m->n_ranks; i++)
        if (channels[i] && mo_secure_channel_is_closed(channels[i]))
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) is gone: it was killed, or has "
                           "failed",
                           i % m->n_ranks, m->endpoints[i % m->n_ranks].host);
    return MO_OK;
}

/* Tries loopback first on one machine, unless the endpoint has a specific
 * loopback address; then the endpoint's addresses. A rank that listens at one
 * address only has only that one. */
static int connect_endpoint(const mo_rdv_endpoint *own,
                            const mo_rdv_endpoint *other, int64_t deadline_ns)
{
    bool is_loopback_only = other->n_addresses > 0 &&
                            mo_rdv_address_is_loopback(other->addresses[0]);
    int fd = -1;
    bool shared =
        mo_rdv_endpoint_same_machine(own, other) && *own->network &&
        memcmp(own->network, other->network, sizeof own->network) == 0;

    if (shared && !is_loopback_only)
        fd = mo_rdv_socket_connect(mo_rdv_address_loopback, other->port,
                                   deadline_ns);
    for (int i = 0; i < other->n_addresses && fd < 0; i++)
        if (shared || !mo_rdv_address_is_loopback(other->addresses[i]))
            fd = mo_rdv_socket_connect(other->addresses[i], other->port,
                                       deadline_ns);
    return fd;
}

/* Identity of a connection: the accepting rank checks all three numbers, so
 * that a connection cannot be redirected to another rank or used as another
 * kind. */
static const char identity_format[] = "moirai mesh from %d to %d kind %d";

static void format_identity(char identity[MO_SECURE_IDENTITY_SIZE], int from,
                            int to, int kind)
{
    snprintf(identity, MO_SECURE_IDENTITY_SIZE, identity_format, from, to,
             kind);
}

static mo_status authenticate(connecting *c, int r, int kind,
                              mo_secure_channel *channel, mo_error *err)
{
    const mo_rdv_mesh *m = c->mesh;
    char identity[MO_SECURE_IDENTITY_SIZE];
    mo_secure_progress progress;
    mo_status status;

    format_identity(identity, m->rank, r, kind);
    status = mo_secure_channel_start(channel, c->credentials, MO_SECURE_CLIENT,
                                     identity, err);
    if (status != MO_OK)
        return status;
    while ((progress = mo_secure_channel_handshake(channel, err)) ==
           MO_SECURE_AGAIN) {
        struct pollfd polled = { .fd = mo_secure_channel_socket(channel),
                                 .events = mo_secure_channel_events(channel) };
        int wait_ms = mo_rdv_timeout_ms(c->deadline_ns, poll_ns);

        status = check_abort(m, c->channels, err);
        c->is_aborted = status != MO_OK;
        if (status != MO_OK)
            return status;
        if (wait_ms == 0)
            return mo_fail(err, MO_E_IO, "has sent nothing in time");
        poll(&polled, 1, wait_ms);
    }
    if (progress == MO_SECURE_FAILED)
        return err->status;
    if (kind >= m->n_sealed_kinds)
        mo_secure_channel_unseal(channel);
    return MO_OK;
}

static mo_status connect_rank(connecting *c, int r, int kind, mo_error *err)
{
    const mo_rdv_mesh *m = c->mesh;
    const mo_rdv_endpoint *own = &m->endpoints[m->rank],
                          *other = &m->endpoints[r];
    mo_secure_channel **channel = &c->channels[kind * m->n_ranks + r];
    int fd = connect_endpoint(own, other, c->deadline_ns);
    mo_error why = { 0 };
    mo_status status = MO_E_IO;

    if (fd >= 0) {
        *channel = mo_secure_channel_new(fd);
        if (!*channel)
            return mo_fail_memory(err);
    }
    if (fd >= 0 && c->credentials) {
        status = authenticate(c, r, kind, *channel, &why);
    } else if (fd >= 0) {
        hello h = { .rank = (uint32_t) m->rank, .kind = (uint32_t) kind };

        memcpy(h.secret, m->endpoints[0].secret, sizeof h.secret);
        status = mo_rdv_send_all(*channel, &h, sizeof h, c->deadline_ns)
                     ? MO_OK
                     : mo_fail_errno(&why, NULL, "send");
    }
    if (status == MO_OK)
        return MO_OK;
    if (c->is_aborted) {
        if (err)
            *err = why;
        return status;
    }
    if (why.status == MO_E_MEMORY)
        return mo_fail_memory(err);
    if (why.status == MO_E_INPUT)
        return mo_fail(err, MO_E_IO,
                       "the connection to rank %d (host %s) at port %d belongs "
                       "to another job, or was altered on the way: the peer %s",
                       r, other->host, (int) other->port,
                       mo_secure_channel_failure(*channel));
    return mo_fail(err, MO_E_IO,
                   "rank %d (host %s) cannot be reached at port %d: check that "
                   "it is running, and that no firewall is between it and "
                   "host %s",
                   r, other->host, (int) other->port, own->host);
}

/* Stores the channel of a rank; returns false for one that is not expected. */
static bool store_channel(connecting *c, int rank, int kind,
                          mo_secure_channel *channel)
{
    const mo_rdv_mesh *m = c->mesh;
    mo_secure_channel **place;

    if (rank <= m->rank || rank >= m->n_ranks || kind < 0 || kind >= m->n_kinds)
        return false;
    place = &c->channels[kind * m->n_ranks + rank];
    if (*place)
        return false;
    *place = channel;
    return true;
}

static mo_rdv_pending_action handle_hello(void *context,
                                          mo_rdv_pending_conn *conn)
{
    connecting *c = context;
    hello h;

    memcpy(&h, conn->bytes, sizeof h);
    return memcmp(h.secret, c->mesh->endpoints[0].secret, sizeof h.secret) ==
                       0 &&
                   h.rank <= INT32_MAX && h.kind <= INT32_MAX &&
                   store_channel(c, (int) h.rank, (int) h.kind, conn->channel)
               ? MO_RDV_PENDING_ACCEPTED
               : MO_RDV_PENDING_CLOSE;
}

enum { ACCEPTED, AUTHENTICATED };

/* Starts the handshake of an accepted connection, and checks the identity when
 * it is complete. */
static mo_rdv_pending_action handle_secure(void *context,
                                           mo_rdv_pending_conn *conn)
{
    connecting *c = context;
    char identity[MO_SECURE_IDENTITY_SIZE];
    int from, to, kind;

    if (conn->stage == ACCEPTED) {
        conn->stage = AUTHENTICATED;
        return mo_secure_channel_start(conn->channel, c->credentials,
                                       MO_SECURE_SERVER, NULL, NULL) == MO_OK
                   ? MO_RDV_PENDING_KEEP
                   : MO_RDV_PENDING_NO_MEMORY;
    }
    if (sscanf(mo_secure_channel_identity(conn->channel), identity_format,
               &from, &to, &kind) != 3)
        return MO_RDV_PENDING_CLOSE;
    format_identity(identity, from, to, kind);
    if (strcmp(identity, mo_secure_channel_identity(conn->channel)) != 0 ||
        to != c->mesh->rank || !store_channel(c, from, kind, conn->channel))
        return MO_RDV_PENDING_CLOSE;
    if (kind >= c->mesh->n_sealed_kinds)
        mo_secure_channel_unseal(conn->channel);
    return MO_RDV_PENDING_ACCEPTED;
}

static mo_status accept_until(mo_rdv_pending_conns *pending,
                              const connecting *c, mo_error *err)
{
    const mo_rdv_mesh *m = c->mesh;
    mo_status status = MO_OK;

    while (status == MO_OK) {
        int wait_ms = mo_rdv_timeout_ms(c->deadline_ns, poll_ns);
        int missing = m->n_ranks;

        for (int i = 0; i < m->n_kinds * m->n_ranks; i++)
            if (!c->channels[i] && i % m->n_ranks > m->rank &&
                i % m->n_ranks < missing)
                missing = i % m->n_ranks;
        if (missing == m->n_ranks)
            return MO_OK;
        status = check_abort(m, c->channels, err);
        if (status == MO_OK && wait_ms == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has not connected in time: "
                           "check that it is running, and that no firewall is "
                           "between it and host %s",
                           missing, m->endpoints[missing].host,
                           m->endpoints[m->rank].host);
        if (status == MO_OK)
            status = mo_rdv_pending_conns_poll(pending, wait_ms, err);
    }
    return status;
}

mo_status mo_rdv_mesh_connect(const mo_rdv_mesh *mesh,
                              mo_secure_channel **channels, mo_error *err)
{
    connecting c = { .mesh = mesh, .channels = channels };
    int n = mesh->n_kinds * mesh->n_ranks;
    mo_error why = { 0 };
    mo_status status = MO_OK;

    c.deadline_ns = mo_stop_clock_ns() + (int64_t) (mesh->seconds * 1e9);
    for (int i = 0; i < n; i++)
        channels[i] = NULL;
    if (mesh->is_secure)
        status = mo_secure_credentials_from_key(mesh->endpoints[0].secret,
                                                &c.credentials, &why);
    if (status == MO_OK) {
        const mo_rdv_mesh *m = c.mesh;
        mo_rdv_pending_conns pending;

        for (int r = 0; r < m->rank && status == MO_OK; r++)
            for (int k = 0; k < m->n_kinds && status == MO_OK; k++)
                status = connect_rank(&c, r, k, &why);
        if (status == MO_OK) {
            status = mo_rdv_pending_conns_init(
                &pending, m->listener, m->is_secure ? 0 : sizeof(hello),
                m->is_secure ? handle_secure : handle_hello, &c, &why);
            if (status == MO_OK)
                status = accept_until(&pending, &c, &why);
            mo_rdv_pending_conns_clear(&pending);
        }
    }
    if (status != MO_OK && !mesh->is_secure && !mesh->is_aborted) {
        /* Sends the reason of a failure to the ranks that are connected, which
         * else would take this rank for the cause. */
        char text[MO_RDV_MSG_TEXT_SIZE];

        mo_error_format(&why, text, sizeof text);
        for (int r = 0; r < mesh->n_ranks; r++) {
            mo_rdv_msg_channel channel;

            if (!channels[r])
                continue;
            mo_rdv_msg_channel_init(&channel, channels[r]);
            mo_rdv_msg_send(&channel, MO_RDV_MSG_ERROR, text);
        }
    }
    if (status != MO_OK && err)
        *err = why;
    for (int i = 0; i < n && status != MO_OK; i++) {
        mo_secure_channel_free(channels[i]);
        channels[i] = NULL;
    }
    mo_secure_credentials_free(c.credentials);
    return status;
}
