/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch COMMAND... TEST - runs a test of make check.
 *
 * All signals have their default action and none is blocked, whatever the shell
 * that started make ignores: nohup, and & without job control.
 *
 * A test that takes longer than TEST_LIMIT seconds (900; 0: no limit) is ended
 * with its process group, and fails.  Signals that end this program are passed
 * on to that group.
 *
 * If TEST_TIMES is set, a line is added to that file: the processor time in
 * seconds of all processes that were waited for (user, system), the time that
 * passed, and the test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_LIMIT_S = 900, GRACE_S = 10, TOO_LATE = 124, NO_COMMAND = 127 };

static volatile sig_atomic_t test, is_late;

/* A second alarm, or a second signal, kills. */
static void end_test(int signal)
{
    static volatile sig_atomic_t ended;
    int number = ended ? SIGKILL : signal == SIGALRM ? SIGTERM : signal;
    int before = errno;

    if (signal == SIGALRM)
        is_late = 1;
    ended = 1;
    if (test > 0) {
        kill(-test, number);
        /* A stopped process ends when it continues. */
        kill(-test, SIGCONT);
    }
    alarm(GRACE_S);
    errno = before;
}

static void reset_signals(void)
{
    struct sigaction action = { .sa_handler = SIG_DFL };
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        sigaction(i, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void pass_signals_on(void)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM };
    struct sigaction action = { .sa_handler = end_test,
                                .sa_flags = SA_RESTART };

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* Both sides make the group: whichever comes first. */
static pid_t start(char **command)
{
    pid_t child = fork();

    if (child > 0)
        setpgid(child, child);
    if (child != 0)
        return child;
    setpgid(0, 0);
    reset_signals();
    execvp(command[0], command);
    fprintf(stderr, "launch: %s: %s\n", command[0], strerror(errno));
    _exit(NO_COMMAND);
}

static double seconds(struct timeval time)
{
    return (double) time.tv_sec + (double) time.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

/* One write: other tests add their lines at the same time. */
static void add_times(const char *path, const struct rusage *used,
                      double passed, const char *name)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

    if (fd < 0)
        return;
    dprintf(fd, "%.3f %.3f %.1f %s\n", seconds(used->ru_utime),
            seconds(used->ru_stime), passed, name);
    close(fd);
}

int main(int argc, char **argv)
{
    const char *told = getenv("TEST_LIMIT"), *times = getenv("TEST_TIMES");
    long limit = told && *told ? strtol(told, NULL, 10) : DEFAULT_LIMIT_S;
    double begin = now();
    struct rusage used;
    int status = 0;

    if (argc < 2) {
        fputs("Usage: launch COMMAND...\n", stderr);
        return NO_COMMAND;
    }
    reset_signals();
    pass_signals_on();
    test = start(argv + 1);
    if (test < 0) {
        perror("launch");
        return NO_COMMAND;
    }
    alarm(limit > 0 ? (unsigned) limit : 0);
    while (waitpid(test, &status, 0) < 0 && errno == EINTR)
        ;
    alarm(0);
    if (times && getrusage(RUSAGE_CHILDREN, &used) == 0)
        add_times(times, &used, now() - begin, argv[argc - 1]);
    if (is_late) {
        fprintf(stderr, "%s: ended after %ld s, see TEST_LIMIT\n",
                argv[argc - 1], limit);
        return TOO_LATE;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
