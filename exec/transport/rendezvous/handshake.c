/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/handshake.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exec/transport/rendezvous/address.h"

/* Backlog for connections that are not ours, such as port scans, before a rank
 * has to retry a second later. */
enum { MAX_ADDRESSES = 8, FOREIGN_BACKLOG = 128 };

const char mo_rdv_magic[8] = "MOIRAI\n";

/* ------------------------------------------------------------------ proofs */

void mo_rdv_compute_proof(const char *token, mo_rdv_role role,
                          const mo_rdv_hello *hello,
                          const uint8_t nonce[MO_RDV_NONCE_BYTES],
                          uint8_t proof[MO_HMAC_BYTES])
{
    /* The role is part of the message, so that a proof cannot be reflected. */
    uint8_t message[1 + sizeof *hello + MO_RDV_NONCE_BYTES];

    message[0] = role == MO_RDV_SERVER ? 'h' : 'c';
    memcpy(message + 1, hello, sizeof *hello);
    memcpy(message + 1 + sizeof *hello, nonce, MO_RDV_NONCE_BYTES);
    mo_hmac_sha256(token, strlen(token), message, sizeof message, proof);
}

mo_status mo_rdv_random_nonce(uint8_t nonce[MO_RDV_NONCE_BYTES], mo_error *err)
{
    if (getrandom(nonce, MO_RDV_NONCE_BYTES, 0) == MO_RDV_NONCE_BYTES)
        return MO_OK;
    return mo_fail_errno(err, NULL, "draw a number at random");
}

/* ------------------------------------------------------ sending, receiving */

static bool should_retry(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

bool mo_rdv_send_all(int socket, const void *data, size_t bytes,
                     int64_t deadline_ns)
{
    const char *at = data;

    while (bytes > 0) {
        ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && !(should_retry() &&
                          mo_rdv_socket_poll(socket, POLLOUT, deadline_ns)))
            return false;
        at += sent > 0 ? sent : 0;
        bytes -= sent > 0 ? (size_t) sent : 0;
    }
    return true;
}

bool mo_rdv_receive_all(int socket, void *data, size_t bytes,
                        int64_t deadline_ns)
{
    char *at = data;

    while (bytes > 0) {
        ssize_t got = recv(socket, at, bytes, MSG_DONTWAIT);

        if (got == 0 ||
            (got < 0 && !(should_retry() &&
                          mo_rdv_socket_poll(socket, POLLIN, deadline_ns))))
            return false;
        at += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t) got : 0;
    }
    return true;
}

/* --------------------------------------------------------------- addresses */

const char *mo_rdv_format_master(const mo_rdv_params *params,
                                 char text[MO_RDV_HOST_SIZE + 16])
{
    if (*params->host)
        snprintf(text, MO_RDV_HOST_SIZE + 16,
                 strchr(params->host, ':') ? "[%s]:%d" : "%s:%d", params->host,
                 params->port);
    else
        snprintf(text, MO_RDV_HOST_SIZE + 16, "this machine");
    return text;
}

/* An abstract socket name (Linux): it starts with a zero byte and is no
 * file. */
static socklen_t abstract_name(const mo_rdv_params *params,
                               struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                      "moirai-%ld-%.72s-join", (long) getuid(), params->name);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t) length);
}

static int open_abstract(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int listen_abstract(const mo_rdv_params *params)
{
    struct sockaddr_un name;
    socklen_t length = abstract_name(params, &name);
    int fd = open_abstract();

    if (fd < 0 || (bind(fd, (struct sockaddr *) &name, length) == 0 &&
                   listen(fd, params->n_ranks + FOREIGN_BACKLOG) == 0))
        return fd;
    close(fd);
    errno = EADDRINUSE;
    return -1;
}

static int connect_abstract(const mo_rdv_params *params)
{
    struct sockaddr_un name;
    socklen_t length = abstract_name(params, &name);
    int fd = open_abstract();

    if (fd < 0 || connect(fd, (struct sockaddr *) &name, length) == 0)
        return fd;
    close(fd);
    return -1;
}

int mo_rdv_listen(const mo_rdv_params *params, const uint8_t *bind_to)
{
    return *params->host
               ? mo_rdv_socket_listen(bind_to, params->port,
                                      params->n_ranks + FOREIGN_BACKLOG)
               : listen_abstract(params);
}

int mo_rdv_connect(const mo_rdv_params *params, int64_t deadline_ns,
                   mo_error *err)
{
    uint8_t found[MAX_ADDRESSES][MO_RDV_ADDRESS_BYTES];
    int fd = -1, n;

    if (!*params->host)
        return connect_abstract(params);
    n = mo_rdv_address_resolve(params->host, found, MAX_ADDRESSES);
    if (n == 0)
        mo_fail(err, MO_E_IO, "there is no host '%s', where rank 0 shall be",
                params->host);
    for (int i = 0; i < n && fd < 0; i++)
        fd = mo_rdv_socket_connect(found[i], params->port, deadline_ns);
    return fd;
}

bool mo_rdv_is_other_user(int socket)
{
#ifdef SO_PEERCRED
    struct ucred who;
    struct sockaddr_storage at;
    socklen_t size = sizeof who, length = sizeof at;

    return getsockname(socket, (struct sockaddr *) &at, &length) == 0 &&
           at.ss_family == AF_UNIX &&
           (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0 ||
            who.uid != getuid());
#else
    (void) socket;
    return false;
#endif
}
