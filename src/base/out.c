/* SPDX-License-Identifier: Apache-2.0 */
#include "base/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compress.h"
#include "base/digest.h"
#include "base/number.h"
#include "base/async_writer.h"
#include "base/atomic_file.h"

/*
 * All output passes through one buffer. For a file it is written when full; in
 * memory it grows instead. After the first failure all bytes are dropped, so
 * callers need not check each write.
 */
typedef struct output {
    mo_out free; /* first member: a mo_out * is an output * */
    char *buffer;
    mo_atomic_file *target; /* NULL for an output in memory, or to a function */
    mo_out_function *write; /* or NULL */
    void *context;
    mo_compress *compress; /* NULL without compression */
    int failure;           /* the errno of the first failure, or 0 */
    mo_digest *digest;     /* NULL: none was begun */
    size_t digested;       /* bytes at the start of the buffer that it has, or
                              that were written before it was begun */

    /* Large outputs have a writer thread and a second buffer for it. */
    mo_async_writer *pump;
    char *pumped;
    int flushes;
} output;

/* Large enough that the cost of a system call per byte is negligible, small
 * enough to stay in the second-level cache between filling and writing. */
enum { FILE_ROOM = 256 * 1024, FIRST_ROOM = 1024 };

/* Buffers written before a writer thread is started. */
enum { SMALL = 16 };

static output *of(mo_out *out)
{
    return (output *) out;
}

static size_t used(const output *o)
{
    return (size_t) (o->free.at - o->buffer);
}

static size_t room(const output *o)
{
    return (size_t) (o->free.end - o->buffer);
}

static mo_status new_out(mo_atomic_file *target, size_t size, mo_out **out,
                         mo_error *err)
{
    output *o = calloc(1, sizeof *o);

    if (!o)
        return mo_fail_memory(err);
    o->buffer = malloc(size);
    if (!o->buffer) {
        free(o);
        return mo_fail_memory(err);
    }
    o->free = (mo_out){ o->buffer, o->buffer + size };
    o->target = target;
    *out = &o->free;
    return MO_OK;
}

mo_status mo_out_open(const char *path, mo_out **out, mo_error *err)
{
    mo_atomic_file *target;
    mo_out *made = NULL;
    mo_status status = mo_atomic_file_open(path, &target, err);

    if (status != MO_OK)
        return status;
    status = new_out(target, FILE_ROOM, &made, err);
    if (status != MO_OK) {
        mo_atomic_file_abandon(target);
        return status;
    }
    if (path)
        status = mo_compress_new(path, mo_atomic_file_fd(target),
                                 &of(made)->compress, err);
    if (status == MO_OK)
        *out = made;
    else
        mo_out_abandon(made);
    return status;
}

mo_status mo_out_memory(mo_out **out, mo_error *err)
{
    return new_out(NULL, FIRST_ROOM, out, err);
}

mo_status mo_out_callback(mo_out_function *write, void *context, mo_out **out,
                          mo_error *err)
{
    mo_status status = new_out(NULL, FILE_ROOM, out, err);

    if (status == MO_OK) {
        of(*out)->write = write;
        of(*out)->context = context;
    }
    return status;
}

static void note(output *o, int failure)
{
    if (!o->failure)
        o->failure = failure;
}

/* Returns errno or 0; runs in the writer thread, where there is one. */
static int write_piece(void *context, const char *data, size_t size)
{
    output *o = context;

    if (o->write)
        return o->write(o->context, data, size);
    return o->compress ? mo_compress_write(o->compress, data, size)
                       : mo_write_all(mo_atomic_file_fd(o->target), data, size);
}

/* Writes bytes that bypass the buffer, after all that is in it. */
static void write_directly(output *o, const char *data, size_t size)
{
    if (o->pump)
        note(o, mo_async_writer_submit(o->pump, NULL, 0));
    if (!o->failure)
        note(o, write_piece(o, data, size));
}

/* Adds to the digest what is in the buffer. */
static void digest_buffer(output *o)
{
    if (!o->digest)
        return;
    mo_digest_bytes(o->digest, o->buffer + o->digested, used(o) - o->digested);
    o->digested = used(o);
}

static void flush_buffer(output *o)
{
    digest_buffer(o);
    o->digested = 0;
    if (o->target && o->flushes < SMALL && ++o->flushes == SMALL) {
        o->pumped = malloc(FILE_ROOM);
        if (o->pumped)
            o->pump = mo_async_writer_new(write_piece, o);
    }
    if (!o->pump) {
        write_directly(o, o->buffer, used(o));
        o->free.at = o->buffer;
    } else {
        char *written = o->pumped;

        note(o, mo_async_writer_submit(o->pump, o->buffer, used(o)));
        o->pumped = o->buffer;
        o->buffer = written;
        o->free = (mo_out){ written, written + FILE_ROOM };
    }
}

/* Grows the buffer by size bytes; false when memory is exhausted. */
static bool grow_buffer(output *o, size_t size)
{
    size_t n = used(o), new_room = room(o), need;
    void *buffer = o->buffer;

    if (o->failure)
        return false;
    if (!mo_size_add(n, size, &need) ||
        mo_array_reserve(&buffer, &new_room, need, 1, NULL) != MO_OK) {
        o->failure = ENOMEM;
        return false;
    }
    o->buffer = buffer;
    o->free.at = o->buffer + n;
    o->free.end = o->buffer + new_room;
    return true;
}

void mo_out_spill(mo_out *out, const char *data, size_t size)
{
    output *o = of(out);

    if (size == 0)
        return;
    if (!o->target && !o->write) {
        if (!grow_buffer(o, size))
            return;
    } else {
        flush_buffer(o);
        if (size >= room(o)) {
            if (o->digest)
                mo_digest_bytes(o->digest, data, size);
            write_directly(o, data, size);
            return;
        }
    }
    memcpy(out->at, data, size);
    out->at += size;
}

/* Numbers are formatted in place where any of them fits. */
static bool fits_number(const mo_out *out)
{
    return out->end - out->at >= MO_NUMBER_SIZE;
}

void mo_out_int(mo_out *out, int64_t value)
{
    char text[MO_NUMBER_SIZE];

    if (fits_number(out))
        out->at += mo_number_write_int(out->at, value);
    else
        mo_out_bytes(out, text, mo_number_write_int(text, value));
}

void mo_out_double(mo_out *out, double value)
{
    char text[MO_NUMBER_SIZE];

    if (fits_number(out))
        out->at += mo_number_write_double(out->at, value);
    else
        mo_out_bytes(out, text, mo_number_write_double(text, value));
}

void mo_out_printf(mo_out *out, const char *format, ...)
{
    char small[512], *text = small;
    va_list args, again;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(small, sizeof small, format, args);
    if (n >= (int) sizeof small) {
        text = malloc((size_t) n + 1);
        if (text)
            vsnprintf(text, (size_t) n + 1, format, again);
    }
    if (n >= 0 && text)
        mo_out_bytes(out, text, (size_t) n);
    else if (!of(out)->failure)
        of(out)->failure = n < 0 ? errno : ENOMEM;
    if (text != small)
        free(text);
    va_end(again);
    va_end(args);
}

void mo_out_digest_begin(mo_out *out)
{
    output *o = of(out);

    if (!o->digest)
        o->digest = mo_digest_new();
    o->digested = used(o);
    if (!o->digest)
        note(o, ENOMEM);
}

uint64_t mo_out_digest(mo_out *out)
{
    digest_buffer(of(out));
    return of(out)->digest ? mo_digest_value(of(out)->digest) : 0;
}

char *mo_out_take(mo_out *out, size_t *size)
{
    output *o = of(out);
    char *bytes;

    mo_out_char(out, '\0');
    if (o->failure)
        return NULL;
    bytes = o->buffer;
    *size = used(o) - 1;
    o->buffer = NULL;
    o->free = (mo_out){ NULL, NULL };
    return bytes;
}

const char *mo_out_borrow(mo_out *out, size_t *size)
{
    output *o = of(out);

    mo_out_char(out, '\0');
    if (o->failure)
        return NULL;
    *size = used(o) - 1;
    out->at = o->buffer;
    return o->buffer;
}

static void free_output(output *o)
{
    mo_compress_free(o->compress);
    mo_digest_free(o->digest);
    free(o->pumped);
    free(o->buffer);
    free(o);
}

mo_status mo_out_failure(const mo_out *out, mo_error *err)
{
    const output *o = (const output *) out;

    if (!o->failure)
        return MO_OK;
    if (o->target)
        return mo_atomic_file_fail(o->target, o->failure, err);
    return o->write ? mo_fail(err, MO_E_IO,
                              "the receiver of the output has failed: %s",
                              strerror(o->failure))
                    : mo_fail_memory(err);
}

mo_status mo_out_commit(mo_out *out, mo_error *err)
{
    output *o = of(out);
    mo_status status = MO_OK;

    if (o->target) {
        write_directly(o, o->buffer, used(o));
        mo_async_writer_free(o->pump);
        if (o->compress && !o->failure)
            note(o, mo_compress_end(o->compress));
        status = mo_atomic_file_commit(o->target, o->failure, err);
    } else {
        if (o->write && used(o) > 0)
            write_directly(o, o->buffer, used(o));
        status = mo_out_failure(out, err);
    }
    free_output(o);
    return status;
}

void mo_out_abandon(mo_out *out)
{
    if (!out)
        return;
    mo_async_writer_free(of(out)->pump);
    mo_atomic_file_abandon(of(out)->target);
    free_output(of(out));
}
