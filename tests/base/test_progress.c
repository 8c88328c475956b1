/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/progress.h, seen from the other end of a terminal. */
#include <config.h>

#include "base/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/support/capture.h"
#include "tests/support/suite.h"

static int screen, saved_stderr;
static char seen[65536]; /* sent to the screen so far */
static size_t used;

static void terminal_open(void)
{
    int keyboard;

    seen[used = 0] = '\0';
    screen = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_int_ge(screen, 0);
    ck_assert_int_eq(grantpt(screen), 0);
    ck_assert_int_eq(unlockpt(screen), 0);
    keyboard = open(ptsname(screen), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(keyboard, 0);
    saved_stderr = dup(STDERR_FILENO);
    dup2(keyboard, STDERR_FILENO);
    close(keyboard);
}

/* Returns everything sent to the screen. It arrives in pieces, and ends with
 * an error once all writers have closed. */
static const char *terminal_close(void)
{
    ssize_t n;

    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    while ((n = read(screen, seen + used, sizeof seen - 1 - used)) > 0)
        used += (size_t) n;
    seen[used] = '\0';
    close(screen);
    return seen;
}

/* Reads from the screen until text is there, for at most 10 s: the thread draws
 * when it likes. */
static void await(const char *text)
{
    struct pollfd screen_event = { .fd = screen, .events = POLLIN };

    while (!strstr(seen, text)) {
        ssize_t n;

        ck_assert_msg(poll(&screen_event, 1, 10000) == 1, "no '%s' in '%s'",
                      text, seen);
        n = read(screen, seen + used, sizeof seen - 1 - used);
        ck_assert_int_gt(n, 0);
        used += (size_t) n;
        seen[used] = '\0';
    }
}

/* A step that may be drawn at once. */
static void step_begin(mo_progress *step, const char *what)
{
    mo_progress_begin(step, what, false);
    step->due_ns = 0;
}

START_TEST(a_terminal_sees_a_share_and_then_nothing)
{
    mo_progress step;

    terminal_open();
    step_begin(&step, "reading\033[2J");
    mo_progress_share(&step, 1, 3);
    await(" s, reading\\x1b[2J: 33 %\033[K");
    mo_progress_end(&step);
    mo_progress_end(&step);
    ck_assert_ptr_nonnull(strstr(terminal_close(), "33 %\033[K\r\033[K"));
}
END_TEST

START_TEST(a_step_that_reports_nothing_is_seen)
{
    mo_progress step;

    terminal_open();
    step_begin(&step, "reading");
    await(" s, reading\033[K");
    mo_progress_end(&step);
    terminal_close();
}
END_TEST

START_TEST(the_innermost_step_is_drawn)
{
    mo_progress outer, inner;

    terminal_open();
    step_begin(&outer, "comparing");
    await("comparing");
    step_begin(&inner, "searching");
    await("searching");
    mo_progress_end(&inner);
    seen[used = 0] = '\0';
    await("comparing");
    mo_progress_end(&outer);
    terminal_close();
}
END_TEST

START_TEST(a_message_erases_the_line)
{
    mo_progress step;

    terminal_open();
    step_begin(&step, "reading");
    await("reading\033[K");
    mo_progress_erase();
    await("reading\033[K\r\033[K");
    mo_progress_end(&step);
    terminal_close();
}
END_TEST

/* A step that lasts as long as five updates. */
static void make_progress(bool quiet, bool due)
{
    mo_progress step;

    mo_progress_begin(&step, "reading", quiet);
    if (due)
        step.due_ns = 0;
    mo_progress_share(&step, 1, 3);
    usleep(500 * 1000);
    mo_progress_end(&step);
}

START_TEST(quiet_is_quiet)
{
    terminal_open();
    make_progress(true, true);
    ck_assert_str_eq(terminal_close(), "");
}
END_TEST

START_TEST(the_first_seconds_are_quiet)
{
    terminal_open();
    make_progress(false, false);
    ck_assert_str_eq(terminal_close(), "");
}
END_TEST

START_TEST(a_file_sees_nothing)
{
    capture_begin(STDERR_FILENO);
    make_progress(false, true);
    ck_assert_str_eq(capture_end(), "");
}
END_TEST

START_TEST(a_line_is_narrower_than_the_terminal)
{
    struct winsize size = { .ws_row = 24, .ws_col = 20 };
    mo_progress step;

    terminal_open();
    ck_assert_int_eq(ioctl(screen, TIOCSWINSZ, &size), 0);
    step_begin(&step, "reading s\u00e9quence.onnx");
    await(" s, reading s\u00e9que\033[K");
    mo_progress_end(&step);
    size.ws_col = 16; /* within a character */
    ck_assert_int_eq(ioctl(screen, TIOCSWINSZ, &size), 0);
    step_begin(&step, "reading s\u00e9quence.onnx");
    await(" s, reading s\033[K");
    mo_progress_end(&step);
    terminal_close();
}
END_TEST

START_TEST(any_count_is_a_share)
{
    static const struct {
        int64_t done, total;
        const char *shown;
    } shares[] = {
        { -1, 3, "0 %" },
        { 0, 3, "0 %" },
        { 3, 3, "100 %" },
        { 9, 3, "100 %" },
        { INT64_MAX, INT64_MAX, "100 %" },
        { INT64_MAX / 2, INT64_MAX, "50 %" },
    };
    mo_progress step;

    terminal_open();
    mo_progress_begin(&step, "x", false);
    mo_progress_share(&step, shares[_i].done, shares[_i].total);
    ck_assert_str_eq(step.detail, shares[_i].shown);
    mo_progress_end(&step);
    terminal_close();
}
END_TEST

SUITE(progress)
{
    TEST(the_first_seconds_are_quiet); /* of the process: without forks, too */
    TEST(a_terminal_sees_a_share_and_then_nothing);
    TEST(a_step_that_reports_nothing_is_seen);
    TEST(the_innermost_step_is_drawn);
    TEST(a_message_erases_the_line);
    TEST(quiet_is_quiet);
    TEST(a_file_sees_nothing);
    TEST(a_line_is_narrower_than_the_terminal);
    EACH(any_count_is_a_share, 6);
}
