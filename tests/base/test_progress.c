/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/progress.h, seen from the other end of a terminal. */
#include <config.h>

#include "base/progress.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/capture.h"
#include "tests/support/suite.h"

static int screen, saved_stderr;

static void terminal_open(void)
{
    int keyboard;

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
    static char text[4096];
    size_t used = 0;
    ssize_t n;

    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    while ((n = read(screen, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t) n;
    text[used] = '\0';
    close(screen);
    return text;
}

/* The first update is due, the second comes too early. */
static void make_progress(int64_t total, bool quiet)
{
    mo_progress progress;

    mo_progress_begin(&progress, "reading\033[2J", total, quiet);
    progress.next_ns = 0;
    mo_progress_update(&progress, 1);
    progress.next_ns = INT64_MAX;
    mo_progress_update(&progress, 2);
    mo_progress_end(&progress);
    mo_progress_end(&progress);
}

START_TEST(a_terminal_sees_a_share_and_then_nothing)
{
    terminal_open();
    make_progress(3, false);
    ck_assert_str_eq(terminal_close(), "\rreading\\x1b[2J:  33%\033[K\r\033[K");
}
END_TEST

START_TEST(an_unknown_total_shows_a_counter)
{
    terminal_open();
    make_progress(0, false);
    ck_assert_str_eq(terminal_close(), "\rreading\\x1b[2J: 1\033[K\r\033[K");
}
END_TEST

START_TEST(quiet_is_quiet)
{
    terminal_open();
    make_progress(3, true);
    ck_assert_str_eq(terminal_close(), "");
}
END_TEST

START_TEST(updates_are_a_tenth_of_a_second_apart)
{
    mo_progress progress;
    int64_t first;

    terminal_open();
    mo_progress_begin(&progress, "reading", 3, false);
    first = progress.next_ns;
    ck_assert_int_ge(first, 100 * 1000 * 1000);
    progress.next_ns = 0;
    mo_progress_update(&progress, 1);
    ck_assert_int_ge(progress.next_ns, first);
    terminal_close();
}
END_TEST

START_TEST(a_file_sees_nothing)
{
    capture_begin(STDERR_FILENO);
    make_progress(3, false);
    ck_assert_str_eq(capture_end(), "");
}
END_TEST

START_TEST(any_count_is_a_share)
{
    static const struct {
        int64_t done, total;
        const char *shown;
    } shares[] = {
        { -1, 3, "  0%" },
        { 0, 3, "  0%" },
        { 3, 3, "100%" },
        { 9, 3, "100%" },
        { INT64_MAX, INT64_MAX, "100%" },
        { INT64_MAX / 2, INT64_MAX, " 50%" },
    };
    mo_progress progress;

    terminal_open();
    mo_progress_begin(&progress, "x", shares[_i].total, false);
    progress.next_ns = 0;
    mo_progress_update(&progress, shares[_i].done);
    ck_assert(progress.shown);
    ck_assert_ptr_nonnull(strstr(terminal_close(), shares[_i].shown));
}
END_TEST

SUITE(progress)
{
    TEST(a_terminal_sees_a_share_and_then_nothing);
    TEST(an_unknown_total_shows_a_counter);
    TEST(quiet_is_quiet);
    TEST(updates_are_a_tenth_of_a_second_apart);
    TEST(a_file_sees_nothing);
    EACH(any_count_is_a_share, 6);
}
