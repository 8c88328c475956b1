/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hmac.h - proof that one knows a text, without telling it (RFC 2104, with
 * SHA-256 of FIPS 180-4).
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_HMAC_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MO_HMAC_BYTES = 32 };

void mo_hmac_sha256(const void *key, size_t key_bytes, const void *message,
                    size_t message_bytes, uint8_t proof[MO_HMAC_BYTES]);

/* Takes the same time whatever differs. */
bool mo_hmac_equal(const uint8_t a[MO_HMAC_BYTES],
                   const uint8_t b[MO_HMAC_BYTES]);

#endif
