#include "base/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/number.h"
#include "base/target.h"

/*
 * Everything passes through one buffer.  For a file it is emptied when full;
 * when only collecting it grows instead.  After the first failure room is
 * left as it is and the bytes are dropped, so writers need not look.
 */
struct mo_out {
    char *buffer;
    size_t used, room;
    mo_target *target;   /* NULL when only collecting */
    int failure;         /* the errno of the first failure, or 0 */
};

/* Large enough that a system call costs nothing per byte, small enough to
 * stay in the second-level cache between filling and writing. */
enum { FILE_ROOM = 256 * 1024, FIRST_ROOM = 1024 };

static mo_status new_out(mo_target *target, size_t room, mo_out **out,
                         mo_error *err)
{
    mo_out *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->buffer = malloc(room);
    if (!made->buffer) {
        free(made);
        return mo_fail_memory(err);
    }
    made->room = room;
    made->target = target;
    *out = made;
    return MO_OK;
}

mo_status mo_out_open(const char *path, mo_out **out, mo_error *err)
{
    mo_target *target;
    mo_status status = mo_target_open(path, &target, err);

    if (status != MO_OK)
        return status;
    status = new_out(target, FILE_ROOM, out, err);
    if (status != MO_OK)
        mo_target_abandon(target);
    return status;
}

mo_status mo_out_memory(mo_out **out, mo_error *err)
{
    return new_out(NULL, FIRST_ROOM, out, err);
}

static void write_all(mo_out *out, const char *data, size_t size)
{
    int fd = mo_target_fd(out->target);

    while (size > 0 && !out->failure) {
        ssize_t n = write(fd, data, size);

        if (n >= 0) {
            data += n;
            size -= (size_t) n;
        } else if (errno != EINTR) {
            out->failure = errno;
        }
    }
}

static void flush(mo_out *out)
{
    write_all(out, out->buffer, out->used);
    out->used = 0;
}

/* Makes room for size more bytes; false when that is not to be had. */
static bool grow(mo_out *out, size_t size)
{
    void *buffer = out->buffer;
    size_t need;

    if (out->failure)
        return false;
    if (!mo_size_add(out->used, size, &need) ||
        mo_array_reserve(&buffer, &out->room, need, 1, NULL) != MO_OK) {
        out->failure = ENOMEM;
        return false;
    }
    out->buffer = buffer;
    return true;
}

/* What would fill the buffer or not fit into it. */
static void spill(mo_out *out, const char *data, size_t size)
{
    if (size == 0)
        return;
    if (!out->target) {
        if (!grow(out, size))
            return;
    } else {
        flush(out);
        if (size >= out->room) {
            write_all(out, data, size);
            return;
        }
    }
    memcpy(out->buffer + out->used, data, size);
    out->used += size;
}

void mo_out_bytes(mo_out *out, const char *data, size_t size)
{
    if (size >= out->room - out->used) {
        spill(out, data, size);
        return;
    }
    memcpy(out->buffer + out->used, data, size);
    out->used += size;
}

void mo_out_text(mo_out *out, const char *text)
{
    mo_out_bytes(out, text, strlen(text));
}

void mo_out_char(mo_out *out, char c)
{
    mo_out_bytes(out, &c, 1);
}

void mo_out_int(mo_out *out, int64_t value)
{
    char text[MO_NUMBER_SIZE];

    mo_out_bytes(out, text, mo_number_write_int(text, value));
}

void mo_out_double(mo_out *out, double value)
{
    char text[MO_NUMBER_SIZE];

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
    else if (!out->failure)
        out->failure = n < 0 ? errno : ENOMEM;
    if (text != small)
        free(text);
    va_end(again);
    va_end(args);
}

char *mo_out_take(mo_out *out, size_t *size)
{
    char *bytes;

    mo_out_char(out, '\0');
    if (out->failure)
        return NULL;
    bytes = out->buffer;
    *size = out->used - 1;
    out->buffer = NULL;
    out->used = out->room = 0;
    return bytes;
}

mo_status mo_out_commit(mo_out *out, mo_error *err)
{
    mo_status status = MO_OK;

    if (out->target) {
        flush(out);
        status = mo_target_commit(out->target, out->failure, err);
    } else if (out->failure) {
        status = mo_fail_memory(err);
    }
    free(out->buffer);
    free(out);
    return status;
}

void mo_out_abandon(mo_out *out)
{
    if (!out)
        return;
    mo_target_abandon(out->target);
    free(out->buffer);
    free(out);
}
