/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - entry point of a fuzzer, and its input as a sequence of decisions.
 *
 * A structured fuzzer draws numbers and texts from its input, front to back.
 * Beyond the end all numbers are 0, so every prefix is an input, too, and small
 * changes of the input are small changes of the case.
 */
#ifndef MO_TESTS_FUZZ_FUZZ_H
#define MO_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_input {
    const uint8_t *at, *end;
} fuzz_input;

/* data may be NULL where size is 0. */
static inline fuzz_input fuzz_input_of(const uint8_t *data, size_t size)
{
    static const uint8_t nothing[1];

    return size > 0 ? (fuzz_input){ data, data + size }
                    : (fuzz_input){ nothing, nothing };
}

static inline size_t fuzz_left(const fuzz_input *in)
{
    return (size_t) (in->end - in->at);
}

static inline uint8_t fuzz_byte(fuzz_input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

/* Returns a number in [0, bound), of one byte up to 256 and of two above. */
static inline int fuzz_below(fuzz_input *in, int bound)
{
    int number = fuzz_byte(in);

    if (bound > 256)
        number |= fuzz_byte(in) << 8;
    return number % bound;
}

static inline bool fuzz_bool(fuzz_input *in)
{
    return (fuzz_byte(in) & 1) != 0;
}

/* Copies size bytes, zeros beyond the end. */
static inline void fuzz_bytes(fuzz_input *in, void *to, size_t size)
{
    size_t n = fuzz_left(in) < size ? fuzz_left(in) : size;

    memset(to, 0, size);
    memcpy(to, in->at, n);
    in->at += n;
}

static inline int64_t fuzz_int64(fuzz_input *in)
{
    int64_t number;

    fuzz_bytes(in, &number, sizeof number);
    return number;
}

/* Returns the next line, or with end '\0' the rest, as a terminated text in a
 * buffer of its own size, so that a read beyond it is noticed; the caller frees
 * it. */
static inline char *fuzz_text(fuzz_input *in, char end, size_t *size)
{
    size_t left = fuzz_left(in), n;
    const uint8_t *at = left > 0 && end ? memchr(in->at, end, left) : NULL;
    char *text;

    n = at ? (size_t) (at - in->at) : left;
    text = malloc(n + 1);
    if (!text)
        abort();
    memcpy(text, in->at, n);
    text[n] = '\0';
    in->at += at ? n + 1 : n;
    if (size)
        *size = n;
    return text;
}

#endif
