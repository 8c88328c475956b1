/*
 * peers.h - the other ranks of a job, as one of them hears of them.
 *
 * For one thread at a time; nothing here waits.
 */
#ifndef MO_EXEC_TRANSPORT_PEERS_H
#define MO_EXEC_TRANSPORT_PEERS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/control_msg.h"

enum { MO_PEER_NAME = 512, MO_MAX_PEERS = 4096 };

typedef struct mo_peer {
    mo_wire wire;
    char name[MO_PEER_NAME];
    int64_t heard_ns, bye_ns; /* 0: not yet */
    bool ended;               /* it may close its connection now */
} mo_peer;

typedef struct mo_peers {
    mo_peer *peers; /* by rank; NULL: they have not met yet */
    int n_ranks, rank;
    int64_t next_beat_ns;
} mo_peers;

/* sockets: by rank, owned from here on; our own is not looked at. */
mo_status mo_peers_init(mo_peers *peers, int n_ranks, int rank,
                        const int *sockets, mo_error *err);
void mo_peers_clear(mo_peers *peers);

void mo_peers_say(mo_peers *peers, mo_wire_kind kind, const char *text);

/* Reads what has come and sends a beat when it is due.  why, if it is empty, is
 * told of the first that has failed, is gone, or was silent for too long. */
void mo_peers_look(mo_peers *peers, double patience_s, mo_error *why);

/* Adds what to wait for; returns how many there are now. */
nfds_t mo_peers_poll(const mo_peers *peers, struct pollfd *polled, nfds_t n);

bool mo_peers_all_said_bye(const mo_peers *peers);

/* Has this rank (-1: any) said good-bye at least so long ago? */
bool mo_peers_has_left(const mo_peers *peers, int rank, int64_t ago_ns);

#endif
