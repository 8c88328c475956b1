/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - full mesh of TCP connections between ranks, given a way to exchange
 * endpoints.
 *
 * Each rank listens on a port of its own and describes it by an endpoint:
 * host, addresses, port. Once all have all endpoints, each rank connects to
 * those with lower numbers and accepts those with higher ones. A random secret
 * in the endpoint of rank 0 keeps other processes out: it is the pre-shared key
 * of sealed connections (secure/channel.h), whose identities contain both
 * ranks and the kind, so that a connection cannot be redirected or reflected;
 * plain ones send it.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_MESH_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/address.h"
#include "exec/transport/secure/channel.h"

enum { MO_RDV_ENDPOINT_NAME_SIZE = 64, MO_RDV_ENDPOINT_ADDRESSES = 8 };

/* Sent as bytes: the layout is the same on all machines of a job. */
typedef struct mo_rdv_endpoint {
    char host[MO_RDV_ENDPOINT_NAME_SIZE];
    char machine[MO_RDV_ENDPOINT_NAME_SIZE]; /* equal for ranks that share a
                                                clock */
    char network[MO_RDV_ENDPOINT_NAME_SIZE]; /* equal for ranks that share a
                                                loopback interface; empty: none
                                              */
    char memory[MO_RDV_ENDPOINT_NAME_SIZE];  /* equal for ranks of one machine
                                                that can share memory; empty:
                                                none */
    uint8_t addresses[MO_RDV_ENDPOINT_ADDRESSES][MO_RDV_ADDRESS_BYTES];
    int32_t n_addresses;
    int32_t port;
    uint8_t secret[MO_SECURE_KEY_BYTES]; /* of rank 0; else zeros */
} mo_rdv_endpoint;

/* Starts to listen, at bind alone, or at all addresses for NULL, and fills
 * *endpoint. The caller closes *listener. */
mo_status mo_rdv_endpoint_listen(int n_ranks, const uint8_t *bind,
                                 mo_rdv_endpoint *endpoint, int *listener,
                                 mo_error *err);

/* Moves or inserts an address that is known to work to the front. */
void mo_rdv_endpoint_prefer_address(
    mo_rdv_endpoint *endpoint, const uint8_t address[MO_RDV_ADDRESS_BYTES]);

typedef struct mo_rdv_mesh {
    const mo_rdv_endpoint *endpoints; /* by rank */
    int n_ranks, rank, listener;
    double seconds;
    int n_kinds;        /* connections between any two ranks */
    bool is_secure;     /* peers are authenticated by TLS */
    int n_sealed_kinds; /* of these, the first ones stay sealed after that */
    /* NULL, or polled several times a second: returns true, with *why, to
     * abort. With it, a closed connection alone is no error. Without it a rank
     * that fails sends the reason to those it is connected to. */
    bool (*is_aborted)(void *context, mo_error *why);
    void *context;
} mo_rdv_mesh;

/* Fills channels: kind k with rank r at [k * n_ranks + r], NULL at this rank's;
 * the caller frees them. All are NULL on failure; the error names the rank that
 * cannot be reached. */
mo_status mo_rdv_mesh_connect(const mo_rdv_mesh *mesh,
                              mo_secure_channel **channels, mo_error *err);

bool mo_rdv_endpoint_same_machine(const mo_rdv_endpoint *a,
                                  const mo_rdv_endpoint *b);

#endif
