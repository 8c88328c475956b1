/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - status codes and error reports.
 *
 * Every function that can fail returns a mo_status and takes a mo_error as its
 * last argument. The caller allocates the error, mostly on its stack; the
 * function that detects the failure fills it, functions in between pass it on,
 * and only the commands print it. A NULL error is allowed: then only the
 * status is returned.
 *
 * What a file, a solver, a GPU or a user can cause is a status. A broken
 * invariant of this program is an assert.
 */
#ifndef MO_BASE_ERROR_H
#define MO_BASE_ERROR_H

#include <stddef.h>

typedef enum mo_status {
    MO_OK = 0,
    MO_E_MEMORY,    /* memory is exhausted */
    MO_E_IO,        /* a file could not be opened, read, written or renamed   */
    MO_E_SYNTAX,    /* a file violates its format: broken XML, ... */
    MO_E_INPUT,     /* well-formed, but wrong: a cycle, a negative size, ...  */
    MO_E_LIMIT,     /* larger than the accepted limit */
    MO_E_USAGE,     /* the command line names something that does not exist */
    MO_E_SUPPORT,   /* understood, but not supported by this build or version */
    MO_E_INFEASIBLE /* no solution: memory is too small, a solver proved it */
} mo_status;

enum { MO_ERROR_FILE_SIZE = 512, MO_ERROR_TEXT_SIZE = 1024 };

typedef struct mo_error {
    mo_status status;
    int line;                      /* 0: unknown */
    char file[MO_ERROR_FILE_SIZE]; /* "": no file */
    char text[MO_ERROR_TEXT_SIZE]; /* cause and remedy; one line */
} mo_error;

#if defined(__GNUC__)
#define MO_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define MO_PRINTF(at, first)
#endif

/* Fills err and returns status, so that a failure is one statement: return
 * mo_fail(err, MO_E_INPUT, "device '%s' has no memory", id); Control
 * characters in the text are escaped, so it stays one line. */
mo_status mo_fail(mo_error *err, mo_status status, const char *format, ...)
    MO_PRINTF(3, 4);

/* The same, with a place in a file. A line of 0 names the file alone. */
mo_status mo_fail_at(mo_error *err, mo_status status, const char *file,
                     int line, const char *format, ...) MO_PRINTF(5, 6);

/* The same for a failed system call: appends the text of errno. */
mo_status mo_fail_errno(mo_error *err, const char *file, const char *doing);

/* Inline, so that static analysis knows that the status is not MO_OK. */
static inline mo_status mo_fail_memory(mo_error *err)
{
    mo_fail(err, MO_E_MEMORY, "out of memory");
    return MO_E_MEMORY;
}

/* Sets the place of an error that has none yet (the detecting function may not
 * know the file it works on). Returns err->status, or MO_E_INPUT when err is
 * NULL. */
mo_status mo_error_set_location(mo_error *err, const char *file, int line);

/* Writes "file:line: text", "file: text" or "text" into buffer, which the
 * caller allocates; returns buffer. */
const char *mo_error_format(const mo_error *err, char *buffer, size_t size);

#endif
