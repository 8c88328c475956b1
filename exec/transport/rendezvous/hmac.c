/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/transport/rendezvous/hmac.h"

#include <string.h>

/* ----------------------------------------------------------------- SHA-256 */

enum { BLOCK = 64, LENGTH_AT = 56 };

typedef struct sha256 {
    uint32_t h[8];
    uint8_t block[BLOCK];
    size_t filled; /* bytes in the block */
    uint64_t bytes;
} sha256;

/* The first 32 bits of the fractions of the cube roots of the first 64
 * primes. */
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static void sha256_init(sha256 *s)
{
    static const uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19 };

    memcpy(s->h, h, sizeof h);
    s->filled = 0;
    s->bytes = 0;
}

static uint32_t rotate_right(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void expand_block(const uint8_t block[BLOCK], uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t) block[4 * i] << 24 |
               (uint32_t) block[4 * i + 1] << 16 |
               (uint32_t) block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] +
               (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) +
               (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
}

static void compress_block(sha256 *s)
{
    uint32_t w[64], v[8];

    expand_block(s->block, w);
    memcpy(v, s->h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t1 =
            v[7] +
            (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
            ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
        uint32_t t2 =
            (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
            ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        s->h[i] += v[i];
}

static void sha256_update(sha256 *s, const void *data, size_t bytes)
{
    const uint8_t *from = data;

    s->bytes += bytes;
    for (size_t i = 0; i < bytes; i++) {
        s->block[s->filled++] = from[i];
        if (s->filled == BLOCK) {
            compress_block(s);
            s->filled = 0;
        }
    }
}

static void sha256_final(sha256 *s, uint8_t digest[MO_HMAC_BYTES])
{
    uint64_t bits = s->bytes * 8;
    uint8_t length[8];

    sha256_update(s, "\x80", 1);
    while (s->filled != LENGTH_AT)
        sha256_update(s, "", 1);
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t) (bits >> (56 - 8 * i));
    sha256_update(s, length, sizeof length);
    for (int i = 0; i < MO_HMAC_BYTES; i++)
        digest[i] = (uint8_t) (s->h[i / 4] >> (24 - 8 * (i % 4)));
}

/* -------------------------------------------------------------------- HMAC */

/* Starts a hash with the padded key, XORed with pad. */
static void start_padded(sha256 *s, const uint8_t key[BLOCK], uint8_t pad)
{
    uint8_t changed[BLOCK];

    for (int i = 0; i < BLOCK; i++)
        changed[i] = key[i] ^ pad;
    sha256_init(s);
    sha256_update(s, changed, BLOCK);
}

void mo_hmac_sha256(const void *key, size_t key_bytes, const void *message,
                    size_t message_bytes, uint8_t proof[MO_HMAC_BYTES])
{
    uint8_t padded[BLOCK] = { 0 }, inner[MO_HMAC_BYTES];
    sha256 s;

    if (key_bytes > BLOCK) {
        sha256_init(&s);
        sha256_update(&s, key, key_bytes);
        sha256_final(&s, padded);
    } else if (key_bytes > 0) {
        memcpy(padded, key, key_bytes);
    }
    start_padded(&s, padded, 0x36);
    sha256_update(&s, message, message_bytes);
    sha256_final(&s, inner);
    start_padded(&s, padded, 0x5c);
    sha256_update(&s, inner, sizeof inner);
    sha256_final(&s, proof);
}

bool mo_hmac_equal(const uint8_t a[MO_HMAC_BYTES],
                   const uint8_t b[MO_HMAC_BYTES])
{
    volatile uint8_t differ = 0;

    for (int i = 0; i < MO_HMAC_BYTES; i++)
        differ |= a[i] ^ b[i];
    return differ == 0;
}
