/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - progress line on a terminal.
 *
 * Written to stderr, only when that is a terminal and --quiet was not given;
 * erased at the end. At most ten updates per second reach the screen, so that
 * a call in a loop costs a comparison.
 */
#ifndef MO_BASE_PROGRESS_H
#define MO_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mo_progress {
    const char *what; /* "reading graph.graphml" */
    int64_t total;    /* 0 when unknown: then only the counter is displayed */
    bool shown;       /* a line is on the screen */
    bool enabled;
    int64_t next_ns; /* time of the next update */
} mo_progress;

void mo_progress_begin(mo_progress *progress, const char *what, int64_t total,
                       bool quiet);
void mo_progress_update(mo_progress *progress, int64_t done);
void mo_progress_end(mo_progress *progress);

#endif
