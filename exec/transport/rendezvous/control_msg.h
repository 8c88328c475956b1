/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_msg.h - short control messages between two ranks, over a channel.
 *
 * No function blocks: when a message cannot be sent at once, the connection is
 * closed, which the other end notices.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_CONTROL_MSG_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_CONTROL_MSG_H

#include <stdbool.h>
#include <stddef.h>

#include "exec/transport/secure/channel.h"

enum { MO_RDV_MSG_TEXT_SIZE = 1600 };

typedef enum mo_rdv_msg_kind {
    MO_RDV_MSG_HEARTBEAT = 'b', /* sent periodically */
    MO_RDV_MSG_ERROR = 'f', /* this rank has failed: the text is the reason */
    MO_RDV_MSG_DONE = 'y',  /* this rank needs nothing more from any other */
    MO_RDV_MSG_CLOSE = 'e', /* this rank closes the connection */
    MO_RDV_MSG_LOSS = 'l'   /* this rank has lost another one: its number, a
                               blank, and the reason */
} mo_rdv_msg_kind;

typedef struct mo_rdv_msg_channel {
    mo_secure_channel *conn; /* owned; NULL: none, or closed */
    char pending[MO_RDV_MSG_TEXT_SIZE + 3];
    size_t n_pending;
} mo_rdv_msg_channel;

/* Takes conn, which may be NULL. */
void mo_rdv_msg_channel_init(mo_rdv_msg_channel *channel,
                             mo_secure_channel *conn);
void mo_rdv_msg_channel_close(mo_rdv_msg_channel *channel);

/* Returns the socket, for poll(); -1: none. */
int mo_rdv_msg_channel_socket(const mo_rdv_msg_channel *channel);

/* text may be NULL; truncated to MO_RDV_MSG_TEXT_SIZE - 1 bytes. */
void mo_rdv_msg_send(mo_rdv_msg_channel *channel, mo_rdv_msg_kind kind,
                     const char *text);

/* Reads available bytes into the channel's buffer. *closed: the other end has
 * closed, or sent no valid message. */
void mo_rdv_msg_receive(mo_rdv_msg_channel *channel, bool *closed);

/* Copies the next complete message to *kind and text; returns false when there
 * is none. *closed as above. */
bool mo_rdv_msg_next(mo_rdv_msg_channel *channel, mo_rdv_msg_kind *kind,
                     char text[MO_RDV_MSG_TEXT_SIZE], bool *closed);

#endif
