/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - short messages between two ranks, over a connected socket.
 *
 * Nothing here ever waits: what cannot be sent at once is not sent, and the
 * connection is given up, which the other end notices.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_CONTROL_MSG_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_CONTROL_MSG_H

#include <stdbool.h>
#include <stddef.h>

enum { MO_RDV_MSG_TEXT_SIZE = 1600 };

typedef enum mo_rdv_msg_kind {
    MO_RDV_MSG_HEARTBEAT = 'b', /* still here */
    MO_RDV_MSG_ERROR = 'f',     /* cannot go on: the text says why */
    MO_RDV_MSG_DONE = 'y',      /* wants nothing more from anybody */
    MO_RDV_MSG_CLOSE = 'e'      /* is about to close the connection */
} mo_rdv_msg_kind;

typedef struct mo_rdv_msg_channel {
    int socket; /* -1: there is none, or not any more */
    char pending[MO_RDV_MSG_TEXT_SIZE + 3];
    size_t n_pending;
} mo_rdv_msg_channel;

void mo_rdv_msg_channel_init(mo_rdv_msg_channel *wire, int socket);
void mo_rdv_msg_channel_close(mo_rdv_msg_channel *wire);

/* text may be NULL; cut to MO_RDV_MSG_TEXT_SIZE - 1 bytes. */
void mo_rdv_msg_send(mo_rdv_msg_channel *wire, mo_rdv_msg_kind kind,
                     const char *text);

/* Reads what has come.  *closed: the other end is gone, or is none of ours. */
void mo_rdv_msg_receive(mo_rdv_msg_channel *wire, bool *closed);

/* Takes the next whole message; false: there is none.  *closed as above. */
bool mo_rdv_msg_next(mo_rdv_msg_channel *wire, mo_rdv_msg_kind *kind,
                     char text[MO_RDV_MSG_TEXT_SIZE], bool *closed);

#endif
