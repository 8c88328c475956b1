/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on streams and shared libraries that fail. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/torture/failpoint_wrap.h"

/* glibc has no public function that sets the error flag of a stream. */
static void set_stream_error(FILE *stream)
{
    stream->_flags |= 0x20;
}

#define READ_STREAM(name, type, none, parameters, arguments, stream)           \
    type name parameters;                                                      \
    type name parameters                                                       \
    {                                                                          \
        FIND(name, type, parameters);                                          \
        if (failpoint_count(FAILPOINT_READ, CALLER) == FAILPOINT_REFUSE) {     \
            set_stream_error(stream);                                          \
            errno = EIO;                                                       \
            return none;                                                       \
        }                                                                      \
        return real arguments;                                                 \
    }

READ_STREAM(fread, size_t, 0, (void *to, size_t size, size_t n, FILE *from),
            (to, size, n, from), from)
READ_STREAM(__fread_chk, size_t, 0,
            (void *to, size_t room, size_t size, size_t n, FILE *from),
            (to, room, size, n, from), from)
READ_STREAM(fgets, char *, NULL, (char *to, int size, FILE *from),
            (to, size, from), from)
READ_STREAM(__fgets_chk, char *, NULL,
            (char *to, size_t room, int size, FILE *from),
            (to, room, size, from), from)
READ_STREAM(getline, ssize_t, -1, (char **line, size_t *room, FILE *from),
            (line, room, from), from)
READ_STREAM(__getdelim, ssize_t, -1,
            (char **line, size_t *room, int end, FILE *from),
            (line, room, end, from), from)

READ_STREAM(fseek, int, -1, (FILE * from, long at, int whence),
            (from, at, whence), from)
READ_STREAM(ftell, long, -1, (FILE * from), (from), from)

#define SCAN(name)                                                             \
    int name(FILE *from, const char *format, ...);                             \
    int name(FILE *from, const char *format, ...)                              \
    {                                                                          \
        va_list values;                                                        \
        int n;                                                                 \
                                                                               \
        if (failpoint_count(FAILPOINT_READ, CALLER) == FAILPOINT_REFUSE) {     \
            set_stream_error(from);                                            \
            errno = EIO;                                                       \
            return EOF;                                                        \
        }                                                                      \
        va_start(values, format);                                              \
        n = vfscanf(from, format, values);                                     \
        va_end(values);                                                        \
        return n;                                                              \
    }

/* fscanf of C99 and C23 */
SCAN(__isoc99_fscanf)
SCAN(__isoc23_fscanf)

/* Returns whether the stream fails; messages are not counted. */
static bool refuses_write(FILE *to, const void *caller)
{
    if (to == stderr ||
        failpoint_count(FAILPOINT_WRITE, caller) != FAILPOINT_REFUSE)
        return false;
    set_stream_error(to);
    errno = ENOSPC;
    return true;
}

size_t fwrite(const void *from, size_t size, size_t n, FILE *to)
{
    FIND(fwrite, size_t, (const void *, size_t, size_t, FILE *) );
    return refuses_write(to, CALLER) ? 0 : real(from, size, n, to);
}

int fputc(int c, FILE *to)
{
    FIND(fputc, int, (int, FILE *) );
    return refuses_write(to, CALLER) ? EOF : real(c, to);
}

int fputs(const char *text, FILE *to)
{
    FIND(fputs, int, (const char *, FILE *) );
    return refuses_write(to, CALLER) ? EOF : real(text, to);
}

int putchar(int c)
{
    FIND(putchar, int, (int) );
    return refuses_write(stdout, CALLER) ? EOF : real(c);
}

int puts(const char *text)
{
    FIND(puts, int, (const char *) );
    return refuses_write(stdout, CALLER) ? EOF : real(text);
}

static int print(FILE *to, const void *caller, const char *format,
                 va_list values)
{
    return refuses_write(to, caller) ? -1 : vfprintf(to, format, values);
}

int fprintf(FILE *to, const char *format, ...)
{
    va_list values;
    int n;

    va_start(values, format);
    n = print(to, CALLER, format, values);
    va_end(values);
    return n;
}

int __fprintf_chk(FILE *to, int flag, const char *format, ...);
int __fprintf_chk(FILE *to, int flag, const char *format, ...)
{
    va_list values;
    int n;

    (void) flag;
    va_start(values, format);
    n = print(to, CALLER, format, values);
    va_end(values);
    return n;
}

int printf(const char *format, ...)
{
    va_list values;
    int n;

    va_start(values, format);
    n = print(stdout, CALLER, format, values);
    va_end(values);
    return n;
}

int __printf_chk(int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...)
{
    va_list values;
    int n;

    (void) flag;
    va_start(values, format);
    n = print(stdout, CALLER, format, values);
    va_end(values);
    return n;
}

int fflush(FILE *stream)
{
    FIND(fflush, int, (FILE *) );
    return refuses_write(stream, CALLER) ? EOF : real(stream);
}

FILE *fopen(const char *path, const char *mode)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_OPEN, CALLER);

    FIND(fopen, FILE *, (const char *, const char *) );
    /* It does not wait for a device. */
    REFUSE(AT_ONCE(verdict), EMFILE, NULL);
    return real(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_OPEN, CALLER);

    FIND(fdopen, FILE *, (int, const char *) );
    REFUSE(verdict, ENOMEM, NULL);
    failpoint_forget_fd(fd);
    return real(fd, mode);
}

int fclose(FILE *stream)
{
    failpoint_verdict verdict = failpoint_count(FAILPOINT_CLOSE, CALLER);
    int result;

    FIND(fclose, int, (FILE *) );
    result = real(stream);
    REFUSE(verdict, EIO, EOF);
    return result;
}

/* The reason is there for dlerror(). */
void *dlopen(const char *path, int flags)
{
    FIND(dlopen, void *, (const char *, int) );
    if (failpoint_count(FAILPOINT_OPEN, CALLER) == FAILPOINT_REFUSE)
        return real("/dev/null/failpoint", RTLD_LAZY);
    return real(path, flags);
}
