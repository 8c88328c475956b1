/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gguf_text.h - writer of GGUF headers for tests, in either byte order.
 */
#ifndef TESTS_INGEST_GGUF_TEXT_H
#define TESTS_INGEST_GGUF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gguf_text {
    char data[16384];
    size_t size;
    bool is_big_endian;
    uint64_t offset; /* of the next tensor */
} gguf_text;

void gguf_put(gguf_text *f, int bytes, uint64_t value);
void gguf_put_text(gguf_text *f, const char *text);

/* Magic, version, counts. */
void gguf_begin(gguf_text *f, uint32_t version, uint64_t tensors,
                uint64_t values);
void gguf_text_value(gguf_text *f, const char *key, const char *text);
void gguf_u32_value(gguf_text *f, const char *key, uint32_t value);

/* Tensor of two dimensions, the innermost first, of the type of that number,
 * whose size is given; at the next offset. */
void gguf_tensor(gguf_text *f, const char *name, uint64_t rows,
                 uint64_t columns, uint32_t type, uint64_t bytes);

/* A decoder of one layer, 64 wide, with a head: 4 keys and N_GGUF_TENSORS
 * tensors in f16. */
enum { N_GGUF_TENSORS = 11, N_GGUF_BYTES = 2 * 64 * (2 * 100 + 9 * 64) };
void gguf_decoder(gguf_text *f);

#endif
