/*
 * talk.h - what a command says on stderr beside errors, when asked to.
 */
#ifndef MO_DRIVER_LOG_H
#define MO_DRIVER_LOG_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_talk {
    const char *command; /* "moirai-info" */
    bool quiet;          /* -q: wins over -v */
    int verbose;         /* -v */
} mo_talk;

/* The rows of an option table for these. */
/* clang-format off */
#define MO_TALK_OPTIONS(talk)                                                  \
    { 'q', "quiet", NULL, "say nothing but errors", MO_OPTION_FLAG,            \
      .to = &(talk)->quiet },                                                  \
    { 'v', "verbose", NULL, "say what is done and how long it takes",          \
      MO_OPTION_COUNT, .to = &(talk)->verbose }
/* clang-format on */

/* Says "moirai-info: text" when the user wants to hear of the work. */
void mo_talk_say(const mo_talk *talk, const char *format, ...) MO_PRINTF(2, 3);

/* A clock for "took 0.31 s"; only differences mean anything. */
double mo_talk_seconds(void);

#endif
