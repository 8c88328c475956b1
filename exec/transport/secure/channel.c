/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/secure/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exec/transport/secure/tls.h"

struct mo_secure_channel {
    int socket;
    mo_secure_tls *tls; /* NULL: plain */
};

mo_secure_channel *mo_secure_channel_new(int socket)
{
    mo_secure_channel *channel = calloc(1, sizeof *channel);
    int on = 1, flags = fcntl(socket, F_GETFL);

    if (!channel) {
        close(socket);
        return NULL;
    }
    /* No SO_SNDBUF or SO_RCVBUF: they would switch off the autotuning of the
     * kernel, which reaches larger buffers. Fails for Unix sockets, which
     * have no delay. */
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (flags >= 0)
        fcntl(socket, F_SETFL, flags | O_NONBLOCK);
    channel->socket = socket;
    return channel;
}

void mo_secure_channel_free(mo_secure_channel *channel)
{
    if (!channel)
        return;
    if (channel->tls)
        mo_secure_tls_close(channel->tls);
    mo_secure_tls_free(channel->tls);
    close(channel->socket);
    free(channel);
}

int mo_secure_channel_socket(const mo_secure_channel *channel)
{
    return channel->socket;
}

mo_status mo_secure_channel_start(mo_secure_channel *channel,
                                  mo_secure_credentials *credentials,
                                  mo_secure_role role, const char *identity,
                                  mo_error *err)
{
    return mo_secure_tls_new(credentials, role, identity, channel->socket,
                             &channel->tls, err);
}

mo_secure_progress mo_secure_channel_handshake(mo_secure_channel *channel,
                                               mo_error *err)
{
    return channel->tls ? mo_secure_tls_handshake(channel->tls, err)
                        : MO_SECURE_DONE;
}

const char *mo_secure_channel_identity(const mo_secure_channel *channel)
{
    return channel->tls ? mo_secure_tls_identity(channel->tls) : "";
}

bool mo_secure_channel_is_sealed(const mo_secure_channel *channel)
{
    return channel->tls && mo_secure_tls_is_sealed(channel->tls);
}

void mo_secure_channel_unseal(mo_secure_channel *channel)
{
    mo_secure_tls_free(channel->tls);
    channel->tls = NULL;
}

short mo_secure_channel_events(const mo_secure_channel *channel)
{
    if (channel->tls)
        return mo_secure_tls_events(channel->tls);
    return POLLIN;
}

const char *mo_secure_channel_failure(const mo_secure_channel *channel)
{
    return channel->tls ? mo_secure_tls_failure(channel->tls) : "";
}

void mo_secure_channel_set_rekey_bytes(mo_secure_channel *channel,
                                       uint64_t bytes)
{
    if (channel->tls)
        mo_secure_tls_set_rekey_bytes(channel->tls, bytes);
}

ssize_t mo_secure_channel_receive(mo_secure_channel *channel, void *data,
                                  size_t bytes)
{
    ssize_t got;

    if (channel->tls)
        return mo_secure_tls_receive(channel->tls, data, bytes);
    do
        got = recv(channel->socket, data, bytes, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t mo_secure_channel_send(mo_secure_channel *channel,
                               const struct iovec *parts, int n_parts)
{
    struct iovec copy[MO_SECURE_MAX_PARTS];
    struct msghdr message = { .msg_iov = copy, .msg_iovlen = (size_t) n_parts };
    ssize_t sent;

    if (channel->tls)
        return mo_secure_tls_send(channel->tls, parts, n_parts);
    for (int i = 0; i < n_parts; i++)
        copy[i] = parts[i];
    do
        sent = sendmsg(channel->socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

int mo_secure_channel_flush(mo_secure_channel *channel)
{
    return channel->tls ? mo_secure_tls_flush(channel->tls) : 0;
}

bool mo_secure_channel_has_unsent(mo_secure_channel *channel)
{
    return channel->tls && mo_secure_tls_has_unsent(channel->tls);
}

bool mo_secure_channel_has_received(mo_secure_channel *channel)
{
    return channel->tls && mo_secure_tls_has_received(channel->tls);
}

bool mo_secure_channel_has_partial(const mo_secure_channel *channel)
{
    return channel->tls && mo_secure_tls_has_partial(channel->tls);
}

bool mo_secure_channel_is_closed(mo_secure_channel *channel)
{
    char byte;
    ssize_t got;

    if (channel->tls)
        return mo_secure_tls_is_closed(channel->tls);
    got = recv(channel->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
                        errno != EINTR);
}
