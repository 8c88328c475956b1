#include <config.h>

#include "driver/progress_line.h"

#include <stdio.h>
#include <unistd.h>

#include "base/utf8.h"
#include "report/format_units.h"

/* Seconds between two lines. */
#define PAUSE_S 0.1

void mo_live_begin(mo_live *live, int64_t unit_ns, const mo_talk *talk)
{
    *live = (mo_live){ .log = talk->verbose > 1 && !talk->quiet,
                       .unit_ns = unit_ns,
                       .begin_s = mo_talk_seconds() };
    live->enabled = !live->log && !talk->quiet && isatty(STDERR_FILENO);
    pthread_mutex_init(&live->lock, NULL);
}

static void put_time(const mo_live *live, const char *what, bool has,
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

static void show(mo_live *live, double now_s)
{
    const mo_step *best = &live->best;
    char gap[MO_UNIT_SIZE];

    fputs("\r\033[K", stderr);
    put_time(live, "best", best->has_incumbent, best->incumbent);
    put_time(live, "bound", best->has_bound, best->bound);
    if (best->has_incumbent && best->has_bound && best->incumbent > 0)
        fprintf(stderr, "gap %s %%  ",
                mo_unit_percent(
                    (best->incumbent - best->bound) / best->incumbent, gap));
    fprintf(stderr, "%.0f s", now_s - live->begin_s);
    fflush(stderr);
    live->shown = true;
    live->next_s = now_s + PAUSE_S;
}

/* The least incumbent and the greatest bound. */
static void merge(mo_step *best, const mo_step *step)
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

void mo_live_step(void *context, const mo_solver *solver, const mo_step *step)
{
    mo_live *live = context;
    double now_s = mo_talk_seconds();

    (void) solver;
    pthread_mutex_lock(&live->lock);
    merge(&live->best, step);
    if (live->enabled && now_s >= live->next_s)
        show(live, now_s);
    pthread_mutex_unlock(&live->lock);
}

void mo_live_line(void *context, const mo_solver *solver, const char *text)
{
    mo_live *live = context;
    char line[1024];

    if (!live->log)
        return;
    pthread_mutex_lock(&live->lock);
    fprintf(stderr, "%s: %s\n", solver ? solver->name : "command",
            mo_utf8_visible(line, sizeof line, text));
    pthread_mutex_unlock(&live->lock);
}

void mo_live_end(mo_live *live)
{
    if (live->shown)
        fputs("\r\033[K", stderr);
    pthread_mutex_destroy(&live->lock);
}
