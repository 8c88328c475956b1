/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the two directions of a sealed connection over a nonblocking
 * socket: buffers, batches of records, key updates, alerts (RFC 8446, 4.6.3
 * and 6).
 *
 * Bytes are sealed into a buffer that stays in the cache, and are sent from
 * there, many records at a time; they are received into another one, and
 * opened from there into their destination. The directions share nothing but
 * an atomic flag: one thread may send while another receives.
 */
#ifndef MO_EXEC_TRANSPORT_SECURE_RECORDS_H
#define MO_EXEC_TRANSPORT_SECURE_RECORDS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "exec/transport/secure/traffic.h"

typedef struct mo_secure_buffer {
    uint8_t *bytes; /* owned */
    size_t capacity, first, n;
} mo_secure_buffer;

/* The handshake message that follows the handshake (RFC 8446, 4.6.3). */
enum { MO_SECURE_KEY_UPDATE = 24 };

/* Descriptions of alerts that are sent. */
enum { MO_SECURE_CLOSE_NOTIFY = 0, MO_SECURE_BAD_RECORD_MAC = 20 };

typedef struct mo_secure_sender {
    int socket; /* the caller's */
    mo_secure_traffic traffic;
    mo_secure_buffer output;            /* not sent yet */
    uint64_t sealed_bytes, rekey_bytes; /* under these keys; most of them */
    atomic_bool update_requested;       /* the peer wants new keys */
} mo_secure_sender;

typedef struct mo_secure_receiver {
    int socket; /* the caller's */
    mo_secure_traffic traffic;
    mo_secure_buffer input; /* not opened yet */
    uint8_t opened[MO_SECURE_MAX_RECORD_BYTES];
    size_t n_opened, n_taken; /* bytes of it; those already delivered */
    mo_secure_sender *sender; /* which the peer may request new keys of */
    bool is_closed;           /* by close_notify */
    int error;                /* errno of a broken connection; 0: none */
    int alert;                /* of the peer, after EBADMSG; -1: none */
    const char *wrong;        /* ... or what is wrong with its bytes; static */
} mo_secure_receiver;

/* sender.c */

/* Allocates the memory of one record: small messages need no more later.
 * Returns false when out of memory. */
bool mo_secure_sender_reserve(mo_secure_sender *sender);
void mo_secure_sender_clear(mo_secure_sender *sender);

/* Appends bytes as they are: those of the handshake. Returns false when out of
 * memory. */
bool mo_secure_sender_append(mo_secure_sender *sender, const void *bytes,
                             size_t n);

/* As the functions of channel.h: -1 with errno, EAGAIN among others. */
int mo_secure_sender_flush(mo_secure_sender *sender);
ssize_t mo_secure_sender_send(mo_secure_sender *sender,
                              const struct iovec *parts, int n_parts);

/* Appends an alert, the last record. */
void mo_secure_sender_alert(mo_secure_sender *sender, int description);

/* receiver.c */

/* The same. */
bool mo_secure_receiver_reserve(mo_secure_receiver *receiver);
void mo_secure_receiver_clear(mo_secure_receiver *receiver);

/* As mo_secure_channel_receive(), and -1 with ECONNRESET when the connection
 * ended without close_notify; errors are final. bytes == 0: the next data is
 * received and kept, and 1 is returned, or 0 if none will come. */
ssize_t mo_secure_receiver_receive(mo_secure_receiver *receiver, void *data,
                                   size_t bytes);

/* Returns whether the next receive has a result without the socket. */
bool mo_secure_receiver_has_received(const mo_secure_receiver *receiver);

/* Returns whether the input ends within a record. */
bool mo_secure_receiver_has_partial(const mo_secure_receiver *receiver);

#endif
