/* SPDX-License-Identifier: Apache-2.0 */
/* Version, names of statuses, texts of errors, and outputs. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "lib/handles.h"

const char *moirai_version(void)
{
    return PACKAGE_VERSION;
}

const char *moirai_status_name(int status)
{
    static const char *const names[] = {
        [MOIRAI_OK] = "success",
        [MOIRAI_E_MEMORY] = "out of memory",
        [MOIRAI_E_IO] = "input or output failed",
        [MOIRAI_E_SYNTAX] = "syntax error",
        [MOIRAI_E_INPUT] = "invalid input",
        [MOIRAI_E_LIMIT] = "limit exceeded",
        [MOIRAI_E_USAGE] = "wrong argument",
        [MOIRAI_E_SUPPORT] = "not supported",
        [MOIRAI_E_INFEASIBLE] = "infeasible",
        [MOIRAI_E_CANCELLED] = "cancelled",
        [MOIRAI_E_NO_SOLUTION] = "no solution found",
    };

    return status >= 0 && (size_t) status < sizeof names / sizeof *names
               ? names[status]
               : "unknown status";
}

char *moirai_error_text(const moirai_error *err, char *buffer, size_t size)
{
    if (size > 0)
        mo_error_format((const mo_error *) err, buffer, size);
    return buffer;
}

mo_status mo_lib_copy_text(const char *text, char **copy, mo_error *err)
{
    *copy = text ? strdup(text) : NULL;
    return text && !*copy ? mo_fail_memory(err) : MO_OK;
}

mo_status mo_lib_open_output(const char *path, moirai_write_fn *write,
                             void *context, mo_out **out, mo_error *err)
{
    if (path)
        return mo_out_open(path, out, err);
    if (write)
        return mo_out_callback(write, context, out, err);
    return mo_fail(err, MO_E_USAGE,
                   "neither a path nor a function to write to is given");
}

mo_status mo_lib_close_output(mo_out *out, mo_status status, mo_error *err)
{
    if (out && status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}
