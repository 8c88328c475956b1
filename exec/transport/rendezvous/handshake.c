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

/* So many who are none of ours may call at once, as scanners of ports do,
 * before one of ours must try again a second later. */
enum { MAX_ADDRESSES = 8, STRANGERS = 128 };

const char mo_rdv_magic[8] = "MOIRAI\n";

/* ------------------------------------------------------------------ sealing */

void mo_rdv_compute_proof(const char *token, mo_rdv_role side,
                          const mo_rdv_hello *greeting,
                          const uint8_t number[MO_RDV_NONCE_BYTES],
                          uint8_t proof[MO_HMAC_BYTES])
{
    /* The sides differ: nobody can send back what it was shown. */
    uint8_t message[1 + sizeof *greeting + MO_RDV_NONCE_BYTES];

    message[0] = side == MO_RDV_SERVER ? 'h' : 'c';
    memcpy(message + 1, greeting, sizeof *greeting);
    memcpy(message + 1 + sizeof *greeting, number, MO_RDV_NONCE_BYTES);
    mo_hmac_sha256(token, strlen(token), message, sizeof message, proof);
}

mo_status mo_rdv_random_nonce(uint8_t number[MO_RDV_NONCE_BYTES], mo_error *err)
{
    if (getrandom(number, MO_RDV_NONCE_BYTES, 0) == MO_RDV_NONCE_BYTES)
        return MO_OK;
    return mo_fail_errno(err, NULL, "draw a number at random");
}

/* ------------------------------------------------------- sending, receiving */

static bool again(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

bool mo_rdv_send_all(int socket, const void *data, size_t bytes,
                     int64_t deadline_ns)
{
    const char *at = data;

    while (bytes > 0) {
        ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 &&
            !(again() && mo_rdv_socket_poll(socket, POLLOUT, deadline_ns)))
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
            (got < 0 &&
             !(again() && mo_rdv_socket_poll(socket, POLLIN, deadline_ns))))
            return false;
        at += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t) got : 0;
    }
    return true;
}

/* ------------------------------------------------------------------- places */

const char *mo_rdv_format_master(const mo_rdv_params *job,
                                 char text[MO_RDV_HOST_SIZE + 16])
{
    if (*job->host)
        snprintf(text, MO_RDV_HOST_SIZE + 16,
                 strchr(job->host, ':') ? "[%s]:%d" : "%s:%d", job->host,
                 job->port);
    else
        snprintf(text, MO_RDV_HOST_SIZE + 16, "this machine");
    return text;
}

/* A name that is no file: it begins with a zero byte, which Linux has. */
static socklen_t name_of(const mo_rdv_params *job, struct sockaddr_un *name)
{
    int length;

    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                      "moirai-%ld-%.72s-join", (long) getuid(), job->name);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 +
                        (size_t) length);
}

static int open_name(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int listen_at_name(const mo_rdv_params *job)
{
    struct sockaddr_un name;
    socklen_t length = name_of(job, &name);
    int fd = open_name();

    if (fd < 0 || (bind(fd, (struct sockaddr *) &name, length) == 0 &&
                   listen(fd, job->n_ranks + STRANGERS) == 0))
        return fd;
    close(fd);
    errno = EADDRINUSE;
    return -1;
}

static int call_name(const mo_rdv_params *job)
{
    struct sockaddr_un name;
    socklen_t length = name_of(job, &name);
    int fd = open_name();

    if (fd < 0 || connect(fd, (struct sockaddr *) &name, length) == 0)
        return fd;
    close(fd);
    return -1;
}

int mo_rdv_listen(const mo_rdv_params *job, const uint8_t *bind_to)
{
    return *job->host ? mo_rdv_socket_listen(bind_to, job->port,
                                             job->n_ranks + STRANGERS)
                      : listen_at_name(job);
}

int mo_rdv_connect(const mo_rdv_params *job, int64_t deadline_ns, mo_error *err)
{
    uint8_t found[MAX_ADDRESSES][MO_RDV_ADDRESS_BYTES];
    int fd = -1, n;

    if (!*job->host)
        return call_name(job);
    n = mo_rdv_address_resolve(job->host, found, MAX_ADDRESSES);
    if (n == 0)
        mo_fail(err, MO_E_IO, "there is no host '%s', where rank 0 shall be",
                job->host);
    for (int i = 0; i < n && fd < 0; i++)
        fd = mo_rdv_socket_connect(found[i], job->port, deadline_ns);
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
