/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/out.h: writing that fails, and signals in the middle of it. */
#include <config.h>

#include "base/out.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

START_TEST(a_full_disk_is_reported_at_the_end)
{
    mo_error full = { 0 };
    mo_out *out = NULL;

    MUST(mo_out_open("/dev/full", &out, &err));
    MUST(mo_out_failure(out, &err));
    for (int i = 0; i < 1000000; i++)
        mo_out_text(out, "more ");
    ck_assert_int_eq(mo_out_failure(out, &full), MO_E_IO);
    ck_assert_str_eq(full.text, "cannot write: No space left on device");
    ck_assert_int_eq(mo_out_commit(out, &full), MO_E_IO);
    ck_assert_str_eq(full.file, "/dev/full");
    ck_assert_str_eq(full.text, "cannot write: No space left on device");
}
END_TEST

/* Runs job in a child process and returns its status. */
static int status_of(int (*job)(void))
{
    int status = 0;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(job());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* As an unprivileged user, for root may write everything. */
static int replace_locked_file(void)
{
    mo_out *out = NULL;
    mo_error err = { 0 };

    if (geteuid() == 0 && seteuid(65534) != 0)
        return 1;
    if (mo_out_open("locked", &out, &err) != MO_E_IO)
        return 2;
    return strcmp(err.text, "cannot write: Permission denied") == 0 ? 0 : 3;
}

START_TEST(a_read_only_file_is_not_replaced)
{
    scratch_write("locked", "old");
    chmod("locked", 0444);
    chmod(".", 0777);
    ck_assert_int_eq(status_of(replace_locked_file), 0);
    ck_assert_str_eq(scratch_read("locked"), "old");
}
END_TEST

static rlim_t file_limit;

/* A limit on the size of files stands for a disk that fills up. */
static int write_beyond_the_limit(void)
{
    struct rlimit limit = { file_limit, file_limit };
    mo_error err = { 0 };
    mo_out *out = NULL;

    mo_cleanup_ignore_write_signals();
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        mo_out_open("failed/file", &out, &err) != MO_OK)
        return 1;
    for (int i = 0; i < 2000000; i++)
        mo_out_text(out, "more ");
    return mo_out_commit(out, &err) == MO_E_IO ? 0 : 2;
}

START_TEST(a_failed_write_leaves_the_old_file)
{
    static const rlim_t limits[] = { 1000, 6 << 20, 9999999 };

    file_limit = limits[_i];
    mkdir("failed", 0777);
    scratch_write("failed/file", "old");
    ck_assert_int_eq(status_of(write_beyond_the_limit), 0);
    ck_assert_str_eq(scratch_read("failed/file"), "old");
    ck_assert_uint_eq(scratch_count("failed"), 1);
}
END_TEST

static int write_to_closed_stdout(void)
{
    mo_out *out = NULL;
    mo_error err = { 0 };

    close(STDOUT_FILENO);
    return mo_out_open("-", &out, &err) == MO_E_IO &&
                   strcmp(err.file, "standard output") == 0
               ? 0
               : 1;
}

START_TEST(a_closed_standard_output_is_an_error)
{
    ck_assert_int_eq(status_of(write_to_closed_stdout), 0);
}
END_TEST

static int write_to_deserted_pipe(void)
{
    int ends[2];
    mo_out *out = NULL;
    mo_error err = { 0 };

    mo_cleanup_ignore_write_signals();
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0 ||
        close(ends[0]) != 0 || mo_out_open("-", &out, &err) != MO_OK)
        return 1;
    mo_out_text(out, "no reader");
    return mo_out_commit(out, &err) == MO_E_IO ? 0 : 2;
}

START_TEST(a_pipe_without_a_reader_is_an_error)
{
    ck_assert_int_eq(status_of(write_to_deserted_pipe), 0);
}
END_TEST

static int last_signal;

static int die_while_writing(void)
{
    mo_out *out = NULL;

    signal(last_signal, SIG_DFL);
    if (mo_out_open("killed/file", &out, NULL) != MO_OK)
        return 1;
    mo_out_text(out, "never seen");
    raise(last_signal);
    return 2;
}

START_TEST(a_signal_removes_the_temporary)
{
    static const int signals[] = {
        SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU,
        SIGALRM, SIGUSR1, SIGUSR2, SIGXFSZ, SIGPIPE
    };
    int status;

    last_signal = signals[_i];
    mkdir("killed", 0777);
    status = status_of(die_while_writing);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), last_signal);
    ck_assert_uint_eq(scratch_count("killed"), 0);
}
END_TEST

static int ignore_the_signal(void)
{
    mo_out *out = NULL;

    signal(SIGHUP, SIG_IGN);
    if (mo_out_open("ignored", &out, NULL) != MO_OK)
        return 1;
    raise(SIGHUP);
    return mo_out_commit(out, NULL) == MO_OK ? 0 : 2;
}

START_TEST(an_ignored_signal_stays_ignored)
{
    ck_assert_int_eq(status_of(ignore_the_signal), 0);
    ck_assert_str_eq(scratch_read("ignored"), "");
}
END_TEST

static int die_at_once(void)
{
    raise(SIGTERM);
    return 1;
}

START_TEST(a_child_that_dies_leaves_the_files_of_its_parent)
{
    mo_out *out = NULL;

    signal(SIGTERM, SIG_DFL);
    MUST(mo_out_open("parents", &out, &err));
    mo_out_text(out, "kept");
    ck_assert(WIFSIGNALED(status_of(die_at_once)));
    MUST(mo_out_commit(out, &err));
    ck_assert_str_eq(scratch_read("parents"), "kept");
}
END_TEST

SUITE(out_fails)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(a_signal_removes_the_temporary, 10);
    TEST(an_ignored_signal_stays_ignored);
    TEST(a_child_that_dies_leaves_the_files_of_its_parent);
    TEST(a_read_only_file_is_not_replaced);
    TEST(a_full_disk_is_reported_at_the_end);
    EACH(a_failed_write_leaves_the_old_file, 3);
    TEST(a_closed_standard_output_is_an_error);
    TEST(a_pipe_without_a_reader_is_an_error);
}
