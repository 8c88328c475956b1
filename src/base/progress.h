/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - progress line on a terminal.
 *
 * Long work is made of steps, which may nest. While a step lasts, a line on
 * stderr has the time since the first step began, the innermost step, and its
 * detail:
 *
 *   12 s, searching: best 1.27 ms, bound 1.2 ms, gap 5.51 %, annealing
 *
 * A thread redraws the line, so that steps that report nothing are seen, too.
 * There is none in the first two seconds, with --quiet, or where stderr is not
 * a terminal. It is erased at the end of a step and before messages.
 */
#ifndef MO_BASE_PROGRESS_H
#define MO_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A step, by the caller that it belongs to. */
typedef struct mo_progress {
    const char *what;          /* "searching", borrowed */
    char detail[128];          /* or "" */
    bool enabled;              /* else nothing is drawn */
    int64_t due_ns;            /* when the line may appear, monotonic clock */
    struct mo_progress *outer; /* the enclosing step, or NULL */
} mo_progress;

/* Steps begin and end in the main thread, the last one first; each call of
 * begin has one of end, also after a failure. */
void mo_progress_begin(mo_progress *progress, const char *what, bool quiet);
void mo_progress_end(mo_progress *progress);

/* Set the detail of a step, from any thread: a text, or a percentage. */
void mo_progress_detail(mo_progress *progress, const char *format, ...)
    MO_PRINTF(2, 3);
void mo_progress_share(mo_progress *progress, int64_t done, int64_t total);

/* Erases the line before a message is written; the next update draws it again
 * behind the message. From any thread. */
void mo_progress_erase(void);

#endif
