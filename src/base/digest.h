/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - what a content hashes to: 64 bits of XXH3, the same on every
 * machine and in every version of ours.
 *
 * Not a signature: it tells that two contents are the same by accident of
 * nobody, not against an adversary.
 */
#ifndef MO_BASE_DIGEST_H
#define MO_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct mo_digest mo_digest;

mo_digest *mo_digest_new(void); /* NULL when there is no memory */
void mo_digest_free(mo_digest *digest);

void mo_digest_bytes(mo_digest *digest, const void *data, size_t size);

/* A text with its length, so that "ab","c" differs from "a","bc"; NULL differs
 * from "". */
void mo_digest_text(mo_digest *digest, const char *text);

/* Numbers in a byte order of their own, not the machine's.  -0.0 counts as
 * 0.0. */
void mo_digest_int(mo_digest *digest, int64_t value);
void mo_digest_ints(mo_digest *digest, const int64_t *values, size_t n);
void mo_digest_double(mo_digest *digest, double value);

uint64_t mo_digest_value(const mo_digest *digest);

/* One call for one block, for hash tables. */
uint64_t mo_digest_of(const void *data, size_t size);

#endif
