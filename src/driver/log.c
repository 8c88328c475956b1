/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/utf8.h"

enum { LINE_SIZE = 2048 };

static void print_line(const mo_driver_log *logger, const char *raw)
{
    char line[LINE_SIZE];

    mo_utf8_escape_controls(line, sizeof line, raw);
    if (logger->print)
        logger->print(logger->context, line);
    else {
        mo_progress_erase();
        fprintf(stderr, "%s: %s\n", logger->command, line);
    }
}

void mo_driver_log_info(const mo_driver_log *logger, const char *format, ...)
{
    char raw[LINE_SIZE];
    va_list args;

    if (logger->quiet || logger->verbose == 0)
        return;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    print_line(logger, raw);
}

void mo_driver_log_warning(const mo_driver_log *logger, const char *format, ...)
{
    char raw[LINE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    print_line(logger, raw);
}

void mo_driver_log_step(const mo_driver_log *logger, mo_progress *step,
                        const char *what)
{
    mo_progress_begin(step, what, logger->quiet || logger->print);
}

double mo_driver_clock_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}
