/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meet.h - TCP connections between any two ranks, given a way to swap cards.
 *
 * Each listens on a port of its own and writes a card: host, addresses, port.
 * When all have everybody's cards, each calls those before it and answers those
 * behind it.  A secret on the card of rank 0 keeps strangers out.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_MESH_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/transport/rendezvous/address.h"

enum { MO_RDV_ENDPOINT_NAME_SIZE = 64, MO_RDV_ENDPOINT_ADDRESSES = 8 };

/* Plain bytes, the same on all machines of a job. */
typedef struct mo_rdv_endpoint {
    char host[MO_RDV_ENDPOINT_NAME_SIZE];
    char machine[MO_RDV_ENDPOINT_NAME_SIZE]; /* the same for ranks that share
                                                one clock */
    char network[MO_RDV_ENDPOINT_NAME_SIZE]; /* and for those that share its
                                                loopback */
    uint8_t addresses[MO_RDV_ENDPOINT_ADDRESSES][MO_RDV_ADDRESS_BYTES];
    int32_t n_addresses;
    int32_t port;
    uint64_t secret;
} mo_rdv_endpoint;

/* Begins to listen: at that address alone, or at all of them for NULL. */
mo_status mo_rdv_endpoint_listen(int n_ranks, const uint8_t *bind,
                                 mo_rdv_endpoint *card, int *listener,
                                 mo_error *err);

/* An address by which it was reached already: tried before its others. */
void mo_rdv_endpoint_prefer_address(
    mo_rdv_endpoint *card, const uint8_t address[MO_RDV_ADDRESS_BYTES]);

typedef struct mo_rdv_mesh {
    const mo_rdv_endpoint *cards; /* by rank */
    int n_ranks, rank, listener;
    double seconds;
    int n_kinds; /* connections between any two */
    /* NULL, or: must it be called off?  Asked many times a second; then nobody
     * is thought to be gone because his connection has ended. */
    bool (*called_off)(void *context, mo_error *why);
    void *context;
} mo_rdv_mesh;

/* sockets: kind k with rank r at [k * n_ranks + r], -1 at our own, the caller's
 * to close; all are -1 on failure.  They do not block.  The error names the
 * rank that cannot be reached. */
mo_status mo_rdv_mesh_connect(const mo_rdv_mesh *meeting, int *sockets,
                              mo_error *err);

bool mo_rdv_endpoint_same_machine(const mo_rdv_endpoint *a,
                                  const mo_rdv_endpoint *b);

#endif
