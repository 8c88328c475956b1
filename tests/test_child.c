#include <config.h>

#include "solvers/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/scratch.h"
#include "tests/suite.h"

/* ------------------------------------------------------------------ helpers */

typedef struct heard {
    int lines;
    size_t longest, bytes;
    char last[256];
} heard;

static void hear(void *listener, const char *text)
{
    heard *h = listener;
    size_t length = strlen(text);

    h->lines++;
    h->bytes += length;
    if (length > h->longest)
        h->longest = length;
    snprintf(h->last, sizeof h->last, "%s", text);
}

/* Runs a line of shell; job has what else is to be said, or is NULL. */
static mo_child_result shell(const char *script, const mo_child_job *more,
                             heard *h)
{
    const char *const argv[] = { "sh", "-c", script, NULL };
    mo_child_job job = { 0 };
    mo_child_result result;

    if (more)
        job = *more;
    job.argv = argv;
    if (h) {
        memset(h, 0, sizeof *h);
        job.line = hear;
        job.listener = h;
    }
    MUST(mo_child_run(&job, &result, &err));
    return result;
}

static int open_files(void)
{
    DIR *files = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(files))
        n++;
    closedir(files);
    return n;
}

static void wait_ms(int ms)
{
    const struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&pause, NULL);
}

/* The state of a process, 0 when it is gone. */
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

/* Within a second it is gone, or at most a zombie of somebody else's. */
static void must_be_gone(int pid)
{
    for (int i = 0; i < 100; i++) {
        char state = state_of(pid);

        if (state == 0 || state == 'Z' || state == 'X')
            return;
        wait_ms(10);
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
        wait_ms(10);
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

/* ------------------------------------------------------------ how one ends */

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
    mo_child_result result = shell(ends[_i].script, NULL, NULL);

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
    result = shell("exit 0", &job, NULL);
    ck_assert_int_eq(result.end, MO_CHILD_NOT_STARTED);
    ck_assert_int_eq(result.code, ENOENT);
}
END_TEST

START_TEST(environment_and_folder_are_its_own)
{
    const char *const environment[] = { "MO_TEST=a b", "HOME=/there", NULL };
    const mo_child_job job = { .environment = environment, .folder = "/" };
    heard h;

    shell("echo \"$MO_TEST:$HOME:$PWD\"", &job, &h);
    ck_assert_str_eq(h.last, "a b:/there:/");
    ck_assert_ptr_null(getenv("MO_TEST"));
}
END_TEST

/* ------------------------------------------------------------------- output */

START_TEST(output_comes_line_by_line)
{
    heard h;

    shell("echo one; echo two >&2; printf 'three\\r\\nfour'", NULL, &h);
    ck_assert_int_eq(h.lines, 4);
    ck_assert_str_eq(h.last, "four");
    ck_assert_uint_eq(h.bytes, strlen("onetwothreefour"));
}
END_TEST

START_TEST(much_output_is_drained)
{
    heard h;
    mo_child_result result =
        shell("yes 0123456789 | head -n 1000000; echo end", NULL, &h);

    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
    ck_assert_int_eq(h.lines, 1000001);
    ck_assert_str_eq(h.last, "end");

    result = shell("yes 0123456789 | head -n 1000000", NULL, NULL);
    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
}
END_TEST

START_TEST(a_line_without_end_is_cut)
{
    heard h;

    shell("head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end", NULL, &h);
    ck_assert_int_eq(h.lines, 2);
    ck_assert_uint_eq(h.longest, MO_CHILD_LINE);
    ck_assert_str_eq(h.last, "end");
}
END_TEST

/* ------------------------------------------------------------------- limits */

START_TEST(hard_limit_kills)
{
    const mo_child_job job = { .hard_s = 0.3 };
    mo_child_result result = shell("trap '' INT TERM; sleep 60", &job, NULL);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert_int_eq(result.code, SIGKILL);
    ck_assert(result.seconds >= 0.3 && result.seconds < 3);
}
END_TEST

START_TEST(soft_limit_lets_it_finish)
{
    const mo_child_job job = { .soft_s = 0.3, .hard_s = 20 };
    heard h;
    mo_child_result result = shell(
        "trap 'echo best; exit 7' INT; while :; do sleep 0.05; done", &job, &h);

    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
    ck_assert_int_eq(result.code, 7);
    ck_assert_str_eq(h.last, "best");
    ck_assert(result.seconds >= 0.3 && result.seconds < 5);
}
END_TEST

START_TEST(soft_limit_is_followed_by_the_grace)
{
    const mo_child_job job = { .soft_s = 0.2, .grace_s = 0.2 };
    mo_child_result result = shell("trap '' INT; sleep 60", &job, NULL);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert(result.seconds >= 0.4 && result.seconds < 3);
    result = shell("sleep 60", &job, NULL);
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
        return; /* sanitizers and valgrind have memory of their own */
    MUST(mo_child_run(&job, &result, &err));
    ck_assert_int_eq(result.code, 0);
    job.memory_bytes = (int64_t) 1 << 28;
    MUST(mo_child_run(&job, &result, &err));
    ck_assert_int_eq(result.end, MO_CHILD_EXITED);
    ck_assert_int_eq(result.code, 12);
}
END_TEST

/* ------------------------------------------------------------ being stopped */

static void *send_later(void *number)
{
    wait_ms(300);
    kill(getpid(), *(const int *) number);
    return NULL;
}

static mo_child_result shell_interrupted(const char *script, int number,
                                         heard *h)
{
    const mo_child_job job = { .grace_s = 0.3 };
    pthread_t sender;
    mo_child_result result;

    ck_assert_int_eq(pthread_create(&sender, NULL, send_later, &number), 0);
    result = shell(script, &job, h);
    pthread_join(sender, NULL);
    return result;
}

static const int stops[] = { SIGINT, SIGTERM };

START_TEST(our_interrupt_is_passed_on)
{
    heard h;
    mo_child_result result = shell_interrupted(
        "trap 'echo best; exit 7' INT; while :; do sleep 0.05; done", stops[_i],
        &h);

    ck_assert_int_eq(result.end, MO_CHILD_INTERRUPTED);
    ck_assert(!result.by_signal);
    ck_assert_int_eq(result.code, 7);
    ck_assert_str_eq(h.last, "best");
}
END_TEST

START_TEST(who_does_not_heed_it_is_killed)
{
    mo_child_result result =
        shell_interrupted("trap '' INT TERM; sleep 60", stops[_i], NULL);

    ck_assert_int_eq(result.end, MO_CHILD_INTERRUPTED);
    ck_assert(result.by_signal);
    ck_assert_int_eq(result.code, SIGKILL);
    ck_assert(result.seconds < 5);
}
END_TEST

/* ----------------------------------------------------- nothing is left alive
 */

START_TEST(what_it_started_dies_with_it)
{
    heard h;

    shell("sleep 60 & echo $!", NULL, &h);
    must_be_gone(atoi(h.last));
    shell("setsid sh -c 'sleep 60 & echo $! >inner; wait' & "
          "while ! [ -s inner ]; do sleep 0.02; done; cat inner",
          NULL, &h);
    must_be_gone(atoi(h.last));
}
END_TEST

START_TEST(a_double_fork_does_not_escape)
{
    const mo_child_job job = { .hard_s = 1 };
    heard h;
    mo_child_result result = shell(
        "(setsid sh -c 'setsid sleep 61 & echo $!' &) ; sleep 60", &job, &h);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert_int_gt(atoi(h.last), 1);
    must_be_gone(atoi(h.last));
}
END_TEST

START_TEST(no_file_stays_open_and_none_is_given_on)
{
    int before = open_files(), spare = dup2(STDIN_FILENO, 8);
    heard h;

    for (int i = 0; i < 20; i++)
        shell("exit 0", NULL, NULL);
    shell("for fd in 3 4 5 6 7 8 9; do"
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

/* In a process of its own: runs what writes its pid into "pid" and stays. */
static pid_t run_and_stay(const char *scratch)
{
    pid_t pid = fork();

    if (pid == 0) {
        const mo_child_job job = { .scratch = scratch };

        signal(SIGHUP, SIG_DFL); /* the tests may be run by nohup */
        shell("trap '' INT TERM HUP; (setsid sleep 62 & echo $! >far) ; "
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
        wait_ms(10);
    ck_assert_int_ne(access("scratch", F_OK), 0);
    unlink("pid");
    unlink("far");
}
END_TEST

/* The parent of a process. */
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

START_TEST(the_keepers_death_ends_it_and_us_not)
{
    pid_t us = run_and_stay(NULL);
    int pid = pid_in("pid"), far = pid_in("far"), status;

    kill(parent_of(pid), SIGKILL);
    ck_assert_int_eq(waitpid(us, &status, 0), us);
    ck_assert(WIFEXITED(status));
    must_be_gone(pid);
    kill(far, SIGKILL); /* the one thing nobody could have found */
    unlink("pid");
    unlink("far");
}
END_TEST

static void *shell_thread(void *result)
{
    static const mo_child_job job = { .hard_s = 20 };

    *(mo_child_result *) result =
        shell("echo a; sleep 0.1; exit 9", &job, NULL);
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

/* Holds the allocator's locks, one after the other, nearly always. */
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
        mo_child_result result = shell("exit $MOIRAI_CHILD", &job, NULL);

        ck_assert_int_eq(result.end, MO_CHILD_EXITED);
        ck_assert_int_eq(result.code, 9);
    }
    allocating = false;
    for (int i = 0; i < COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(a_keeper_that_does_not_obey_is_given_up)
{
    const mo_child_job job = { .hard_s = 0.2 };
    mo_child_result result = shell("kill -STOP $PPID; sleep 60", &job, NULL);

    ck_assert_int_eq(result.end, MO_CHILD_TIMEOUT);
    ck_assert_int_lt((int) result.seconds, 30);
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
    heard h = { 0 };
    const mo_child_job job = {
        .body = print_and_fail, .context = text, .line = hear, .listener = &h
    };
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
    EACH(who_does_not_heed_it_is_killed, COUNT(stops));
    TEST(what_it_started_dies_with_it);
    TEST(a_double_fork_does_not_escape);
    TEST(no_file_stays_open_and_none_is_given_on);
    EACH(our_own_death_ends_it, COUNT(deaths));
    TEST(the_keepers_death_ends_it_and_us_not);
    TEST(threads_may_run_children_side_by_side);
    TEST(what_other_threads_hold_does_not_stop_it);
    TEST(a_keeper_that_does_not_obey_is_given_up);
    TEST(a_function_runs_like_a_command);
}
