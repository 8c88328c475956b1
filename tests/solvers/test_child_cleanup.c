/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of solvers/process/child.h: no process of a child is left, whichever
 * process dies. */
#include <config.h>

#include "solvers/process/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/solvers/child_case.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static int open_files(void)
{
    DIR *files = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(files))
        n++;
    closedir(files);
    return n;
}

/* Returns the state of a process, 0 when it is gone. */
static char state_of(int pid)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(file);
    return state;
}

/* Within a second it is gone, or at most a zombie of another parent. */
static void must_be_gone(int pid)
{
    for (int i = 0; i < 100; i++) {
        char state = state_of(pid);

        if (state == 0 || state == 'Z' || state == 'X')
            return;
        child_wait_ms(10);
    }
    ck_abort_msg("process %d is still there", pid);
}

static int pid_in(const char *file)
{
    int pid = 0;

    for (int i = 0; i < 500 && pid == 0; i++) {
        FILE *f = fopen(file, "r");

        if (f) {
            if (fscanf(f, "%d\n", &pid) != 1)
                pid = 0;
            fclose(f);
        }
        child_wait_ms(10);
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

START_TEST(what_it_started_dies_with_it)
{
    child_output h;

    child_shell("sleep 60 & echo $!", NULL, &h);
    must_be_gone(atoi(h.last));
    child_shell("setsid sh -c 'sleep 60 & echo $! >inner; wait' & "
                "while ! [ -s inner ]; do sleep 0.02; done; cat inner",
                NULL, &h);
    must_be_gone(atoi(h.last));
}
END_TEST

START_TEST(a_double_fork_does_not_escape)
{
    const mo_child_job job = { .hard_s = 1 };
    child_output h;
    mo_child_result result = child_shell(
        "(setsid sh -c 'setsid sleep 61 & echo $!' &) ; sleep 60", &job, &h);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert_int_gt(atoi(h.last), 1);
    must_be_gone(atoi(h.last));
}
END_TEST

START_TEST(no_file_stays_open_and_none_is_given_on)
{
    int before = open_files(), spare = dup2(STDIN_FILENO, 8);
    child_output h;

    for (int i = 0; i < 20; i++)
        child_shell("exit 0", NULL, NULL);
    child_shell("for fd in 3 4 5 6 7 8 9; do"
                "    [ ! -e /proc/self/fd/$fd ] || echo $fd;"
                "done",
                NULL, &h);
    ck_assert_msg(h.lines == 0, "open in the child: %s", h.last);
    close(spare);
    ck_assert_int_eq(open_files(), before);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* In a process of its own: runs a script that writes its pid into "pid" and
 * stays. */
static pid_t run_and_stay(const char *scratch)
{
    pid_t pid = fork();

    if (pid == 0) {
        const mo_child_job job = { .scratch = scratch };

        signal(SIGHUP, SIG_DFL); /* the tests may be run by nohup */
        child_shell("trap '' INT TERM HUP; (setsid sleep 62 & echo $! >far) ; "
                    "echo $$ >pid; sleep 60; sleep 60",
                    &job, NULL);
        _exit(0);
    }
    return pid;
}

static const int deaths[] = { SIGKILL, SIGUSR1, SIGHUP };

START_TEST(our_own_death_ends_it)
{
    pid_t us;
    int pid, far;

    ck_assert_int_eq(mkdir("scratch", 0700), 0);
    scratch_write("scratch/file", "x");
    us = run_and_stay("scratch");
    pid = pid_in("pid");
    far = pid_in("far");
    kill(us, deaths[_i]);
    waitpid(us, NULL, 0);
    must_be_gone(pid);
    must_be_gone(far);
    for (int i = 0; i < 100 && access("scratch", F_OK) == 0; i++)
        child_wait_ms(10);
    ck_assert_int_ne(access("scratch", F_OK), 0);
    unlink("pid");
    unlink("far");
}
END_TEST

/* Returns the parent of a process. */
static int parent_of(int pid)
{
    char path[64];
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
            parent = 0;
        fclose(file);
    }
    return parent;
}

START_TEST(the_supervisors_death_ends_it_and_us_not)
{
    pid_t us = run_and_stay(NULL);
    int pid = pid_in("pid"), far = pid_in("far"), status;

    kill(parent_of(pid), SIGKILL);
    ck_assert_int_eq(waitpid(us, &status, 0), us);
    ck_assert(WIFEXITED(status));
    must_be_gone(pid);
    kill(far,
         SIGKILL); /* the one process that no supervisor could have found */
    unlink("pid");
    unlink("far");
}
END_TEST

static void *shell_thread(void *result)
{
    static const mo_child_job job = { .hard_s = 20 };

    *(mo_child_result *) result =
        child_shell("echo a; sleep 0.1; exit 9", &job, NULL);
    return NULL;
}

START_TEST(threads_may_run_children_side_by_side)
{
    pthread_t threads[8];
    mo_child_result results[COUNT(threads)];

    for (int i = 0; i < COUNT(threads); i++)
        pthread_create(&threads[i], NULL, shell_thread, &results[i]);
    for (int i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(results[i].end, MO_CHILD_EXITED);
        ck_assert_int_eq(results[i].code, 9);
    }
}
END_TEST

static atomic_bool allocating;

/* Holds the allocator's locks almost all the time. */
static void *allocate(void *context)
{
    (void) context;
    for (size_t i = 0; allocating; i = (i + 97) % 5000) {
        void *volatile memory = malloc(i + 1);

        free(memory);
    }
    return NULL;
}

START_TEST(what_other_threads_hold_does_not_stop_it)
{
    const char *const more[] = { "MOIRAI_CHILD=9", NULL };
    const mo_child_job job = { .environment = more, .hard_s = 20 };
    pthread_t threads[3];

    allocating = true;
    for (int i = 0; i < COUNT(threads); i++)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < 60; i++) {
        mo_child_result result = child_shell("exit $MOIRAI_CHILD", &job, NULL);

        ck_assert_int_eq(result.end, MO_CHILD_EXITED);
        ck_assert_int_eq(result.code, 9);
    }
    allocating = false;
    for (int i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(a_supervisor_that_does_not_obey_is_killed)
{
    const mo_child_job job = { .hard_s = 0.2 };
    mo_child_result result =
        child_shell("kill -STOP $PPID; sleep 60", &job, NULL);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
}
END_TEST

SUITE(child_cleanup)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(what_it_started_dies_with_it);
    TEST(a_double_fork_does_not_escape);
    TEST(no_file_stays_open_and_none_is_given_on);
    EACH(our_own_death_ends_it, COUNT(deaths));
    TEST(the_supervisors_death_ends_it_and_us_not);
    TEST(threads_may_run_children_side_by_side);
    TEST(what_other_threads_hold_does_not_stop_it);
    TEST(a_supervisor_that_does_not_obey_is_killed);
}
