/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - buffered output: to standard output as it comes, to a file whole or
 * not at all.
 *
 * A file is written under a temporary name in the same folder and renamed when
 * everything is in it; whoever looks sees the old file or the new one, never a
 * part.  Write calls do not report: the first failure is kept, the rest is
 * dropped, and mo_out_commit tells.
 */
#ifndef MO_BASE_OUT_H
#define MO_BASE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* Open only so far that a short piece is copied in place: a million ops are
 * written in a hundred million pieces.  All else is out.c's own. */
typedef struct mo_out {
    char *at, *end; /* the free part of the buffer */
} mo_out;

/* Opens path for writing; "-" or NULL is standard output.  The target must be
 * a file that may be replaced, or a device or pipe, which is written
 * directly.  What is written to a name that ends in .gz or .zst is
 * compressed. */
mo_status mo_out_open(const char *path, mo_out **out, mo_error *err);

/* An output that only collects; mo_out_take hands the bytes over. */
mo_status mo_out_memory(mo_out **out, mo_error *err);

/* What mo_out_bytes does with a piece that does not fit. */
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

/* Text with what XML (content and attributes alike) cannot hold escaped, or a
 * JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD. */
void mo_out_xml(mo_out *out, const char *text);
void mo_out_json(mo_out *out, const char *text);

/* The bytes collected so far, with a 0 behind them; the caller frees them.
 * Only for mo_out_memory. NULL when there was no memory. */
char *mo_out_take(mo_out *out, size_t *size);

/* The same, but only lent until the next call, and out is empty afterwards:
 * for many short texts one after the other. */
const char *mo_out_borrow(mo_out *out, size_t *size);

/* The failure that mo_out_commit will tell, if there was one already; for long
 * work that would be in vain. */
mo_status mo_out_failure(const mo_out *out, mo_error *err);

/* Flushes, closes and renames; out is gone afterwards, whatever the result.
 * On failure the target is as it was before. */
mo_status mo_out_commit(mo_out *out, mo_error *err);

/* Gives up: the temporary file is removed. NULL is allowed. */
void mo_out_abandon(mo_out *out);

#endif
