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

enum { MO_WIRE_TEXT = 1600 };

typedef enum mo_wire_kind {
    MO_WIRE_BEAT = 'b', /* still here */
    MO_WIRE_FAIL = 'f', /* cannot go on: the text says why */
    MO_WIRE_BYE = 'y',  /* wants nothing more from anybody */
    MO_WIRE_END = 'e'   /* is about to close the connection */
} mo_wire_kind;

typedef struct mo_wire {
    int socket; /* -1: there is none, or not any more */
    char pending[MO_WIRE_TEXT + 3];
    size_t n_pending;
} mo_wire;

void mo_wire_init(mo_wire *wire, int socket);
void mo_wire_close(mo_wire *wire);

/* text may be NULL; cut to MO_WIRE_TEXT - 1 bytes. */
void mo_wire_send(mo_wire *wire, mo_wire_kind kind, const char *text);

/* Reads what has come.  *closed: the other end is gone, or is none of ours. */
void mo_wire_read(mo_wire *wire, bool *closed);

/* Takes the next whole message; false: there is none.  *closed as above. */
bool mo_wire_take(mo_wire *wire, mo_wire_kind *kind, char text[MO_WIRE_TEXT],
                  bool *closed);

#endif
