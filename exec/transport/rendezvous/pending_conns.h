/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pending_conns.h - accepted connections that are not authenticated yet.
 *
 * Any process may connect: port scanners, clients of other services, some that
 * send nothing or one byte at a time. No connection is waited for: each has a
 * limited number of bytes and a deadline, and when the table is full the
 * oldest one is evicted (slow-loris defence). Not thread-safe.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_PENDING_CONNS_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_PENDING_CONNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/address.h"
#include "exec/transport/secure/channel.h"

enum { MO_RDV_MAX_PENDING = 64, MO_RDV_PENDING_BYTES = 768 };

typedef struct mo_rdv_pending_conn {
    mo_secure_channel *channel;        /* owned by the table */
    char address[MO_RDV_ADDRESS_TEXT]; /* of the peer, even after its reset */
    int stage;                         /* for the handler; 0 at first */
    size_t wanted, received; /* bytes; received restarts at 0 at each stage */
    unsigned char bytes[MO_RDV_PENDING_BYTES];
    unsigned char state[MO_RDV_PENDING_BYTES]; /* for the handler */
    int64_t deadline_ns;
} mo_rdv_pending_conn;

typedef enum mo_rdv_pending_action {
    MO_RDV_PENDING_KEEP,     /* wanted is the number of further bytes; the
                                handshake of the channel comes before them */
    MO_RDV_PENDING_ACCEPTED, /* the handler owns the channel now */
    MO_RDV_PENDING_CLOSE,
    MO_RDV_PENDING_NO_MEMORY /* closed; the poll returns MO_E_MEMORY */
} mo_rdv_pending_action;

/* Called when the wanted bytes of a connection have arrived; for none, when it
 * was accepted or its handshake is complete. */
typedef mo_rdv_pending_action mo_rdv_pending_handler(void *context,
                                                     mo_rdv_pending_conn *conn);

typedef struct mo_rdv_pending_conns {
    int listener; /* nonblocking; stays the caller's to close */
    size_t first_wanted;
    mo_rdv_pending_handler *handler;
    /* NULL, or called when the handshake of a connection has failed, which is
     * then closed. */
    void (*on_failure)(void *context, mo_rdv_pending_conn *conn,
                       const mo_error *why);
    void *context;
    mo_rdv_pending_conn *conns;
    int n_conns;
    bool lacks_memory;
} mo_rdv_pending_conns;

mo_status mo_rdv_pending_conns_init(mo_rdv_pending_conns *pending, int listener,
                                    size_t first_wanted,
                                    mo_rdv_pending_handler *handler,
                                    void *context, mo_error *err);
void mo_rdv_pending_conns_clear(mo_rdv_pending_conns *pending);

/* Accepts pending connections and reads from them without blocking; returns
 * within wait_ms. Calls the handler for every connection whose wanted bytes
 * have arrived. A connection that fails is no error; memory that is exhausted
 * and a failing poll() are. */
mo_status mo_rdv_pending_conns_poll(mo_rdv_pending_conns *pending, int wait_ms,
                                    mo_error *err);

#endif
