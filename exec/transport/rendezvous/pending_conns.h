/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lobby.h - where callers of a listening socket are kept until they have said
 * who they are.
 *
 * Anybody may call: scanners of ports, clients of other services, some who say
 * nothing or say it byte by byte.  Nobody is waited for: each has so much to
 * say in so much time, and when there is no room left who came first must go,
 * soon after it came.  For one thread.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_PENDING_CONNS_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_PENDING_CONNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_RDV_MAX_PENDING = 64, MO_RDV_PENDING_BYTES = 512 };

typedef struct mo_rdv_pending_conn {
    int socket;           /* does not block */
    int stage;            /* the hearer's own; 0 at first */
    size_t wanted, heard; /* bytes; heard is 0 again at each stage */
    unsigned char bytes[MO_RDV_PENDING_BYTES];
    unsigned char notes[MO_RDV_PENDING_BYTES]; /* the hearer's own */
    int64_t until_ns;
} mo_rdv_pending_conn;

typedef enum mo_rdv_pending_action {
    MO_RDV_PENDING_KEEP,     /* wanted says how much more is to come */
    MO_RDV_PENDING_ACCEPTED, /* its socket belongs to the hearer now */
    MO_RDV_PENDING_CLOSE
} mo_rdv_pending_action;

/* Called when all that was wanted of a guest has come. */
typedef mo_rdv_pending_action
mo_rdv_pending_handler(void *context, mo_rdv_pending_conn *guest);

typedef struct mo_rdv_pending_conns {
    int listener; /* not the lobby's to close; does not block */
    size_t first_wanted;
    mo_rdv_pending_handler *hear;
    void *context;
    mo_rdv_pending_conn *guests;
    int n_guests;
} mo_rdv_pending_conns;

mo_status mo_rdv_pending_conns_init(mo_rdv_pending_conns *lobby, int listener,
                                    size_t first_wanted,
                                    mo_rdv_pending_handler *hear, void *context,
                                    mo_error *err);
void mo_rdv_pending_conns_clear(mo_rdv_pending_conns *lobby);

/* Lets in who calls, and hears whoever has something to say; returns after that
 * many milliseconds at the latest. */
void mo_rdv_pending_conns_poll(mo_rdv_pending_conns *lobby, int wait_ms);

#endif
