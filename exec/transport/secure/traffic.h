/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.h - record protection of TLS 1.3 in one direction (RFC 8446, 5.2,
 * 5.3 and 7.2), with TLS_AES_128_GCM_SHA256.
 *
 *     record: type 23, 3.3, length | sealed: content, type, zeros | tag
 *     bytes:  5                      1 to 16385                     16
 *
 * The handshake is the library's. Its own record layer holds both directions
 * in one object, so that no thread can send while another receives, and copies
 * every byte twice; these functions seal and open records without a copy, by
 * the library's AES-GCM and key derivation.
 */
#ifndef MO_EXEC_TRANSPORT_SECURE_TRAFFIC_H
#define MO_EXEC_TRANSPORT_SECURE_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
    MO_SECURE_SECRET_BYTES = 32,
    MO_SECURE_IV_BYTES = 12,
    MO_SECURE_RECORD_HEADER_BYTES = 5,
    MO_SECURE_TAG_BYTES = 16,
    MO_SECURE_CONTENT_BYTES = 16384, /* of a record, at most */
    /* A record without padding is longer than its content by this. */
    MO_SECURE_OVERHEAD_BYTES =
        MO_SECURE_RECORD_HEADER_BYTES + 1 + MO_SECURE_TAG_BYTES,
    MO_SECURE_MAX_RECORD_BYTES =
        MO_SECURE_RECORD_HEADER_BYTES + MO_SECURE_CONTENT_BYTES + 256
};

typedef enum mo_secure_content {
    MO_SECURE_ALERT = 21,
    MO_SECURE_HANDSHAKE = 22,
    MO_SECURE_DATA = 23
} mo_secure_content;

/* The traffic secret of one direction and its keys. */
typedef struct mo_secure_traffic {
    uint8_t secret[MO_SECURE_SECRET_BYTES];
    uint8_t iv[MO_SECURE_IV_BYTES];
    uint64_t sequence; /* records under these keys */
    struct evp_cipher_ctx_st *cipher;
    bool is_sealing;
} mo_secure_traffic;

/* Starts from the secret of the handshake; cleared by
 * mo_secure_traffic_clear(), also after failure. Returns false when out of
 * memory. */
bool mo_secure_traffic_start(mo_secure_traffic *traffic,
                             const uint8_t secret[MO_SECURE_SECRET_BYTES],
                             bool is_sealing);
void mo_secure_traffic_clear(mo_secure_traffic *traffic);

/* Replaces secret and keys by the next ones, at a KeyUpdate message. Returns
 * false when out of memory. */
bool mo_secure_traffic_update(mo_secure_traffic *traffic);

/* Seals n bytes of parts, at most MO_SECURE_CONTENT_BYTES, from the byte at
 * on, into a record of n + MO_SECURE_OVERHEAD_BYTES. Returns false if the
 * library fails. */
bool mo_secure_traffic_seal(mo_secure_traffic *traffic, mo_secure_content type,
                            const struct iovec *parts, int n_parts, size_t at,
                            size_t n, uint8_t *record);

/* Returns the length of the record that begins with these n bytes, its header
 * included; 0: more bytes are needed; SIZE_MAX: this is no sealed record. */
size_t mo_secure_record_length(const uint8_t *bytes, size_t n);

/* Opens a complete record. content has room for its length without
 * MO_SECURE_OVERHEAD_BYTES; on failure it holds garbage. Returns false when the
 * record is not authentic. */
bool mo_secure_traffic_open(mo_secure_traffic *traffic, const uint8_t *record,
                            size_t length, void *content, size_t *n,
                            uint8_t *type);

#endif
