/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/control_msg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A message is its kind, the length of its text in two bytes, and the text. */
enum { HEAD = 3 };

void mo_rdv_msg_channel_init(mo_rdv_msg_channel *wire, int socket)
{
    wire->socket = socket;
    wire->n_pending = 0;
}

void mo_rdv_msg_channel_close(mo_rdv_msg_channel *wire)
{
    if (wire->socket >= 0)
        close(wire->socket);
    wire->socket = -1;
}

void mo_rdv_msg_send(mo_rdv_msg_channel *wire, mo_rdv_msg_kind kind,
                     const char *text)
{
    char message[HEAD + MO_RDV_MSG_TEXT_SIZE];
    size_t length = text ? strlen(text) : 0;

    if (wire->socket < 0)
        return;
    if (length > MO_RDV_MSG_TEXT_SIZE - 1)
        length = MO_RDV_MSG_TEXT_SIZE - 1;
    message[0] = (char) kind;
    message[1] = (char) (unsigned char) (length & 255);
    message[2] = (char) (unsigned char) (length >> 8);
    if (length > 0)
        memcpy(message + HEAD, text, length);
    length += HEAD;
    if (send(wire->socket, message, length, MSG_DONTWAIT | MSG_NOSIGNAL) !=
        (ssize_t) length)
        shutdown(wire->socket, SHUT_WR);
}

void mo_rdv_msg_receive(mo_rdv_msg_channel *wire, bool *closed)
{
    ssize_t got;

    if (wire->n_pending == sizeof wire->pending)
        return;
    got = recv(wire->socket, wire->pending + wire->n_pending,
               sizeof wire->pending - wire->n_pending, MSG_DONTWAIT);
    if (got > 0)
        wire->n_pending += (size_t) got;
    else if (got == 0 ||
             (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        *closed = true;
}

bool mo_rdv_msg_next(mo_rdv_msg_channel *wire, mo_rdv_msg_kind *kind,
                     char text[MO_RDV_MSG_TEXT_SIZE], bool *closed)
{
    const unsigned char *head = (const unsigned char *) wire->pending;
    size_t length;

    if (wire->n_pending < HEAD)
        return false;
    length = head[1] | (size_t) head[2] << 8;
    if (length >= MO_RDV_MSG_TEXT_SIZE || !memchr("bfye", head[0], 4)) {
        *closed = true;
        return false;
    }
    if (wire->n_pending < HEAD + length)
        return false;
    *kind = (mo_rdv_msg_kind) head[0];
    memcpy(text, wire->pending + HEAD, length);
    text[length] = '\0';
    wire->n_pending -= HEAD + length;
    memmove(wire->pending, wire->pending + HEAD + length, wire->n_pending);
    return true;
}
