/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of the decompressing reader: any bytes are read to an end or give an
 * error, in small pieces as in large ones. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mo_status read_to_end(const uint8_t *data, size_t size, size_t piece,
                             uint64_t *digest)
{
    char *to = malloc(piece);
    mo_reader *reader = NULL;
    mo_error err = { 0 };
    mo_digest *sum = mo_digest_new();
    size_t got = piece;
    mo_status status =
        mo_reader_memory("fuzz", (const char *) data, size, &reader, &err);

    assert(to && sum);
    while (status == MO_OK && got == piece) {
        status = mo_reader_read(reader, to, piece, &got, &err);
        assert(got <= piece);
        if (status == MO_OK)
            mo_digest_bytes(sum, to, got);
    }
    assert(status == MO_OK || err.text[0] != '\0');
    *digest = mo_digest_value(sum);
    mo_digest_free(sum);
    mo_reader_close(reader);
    free(to);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t large = 0, small = 0;
    mo_status status;

    setenv("MOIRAI_INPUT_MIB", "16", 1);
    status = read_to_end(data, size, 1 << 16, &large);
    assert((read_to_end(data, size, 61, &small) == MO_OK) == (status == MO_OK));
    assert(status != MO_OK || large == small);
    return 0;
}
