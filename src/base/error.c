/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/*
 * The message is formatted in a separate buffer and then copied: its arguments
 * may point into the error itself ("while ...: %s").
 */
static void fill_error(mo_error *err, mo_status status, const char *file,
                       int line, const char *format, va_list args)
{
    char raw[2 * MO_ERROR_TEXT_SIZE];

    if (!err)
        return;
    vsnprintf(raw, sizeof raw, format, args);
    mo_utf8_escape_controls(err->text, sizeof err->text, raw);
    mo_utf8_escape_controls(err->file, sizeof err->file, file ? file : "");
    err->line = line;
    err->status = status;
}

mo_status mo_fail(mo_error *err, mo_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill_error(err, status, NULL, 0, format, args);
    va_end(args);
    return status;
}

mo_status mo_fail_at(mo_error *err, mo_status status, const char *file,
                     int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fill_error(err, status, file, line, format, args);
    va_end(args);
    return status;
}

mo_status mo_fail_errno(mo_error *err, const char *file, const char *doing)
{
    int cause = errno;

    return mo_fail_at(err, cause == ENOMEM ? MO_E_MEMORY : MO_E_IO, file, 0,
                      "%s: %s", doing, strerror(cause));
}

mo_status mo_error_set_location(mo_error *err, const char *file, int line)
{
    if (!err)
        return MO_E_INPUT;
    if (err->file[0] == '\0') {
        mo_utf8_escape_controls(err->file, sizeof err->file, file ? file : "");
        if (err->line == 0)
            err->line = line;
    }
    return err->status;
}

const char *mo_error_format(const mo_error *err, char *buffer, size_t size)
{
    if (err->file[0] == '\0')
        snprintf(buffer, size, "%s", err->text);
    else if (err->line == 0)
        snprintf(buffer, size, "%s: %s", err->file, err->text);
    else
        snprintf(buffer, size, "%s:%d: %s", err->file, err->line, err->text);
    return buffer;
}
