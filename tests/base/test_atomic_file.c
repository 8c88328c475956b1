/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/atomic_file.h: what is left of a file whose writer is killed,
 * with unnamed files (O_TMPFILE) and without. open() and rename() are replaced
 * here, for the library as well: a file system without unnamed files is
 * imitated and the process killed just before the rename.
 */
#undef _FORTIFY_SOURCE /* which has an open() of its own in the header */
#include <config.h>

#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define STALE "dir/.file.moirai-abc123"

static bool has_unnamed = true, dies_at_rename, hides_unnamed;
static int n_unnamed;

int open(const char *path, int flags, ...)
{
    unsigned mode = 0;
    int fd;
    va_list args;

    if (flags & (O_CREAT | O_TMPFILE)) {
        va_start(args, flags);
        mode = va_arg(args, unsigned);
        va_end(args);
    }
    if ((flags & O_TMPFILE) == O_TMPFILE && hides_unnamed) {
        errno = EOPNOTSUPP;
        return -1;
    }
    fd = (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    n_unnamed += fd >= 0 && (flags & O_TMPFILE) == O_TMPFILE;
    return fd;
}

int rename(const char *from, const char *to)
{
    if (dies_at_rename)
        raise(SIGKILL);
    return (int) syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* Variants of a test: 0 with unnamed files, 1 without. */
static void set_up(int variant)
{
    int fd;

    hides_unnamed = false;
    dies_at_rename = false;
    mkdir("dir", 0777);
    fd = open("dir", O_TMPFILE | O_WRONLY, 0600);
    has_unnamed = fd >= 0;
    if (fd >= 0)
        close(fd);
    hides_unnamed = variant == 1;
    n_unnamed = 0;
    unlink("dir/file");
    unlink(STALE);
    ck_assert_uint_eq(scratch_count("dir"), 0);
}

static void write_file(const char *text)
{
    mo_atomic_file *file = NULL;

    MUST(mo_atomic_file_open("dir/file", &file, &err));
    ck_assert_int_eq(write(mo_atomic_file_fd(file), text, strlen(text)),
                     (ssize_t) strlen(text));
    MUST(mo_atomic_file_commit(file, 0, &err));
}

START_TEST(a_file_is_made_and_replaced)
{
    set_up(_i);
    write_file("one");
    ck_assert_str_eq(scratch_read("dir/file"), "one");
    write_file("two");
    ck_assert_str_eq(scratch_read("dir/file"), "two");
    ck_assert_uint_eq(scratch_count("dir"), 1);
    ck_assert_int_eq(n_unnamed, _i == 0 && has_unnamed ? 2 : 0);
}
END_TEST

/* Runs in a child that is killed while it writes, or before the rename. */
static void die_writing(int by, bool at_rename)
{
    pid_t child = fork();
    int status;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        mo_atomic_file *file = NULL;

        signal(by, SIG_DFL);
        dies_at_rename = at_rename;
        if (mo_atomic_file_open("dir/file", &file, NULL) != MO_OK ||
            write(mo_atomic_file_fd(file), "torn", 4) != 4)
            _exit(1);
        if (at_rename)
            mo_atomic_file_commit(file, 0, NULL);
        else
            raise(by);
        _exit(2);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), by);
}

START_TEST(a_killed_writer_leaves_the_old_file_and_the_next_one_sweeps)
{
    bool named;

    set_up(_i);
    named = _i == 1 || !has_unnamed;
    write_file("old");
    die_writing(SIGKILL, false);
    ck_assert_str_eq(scratch_read("dir/file"), "old");
    ck_assert_uint_eq(scratch_count("dir"), named ? 2 : 1);
    die_writing(SIGKILL, true);
    ck_assert_str_eq(scratch_read("dir/file"), "old");
    ck_assert_uint_eq(scratch_count("dir"), 2);
    write_file("new");
    ck_assert_str_eq(scratch_read("dir/file"), "new");
    ck_assert_uint_eq(scratch_count("dir"), 1);
}
END_TEST

START_TEST(a_signal_removes_the_temporary)
{
    set_up(_i);
    write_file("old");
    die_writing(SIGTERM, false);
    ck_assert_str_eq(scratch_read("dir/file"), "old");
    ck_assert_uint_eq(scratch_count("dir"), 1);
}
END_TEST

START_TEST(the_temporary_of_a_living_writer_stays)
{
    mo_atomic_file *first = NULL;

    set_up(1);
    MUST(mo_atomic_file_open("dir/file", &first, &err));
    ck_assert_uint_eq(scratch_count("dir"), 1);
    write_file("second");
    ck_assert_uint_eq(scratch_count("dir"), 2);
    ck_assert_int_eq(write(mo_atomic_file_fd(first), "first", 5), 5);
    MUST(mo_atomic_file_commit(first, 0, &err));
    ck_assert_str_eq(scratch_read("dir/file"), "first");
    ck_assert_uint_eq(scratch_count("dir"), 1);
}
END_TEST

/* Files of others are no temporaries of this one. */
START_TEST(other_files_stay)
{
    static const char *const others[] = {
        ".file.moirai-abc12",   ".file.moirai-abc1234", ".file.moirai-ABC123",
        ".other.moirai-abc123", "file.moirai-abc123",
    };
    char path[64];

    set_up(_i);
    for (size_t i = 0; i < COUNT(others); i++) {
        snprintf(path, sizeof path, "dir/%s", others[i]);
        scratch_write(path, "kept");
    }
    ck_assert_int_eq(symlink("file.moirai-abc123", STALE), 0);
    write_file("new");
    ck_assert_uint_eq(scratch_count("dir"), COUNT(others) + 2);
    for (size_t i = 0; i < COUNT(others); i++) {
        snprintf(path, sizeof path, "dir/%s", others[i]);
        ck_assert_str_eq(scratch_read(path), "kept");
        unlink(path);
    }
    ck_assert_int_eq(unlink(STALE), 0);
}
END_TEST

START_TEST(a_stale_temporary_is_removed)
{
    set_up(_i);
    scratch_write(STALE, "left");
    write_file("new");
    ck_assert_uint_eq(scratch_count("dir"), 1);
}
END_TEST

/* The mode is that of the file it replaces, or of the mask. */
START_TEST(the_mode_is_kept)
{
    struct stat info;

    set_up(_i);
    umask(027);
    write_file("new");
    ck_assert_int_eq(stat("dir/file", &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0640);
    chmod("dir/file", 0606);
    write_file("newer");
    ck_assert_int_eq(stat("dir/file", &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0606);
    umask(022);
}
END_TEST

/* A file that is made in the meantime stays as well. */
START_TEST(a_new_file_replaces_none)
{
    mo_atomic_file *first = NULL, *second = NULL;
    struct stat info;
    mo_error why = { 0 };

    set_up(_i);
    MUST(mo_atomic_file_create("dir/file", 0600, &first, &err));
    MUST(mo_atomic_file_create("dir/file", 0600, &second, &err));
    ck_assert_int_eq(write(mo_atomic_file_fd(first), "one", 3), 3);
    ck_assert_int_eq(write(mo_atomic_file_fd(second), "two", 3), 3);
    ck_assert_int_eq(access("dir/file", F_OK), -1);
    MUST(mo_atomic_file_commit(first, 0, &err));
    ck_assert_int_eq(mo_atomic_file_commit(second, 0, &why), MO_E_IO);
    ck_assert_ptr_nonnull(strstr(why.text, "is not replaced"));
    ck_assert_int_eq(mo_atomic_file_create("dir/file", 0600, &first, &why),
                     MO_E_IO);
    ck_assert_str_eq(scratch_read("dir/file"), "one");
    ck_assert_int_eq(stat("dir/file", &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    ck_assert_uint_eq(scratch_count("dir"), 1);
}
END_TEST

SUITE(atomic_file)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(a_file_is_made_and_replaced, 2);
    EACH(a_killed_writer_leaves_the_old_file_and_the_next_one_sweeps, 2);
    EACH(a_signal_removes_the_temporary, 2);
    TEST(the_temporary_of_a_living_writer_stays);
    EACH(other_files_stay, 2);
    EACH(a_stale_temporary_is_removed, 2);
    EACH(the_mode_is_kept, 2);
    EACH(a_new_file_replaces_none, 2);
}
