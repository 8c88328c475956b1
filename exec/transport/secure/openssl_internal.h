/* SPDX-License-Identifier: Apache-2.0 */
/* openssl_internal.h - credentials and connections as OpenSSL has them, shared
 * by its files. */
#ifndef MO_EXEC_TRANSPORT_SECURE_OPENSSL_INTERNAL_H
#define MO_EXEC_TRANSPORT_SECURE_OPENSSL_INTERNAL_H

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdatomic.h>

#include "exec/transport/secure/records.h"
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
    SSL *ssl;                           /* until the handshake is complete */
    mo_secure_credentials *credentials; /* with a reference */
    mo_secure_role role;
    bool is_sealed;
    bool is_ended;    /* the peer has closed the socket in the handshake */
    bool is_lost;     /* ... which is why it failed */
    atomic_int error; /* errno of a connection that is broken; 0: none */
    char identity[MO_SECURE_IDENTITY_SIZE];
    char failure[MO_SECURE_FAILURE_SIZE]; /* written by the receiving thread */
    uint8_t secrets[2][MO_SECURE_SECRET_BYTES]; /* by the role that sends */
    bool has_secret[2];
    mo_secure_sender sender;
    mo_secure_receiver receiver;
};

/* tls_openssl.c */

/* Returns the BIO whose data is a mo_secure_tls, or NULL. */
BIO_METHOD *mo_secure_bio_method_new(void);

/* SSL_CTX_set_keylog_callback: keeps the secrets of the records. */
void mo_secure_keep_secret(const SSL *ssl, const char *line);

/* failure_openssl.c: fill tls->failure from the library's queue of errors, and
 * clear that. */
void mo_secure_describe_other_token(mo_secure_tls *tls);
void mo_secure_describe_loss(mo_secure_tls *tls);
void mo_secure_describe_handshake(mo_secure_tls *tls);
/* ... from the error of the receiver. */
void mo_secure_describe_record(mo_secure_tls *tls);

#endif
