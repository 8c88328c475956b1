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

/* The first message of a connecting rank. */
typedef struct hello {
    uint64_t secret;
    uint32_t rank;
    uint32_t kind;
} hello;

static const int64_t poll_ns = 20000000;

/* --------------------------------------------------------------- endpoints */

static void collect_addresses(mo_rdv_endpoint *endpoint)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all) != 0)
        return;
    for (struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && (i->ifa_flags & IFF_UP) &&
            !(i->ifa_flags & IFF_LOOPBACK) &&
            endpoint->n_addresses < MO_RDV_ENDPOINT_ADDRESSES &&
            mo_rdv_address_from_sockaddr(
                i->ifa_addr, endpoint->addresses[endpoint->n_addresses]))
            endpoint->n_addresses++;
    freeifaddrs(all);
}

/* The boot id identifies the clock: containers of one machine share it, but
 * each may have its own network namespace. */
static void identify_machine(mo_rdv_endpoint *endpoint)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!file ||
        !fgets(endpoint->machine, (int) sizeof endpoint->machine, file))
        memcpy(endpoint->machine, endpoint->host, sizeof endpoint->machine);
    if (file)
        fclose(file);
    if (readlink("/proc/self/ns/net", endpoint->network,
                 sizeof endpoint->network - 1) < 0)
        snprintf(endpoint->network, sizeof endpoint->network, "the only one");
}

/* A process opens memory of another by its number, as the same user. */
static void identify_memory(mo_rdv_endpoint *endpoint)
{
    char namespace[MO_RDV_ENDPOINT_NAME_SIZE / 2] = "";

    if (readlink("/proc/self/ns/pid", namespace, sizeof namespace - 1) > 0)
        snprintf(endpoint->memory, sizeof endpoint->memory, "%s %ld", namespace,
                 (long) geteuid());
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
    identify_machine(&endpoint);
    identify_memory(&endpoint);
    if (bind)
        mo_rdv_endpoint_prefer_address(&endpoint, bind);
    else
        collect_addresses(&endpoint);
    if (bind && !mo_rdv_address_is_loopback(bind))
        endpoint.network[0] = '\0'; /* no listening on loopback */
    if (getrandom(&endpoint.secret, sizeof endpoint.secret, 0) < 0)
        endpoint.secret = (uint64_t) mo_stop_clock_ns() ^ (uint64_t) getpid();
    return endpoint;
}

mo_status mo_rdv_endpoint_listen(int n_ranks, const uint8_t *bind,
                                 mo_rdv_endpoint *endpoint, int *listener,
                                 mo_error *err)
{
    *endpoint = make_endpoint(bind);
    *listener = mo_rdv_socket_listen(bind, 0, 2 * n_ranks + 16);
    if (*listener < 0)
        return mo_fail_errno(err, NULL, "listen for the other ranks");
    endpoint->port = mo_rdv_socket_local_port(*listener);
    return MO_OK;
}

/* -------------------------------------------------------------- connecting */

/* Tries the endpoint's addresses; a rank that listens at one address only has
 * only that one. */
static int connect_addresses(const mo_rdv_endpoint *own,
                             const mo_rdv_endpoint *other, int64_t deadline_ns)
{
    int fd = -1;

    for (int i = 0; i < other->n_addresses && fd < 0; i++)
        if (!mo_rdv_address_is_loopback(other->addresses[i]) ||
            share_loopback(own, other))
            fd = mo_rdv_socket_connect(other->addresses[i], other->port,
                                       deadline_ns);
    return fd;
}

/* Tries loopback first on one machine, unless the endpoint has a specific
 * loopback address. */
static int connect_endpoint(const mo_rdv_endpoint *own,
                            const mo_rdv_endpoint *other, int64_t deadline_ns)
{
    bool is_loopback_only = other->n_addresses > 0 &&
                            mo_rdv_address_is_loopback(other->addresses[0]);
    int fd = -1;

    if (share_loopback(own, other) && !is_loopback_only)
        fd = mo_rdv_socket_connect(mo_rdv_address_loopback, other->port,
                                   deadline_ns);
    return fd >= 0 ? fd : connect_addresses(own, other, deadline_ns);
}

static mo_status connect_rank(const mo_rdv_mesh *m, int r, int kind,
                              int64_t deadline_ns, int *socket, mo_error *err)
{
    const mo_rdv_endpoint *own = &m->endpoints[m->rank],
                          *other = &m->endpoints[r];
    hello h = { m->endpoints[0].secret, (uint32_t) m->rank, (uint32_t) kind };

    *socket = connect_endpoint(own, other, deadline_ns);
    if (*socket >= 0 && send(*socket, &h, sizeof h, MSG_NOSIGNAL) == sizeof h)
        return MO_OK;
    return mo_fail(err, MO_E_IO,
                   "rank %d (host %s) cannot be reached at port %d: see that "
                   "it is still there, and that no firewall is between it and "
                   "host %s",
                   r, other->host, (int) other->port, own->host);
}

/* --------------------------------------------------------------- accepting */

typedef struct accept_context {
    const mo_rdv_mesh *mesh;
    int *sockets;
} accept_context;

static mo_rdv_pending_action handle_hello(void *context,
                                          mo_rdv_pending_conn *conn)
{
    const accept_context *a = context;
    const mo_rdv_mesh *m = a->mesh;
    int *socket;
    hello h;

    memcpy(&h, conn->bytes, sizeof h);
    if (h.secret != m->endpoints[0].secret || h.rank >= (uint32_t) m->n_ranks ||
        h.rank <= (uint32_t) m->rank || h.kind >= (uint32_t) m->n_kinds)
        return MO_RDV_PENDING_CLOSE;
    socket = &a->sockets[h.kind * (uint32_t) m->n_ranks + h.rank];
    if (*socket >= 0)
        return MO_RDV_PENDING_CLOSE;
    *socket = conn->socket;
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

/* Returns a connected rank that has closed its connection since; -1: none. */
static int first_gone(const mo_rdv_mesh *m, const int *sockets)
{
    char byte;

    for (int i = 0; i < m->n_kinds * m->n_ranks; i++)
        if (sockets[i] >= 0 &&
            recv(sockets[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            return i % m->n_ranks;
    return -1;
}

static mo_status check_abort(const mo_rdv_mesh *m, const int *sockets,
                             mo_error *err)
{
    mo_error why = { 0 };
    int gone;

    if (m->is_aborted) {
        if (m->is_aborted(m->context, &why) && err)
            *err = why;
        return why.status;
    }
    gone = first_gone(m, sockets);
    if (gone < 0)
        return MO_OK;
    return mo_fail(err, MO_E_IO,
                   "rank %d (host %s) is gone: it was killed, or has failed",
                   gone, m->endpoints[gone].host);
}

static mo_status accept_until(mo_rdv_pending_conns *pending,
                              const mo_rdv_mesh *m, int64_t deadline_ns,
                              int *sockets, mo_error *err)
{
    int missing;

    while ((missing = first_missing(m, sockets)) >= 0) {
        int wait_ms = mo_rdv_timeout_ms(deadline_ns, poll_ns);
        mo_status status = check_abort(m, sockets, err);

        if (status != MO_OK)
            return status;
        if (wait_ms == 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has not called in time: see "
                           "that it is still there, and that no firewall is "
                           "between it and host %s",
                           missing, m->endpoints[missing].host,
                           m->endpoints[m->rank].host);
        mo_rdv_pending_conns_poll(pending, wait_ms);
    }
    return MO_OK;
}

mo_status mo_rdv_mesh_connect(const mo_rdv_mesh *mesh, int *sockets,
                              mo_error *err)
{
    int64_t deadline_ns = mo_stop_clock_ns() + (int64_t) (mesh->seconds * 1e9);
    int n = mesh->n_kinds * mesh->n_ranks;
    mo_status status = MO_OK;

    for (int i = 0; i < n; i++)
        sockets[i] = -1;
    for (int r = 0; r < mesh->rank && status == MO_OK; r++)
        for (int k = 0; k < mesh->n_kinds && status == MO_OK; k++)
            status = connect_rank(mesh, r, k, deadline_ns,
                                  &sockets[k * mesh->n_ranks + r], err);
    if (status == MO_OK) {
        accept_context a = { mesh, sockets };
        mo_rdv_pending_conns pending;

        status = mo_rdv_pending_conns_init(
            &pending, mesh->listener, sizeof(hello), handle_hello, &a, err);
        if (status == MO_OK)
            status = accept_until(&pending, mesh, deadline_ns, sockets, err);
        mo_rdv_pending_conns_clear(&pending);
    }
    for (int i = 0; i < n && status != MO_OK; i++) {
        if (sockets[i] >= 0)
            close(sockets[i]);
        sockets[i] = -1;
    }
    return status;
}
