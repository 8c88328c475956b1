/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/method_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "report/format_units.h"

/* Seconds between two updates on a terminal. */
#define PAUSE_S 0.1

/* A wrapped line could not be erased. */
enum {
    TIME_ROOM = MO_FORMAT_SIZE,
    LINE_ROOM = 160,
    WHAT_ROOM = 60,
    SCREEN_WIDTH = 79
};

void mo_place_progress_begin(mo_place_progress *n, const char *method,
                             const mo_driver_log *logger)
{
    *n = (mo_place_progress){ .method = method,
                              .logger = logger,
                              .lists = logger->verbose > 0 && !logger->quiet,
                              .makespan_ns = INT64_MAX };
    n->shows = !n->lists && !logger->quiet && isatty(STDERR_FILENO);
}

static const char *time_text(int64_t ns, char *text)
{
    if (ns == INT64_MAX || ns <= 0)
        return "-";
    return mo_format_time(ns, text);
}

static void compose_line(const mo_place_progress *n,
                         const mo_method_progress *news, char *line)
{
    char best[TIME_ROOM], bound[TIME_ROOM], gap[TIME_ROOM] = "";
    char percent[MO_FORMAT_SIZE];
    double makespan = (double) n->makespan_ns, lower = (double) n->lower_ns;

    if (n->makespan_ns != INT64_MAX && lower > 0)
        snprintf(gap, sizeof gap, ", gap %.8s %%",
                 mo_format_percent((makespan - lower) / makespan, percent));
    snprintf(line, LINE_ROOM, "%s: best %s, bound %s%s, %.1f s%s%.*s",
             n->method, time_text(n->makespan_ns, best),
             time_text(n->lower_ns, bound), gap, news->seconds,
             news->what ? ": " : "", WHAT_ROOM, news->what ? news->what : "");
}

/* Keeps an improvement; returns false if there is none. */
static bool keep_improvement(mo_place_progress *n,
                             const mo_method_progress *news)
{
    bool better = false;

    if (news->makespan_ns < n->makespan_ns) {
        n->makespan_ns = news->makespan_ns;
        better = true;
    }
    if (news->lower_ns > n->lower_ns) {
        n->lower_ns = news->lower_ns;
        better = true;
    }
    return better;
}

void mo_place_progress_update(void *context, const mo_method_progress *news)
{
    mo_place_progress *n = context;
    bool better = keep_improvement(n, news);
    char line[LINE_ROOM];

    if (n->lists && better) {
        compose_line(n, news, line);
        mo_driver_log_info(n->logger, "%s", line);
    } else if (n->shows && mo_driver_clock_s() >= n->next_s) {
        compose_line(n, news, line);
        fprintf(stderr, "\r\033[K%.*s", SCREEN_WIDTH, line);
        (void) fflush(stderr);
        n->shown = true;
        n->next_s = mo_driver_clock_s() + PAUSE_S;
    }
}

void mo_place_progress_end(mo_place_progress *n)
{
    if (n->shown)
        fputs("\r\033[K", stderr);
}
