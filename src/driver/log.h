/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.h - what a command says on stderr beside errors, when asked to.
 */
#ifndef MO_DRIVER_LOG_H
#define MO_DRIVER_LOG_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_driver_log {
    const char *command; /* "moirai-info" */
    bool quiet;          /* -q: wins over -v */
    int verbose;         /* -v */
} mo_driver_log;

/* The rows of an option table for these. */
/* clang-format off */
#define MO_DRIVER_LOG_OPTIONS(talk)                                                  \
    { 'q', "quiet", NULL, "print errors only", MO_OPTION_FLAG,            \
      .to = &(talk)->quiet },                                                  \
    { 'v', "verbose", NULL, "log each step and its duration",          \
      MO_OPTION_COUNT, .to = &(talk)->verbose }
/* clang-format on */

/* Says "moirai-info: text" when the user wants to hear of the work. */
void mo_driver_log_info(const mo_driver_log *talk, const char *format, ...)
    MO_PRINTF(2, 3);

/* A clock for "took 0.31 s"; only differences mean anything. */
double mo_driver_clock_s(void);

#endif
