/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials.h - what a rank authenticates itself and its peers by: a
 * pre-shared key of 32 bytes (RFC 8446, 2.2: external PSK with psk_dhe_ke), or
 * a certificate, its private key and the authority of all certificates.
 *
 * Built with OpenSSL (credentials_openssl.c), or without (tls_none.c): then
 * every function that makes credentials fails with MO_E_SUPPORT.
 */
#ifndef MO_EXEC_TRANSPORT_SECURE_CREDENTIALS_H
#define MO_EXEC_TRANSPORT_SECURE_CREDENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_SECURE_KEY_BYTES = 32, MO_SECURE_SALT_BYTES = 16 };

typedef struct mo_secure_credentials mo_secure_credentials;

/* Returns whether TLS is built in. */
bool mo_secure_is_available(void);

/* Returns the name and version of the TLS library, for --version; or NULL. A
 * static string. */
const char *mo_secure_library(void);

/* Fills bytes from the kernel's random number generator. */
mo_status mo_secure_random(void *bytes, size_t n_bytes, mo_error *err);

/* Derives a key from a token by scrypt (RFC 7914; N = 2^15, r = 8, p = 1:
 * 32 MiB, about 0.1 s), which makes guessing short tokens expensive. */
mo_status mo_secure_derive_key(const char *token,
                               const uint8_t salt[MO_SECURE_SALT_BYTES],
                               uint8_t key[MO_SECURE_KEY_BYTES], mo_error *err);

/* Make credentials, which the caller frees; they are immutable and may be
 * shared by threads. Freeing leaves the channels that use them intact. The
 * files are in PEM format; errors name them. */
mo_status mo_secure_credentials_from_key(const uint8_t key[MO_SECURE_KEY_BYTES],
                                         mo_secure_credentials **credentials,
                                         mo_error *err);
mo_status mo_secure_credentials_from_files(const char *cert, const char *key,
                                           const char *ca,
                                           mo_secure_credentials **credentials,
                                           mo_error *err);
void mo_secure_credentials_free(mo_secure_credentials *credentials);

#endif
