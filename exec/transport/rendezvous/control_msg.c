/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/control_msg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A message is its kind (1 byte), the length of its text (2 bytes), the
 * text. */
enum { HEAD = 3 };

void mo_rdv_msg_channel_init(mo_rdv_msg_channel *channel, int socket)
{
    channel->socket = socket;
    channel->n_pending = 0;
}

void mo_rdv_msg_channel_close(mo_rdv_msg_channel *channel)
{
    if (channel->socket >= 0)
        close(channel->socket);
    channel->socket = -1;
}

void mo_rdv_msg_send(mo_rdv_msg_channel *channel, mo_rdv_msg_kind kind,
                     const char *text)
{
    char message[HEAD + MO_RDV_MSG_TEXT_SIZE];
    size_t length = text ? strlen(text) : 0;

    if (channel->socket < 0)
        return;
    if (length > MO_RDV_MSG_TEXT_SIZE - 1)
        length = MO_RDV_MSG_TEXT_SIZE - 1;
    message[0] = (char) kind;
    message[1] = (char) (unsigned char) (length & 255);
    message[2] = (char) (unsigned char) (length >> 8);
    if (length > 0)
        memcpy(message + HEAD, text, length);
    length += HEAD;
    if (send(channel->socket, message, length, MSG_DONTWAIT | MSG_NOSIGNAL) !=
        (ssize_t) length)
        shutdown(channel->socket, SHUT_WR);
}

void mo_rdv_msg_receive(mo_rdv_msg_channel *channel, bool *closed)
{
    ssize_t got;

    if (channel->n_pending == sizeof channel->pending)
        return;
    got = recv(channel->socket, channel->pending + channel->n_pending,
               sizeof channel->pending - channel->n_pending, MSG_DONTWAIT);
    if (got > 0)
        channel->n_pending += (size_t) got;
    else if (got == 0 ||
             (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        *closed = true;
}

bool mo_rdv_msg_next(mo_rdv_msg_channel *channel, mo_rdv_msg_kind *kind,
                     char text[MO_RDV_MSG_TEXT_SIZE], bool *closed)
{
    const unsigned char *head = (const unsigned char *) channel->pending;
    size_t length;

    if (channel->n_pending < HEAD)
        return false;
    length = head[1] | (size_t) head[2] << 8;
    if (length >= MO_RDV_MSG_TEXT_SIZE || !memchr("bfye", head[0], 4)) {
        *closed = true;
        return false;
    }
    if (channel->n_pending < HEAD + length)
        return false;
    *kind = (mo_rdv_msg_kind) head[0];
    memcpy(text, channel->pending + HEAD, length);
    text[length] = '\0';
    channel->n_pending -= HEAD + length;
    memmove(channel->pending, channel->pending + HEAD + length,
            channel->n_pending);
    return true;
}
