/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - rendezvous of the ranks of a job, authenticated by a shared token.
 *
 * Rank 0 listens at the rendezvous address; the others connect to it, with
 * retries. With a token both sides authenticate each other by TLS 1.3 with a
 * pre-shared key that scrypt derives from it, with certificates by these
 * (secure/credentials.h). Then all ranks receive all endpoints and connect to
 * each other (mesh.h). Until the mesh is complete they keep a control
 * connection to rank 0, so that each rank learns which one is missing, is gone,
 * or cannot reach another.
 *
 * All connections of a job with a token or certificates are sealed
 * (secure/channel.h); with params->plain those for values are only
 * authenticated. Others are plain.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_JOIN_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_JOIN_H

#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/launch.h"
#include "exec/transport/rendezvous/mesh.h"

/* The key of a token, which takes scrypt long to derive: a later join of the
 * same ranks has the same salt. Begins as zeros; cleared by the owner. */
typedef struct mo_rdv_key {
    bool is_set;
    uint8_t salt[MO_SECURE_SALT_BYTES];
    uint8_t key[MO_SECURE_KEY_BYTES];
} mo_rdv_key;

typedef struct mo_rdv_join_options {
    double seconds; /* longest wait for the other ranks */
    int n_kinds;    /* connections between any two ranks; the first is for
                       control, and sealed in any case */
    /* NULL, or receives a message for every refused connection, while rank 0
     * goes on waiting. */
    void (*note)(const char *text);
    /* NULL: all ranks have to come. Else rank 0 waits for those that are not
     * lost, as long as that takes, refuses the others, and joins those that
     * have come; the others give up when rank 0 is lost. */
    bool (*is_lost)(void *context, int rank);
    void *context;
    mo_rdv_key *key; /* or NULL: derived anew */
} mo_rdv_join_options;

/* Fills endpoints, by rank, and channels, as mo_rdv_mesh_connect()
 * does; both arrays are the caller's. Of ranks that did not come, with
 * options->is_lost, the ports are 0; the others are numbered anew in channels,
 * which has as many columns. */
mo_status mo_rdv_join(const mo_rdv_params *params,
                      const mo_rdv_join_options *options,
                      mo_rdv_endpoint *endpoints, mo_secure_channel **channels,
                      mo_error *err);

/* Returns how many ranks below n have come. */
int mo_rdv_join_count(const mo_rdv_endpoint *endpoints, int n);

#endif
