/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/async_writer.h"
#include "base/utf8.h"

#define SECOND_NS INT64_C(1000000000)
#define DELAY_NS  (2 * SECOND_NS)  /* before the line appears */
#define UPDATE_NS (SECOND_NS / 10) /* between two updates */

enum { LINE_SIZE = 512, COLUMNS = 80, MOST_COLUMNS = 160 };

/* The line is global, as the terminal is. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t over; /* the last step has ended */
    pthread_t thread;
    bool runs;          /* the thread */
    bool shown;         /* a line is on the screen */
    int64_t begin_ns;   /* of the first step; 0: there was none */
    mo_progress *inner; /* the innermost step, or NULL */
} line = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void erase_line(void)
{
    static const char erase[] = "\r\033[K";

    if (line.shown)
        (void) mo_write_all(STDERR_FILENO, erase, sizeof erase - 1);
    line.shown = false;
}

/* A line that wraps could not be erased. */
static int cut_to_screen(char *text, int length)
{
    struct winsize size;
    int columns = COLUMNS;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
    if (length < columns)
        return length;
    for (length = columns - 1; length > 0; length--)
        if (((unsigned char) text[length] & 0xc0) != 0x80)
            break; /* not within a character */
    return length;
}

static void draw_line(void)
{
    const mo_progress *p = line.inner;
    char raw[LINE_SIZE], text[LINE_SIZE], screen[LINE_SIZE + 16];
    int64_t now = now_ns();
    int length;

    if (now < p->due_ns)
        return;
    snprintf(raw, sizeof raw, "%.0f s, %s%s%s",
             (double) (now - line.begin_ns) / (double) SECOND_NS, p->what,
             *p->detail ? ": " : "", p->detail);
    mo_utf8_escape_controls(text, sizeof text, raw);
    length = 0;
    while (text[length])
        length++;
    length = cut_to_screen(text, length);
    length = snprintf(screen, sizeof screen, "\r%.*s\033[K", length, text);
    line.shown = true;
    (void) mo_write_all(STDERR_FILENO, screen, (size_t) length);
}

static void *redraw(void *nothing)
{
    (void) nothing;
    pthread_mutex_lock(&line.lock);
    while (line.inner) {
        int64_t at_ns = now_ns() + UPDATE_NS;
        struct timespec at = { .tv_sec = (time_t) (at_ns / SECOND_NS),
                               .tv_nsec = (long) (at_ns % SECOND_NS) };

        pthread_cond_timedwait(&line.over, &line.lock, &at);
        if (line.inner)
            draw_line();
    }
    pthread_mutex_unlock(&line.lock);
    return NULL;
}

/* Signals are for the other threads. Without the thread there is no line. */
static void start_thread(void)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&line.over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    line.runs = pthread_create(&line.thread, NULL, redraw, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void mo_progress_begin(mo_progress *progress, const char *what, bool quiet)
{
    *progress = (mo_progress){ .what = what };
    progress->enabled = !quiet && isatty(STDERR_FILENO);
    if (!progress->enabled)
        return;
    pthread_mutex_lock(&line.lock);
    if (line.begin_ns == 0)
        line.begin_ns = now_ns();
    progress->due_ns = line.begin_ns + DELAY_NS;
    progress->outer = line.inner;
    line.inner = progress;
    if (!line.runs)
        start_thread();
    pthread_mutex_unlock(&line.lock);
}

void mo_progress_end(mo_progress *progress)
{
    bool over;

    if (!progress->enabled)
        return;
    progress->enabled = false;
    pthread_mutex_lock(&line.lock);
    line.inner = progress->outer;
    over = !line.inner && line.runs;
    if (over)
        pthread_cond_signal(&line.over);
    erase_line();
    pthread_mutex_unlock(&line.lock);
    if (!over)
        return;
    pthread_join(line.thread, NULL);
    pthread_cond_destroy(&line.over);
    line.runs = false;
}

void mo_progress_detail(mo_progress *progress, const char *format, ...)
{
    va_list args;

    if (!progress->enabled)
        return;
    pthread_mutex_lock(&line.lock);
    va_start(args, format);
    vsnprintf(progress->detail, sizeof progress->detail, format, args);
    va_end(args);
    pthread_mutex_unlock(&line.lock);
}

void mo_progress_share(mo_progress *progress, int64_t done, int64_t total)
{
    double share = (double) done / (double) total;

    mo_progress_detail(progress, "%d %%",
                       share <= 0   ? 0
                       : share >= 1 ? 100
                                    : (int) (share * 100));
}

void mo_progress_erase(void)
{
    pthread_mutex_lock(&line.lock);
    erase_line();
    pthread_mutex_unlock(&line.lock);
}
