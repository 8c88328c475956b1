/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/progress_line.h"

#include <stdio.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/format_units.h"

/* Seconds between two updates. */
#define PAUSE_S 0.1

void mo_progress_line_begin(mo_progress_line *live, int64_t unit_ns,
                            const mo_driver_log *logger)
{
    *live = (mo_progress_line){ .log = logger->verbose > 1 && !logger->quiet,
                                .unit_ns = unit_ns,
                                .begin_s = mo_driver_clock_s() };
    live->enabled = !live->log && !logger->quiet && isatty(STDERR_FILENO);
    pthread_mutex_init(&live->lock, NULL);
}

static void put_time(const mo_progress_line *live, const char *what, bool has,
                     double value)
{
    if (!has)
        fprintf(stderr, "%s -  ", what);
    else if (live->unit_ns > 0)
        fprintf(stderr, "%s %.6g us  ", what,
                value * (double) live->unit_ns / 1000);
    else
        fprintf(stderr, "%s %.6g  ", what, value);
}

/* Keeps the smallest incumbent and the largest bound. */
static void merge_progress(mo_solver_progress *best,
                           const mo_solver_progress *step)
{
    if (step->has_incumbent &&
        (!best->has_incumbent || step->incumbent < best->incumbent)) {
        best->incumbent = step->incumbent;
        best->has_incumbent = true;
    }
    if (step->has_bound && (!best->has_bound || step->bound > best->bound)) {
        best->bound = step->bound;
        best->has_bound = true;
    }
}

void mo_progress_line_update(void *context, const mo_solver *solver,
                             const mo_solver_progress *step)
{
    mo_progress_line *live = context;
    double now_s = mo_driver_clock_s();

    (void) solver;
    pthread_mutex_lock(&live->lock);
    merge_progress(&live->best, step);
    if (live->enabled && now_s >= live->next_s) {
        const mo_solver_progress *best = &live->best;
        char gap[MO_FORMAT_SIZE];

        fputs("\r\033[K", stderr);
        put_time(live, "best", best->has_incumbent, best->incumbent);
        put_time(live, "bound", best->has_bound, best->bound);
        if (best->has_incumbent && best->has_bound && best->incumbent > 0)
            fprintf(stderr, "gap %s %%  ",
                    mo_format_percent((best->incumbent - best->bound) /
                                          best->incumbent,
                                      gap));
        fprintf(stderr, "%.0f s", now_s - live->begin_s);
        (void) fflush(stderr);
        live->shown = true;
        live->next_s = now_s + PAUSE_S;
    }
    pthread_mutex_unlock(&live->lock);
}

void mo_progress_line_log(void *context, const mo_solver *solver,
                          const char *text)
{
    mo_progress_line *live = context;
    char line[1024];

    if (!live->log)
        return;
    pthread_mutex_lock(&live->lock);
    fprintf(stderr, "%s: %s\n", solver ? solver->name : "command",
            mo_utf8_escape_controls(line, sizeof line, text));
    pthread_mutex_unlock(&live->lock);
}

void mo_progress_line_end(mo_progress_line *live)
{
    if (live->shown)
        fputs("\r\033[K", stderr);
    pthread_mutex_destroy(&live->lock);
}
