/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/rendezvous/control_msg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "exec/transport/rendezvous/decode.h"
#include "exec/transport/rendezvous/handshake.h"

/* A message is its kind (1 byte), the length of its text (2 bytes), the
 * text. */
enum { HEAD = 3 };

void mo_rdv_msg_channel_init(mo_rdv_msg_channel *channel,
                             mo_secure_channel *conn)
{
    channel->conn = conn;
    channel->n_pending = 0;
}

void mo_rdv_msg_channel_close(mo_rdv_msg_channel *channel)
{
    mo_secure_channel_free(channel->conn);
    channel->conn = NULL;
}

int mo_rdv_msg_channel_socket(const mo_rdv_msg_channel *channel)
{
    return channel->conn ? mo_secure_channel_socket(channel->conn) : -1;
}

void mo_rdv_msg_send(mo_rdv_msg_channel *channel, mo_rdv_msg_kind kind,
                     const char *text)
{
    char message[HEAD + MO_RDV_MSG_TEXT_SIZE];
    size_t length = text ? strlen(text) : 0;

    if (!channel->conn)
        return;
    if (length > MO_RDV_MSG_TEXT_SIZE - 1)
        length = MO_RDV_MSG_TEXT_SIZE - 1;
    message[0] = (char) kind;
    message[1] = (char) (unsigned char) (length & 255);
    message[2] = (char) (unsigned char) (length >> 8);
    if (length > 0)
        memcpy(message + HEAD, text, length);
    if (!mo_rdv_send_all(channel->conn, message, HEAD + length, 0))
        shutdown(mo_secure_channel_socket(channel->conn), SHUT_WR);
}

void mo_rdv_msg_receive(mo_rdv_msg_channel *channel, bool *closed)
{
    ssize_t got = 1;

    while (got > 0 && channel->n_pending < sizeof channel->pending) {
        got = mo_secure_channel_receive(
            channel->conn, channel->pending + channel->n_pending,
            sizeof channel->pending - channel->n_pending);
        channel->n_pending += got > 0 ? (size_t) got : 0;
    }
    *closed |= got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

bool mo_rdv_msg_next(mo_rdv_msg_channel *channel, mo_rdv_msg_kind *kind,
                     char text[MO_RDV_MSG_TEXT_SIZE], bool *closed)
{
    size_t n_used;
    mo_rdv_decoded decoded = mo_rdv_decode_control(
        channel->pending, channel->n_pending, kind, text, &n_used);

    if (decoded == MO_RDV_INVALID)
        *closed = true;
    if (decoded != MO_RDV_DECODED)
        return false;
    channel->n_pending -= n_used;
    memmove(channel->pending, channel->pending + n_used, channel->n_pending);
    return true;
}
