/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_FILE = 3, N_KEEPERS_FILES = 2, EXIT_NOT_STARTED = 127 };

/* ------------------------------------------------------------- environment */

static size_t count(char *const *settings)
{
    size_t n = 0;

    while (settings && settings[n])
        n++;
    return n;
}

static bool same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");

    return strcspn(b, "=") == length && memcmp(a, b, length) == 0;
}

static void put(char **settings, size_t *n, const char *setting)
{
    size_t i = 0;

    while (i < *n && !same_name(settings[i], setting))
        i++;
    /* exec takes no const, and changes nothing. */
    settings[i] = (char *) (uintptr_t) setting;
    *n += i == *n;
}

char **mo_spawn_environment(const mo_child_job *job)
{
    char *const *more = (char *const *) (uintptr_t) job->environment;
    size_t n = count(environ), n_more = count(more);
    char **settings = calloc(n + n_more + 1, sizeof *settings);

    if (!settings)
        return NULL;
    if (n > 0)
        memcpy(settings, environ, n * sizeof *settings);
    for (size_t i = 0; i < n_more; i++)
        put(settings, &n, more[i]);
    return settings;
}

/* ----------------------------------------------------------- fork and exec */

static void signals_as_by_default(void)
{
    struct sigaction by_default = { .sa_flags = 0 };
    sigset_t none;

    by_default.sa_handler = SIG_DFL;
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &by_default, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* RLIMIT_DATA does not count reserved memory (the arenas of threads), as
 * RLIMIT_AS would. */
static bool limit_memory(int64_t bytes)
{
    const struct rlimit limit = { (rlim_t) bytes, (rlim_t) bytes };

    return bytes == 0 || setrlimit(RLIMIT_DATA, &limit) == 0;
}

static bool prepare(const mo_child_job *job, pid_t keeper)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(EXIT_NOT_STARTED);
    signals_as_by_default();
    return limit_memory(job->memory_bytes) &&
           (!job->folder || chdir(job->folder) == 0);
}

/* Line-buffered output, as the lines are read at once. */
_Noreturn static void run_body(const mo_child_job *job,
                               char *const *environment, int failures)
{
    int code;

    environ = (char **) (uintptr_t) environment;
    for (int fd = FIRST_FILE; fd < FIRST_FILE + N_KEEPERS_FILES; fd++)
        close(fd);
    close(failures);
    setvbuf(stdout, NULL, _IOLBF, 0);
    code = job->body(job->context);
    fflush(stdout);
    _exit(code);
}

_Noreturn static void become(const mo_child_job *job, char *const *environment,
                             pid_t keeper, int failures)
{
    if (prepare(job, keeper)) {
        if (job->body)
            run_body(job, environment, failures);
        /* exec takes no const, and changes nothing. */
        execvpe(job->argv[0], (char *const *) (uintptr_t) job->argv,
                environment);
    }
    if (write(failures, &errno, sizeof errno) < 0)
        _exit(EXIT_NOT_STARTED);
    _exit(EXIT_NOT_STARTED);
}

/* The pipe closes without data when exec succeeds. */
static int read_failure(int failures)
{
    int failure = 0;
    ssize_t got;

    do
        got = read(failures, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t) sizeof failure ? failure : 0;
}

pid_t mo_spawn_child(const mo_child_job *job, char *const *environment,
                     int *failure)
{
    pid_t keeper = getpid(), command;
    int failures[2];

    if (pipe2(failures, O_CLOEXEC) != 0) {
        *failure = errno;
        return -1;
    }
    command = fork();
    if (command == 0)
        become(job, environment, keeper, failures[1]);
    *failure = command < 0 ? errno : 0;
    close(failures[1]);
    if (command > 0) {
        setpgid(command, command);
        *failure = read_failure(failures[0]);
    }
    close(failures[0]);
    if (*failure == 0)
        return command;
    if (command > 0)
        waitpid(command, NULL, 0);
    return -1;
}
