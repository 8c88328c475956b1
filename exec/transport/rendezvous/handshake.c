/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/handshake.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exec/transport/rendezvous/address.h"

/* Backlog for connections that are not of ranks, such as port scans, before a
 * rank has to retry a second later. */
enum { MAX_ADDRESSES = 8, FOREIGN_BACKLOG = 128 };

const char mo_rdv_magic[8] = "MOIRAI\n";

mo_rdv_security mo_rdv_security_of(const mo_rdv_params *params)
{
    if (params->tls_cert)
        return MO_RDV_SECURITY_CERTIFICATE;
    return params->has_token ? MO_RDV_SECURITY_TOKEN : MO_RDV_SECURITY_NONE;
}

void mo_rdv_preamble_init(mo_rdv_preamble *preamble,
                          const mo_rdv_params *params)
{
    *preamble = (mo_rdv_preamble){ .order = MO_RDV_BYTE_ORDER_MARK,
                                   .version = MO_RDV_PROTOCOL_VERSION,
                                   .security = mo_rdv_security_of(params),
                                   .rank = (uint32_t) params->rank };
    memcpy(preamble->magic, mo_rdv_magic, sizeof preamble->magic);
}

void mo_rdv_format_job(const mo_rdv_params *params,
                       char job[MO_RDV_JOB_NAME_SIZE])
{
    memset(job, 0, MO_RDV_JOB_NAME_SIZE);
    if (!params->has_token)
        snprintf(job, MO_RDV_JOB_NAME_SIZE, "%s", params->token);
    /* A rank that was stopped before a loss belongs to no later epoch. */
    if (params->epoch > 0) {
        size_t length = strnlen(job, MO_RDV_JOB_NAME_SIZE - 16);

        memset(job + length, 0, MO_RDV_JOB_NAME_SIZE - length);
        snprintf(job + length, MO_RDV_JOB_NAME_SIZE - length, "#%d",
                 params->epoch);
    }
}

mo_status mo_rdv_credentials_new(const mo_rdv_params *params,
                                 const uint8_t salt[MO_SECURE_SALT_BYTES],
                                 mo_rdv_key *key,
                                 mo_secure_credentials **credentials,
                                 mo_error *err)
{
    mo_rdv_key own = { .is_set = false };
    mo_status status = MO_OK;

    *credentials = NULL;
    switch (mo_rdv_security_of(params)) {
    case MO_RDV_SECURITY_NONE:
        return MO_OK;
    case MO_RDV_SECURITY_CERTIFICATE:
        return mo_secure_credentials_from_files(params->tls_cert,
                                                params->tls_key, params->tls_ca,
                                                credentials, err);
    case MO_RDV_SECURITY_TOKEN:
        break;
    }
    if (!key)
        key = &own;
    if (!key->is_set || memcmp(key->salt, salt, sizeof key->salt) != 0) {
        status = mo_secure_derive_key(params->token, salt, key->key, err);
        memcpy(key->salt, salt, sizeof key->salt);
        key->is_set = status == MO_OK;
    }
    if (status == MO_OK)
        status = mo_secure_credentials_from_key(key->key, credentials, err);
    explicit_bzero(&own, sizeof own);
    return status;
}

void mo_rdv_format_identity(char identity[MO_SECURE_IDENTITY_SIZE],
                            uint32_t rank, uint32_t n_ranks)
{
    snprintf(identity, MO_SECURE_IDENTITY_SIZE, "moirai join %d rank %u of %u",
             MO_RDV_PROTOCOL_VERSION, (unsigned) rank, (unsigned) n_ranks);
}

static bool wait_for(const mo_secure_channel *channel, short events,
                     int64_t deadline_ns)
{
    return (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) &&
           mo_rdv_socket_poll(mo_secure_channel_socket(channel), events,
                              deadline_ns);
}

bool mo_rdv_send_all(mo_secure_channel *channel, const void *data, size_t bytes,
                     int64_t deadline_ns)
{
    union {
        const void *read;
        char *base;
    } at = { data };

    while (bytes > 0) {
        struct iovec part = { .iov_base = at.base, .iov_len = bytes };
        ssize_t sent = mo_secure_channel_send(channel, &part, 1);

        if (sent < 0 && !wait_for(channel, POLLOUT, deadline_ns))
            return false;
        at.base += sent > 0 ? sent : 0;
        bytes -= sent > 0 ? (size_t) sent : 0;
    }
    while (mo_secure_channel_flush(channel) != 0)
        if (!wait_for(channel, POLLOUT, deadline_ns))
            return false;
    return true;
}

bool mo_rdv_receive_all(mo_secure_channel *channel, void *data, size_t bytes,
                        int64_t deadline_ns)
{
    char *at = data;

    while (bytes > 0) {
        ssize_t got = mo_secure_channel_receive(channel, at, bytes);

        if (got == 0 || (got < 0 && !wait_for(channel, POLLIN, deadline_ns)))
            return false;
        at += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t) got : 0;
    }
    return true;
}

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

int mo_rdv_listen(const mo_rdv_params *params, const uint8_t *bind_to)
{
    int backlog = params->n_ranks + FOREIGN_BACKLOG, fd;
    struct sockaddr_un name;
    socklen_t length;

    if (*params->host)
        return mo_rdv_socket_listen(bind_to, params->port, backlog);
    length = abstract_name(params, &name);
    fd = open_abstract();
    if (fd < 0 || (bind(fd, (struct sockaddr *) &name, length) == 0 &&
                   listen(fd, backlog) == 0))
        return fd;
    close(fd);
    errno = EADDRINUSE;
    return -1;
}

int mo_rdv_connect(const mo_rdv_params *params, int64_t deadline_ns,
                   mo_error *err)
{
    uint8_t found[MAX_ADDRESSES][MO_RDV_ADDRESS_BYTES];
    int fd = -1, n;

    if (!*params->host) {
        struct sockaddr_un name;
        socklen_t length = abstract_name(params, &name);
        fd = open_abstract();

        if (fd < 0 || connect(fd, (struct sockaddr *) &name, length) == 0)
            return fd;
        close(fd);
        return -1;
    }
    n = mo_rdv_address_resolve(params->host, found, MAX_ADDRESSES);
    if (n < 0)
        mo_fail_memory(err);
    else if (n == 0)
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
