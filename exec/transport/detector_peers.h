/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detector_peers.h - heartbeats and control messages of the other ranks, for
 * the failure detector, under its lock. No function blocks.
 */
#ifndef MO_EXEC_TRANSPORT_DETECTOR_PEERS_H
#define MO_EXEC_TRANSPORT_DETECTOR_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/control_msg.h"
#include "exec/transport/secure/channel.h"

enum { MO_DETECTOR_NAME_SIZE = 512, MO_DETECTOR_MAX_PEERS = 4096 };

typedef struct mo_detector_peer {
    mo_rdv_msg_channel channel;
    char name[MO_DETECTOR_NAME_SIZE];
    int64_t last_message_ns,
        done_ns;         /* of the last message; of DONE, 0: not yet */
    bool close_received; /* CLOSE was received: the end of the connection is no
                            failure */
    bool lost;           /* given up, where losses are tolerated */
    int64_t silent_ns;   /* since its last message when it was lost */
} mo_detector_peer;

typedef struct mo_detector_peers {
    mo_detector_peer *peers; /* by rank, owned; NULL: not connected yet */
    int n_ranks, rank;
    int64_t next_heartbeat_ns;
    bool done_sent; /* this rank has sent DONE */
    bool tolerant;  /* losses of ranks are tolerated */
    bool given_up;  /* rank 0 has lost this rank */
    mo_error news;  /* the first loss that another rank has reported */
    mo_error alone; /* why rank 0 is lost, or has given up this rank */
} mo_detector_peers;

/* channels: by rank, owned from here on, that of rank is ignored. The caller
 * closes the channels and frees peers->peers. */
mo_status mo_detector_peers_init(mo_detector_peers *peers, int n_ranks,
                                 int rank, mo_secure_channel *const *channels,
                                 mo_error *err);

/* Sends a message to all; text may be NULL. */
void mo_detector_peers_broadcast(mo_detector_peers *peers, mo_rdv_msg_kind kind,
                                 const char *text);

/* Gives a rank up, with *why, and informs all others; it, too, where it is
 * only cut off from a third rank, or was stopped and goes on later. */
void mo_detector_peers_lose(mo_detector_peers *peers, int rank,
                            const mo_error *why);

/* Reads all pending messages and sends a heartbeat when it is due. If *why is
 * empty, it receives the first error. */
void mo_detector_peers_poll(mo_detector_peers *peers, double timeout_s,
                            mo_error *why);

/* Returns whether all others have sent DONE. */
bool mo_detector_peers_all_done(const mo_detector_peers *peers);

#endif
