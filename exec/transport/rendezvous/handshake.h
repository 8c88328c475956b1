/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshake.h - messages between the clients and the server, which is rank 0,
 * for the files that join ranks.
 *
 * client                           rank 0
 * preamble                   ->
 *                            <-    preamble: salt
 *        TLS handshake: the key is derived from token and salt
 * hello: rank, endpoint      ->
 *                            <-    verdict: accepted, or why not
 *                            <-    verdict: all are here, or why not
 *                            <-    the endpoints of all
 *
 * Afterwards control messages (control_msg.h): MO_RDV_MSG_ERROR, or
 * MO_RDV_MSG_DONE, sent by a client that is connected to all ranks and by rank
 * 0 when all are.
 *
 * The preambles are plain and not authenticated, and need not be: another salt
 * gives another key, and each side insists on its own kind of security. All
 * that follows them is sealed, unless the job has neither token nor
 * certificate.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_HANDSHAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/transport/rendezvous/control_msg.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/secure/channel.h"

enum {
    MO_RDV_PROTOCOL_VERSION = 3,
    MO_RDV_BYTE_ORDER_MARK =
        0x01020304, /* reads differently with another byte order */
    MO_RDV_REASON_BYTES = 508
};

/* How ranks authenticate each other; the same on all. */
typedef enum mo_rdv_security {
    MO_RDV_SECURITY_NONE,
    MO_RDV_SECURITY_TOKEN,
    MO_RDV_SECURITY_CERTIFICATE
} mo_rdv_security;

typedef struct mo_rdv_preamble {
    char magic[8];
    uint32_t order, version;
    uint32_t security, rank;            /* mo_rdv_security; of the sender */
    uint8_t salt[MO_SECURE_SALT_BYTES]; /* of the server; else zeros */
} mo_rdv_preamble;

typedef struct mo_rdv_hello {
    uint32_t rank, n_ranks;
    uint32_t endpoint_bytes, plain_values;
    char job[MO_RDV_JOB_NAME_SIZE]; /* its name, where there is no token */
    mo_rdv_endpoint endpoint;
} mo_rdv_hello;

typedef struct mo_rdv_verdict {
    uint32_t refused;
    char text[MO_RDV_REASON_BYTES]; /* the reason */
} mo_rdv_verdict;

extern const char mo_rdv_magic[8];

mo_rdv_security mo_rdv_security_of(const mo_rdv_params *params);

/* Fills the preamble of this rank; the salt is zeros. */
void mo_rdv_preamble_init(mo_rdv_preamble *preamble,
                          const mo_rdv_params *params);

/* Fills job: the name of the job, or an empty text where there is a token. */
void mo_rdv_format_job(const mo_rdv_params *params,
                       char job[MO_RDV_JOB_NAME_SIZE]);

/* Makes the credentials of this rank, which the caller frees: NULL without
 * security. The salt is that of rank 0; key, unless it is NULL, keeps the key
 * of the last one. */
mo_status mo_rdv_credentials_new(const mo_rdv_params *params,
                                 const uint8_t salt[MO_SECURE_SALT_BYTES],
                                 mo_rdv_key *key,
                                 mo_secure_credentials **credentials,
                                 mo_error *err);

/* The identity of a client in the TLS handshake. */
void mo_rdv_format_identity(char identity[MO_SECURE_IDENTITY_SIZE],
                            uint32_t rank, uint32_t n_ranks);

/* Send or receive all bytes by the deadline; return false when that is not
 * possible, or the connection is closed. */
bool mo_rdv_send_all(mo_secure_channel *channel, const void *data, size_t bytes,
                     int64_t deadline_ns);
bool mo_rdv_receive_all(mo_secure_channel *channel, void *data, size_t bytes,
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
    const mo_rdv_join_options *options;
    const int *origins; /* by rank: what options->is_lost takes */
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

/* The server, rank 0: accepts all clients. channels: by rank, NULL at 0; the
 * caller frees them. On failure all are NULL, and the clients have received the
 * reason. */
mo_status mo_rdv_join_server(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             const uint8_t *bind, mo_rdv_endpoint *endpoints,
                             mo_secure_channel **channels, mo_error *err);

/* The client; endpoints[params->rank] is its own endpoint, the others are
 * filled in. The caller frees *channel, NULL on failure. */
mo_status mo_rdv_join_client(const mo_rdv_params *params,
                             const mo_rdv_join_options *options,
                             mo_rdv_endpoint *endpoints,
                             mo_secure_channel **channel, mo_error *err);

#endif
