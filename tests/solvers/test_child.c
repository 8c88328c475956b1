/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of solvers/process/child.h: how children end, their output, and their
 * limits. */
#include <config.h>

#include "solvers/process/child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/solvers/child_case.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const struct {
    const char *script;
    mo_child_end end;
    int code;
} ends[] = {
    { "exit 0", MO_CHILD_EXITED, 0 },
    { "exit 3", MO_CHILD_EXITED, 3 },
    { "kill -SEGV $$", MO_CHILD_KILLED, SIGSEGV },
    { "kill -ABRT $$", MO_CHILD_KILLED, SIGABRT },
    { "kill -KILL $$", MO_CHILD_KILLED, SIGKILL },
    { "exec 1>&- 2>&-; exit 4", MO_CHILD_EXITED, 4 },
    { "read line && exit 5; exit 6", MO_CHILD_EXITED, 6 },
};

START_TEST(how_it_ended_is_told)
{
    mo_child_result result = child_shell(ends[_i].script, NULL, NULL);

    ck_assert_int_eq(result.end, ends[_i].end);
    ck_assert_int_eq(result.code, ends[_i].code);
}
END_TEST

START_TEST(what_cannot_be_started_is_a_result)
{
    const char *const argv[] = { "there-is-no-such-program", NULL };
    mo_child_job job = { .argv = argv };
    mo_child_result result;

    MUST(mo_child_run(&job, &result, &err));
    ck_assert_int_eq(result.end, MO_CHILD_NOT_STARTED);
    ck_assert_int_eq(result.code, ENOENT);

    job.folder = "there-is-no-such-folder";
    result = child_shell("exit 0", &job, NULL);
    ck_assert_int_eq(result.end, MO_CHILD_NOT_STARTED);
    ck_assert_int_eq(result.code, ENOENT);
}
END_TEST

START_TEST(environment_and_folder_are_its_own)
{
    const char *const environment[] = { "MO_TEST=a b", "HOME=/there", NULL };
    const mo_child_job job = { .environment = environment, .folder = "/" };
    child_output h;

    child_shell("echo \"$MO_TEST:$HOME:$PWD\"", &job, &h);
    ck_assert_str_eq(h.last, "a b:/there:/");
    ck_assert_ptr_null(getenv("MO_TEST"));
}
END_TEST

START_TEST(output_comes_line_by_line)
{
    child_output h;

    child_shell("echo one; echo two >&2; printf 'three\\r\\nfour'", NULL, &h);
    ck_assert_int_eq(h.lines, 4);
    ck_assert_str_eq(h.last, "four");
    ck_assert_uint_eq(h.bytes, strlen("onetwothreefour"));
}
END_TEST

START_TEST(much_output_is_drained)
{
    child_output h;
    mo_child_result result =
        child_shell("yes 0123456789 | head -n 1000000; echo end", NULL, &h);

    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
    ck_assert_int_eq(h.lines, 1000001);
    ck_assert_str_eq(h.last, "end");

    result = child_shell("yes 0123456789 | head -n 1000000", NULL, NULL);
    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
}
END_TEST

START_TEST(a_line_without_end_is_cut)
{
    child_output h;

    child_shell("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end", NULL,
                &h);
    ck_assert_int_eq(h.lines, 2);
    ck_assert_uint_eq(h.longest, MO_CHILD_LINE);
    ck_assert_str_eq(h.last, "end");
}
END_TEST

START_TEST(hard_limit_kills)
{
    const mo_child_job job = { .hard_s = 0.3 };
    mo_child_result result =
        child_shell("trap '' INT TERM; sleep 60", &job, NULL);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert_int_eq(result.code, SIGKILL);
    ck_assert(result.seconds >= 0.3);
}
END_TEST

START_TEST(soft_limit_lets_it_finish)
{
    const mo_child_job job = { .soft_s = 0.3, .hard_s = 20 };
    child_output h;
    mo_child_result result = child_shell(
        "trap 'echo best; exit 7' INT; while :; do sleep 0.05; done", &job, &h);

    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
    ck_assert_int_eq(result.code, 7);
    ck_assert_str_eq(h.last, "best");
    ck_assert(result.seconds >= 0.3);
}
END_TEST

START_TEST(soft_limit_is_followed_by_the_grace)
{
    const mo_child_job job = { .soft_s = 0.2, .grace_s = 0.2 };
    mo_child_result result = child_shell("trap '' INT; sleep 60", &job, NULL);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert(result.seconds >= 0.4);
    result = child_shell("sleep 60", &job, NULL);
    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert_int_eq(result.code, SIGINT);
}
END_TEST

static int take_memory(void *context)
{
    size_t size = *(const size_t *) context;
    char *block = malloc(size);

    if (!block)
        return 12;
    memset(block, 1, size);
    free(block);
    return 0;
}

START_TEST(memory_beyond_the_limit_is_refused)
{
    size_t size = (size_t) 1 << 29;
    mo_child_job job = { .body = take_memory, .context = &size };
    mo_child_result result;

    if (is_watched())
        return; /* sanitizers and valgrind use memory of their own */
    MUST(mo_child_run(&job, &result, &err));
    ck_assert_int_eq(result.code, 0);
    job.memory_bytes = (int64_t) 1 << 28;
    MUST(mo_child_run(&job, &result, &err));
    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
    ck_assert_int_eq(result.code, 12);
}
END_TEST

static void *send_later(void *number)
{
    child_wait_ms(300);
    kill(getpid(), *(const int *) number);
    return NULL;
}

static volatile sig_atomic_t received;

static void host_handler(int number)
{
    received = number;
}

/* The handler that this process had is called as well. */
static mo_child_result shell_interrupted(const char *script, int number,
                                         child_output *h)
{
    const mo_child_job job = { .grace_s = 0.3 };
    void (*before)(int) = signal(number, host_handler);
    pthread_t sender;
    mo_child_result result;

    received = 0;
    ck_assert_int_eq(pthread_create(&sender, NULL, send_later, &number), 0);
    result = child_shell(script, &job, h);
    pthread_join(sender, NULL);
    signal(number, before);
    ck_assert_int_eq(received, number);
    return result;
}

static const int stops[] = { SIGINT, SIGTERM };

START_TEST(our_interrupt_is_passed_on)
{
    child_output h;
    mo_child_result result = shell_interrupted(
        "trap 'echo best; exit 7' INT; while :; do sleep 0.05; done", stops[_i],
        &h);

    ck_assert_int_eq(result.end, MO_CHILD_INTERRUPTED);
    ck_assert(!result.by_signal);
    ck_assert_int_eq(result.code, 7);
    ck_assert_str_eq(h.last, "best");
}
END_TEST

START_TEST(a_child_that_ignores_it_is_killed)
{
    mo_child_result result =
        shell_interrupted("trap '' INT TERM; sleep 60", stops[_i], NULL);

    ck_assert_int_eq(result.end, MO_CHILD_INTERRUPTED);
    ck_assert(result.by_signal);
    ck_assert_int_eq(result.code, SIGKILL);
}
END_TEST

static int print_and_fail(void *context)
{
    printf("%s\n", (const char *) context);
    return 11;
}

START_TEST(a_function_runs_like_a_command)
{
    char text[] = "from the body";
    child_output h = { 0 };
    const mo_child_job job = { .body = print_and_fail,
                               .context = text,
                               .line = child_collect,
                               .listener = &h };
    mo_child_result result;

    MUST(mo_child_run(&job, &result, &err));
    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
    ck_assert_int_eq(result.code, 11);
    ck_assert_str_eq(h.last, text);
    ck_assert_int_eq(h.lines, 1);
}
END_TEST

SUITE(child)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(how_it_ended_is_told, COUNT(ends));
    TEST(what_cannot_be_started_is_a_result);
    TEST(environment_and_folder_are_its_own);
    TEST(output_comes_line_by_line);
    TEST(much_output_is_drained);
    TEST(a_line_without_end_is_cut);
    TEST(hard_limit_kills);
    TEST(soft_limit_lets_it_finish);
    TEST(soft_limit_is_followed_by_the_grace);
    TEST(memory_beyond_the_limit_is_refused);
    EACH(our_interrupt_is_passed_on, COUNT(stops));
    EACH(a_child_that_ignores_it_is_killed, COUNT(stops));
    TEST(a_function_runs_like_a_command);
}
