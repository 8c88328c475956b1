/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.h - heartbeats and control messages of the other ranks of a job.
 *
 * Not thread-safe: the failure detector holds its lock. No function blocks.
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
    mo_rdv_msg_channel channel;
    char name[MO_TRANSPORT_PEER_NAME_SIZE];
    int64_t last_message_ns,
        done_ns;         /* of the last message; of DONE, 0: not yet */
    bool close_received; /* CLOSE was received: the end of the connection is no
                            failure */
} mo_transport_peer;

typedef struct mo_transport_peers {
    mo_transport_peer *peers; /* by rank, owned; NULL: not connected yet */
    int n_ranks, rank;
    int64_t next_heartbeat_ns;
    bool done_sent; /* this rank has sent DONE */
} mo_transport_peers;

/* channels: by rank, owned from here on, that of rank is ignored. The caller
 * frees the peers with mo_transport_peers_clear(). */
mo_status mo_transport_peers_init(mo_transport_peers *peers, int n_ranks,
                                  int rank, mo_secure_channel *const *channels,
                                  mo_error *err);
void mo_transport_peers_clear(mo_transport_peers *peers);

void mo_transport_peers_broadcast(mo_transport_peers *peers,
                                  mo_rdv_msg_kind kind, const char *text);

/* Reads all pending messages and sends a heartbeat when it is due. If *why is
 * empty, it receives the first error: a rank that has failed, is gone, or was
 * silent for longer than timeout_s. */
void mo_transport_peers_poll_messages(mo_transport_peers *peers,
                                      double timeout_s, mo_error *why);

/* Appends all open sockets to polled[n], ...; returns the new count. */
nfds_t mo_transport_peers_add_pollfds(const mo_transport_peers *peers,
                                      struct pollfd *polled, nfds_t n);

bool mo_transport_peers_all_done(const mo_transport_peers *peers);

/* Returns whether this rank (-1: any) sent DONE more than ago_ns ago. */
bool mo_transport_peers_has_left(const mo_transport_peers *peers, int rank,
                                 int64_t ago_ns);

#endif
