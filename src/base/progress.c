/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"

enum { WHAT_COLUMNS = 48, STEP_NS = 100 * 1000 * 1000 };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

void mo_progress_begin(mo_progress *progress, const char *what, int64_t total,
                       bool quiet)
{
    *progress = (mo_progress){ .what = what, .total = total };
    progress->enabled = !quiet && isatty(STDERR_FILENO);
    /* Work of a fraction of a second is never displayed. */
    if (progress->enabled)
        progress->next_ns = now_ns() + STEP_NS;
}

/* Returns the share of the total from 0 to 100, without overflow. */
static int percent_of(int64_t done, int64_t total)
{
    double share = (double) done / (double) total;

    return share <= 0 ? 0 : share >= 1 ? 100 : (int) (share * 100);
}

void mo_progress_update(mo_progress *progress, int64_t done)
{
    char what[WHAT_COLUMNS];
    int64_t now;

    if (!progress->enabled)
        return;
    now = now_ns();
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + STEP_NS;

    mo_utf8_escape_controls(what, sizeof what, progress->what);
    if (progress->total > 0)
        fprintf(stderr, "\r%s: %3d%%\033[K", what,
                percent_of(done, progress->total));
    else
        fprintf(stderr, "\r%s: %lld\033[K", what, (long long) done);
    (void) fflush(stderr);
    progress->shown = true;
}

void mo_progress_end(mo_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        (void) fflush(stderr);
    }
    progress->shown = false;
    progress->enabled = false;
}
