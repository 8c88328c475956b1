/*
 * talk.h - what a command says on stderr beside errors, when asked to.
 */
#ifndef MO_CLI_TALK_H
#define MO_CLI_TALK_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_talk {
    const char *command; /* "moirai-info" */
    bool quiet;          /* -q: wins over -v */
    int verbose;         /* -v */
} mo_talk;

/* Says "moirai-info: text" when the user wants to hear of the work. */
void mo_talk_say(const mo_talk *talk, const char *format, ...) MO_PRINTF(2, 3);

/* A clock for "took 0.31 s"; only differences mean anything. */
double mo_talk_seconds(void);

#endif
