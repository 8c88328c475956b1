/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - headers of the messages between data connections, from bytes to
 * checked values (rendezvous/decode.h).
 */
#ifndef MO_EXEC_TRANSPORT_TCP_DECODE_H
#define MO_EXEC_TRANSPORT_TCP_DECODE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mo_tcp_msg_kind {
    MO_TCP_MSG_DATA = 'd',          /* the bytes of a transfer */
    MO_TCP_MSG_CLEAR_TO_SEND = 'r', /* the receive is posted */
    MO_TCP_MSG_BARRIER = 'g', /* to rank 0: arrived, with the vote; from rank 0:
                                 released, with the verdict */
    MO_TCP_MSG_CONTROL = 't'  /* between opening threads */
} mo_tcp_msg_kind;

/* Precedes the bytes. */
typedef struct mo_tcp_msg_header {
    uint32_t kind;
    int32_t arg; /* a transfer, or a vote */
    int64_t bytes;
} mo_tcp_msg_header;

/* Decodes a header: its kind is known, arg is an index below n_transfers or a
 * vote, and only data and control messages have bytes, not fewer than 0. Which
 * transfer may come over which connection, and its size, follow from the plan
 * (connection.c). Returns NULL, or what is wrong: "an unknown message". */
const char *
mo_tcp_decode_header(const unsigned char bytes[sizeof(mo_tcp_msg_header)],
                     int n_transfers, mo_tcp_msg_header *header);

#endif
