#include "base/digest.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include "third_party/xxhash.h"

struct mo_digest {
    XXH3_state_t state; /* asks for 64-byte alignment */
};

mo_digest *mo_digest_new(void)
{
    mo_digest *digest = aligned_alloc(_Alignof(mo_digest), sizeof *digest);

    if (digest)
        XXH3_64bits_reset(&digest->state);
    return digest;
}

void mo_digest_free(mo_digest *digest)
{
    free(digest);
}

void mo_digest_bytes(mo_digest *digest, const void *data, size_t size)
{
    if (size > 0)
        XXH3_64bits_update(&digest->state, data, size);
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

/* Lowest byte first, whatever the machine does. */
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

void mo_digest_double(mo_digest *digest, double value)
{
    uint64_t bits = 0;

    if (value != 0)
        memcpy(&bits, &value, sizeof bits);
    add_bits(digest, bits);
}

uint64_t mo_digest_value(const mo_digest *digest)
{
    return XXH3_64bits_digest(&digest->state);
}

uint64_t mo_digest_of(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}
