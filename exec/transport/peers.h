/* SPDX-License-Identifier: Apache-2.0 */
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

enum { MO_TRANSPORT_PEER_NAME_SIZE = 512, MO_TRANSPORT_MAX_PEERS = 4096 };

typedef struct mo_transport_peer {
    mo_rdv_msg_channel wire;
    char name[MO_TRANSPORT_PEER_NAME_SIZE];
    int64_t heard_ns, bye_ns; /* 0: not yet */
    bool ended;               /* it may close its connection now */
} mo_transport_peer;

typedef struct mo_transport_peers {
    mo_transport_peer *peers; /* by rank; NULL: they have not met yet */
    int n_ranks, rank;
    int64_t next_beat_ns;
} mo_transport_peers;

/* sockets: by rank, owned from here on; our own is not looked at. */
mo_status mo_transport_peers_init(mo_transport_peers *peers, int n_ranks,
                                  int rank, const int *sockets, mo_error *err);
void mo_transport_peers_clear(mo_transport_peers *peers);

void mo_transport_peers_broadcast(mo_transport_peers *peers,
                                  mo_rdv_msg_kind kind, const char *text);

/* Reads what has come and sends a beat when it is due.  why, if it is empty, is
 * told of the first that has failed, is gone, or was silent for too long. */
void mo_transport_peers_poll_messages(mo_transport_peers *peers,
                                      double patience_s, mo_error *why);

/* Adds what to wait for; returns how many there are now. */
nfds_t mo_transport_peers_add_pollfds(const mo_transport_peers *peers,
                                      struct pollfd *polled, nfds_t n);

bool mo_transport_peers_all_done(const mo_transport_peers *peers);

/* Has this rank (-1: any) said good-bye at least so long ago? */
bool mo_transport_peers_has_left(const mo_transport_peers *peers, int rank,
                                 int64_t ago_ns);

#endif
