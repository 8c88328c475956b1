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

enum { MO_LOBBY_GUESTS = 64, MO_GUEST_BYTES = 512 };

typedef struct mo_guest {
    int socket;           /* does not block */
    int stage;            /* the hearer's own; 0 at first */
    size_t wanted, heard; /* bytes; heard is 0 again at each stage */
    unsigned char bytes[MO_GUEST_BYTES];
    unsigned char notes[MO_GUEST_BYTES]; /* the hearer's own */
    int64_t until_ns;
} mo_guest;

typedef enum mo_fate {
    MO_FATE_STAYS, /* wanted says how much more is to come */
    MO_FATE_TAKEN, /* its socket belongs to the hearer now */
    MO_FATE_GOES
} mo_fate;

/* Called when all that was wanted of a guest has come. */
typedef mo_fate mo_lobby_hear(void *context, mo_guest *guest);

typedef struct mo_lobby {
    int listener; /* not the lobby's to close; does not block */
    size_t first_wanted;
    mo_lobby_hear *hear;
    void *context;
    mo_guest *guests;
    int n_guests;
} mo_lobby;

mo_status mo_lobby_init(mo_lobby *lobby, int listener, size_t first_wanted,
                        mo_lobby_hear *hear, void *context, mo_error *err);
void mo_lobby_clear(mo_lobby *lobby);

/* Lets in who calls, and hears whoever has something to say; returns after that
 * many milliseconds at the latest. */
void mo_lobby_open(mo_lobby *lobby, int wait_ms);

#endif
