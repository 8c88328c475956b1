/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions of Check outside of its runner: prints the failed one and aborts,
 * which libFuzzer records with the input.  Stands in for the library, which
 * would look for a running test. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"

void _ck_assert_failed(const char *file, int line, const char *expr,
                       const char *msg, ...)
{
    va_list arguments;

    fprintf(stderr, "%s:%d: %s: ", file, line, expr);
    if (msg) {
        va_start(arguments, msg);
        vfprintf(stderr, msg, arguments);
        va_end(arguments);
    }
    fputc('\n', stderr);
    abort();
}
