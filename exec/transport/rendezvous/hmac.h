/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hmac.h - HMAC-SHA-256 (RFC 2104, FIPS 180-4): proof of a shared key without
 * sending it.
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_HMAC_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MO_HMAC_BYTES = 32 };

void mo_hmac_sha256(const void *key, size_t key_bytes, const void *message,
                    size_t message_bytes, uint8_t proof[MO_HMAC_BYTES]);

/* Constant-time comparison. */
bool mo_hmac_equal(const uint8_t a[MO_HMAC_BYTES],
                   const uint8_t b[MO_HMAC_BYTES]);

#endif
