/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - content digest: 64-bit XXH3, the same on every machine and in
 * every version of this program.
 *
 * Not cryptographic: it detects accidental differences, not those of an
 * adversary.
 */
#ifndef MO_BASE_DIGEST_H
#define MO_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct mo_digest mo_digest;

mo_digest *
mo_digest_new(void); /* NULL when memory is exhausted; the caller frees it */
void mo_digest_free(mo_digest *digest);

void mo_digest_bytes(mo_digest *digest, const void *data, size_t size);

/* Hashes a text with its length, so that "ab","c" differs from "a","bc"; NULL
 * differs from "". */
void mo_digest_text(mo_digest *digest, const char *text);

/* Hash numbers in a fixed byte order. -0.0 counts as 0.0. */
void mo_digest_int(mo_digest *digest, int64_t value);
void mo_digest_ints(mo_digest *digest, const int64_t *values, size_t n);
void mo_digest_double(mo_digest *digest, double value);

uint64_t mo_digest_value(const mo_digest *digest);

/* Returns the digest of one block in one call, for hash tables. */
uint64_t mo_digest_of(const void *data, size_t size);

/* Returns a digest of the size and of samples spread over all of a large block;
 * up to 1 MiB of the whole block. Weights that were trained again differ
 * everywhere, and the largest files are not read as a whole. */
uint64_t mo_digest_sample(const void *data, size_t size);

#endif
