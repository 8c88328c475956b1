/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_parts.h - what callers and rank 0 say to each other, for the files that
 * join ranks.
 *
 *     caller                           rank 0
 *     greeting: who, a number    ->
 *                                <-    answer: a number, proof
 *     claim: proof, card         ->
 *                                <-    verdict: welcome, or why not
 *                                <-    verdict: all are here, or why not
 *                                <-    the cards of all
 *
 * Afterwards short messages as in wire.h: MO_RDV_MSG_ERROR, or MO_RDV_MSG_DONE,
 * said by a caller that is connected to all and by rank 0 when all are.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/transport/rendezvous/hmac.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/rendezvous/control_msg.h"

enum {
    MO_RDV_PROTOCOL_VERSION = 1,
    MO_RDV_BYTE_ORDER_MARK =
        0x01020304, /* reads otherwise where bytes go otherwise */
    MO_RDV_NONCE_BYTES = 32,
    MO_RDV_REASON_BYTES = 508
};

typedef struct mo_rdv_hello {
    char magic[8];
    uint32_t order, version;
    uint32_t rank, n_ranks;
    uint32_t card_bytes, zero;
    uint8_t number[MO_RDV_NONCE_BYTES];
} mo_rdv_hello;

typedef struct mo_rdv_challenge {
    char magic[8];
    uint8_t number[MO_RDV_NONCE_BYTES];
    uint8_t proof[MO_HMAC_BYTES];
} mo_rdv_challenge;

typedef struct mo_rdv_response {
    uint8_t proof[MO_HMAC_BYTES];
    mo_rdv_endpoint card;
} mo_rdv_response;

typedef struct mo_rdv_verdict {
    uint32_t refused;
    char text[MO_RDV_REASON_BYTES]; /* why */
} mo_rdv_verdict;

extern const char mo_rdv_magic[8];

/* What both sides know when they seal: the greeting and the answer's number. */
typedef enum mo_rdv_role { MO_RDV_CLIENT, MO_RDV_SERVER } mo_rdv_role;
void mo_rdv_compute_proof(const char *token, mo_rdv_role side,
                          const mo_rdv_hello *greeting,
                          const uint8_t number[MO_RDV_NONCE_BYTES],
                          uint8_t proof[MO_HMAC_BYTES]);

mo_status mo_rdv_random_nonce(uint8_t number[MO_RDV_NONCE_BYTES],
                              mo_error *err);

/* All of it until then; false when it cannot be, or the other end is gone. */
bool mo_rdv_send_all(int socket, const void *data, size_t bytes,
                     int64_t deadline_ns);
bool mo_rdv_receive_all(int socket, void *data, size_t bytes,
                        int64_t deadline_ns);

/* Where rank 0 is, for errors. */
const char *mo_rdv_format_master(const mo_rdv_params *job,
                                 char text[MO_RDV_HOST_SIZE + 16]);

/* Sockets where the ranks of a job meet: -1, and errno tells. */
int mo_rdv_listen(const mo_rdv_params *job, const uint8_t *bind);
int mo_rdv_connect(const mo_rdv_params *job, int64_t deadline_ns,
                   mo_error *err);

/* Somebody else's process on this machine; always false across machines. */
bool mo_rdv_is_other_user(int socket);

/* Connections that are kept until all are connected with all: of a caller one,
 * to rank 0; of rank 0 those to all others. */
typedef struct mo_rdv_control {
    const mo_rdv_params *job;
    const mo_rdv_endpoint *cards;
    mo_rdv_msg_channel *wires; /* by rank; closed where there is none */
    bool *done; /* by rank: it has nothing more to say, or never had */
} mo_rdv_control;

/* Has anybody failed, or gone?  For rank 0 it tells all others. */
bool mo_rdv_control_is_aborted(void *star, mo_error *why);
/* Tells all at the other ends. */
void mo_rdv_control_broadcast_error(mo_rdv_control *star, const mo_error *why);
/* We cannot go on: tells it, and why becomes what rank 0 makes of it, who may
 * know of a cause that came first. */
void mo_rdv_control_resolve_error(mo_rdv_control *star, mo_error *why);
/* Says that we are connected, and returns when all are. */
mo_status mo_rdv_control_finish(mo_rdv_control *star, int64_t deadline_ns,
                                mo_error *err);

/* Rank 0: waits for all.  sockets: by rank, -1 at our own, and all on failure,
 * which those that have come are told. */
mo_status mo_rdv_join_server(const mo_rdv_params *job,
                             const mo_rdv_join_options *options,
                             const uint8_t *bind, mo_rdv_endpoint *cards,
                             int *sockets, mo_error *err);

/* The others; cards[job->rank] is our own. */
mo_status mo_rdv_join_client(const mo_rdv_params *job,
                             const mo_rdv_join_options *options,
                             mo_rdv_endpoint *cards, int *socket,
                             mo_error *err);

#endif
