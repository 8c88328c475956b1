/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include "third_party/xxhash.h"

/* Most items are a number or a short text, and a call of the hash for each
 * would take longer than hashing it: they are buffered first. */
struct mo_digest {
    XXH3_state_t state; /* requires 64-byte alignment */
    unsigned char waiting[1024];
    size_t n_waiting;
};

mo_digest *mo_digest_new(void)
{
    mo_digest *digest = aligned_alloc(_Alignof(mo_digest), sizeof *digest);

    if (digest) {
        XXH3_64bits_reset(&digest->state);
        digest->n_waiting = 0;
    }
    return digest;
}

void mo_digest_free(mo_digest *digest)
{
    free(digest);
}

void mo_digest_bytes(mo_digest *digest, const void *data, size_t size)
{
    if (size > sizeof digest->waiting - digest->n_waiting) {
        XXH3_64bits_update(&digest->state, digest->waiting, digest->n_waiting);
        digest->n_waiting = 0;
    }
    if (size > sizeof digest->waiting) {
        XXH3_64bits_update(&digest->state, data, size);
    } else if (size > 0) {
        memcpy(digest->waiting + digest->n_waiting, data, size);
        digest->n_waiting += size;
    }
}

void mo_digest_text(mo_digest *digest, const char *text)
{
    size_t length;

    if (!text) {
        mo_digest_int(digest, -1);
        return;
    }
    length = strlen(text);
    mo_digest_int(digest, (int64_t) length);
    mo_digest_bytes(digest, text, length);
}

/* Little endian on every machine. */
static void add_bits(mo_digest *digest, uint64_t bits)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char) (bits >> 8 * i);
    mo_digest_bytes(digest, bytes, sizeof bytes);
}

void mo_digest_int(mo_digest *digest, int64_t value)
{
    add_bits(digest, (uint64_t) value);
}

/* On a little-endian machine an array is hashed without conversion. */
void mo_digest_ints(mo_digest *digest, const int64_t *values, size_t n)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    mo_digest_bytes(digest, values, n * sizeof *values);
#else
    for (size_t i = 0; i < n; i++)
        mo_digest_int(digest, values[i]);
#endif
}

void mo_digest_double(mo_digest *digest, double value)
{
    uint64_t bits = 0;

    if (value != 0)
        memcpy(&bits, &value, sizeof bits);
    add_bits(digest, bits);
}

uint64_t mo_digest_value(const mo_digest *digest)
{
    XXH3_state_t state = digest->state;

    XXH3_64bits_update(&state, digest->waiting, digest->n_waiting);
    return XXH3_64bits_digest(&state);
}

uint64_t mo_digest_of(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}

enum { SPOTS = 256, SPOT_BYTES = 4096 };

uint64_t mo_digest_sample(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t sample[SPOTS + 1] = { size };

    if (size <= (size_t) SPOTS * SPOT_BYTES && size > 0)
        sample[1] = mo_digest_of(bytes, size);
    for (size_t i = 0; i < SPOTS && size > (size_t) SPOTS * SPOT_BYTES; i++)
        sample[1 + i] = mo_digest_of(bytes + i * (size / SPOTS), SPOT_BYTES);
    return mo_digest_of(sample, sizeof sample);
}
