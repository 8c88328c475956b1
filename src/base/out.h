/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - buffered output: streamed to standard output, atomic for a file.
 *
 * A file is written under a temporary name in the same directory and renamed
 * when it is complete; other processes see the old file or the new one, never
 * a part (atomic_file.h). Write functions return nothing: the first failure is
 * kept, further bytes are dropped, and mo_out_commit returns the failure.
 */
#ifndef MO_BASE_OUT_H
#define MO_BASE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* Public only so that a short piece is copied inline: a million ops are
 * written in a hundred million pieces. The rest is private to out.c. */
typedef struct mo_out {
    char *at, *end; /* the free part of the buffer */
} mo_out;

/* Opens path for writing; "-" or NULL is standard output. The target must be a
 * file that may be replaced, or a device or pipe, which is written directly. A
 * name that ends in .gz or .zst selects compression. On success the caller
 * owns *out and ends it with mo_out_commit() or mo_out_abandon(). */
mo_status mo_out_open(const char *path, mo_out **out, mo_error *err);

/* Opens an output in memory; mo_out_take returns the bytes. */
mo_status mo_out_memory(mo_out **out, mo_error *err);

/* Opens an output to a function, which is called from the thread that writes
 * and returns 0 or an errno value; the first failure is that of the output. */
typedef int mo_out_function(void *context, const char *data, size_t size);
mo_status mo_out_callback(mo_out_function *write, void *context, mo_out **out,
                          mo_error *err);

/* The slow path of mo_out_bytes, for a piece that does not fit. */
void mo_out_spill(mo_out *out, const char *data, size_t size);

static inline void mo_out_bytes(mo_out *out, const char *data, size_t size)
{
    if (size >= (size_t) (out->end - out->at)) {
        mo_out_spill(out, data, size);
    } else {
        memcpy(out->at, data, size);
        out->at += size;
    }
}

static inline void mo_out_text(mo_out *out, const char *text)
{
    mo_out_bytes(out, text, strlen(text));
}

static inline void mo_out_char(mo_out *out, char c)
{
    mo_out_bytes(out, &c, 1);
}

void mo_out_int(mo_out *out, int64_t value);
void mo_out_double(mo_out *out, double value);
void mo_out_printf(mo_out *out, const char *format, ...) MO_PRINTF(2, 3);

/* Write text escaped for XML (content and attributes alike), or a JSON string
 * with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void mo_out_xml(mo_out *out, const char *text);
void mo_out_json(mo_out *out, const char *text);

/* Begins a digest of the bytes that follow, before compression; and returns
 * that of all bytes since then. One digest an output, which is not borrowed
 * from. */
void mo_out_digest_begin(mo_out *out);
uint64_t mo_out_digest(mo_out *out);

/* Returns the bytes collected so far with a terminating 0; the caller frees
 * them. Only for mo_out_memory. NULL when memory was exhausted. */
char *mo_out_take(mo_out *out, size_t *size);

/* Returns the same buffer without copying, valid until the next call, and
 * empties out: for many short texts in sequence. */
const char *mo_out_borrow(mo_out *out, size_t *size);

/* Returns the failure that mo_out_commit would return, if there was one
 * already, so that long work can end early. */
mo_status mo_out_failure(const mo_out *out, mo_error *err);

/* Flushes, closes and renames; frees out, whatever the result. On failure the
 * target is unchanged. */
mo_status mo_out_commit(mo_out *out, mo_error *err);

/* Removes the temporary file and frees out. NULL is allowed. */
void mo_out_abandon(mo_out *out);

#endif
