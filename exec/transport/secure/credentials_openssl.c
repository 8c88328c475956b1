/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials by OpenSSL 3: pre-shared keys, certificates, scrypt. */
#include <config.h>

#include "exec/transport/secure/credentials.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/transport/secure/openssl_internal.h"

/* TLS_AES_128_GCM_SHA256, the only cipher suite. */
static const unsigned char suite[2] = { 0x13, 0x01 };
static const char suite_name[] = "TLS_AES_128_GCM_SHA256";

/* The library requires equal contexts of key and connection. */
static const unsigned char session_context[] = { 'm', 'o', 'i', 'r', 'a', 'i' };

/* Precedes the salt, so that the key is of no use to another protocol. */
static const char domain[] = "moirai ranks, token, scrypt, 1";

/* Bytes that are received at a time: many records. */
enum { READ_BYTES = 40 << 10 };

enum { SCRYPT_N = 1 << 15, SCRYPT_R = 8, SCRYPT_P = 1 };

/* scrypt needs 128 N r bytes, and a little. */
enum { SCRYPT_LIMIT_BYTES = 128 * SCRYPT_N * SCRYPT_R + (1 << 20) };

bool mo_secure_is_available(void)
{
    return true;
}

const char *mo_secure_library(void)
{
    return OpenSSL_version(OPENSSL_VERSION);
}

mo_status mo_secure_derive_key(const char *token,
                               const uint8_t salt[MO_SECURE_SALT_BYTES],
                               uint8_t key[MO_SECURE_KEY_BYTES], mo_error *err)
{
    uint8_t salted[sizeof domain + MO_SECURE_SALT_BYTES];
    int done;

    memcpy(salted, domain, sizeof domain);
    memcpy(salted + sizeof domain, salt, MO_SECURE_SALT_BYTES);
    done = EVP_PBE_scrypt(token, strlen(token), salted, sizeof salted, SCRYPT_N,
                          SCRYPT_R, SCRYPT_P, SCRYPT_LIMIT_BYTES, key,
                          MO_SECURE_KEY_BYTES);
    ERR_clear_error();
    return done == 1 ? MO_OK
                     : mo_fail(err, MO_E_MEMORY,
                               "cannot derive a key from the token: scrypt "
                               "fails, which needs %d MiB of memory",
                               SCRYPT_LIMIT_BYTES >> 20);
}

/* Without it the library would read a pass phrase from the terminal. */
static int no_pass_phrase(char *text, int size, int writing, void *context)
{
    (void) text;
    (void) size;
    (void) writing;
    (void) context;
    return -1;
}

static mo_status fail_file(const char *file, const char *what, mo_error *err)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    mo_fail(err, MO_E_INPUT, "%.200s: %s: %s", file, what,
            reason ? reason : "it cannot be read");
    ERR_clear_error();
    return MO_E_INPUT;
}

static mo_status load_files(SSL_CTX *context, const char *cert, const char *key,
                            const char *ca, mo_error *err)
{
    SSL_CTX_set_default_passwd_cb(context, no_pass_phrase);
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        return fail_file(cert, "no certificate in PEM format", err);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return fail_file(key,
                         "no private key in PEM format of this certificate, "
                         "without a pass phrase",
                         err);
    if (SSL_CTX_load_verify_locations(context, ca, NULL) != 1)
        return fail_file(ca, "no certificate of an authority in PEM format",
                         err);
    SSL_CTX_set_verify(context,
                       SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return MO_OK;
}

static SSL_SESSION *make_session(SSL *ssl, const mo_secure_tls *tls)
{
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, suite);
    SSL_SESSION *session = SSL_SESSION_new();

    if (cipher && session &&
        SSL_SESSION_set1_master_key(session, tls->credentials->key,
                                    MO_SECURE_KEY_BYTES) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1 &&
        SSL_SESSION_set1_id_context(session, session_context,
                                    sizeof session_context) == 1)
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

/* SSL_CTX_set_psk_use_session_callback: the client's. */
static int use_session(SSL *ssl, const EVP_MD *digest,
                       const unsigned char **identity, size_t *length,
                       SSL_SESSION **session)
{
    const mo_secure_tls *tls = SSL_get_app_data(ssl);

    (void) digest; /* there is one cipher suite */
    *session = make_session(ssl, tls);
    *identity = (const unsigned char *) tls->identity;
    *length = strlen(tls->identity);
    return *session != NULL;
}

/* SSL_CTX_set_psk_find_session_callback: the server's. */
static int find_session(SSL *ssl, const unsigned char *identity, size_t length,
                        SSL_SESSION **session)
{
    mo_secure_tls *tls = SSL_get_app_data(ssl);
    size_t n = mo_min_size(length, sizeof tls->identity - 1);

    *session = NULL;
    for (size_t i = 0; i < n; i++)
        tls->identity[i] =
            identity[i] >= ' ' && identity[i] <= '~' ? (char) identity[i] : '?';
    tls->identity[n] = '\0';
    if (length >= sizeof tls->identity)
        return 1; /* not a rank's: no session */
    *session = make_session(ssl, tls);
    return *session != NULL;
}

/* TLS 1.3 with one cipher suite; no tickets, no resumption, no early data.
 * Keys are always exchanged by Diffie-Hellman, since SSL_OP_ALLOW_NO_DHE_KEX
 * is not set. */
static bool configure(SSL_CTX *context)
{
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
                                     SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_default_read_buffer_len(context, READ_BYTES);
    /* A peer without the key could offer a certificate instead: none is
     * accepted, since no authority is loaded. */
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
           SSL_CTX_set_ciphersuites(context, suite_name) == 1 &&
           SSL_CTX_set_num_tickets(context, 0) == 1 &&
           SSL_CTX_set_session_id_context(context, session_context,
                                          sizeof session_context) == 1;
}

/* Returns whether the library has the protocol and the cipher suite: then it
 * can only be out of memory. Allocates nothing. */
static bool is_supported(SSL_CTX *context)
{
    const STACK_OF(SSL_CIPHER) *all = SSL_CTX_get_ciphers(context);

    if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1)
        return false;
    for (int i = 0; i < sk_SSL_CIPHER_num(all); i++)
        if (strcmp(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(all, i)),
                   suite_name) == 0)
            return true;
    return false;
}

static mo_status new_credentials(mo_secure_credentials **credentials,
                                 mo_error *err)
{
    mo_secure_credentials *made = calloc(1, sizeof *made);
    mo_status status = MO_OK;

    if (!made)
        return mo_fail_memory(err);
    atomic_init(&made->n_references, 1);
    made->bio = mo_secure_bio_method_new();
    made->context = SSL_CTX_new(TLS_method());
    if (!made->bio || !made->context)
        status = mo_fail_memory(err);
    else if (!configure(made->context))
        status = is_supported(made->context)
                     ? mo_fail_memory(err)
                     : mo_fail(err, MO_E_SUPPORT,
                               "%s is configured without TLS 1.3 and %s",
                               mo_secure_library(), suite_name);
    ERR_clear_error();
    if (status == MO_OK)
        *credentials = made;
    else
        mo_secure_credentials_free(made);
    return status;
}

mo_status mo_secure_credentials_from_key(const uint8_t key[MO_SECURE_KEY_BYTES],
                                         mo_secure_credentials **credentials,
                                         mo_error *err)
{
    mo_status status = new_credentials(credentials, err);

    if (status != MO_OK)
        return status;
    (*credentials)->has_key = true;
    memcpy((*credentials)->key, key, MO_SECURE_KEY_BYTES);
    SSL_CTX_set_psk_use_session_callback((*credentials)->context, use_session);
    SSL_CTX_set_psk_find_session_callback((*credentials)->context,
                                          find_session);
    return MO_OK;
}

mo_status mo_secure_credentials_from_files(const char *cert, const char *key,
                                           const char *ca,
                                           mo_secure_credentials **credentials,
                                           mo_error *err)
{
    mo_secure_credentials *made;
    mo_status status = new_credentials(&made, err);

    if (status == MO_OK) {
        status = load_files(made->context, cert, key, ca, err);
        if (status == MO_OK)
            *credentials = made;
        else
            mo_secure_credentials_free(made);
    }
    return status;
}

void mo_secure_credentials_free(mo_secure_credentials *credentials)
{
    if (!credentials || atomic_fetch_sub(&credentials->n_references, 1) > 1)
        return;
    SSL_CTX_free(credentials->context);
    BIO_meth_free(credentials->bio);
    OPENSSL_cleanse(credentials->key, sizeof credentials->key);
    free(credentials);
}
