/* SPDX-License-Identifier: Apache-2.0 */
/* openssl_internal.h - credentials and connections as OpenSSL has them, shared
 * by its files. */
#ifndef MO_EXEC_TRANSPORT_SECURE_OPENSSL_INTERNAL_H
#define MO_EXEC_TRANSPORT_SECURE_OPENSSL_INTERNAL_H

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/transport/secure/tls.h"

struct mo_secure_credentials {
    atomic_int n_references; /* the maker's, and one for each connection */
    SSL_CTX *context;
    BIO_METHOD *bio; /* of the sockets of mo_secure_tls */
    bool has_key;    /* a pre-shared key; else certificates */
    uint8_t key[MO_SECURE_KEY_BYTES];
};

enum { MO_SECURE_FAILURE_SIZE = 256 };

/* SSL_get_app_data() of its connection. */
struct mo_secure_tls {
    SSL *ssl;
    mo_secure_credentials *credentials; /* with a reference */
    int socket;                         /* the caller's */
    bool is_sealed;
    bool is_lost;     /* the handshake failed since the connection was lost */
    atomic_int error; /* errno of a connection that is broken; 0: none */
    char identity[MO_SECURE_IDENTITY_SIZE];
    char failure[MO_SECURE_FAILURE_SIZE]; /* written by the receiving thread */
    /* Of ssl and all that follows, once the handshake is complete. */
    pthread_mutex_t lock;
    bool is_ended;     /* the peer has closed the socket */
    bool wants_more;   /* the last read found no complete record */
    int receive_error; /* errno of the socket; 0: none */
    uint64_t received_bytes, begun_bytes; /* all; of records with a header */
    char *output; /* owned: n_sent bytes, then n_unsent that are not sent */
    size_t capacity, n_sent, n_unsent;
    uint64_t sealed_bytes, rekey_bytes; /* under these keys; most of them */
    int n_records;                      /* under these keys */
};

/* tls_openssl.c: returns the BIO whose data is a mo_secure_tls, or NULL. */
BIO_METHOD *mo_secure_bio_method_new(void);

#endif
