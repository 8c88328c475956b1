/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshake.h - challenge-response handshake between the clients and the
 * server, which is rank 0, for the files that join ranks.
 *
 * client                           rank 0
 * hello: rank, nonce         ->
 *                            <-    challenge: nonce, proof
 * response: proof, endpoint  ->
 *                            <-    verdict: accepted, or why not
 *                            <-    verdict: all are here, or why not
 *                            <-    the endpoints of all
 *
 * Afterwards control messages (control_msg.h): MO_RDV_MSG_ERROR, or
 * MO_RDV_MSG_DONE, sent by a client that is connected to all ranks and by rank
 * 0 when all are.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/transport/rendezvous/hmac.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/rendezvous/control_msg.h"

enum {
    MO_RDV_PROTOCOL_VERSION = 2,
    MO_RDV_BYTE_ORDER_MARK =
        0x01020304, /* reads differently with another byte order */
    MO_RDV_NONCE_BYTES = 32,
    MO_RDV_REASON_BYTES = 508
};

typedef struct mo_rdv_hello {
    char magic[8];
    uint32_t order, version;
    uint32_t rank, n_ranks;
    uint32_t endpoint_bytes, zero;
    uint8_t nonce[MO_RDV_NONCE_BYTES];
} mo_rdv_hello;

typedef struct mo_rdv_challenge {
    char magic[8];
    uint8_t nonce[MO_RDV_NONCE_BYTES];
    uint8_t proof[MO_HMAC_BYTES];
} mo_rdv_challenge;

typedef struct mo_rdv_response {
    uint8_t proof[MO_HMAC_BYTES];
    mo_rdv_endpoint endpoint;
} mo_rdv_response;

typedef struct mo_rdv_verdict {
    uint32_t refused;
    char text[MO_RDV_REASON_BYTES]; /* the reason */
} mo_rdv_verdict;

extern const char mo_rdv_magic[8];

/* Computes the HMAC of the role, the hello and the challenge's nonce, with the
 * token as key. */
typedef enum mo_rdv_role { MO_RDV_CLIENT, MO_RDV_SERVER } mo_rdv_role;
void mo_rdv_compute_proof(const char *token, mo_rdv_role role,
                          const mo_rdv_hello *hello,
                          const uint8_t nonce[MO_RDV_NONCE_BYTES],
                          uint8_t proof[MO_HMAC_BYTES]);

mo_status mo_rdv_random_nonce(uint8_t nonce[MO_RDV_NONCE_BYTES], mo_error *err);

/* Send or receive all bytes by the deadline; return false when that is not
 * possible, or the connection is closed. */
bool mo_rdv_send_all(int socket, const void *data, size_t bytes,
                     int64_t deadline_ns);
bool mo_rdv_receive_all(int socket, void *data, size_t bytes,
                        int64_t deadline_ns);

/* Formats the address of rank 0 for errors into text and returns text. */
const char *mo_rdv_format_master(const mo_rdv_params *params,
                                 char text[MO_RDV_HOST_SIZE + 16]);

/* Sockets of the rendezvous address; the caller closes them. -1 on failure,
 * with errno. */
int mo_rdv_listen(const mo_rdv_params *params, const uint8_t *bind);
int mo_rdv_connect(const mo_rdv_params *params, int64_t deadline_ns,
                   mo_error *err);

/* Returns whether the peer is a process of another user on this machine;
 * always false across machines. */
bool mo_rdv_is_other_user(int socket);

/* Control connections, kept until the mesh is complete: a client has one, to
 * rank 0; rank 0 has one to every other rank. */
typedef struct mo_rdv_control {
    const mo_rdv_params *params;
    const mo_rdv_endpoint *endpoints;
    mo_rdv_msg_channel *channels; /* by rank; closed where there is none */
    bool *done; /* by rank: DONE was received, or there is no connection */
} mo_rdv_control;

/* Reads pending messages; returns true, with *why, when a rank has failed or
 * is gone. Rank 0 forwards the error to all others. */
bool mo_rdv_control_is_aborted(void *control, mo_error *why);
/* Sends the error over all control connections. */
void mo_rdv_control_broadcast_error(mo_rdv_control *control,
                                    const mo_error *why);
/* Sends the error of this rank; *why is replaced by the error that rank 0
 * sends within a second, since rank 0 may know an earlier cause. */
void mo_rdv_control_resolve_error(mo_rdv_control *control, mo_error *why);
/* Sends DONE and returns MO_OK when all ranks are connected, or the error. */
mo_status mo_rdv_control_finish(mo_rdv_control *control, int64_t deadline_ns,
                                mo_error *err);

/* The server, rank 0: accepts all clients. sockets: by rank, -1 at our own;
 * the caller closes them. On failure all are -1, and the clients have received
 * the reason. */
mo_status mo_rdv_join_server(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             const uint8_t *bind, mo_rdv_endpoint *endpoints,
                             int *sockets, mo_error *err);

/* The client; endpoints[params->rank] is its own endpoint, the others are
 * filled in. The caller closes *socket, -1 on failure. */
mo_status mo_rdv_join_client(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             mo_rdv_endpoint *endpoints, int *socket,
                             mo_error *err);

#endif
