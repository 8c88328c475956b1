/*
 * meet.h - TCP connections between any two ranks, given a way to swap cards.
 *
 * Each listens on a port of its own and writes a card: host, addresses, port.
 * When all have everybody's cards, each calls those before it and answers those
 * behind it.  A secret on the card of rank 0 keeps strangers out.
 */
#ifndef MO_EXEC_TRANSPORT_MEET_H
#define MO_EXEC_TRANSPORT_MEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_MEET_HOST = 64, MO_MEET_ADDRESSES = 8 };

/* Plain bytes, the same on all machines of a job. */
typedef struct mo_card {
    char host[MO_MEET_HOST];
    char machine[MO_MEET_HOST]; /* the same for ranks that share one clock */
    uint8_t addresses[MO_MEET_ADDRESSES][16]; /* IPv6, or IPv4 as such */
    int32_t n_addresses;
    int32_t port;
    uint64_t secret;
} mo_card;

/* Begins to listen. */
mo_status mo_meet_listen(int n_ranks, mo_card *card, int *listener,
                         mo_error *err);

/* sockets: one for each rank, -1 at our own, the caller's to close; all are -1
 * on failure.  The error names the rank that cannot be reached. */
mo_status mo_meet_all(const mo_card *cards, int n_ranks, int rank, int listener,
                      double seconds, int *sockets, mo_error *err);

bool mo_meet_same_machine(const mo_card *a, const mo_card *b);

#endif
