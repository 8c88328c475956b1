/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/process/workdir.h. */
#include <config.h>

#include "solvers/process/workdir.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static void work_here(void)
{
    char here[4096];

    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    setenv("TMPDIR", here, 1);
}

START_TEST(it_is_private_and_gone_afterwards)
{
    mo_workdir *workdir = NULL;
    struct stat state;
    char *file;

    work_here();
    MUST(mo_workdir_new(&workdir, &err));
    ck_assert_int_eq(mo_workdir_path(workdir)[0], '/');
    ck_assert_int_eq(stat(mo_workdir_path(workdir), &state), 0);
    ck_assert_uint_eq(state.st_mode & 0777, 0700);
    file = mo_workdir_file(workdir, "model.lp");
    scratch_write(file, "End\n");
    free(file);
    ck_assert_uint_eq(scratch_count("."), 1);
    mo_workdir_free(workdir);
    ck_assert_uint_eq(scratch_count("."), 0);
    mo_workdir_free(NULL);
}
END_TEST

START_TEST(all_that_is_in_it_goes_and_nothing_else)
{
    mkdir("elsewhere", 0700);
    scratch_write("elsewhere/precious", "x");
    mkdir("full", 0700);
    mkdir("full/a", 0700);
    mkdir("full/a/b", 0700);
    scratch_write("full/a/b/c", "x");
    ck_assert_int_eq(symlink("../elsewhere", "full/link"), 0);
    ck_assert_int_eq(symlink("nowhere", "full/.dangling"), 0);
    mo_workdir_remove("full");
    ck_assert_int_ne(access("full", F_OK), 0);
    ck_assert_str_eq(scratch_read("elsewhere/precious"), "x");
    mo_workdir_remove("elsewhere");
    mo_workdir_remove("elsewhere");
}
END_TEST

START_TEST(stale_ones_are_removed_and_those_in_use_stay)
{
    mo_workdir *one = NULL, *two = NULL;

    work_here();
    MUST(mo_workdir_new(&one, &err));
    mkdir("moirai-solve-stale1", 0700);
    scratch_write("moirai-solve-stale1/file", "x");
    mkdir("moirai-other", 0700);
    scratch_write("moirai-solve-file", "no folder");
    ck_assert_int_eq(symlink("moirai-other", "moirai-solve-link"), 0);
    MUST(mo_workdir_new(&two, &err));
    ck_assert_int_eq(access(mo_workdir_path(one), F_OK), 0);
    ck_assert_int_eq(access(mo_workdir_path(two), F_OK), 0);
    ck_assert_int_ne(access("moirai-solve-stale1", F_OK), 0);
    ck_assert_int_eq(access("moirai-other", F_OK), 0);
    ck_assert_int_eq(access("moirai-solve-file", F_OK), 0);
    ck_assert_int_eq(access("moirai-solve-link", F_OK), 0);
    mo_workdir_free(one);
    mo_workdir_free(two);
    rmdir("moirai-other");
    unlink("moirai-solve-file");
    unlink("moirai-solve-link");
    ck_assert_uint_eq(scratch_count("."), 0);
}
END_TEST

START_TEST(what_a_killed_run_left_the_next_removes)
{
    mo_workdir *next = NULL;
    pid_t run = fork();

    work_here();
    if (run == 0) {
        if (mo_workdir_new(&next, NULL) == MO_OK)
            raise(SIGKILL);
        _exit(1);
    }
    waitpid(run, NULL, 0);
    ck_assert_uint_eq(scratch_count("."), 1);
    MUST(mo_workdir_new(&next, &err));
    ck_assert_uint_eq(scratch_count("."), 1);
    mo_workdir_free(next);
    ck_assert_uint_eq(scratch_count("."), 0);
}
END_TEST

static mo_workdir *make_full(void)
{
    mo_workdir *workdir = NULL;

    if (mo_workdir_new(&workdir, NULL) != MO_OK ||
        chdir(mo_workdir_path(workdir)) != 0 || mkdir("inner", 0700) != 0 ||
        mkdir("empty", 0700) != 0)
        _exit(1);
    scratch_write("inner/file", "x");
    for (int i = 0; i < 100; i++) {
        char name[64];

        snprintf(name, sizeof name, "a name of a length that fills lists %d",
                 i);
        scratch_write(name, "x");
    }
    return workdir;
}

static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 };

START_TEST(a_signal_that_ends_the_process_removes_it)
{
    const struct rlimit no_core = { 0, 0 };
    pid_t run;
    int status;

    work_here();
    run = fork();
    if (run == 0) {
        setrlimit(RLIMIT_CORE, &no_core);
        signal(deadly[_i], SIG_DFL);
        make_full();
        raise(deadly[_i]);
        _exit(1);
    }
    waitpid(run, &status, 0);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), deadly[_i]);
    ck_assert_uint_eq(scratch_count("."), 0);
}
END_TEST

START_TEST(a_signal_to_a_forked_process_leaves_that_of_its_parent)
{
    mo_workdir *ours = NULL, *theirs = NULL;
    pid_t run;
    int status;

    work_here();
    MUST(mo_workdir_new(&ours, &err));
    run = fork();
    if (run == 0) {
        signal(SIGHUP, SIG_DFL);
        if (mo_workdir_new(&theirs, NULL) == MO_OK)
            raise(SIGHUP);
        _exit(1);
    }
    waitpid(run, &status, 0);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(access(mo_workdir_path(ours), F_OK), 0);
    ck_assert_uint_eq(scratch_count("."), 1);
    mo_workdir_free(ours);
    ck_assert_uint_eq(scratch_count("."), 0);
}
END_TEST

/* One descriptor is left for the folder in it that is not empty. */
START_TEST(it_goes_when_descriptors_are_few)
{
    const struct rlimit few = { 64, 64 };
    bool full = _i == 1;
    pid_t run;
    int status;

    work_here();
    run = fork();
    if (run == 0) {
        mo_workdir *workdir = NULL;
        int last = -1, next;

        if (full)
            workdir = make_full();
        else if (mo_workdir_new(&workdir, NULL) != MO_OK)
            _exit(1);
        setrlimit(RLIMIT_NOFILE, &few);
        while ((next = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
            last = next;
        if (full)
            close(last);
        mo_workdir_free(workdir);
        _exit(0);
    }
    waitpid(run, &status, 0);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(scratch_count("."), 0);
}
END_TEST

/* Each process creates folders, finds its
 * file in them, and removes stale ones of the others. */
static void make_many(void)
{
    for (int i = 0; i < 200; i++) {
        mo_workdir *workdir = NULL;
        struct stat state;

        if (mo_workdir_new(&workdir, NULL) != MO_OK ||
            stat(mo_workdir_path(workdir), &state) != 0 ||
            chdir(mo_workdir_path(workdir)) != 0)
            _exit(1);
        mo_workdir_free(workdir);
    }
    _exit(0);
}

START_TEST(none_is_swept_while_it_is_being_made)
{
    pid_t runs[4];

    work_here();
    for (int i = 0; i < COUNT(runs); i++)
        if ((runs[i] = fork()) == 0)
            make_many();
    for (int i = 0; i < COUNT(runs); i++) {
        int status;

        waitpid(runs[i], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_uint_eq(scratch_count("."), 0);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_error)
{
    mo_workdir *workdir = NULL;
    mo_error err;

    setenv("TMPDIR", "/there/is/no/such/folder", 1);
    ck_assert_int_eq(mo_workdir_new(&workdir, &err), MO_E_IO);
    ck_assert_str_eq(err.file, "/there/is/no/such/folder");
    ck_assert_ptr_null(workdir);
}
END_TEST

SUITE(workdir)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(it_is_private_and_gone_afterwards);
    TEST(all_that_is_in_it_goes_and_nothing_else);
    TEST(stale_ones_are_removed_and_those_in_use_stay);
    TEST(what_a_killed_run_left_the_next_removes);
    EACH(a_signal_that_ends_the_process_removes_it, COUNT(deadly));
    TEST(a_signal_to_a_forked_process_leaves_that_of_its_parent);
    EACH(it_goes_when_descriptors_are_few, 2);
    TEST(none_is_swept_while_it_is_being_made);
    TEST(a_folder_that_is_not_there_is_an_error);
}
