/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - messages of a command on stderr besides errors: its name, and the
 * levels -q and -v.
 */
#ifndef MO_DRIVER_LOG_H
#define MO_DRIVER_LOG_H

#include <stdbool.h>

#include "base/error.h"
#include "base/progress.h"

typedef struct mo_driver_log {
    const char *command; /* "moirai-info" */
    bool quiet;          /* -q: overrides -v */
    int verbose;         /* -v */
    /* Receives the messages instead of stderr; or NULL. One call at a time is
     * its own matter. */
    void (*print)(void *context, const char *text);
    void *context;
} mo_driver_log;

/* Rows of an option table for these options. */
/* clang-format off */
#define MO_DRIVER_LOG_OPTIONS(logger)                                                  \
    { 'q', "quiet", NULL, "print errors only", MO_OPTION_FLAG,            \
      .to = &(logger)->quiet },                                                  \
    { 'v', "verbose", NULL, "log each step and its duration",          \
      MO_OPTION_COUNT, .to = &(logger)->verbose }
/* clang-format on */

/* Prints "moirai-info: text" on stderr if the log level is verbose. */
void mo_driver_log_info(const mo_driver_log *logger, const char *format, ...)
    MO_PRINTF(2, 3);

/* Prints "moirai-info: text" on stderr at any log level. */
void mo_driver_log_warning(const mo_driver_log *logger, const char *format, ...)
    MO_PRINTF(2, 3);

/* Begins a step of the progress line (base/progress.h), which the caller ends;
 * none is shown if the log is quiet or the messages go elsewhere. */
void mo_driver_log_step(const mo_driver_log *logger, mo_progress *step,
                        const char *what);

/* Returns a monotonic clock in seconds; only differences are meaningful. */
double mo_driver_clock_s(void);

#endif
