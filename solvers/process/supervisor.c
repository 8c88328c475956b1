/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of this runs in a process forked from one with several threads, any of
 * which may have held a lock: up to the exec nothing here allocates.
 */
#include <config.h>

#include "solvers/process/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "solvers/process/workdir.h"

enum { FIRST_FILE = 3, N_SUPERVISOR_FILES = 2, EXIT_NOT_STARTED = 127 };

/* Descriptors of the supervisor; above the standard ones. */
enum { CONTROL = 3, CHILDREN, N_FILES };

/* Time for killed processes to disappear. */
enum { MAX_ROUNDS = 2000, ROUND_NS = 1000000 };

static int open_again(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Calls visit for every numeric entry of a folder of /proc: processes, open
 * files.  visit may close the descriptor it gets; that of the folder itself is
 * left out.  Does nothing where there is no such folder. */
static void each_proc_entry(const char *folder,
                            void (*visit)(int number, void *context),
                            void *context)
{
    _Alignas(struct dirent64) char entries[4096];
    int fd = open_again(folder, O_RDONLY | O_DIRECTORY);
    ssize_t got;

    if (fd < 0)
        return;
    while ((got = getdents64(fd, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *) (entries + at);
            int number = atoi(entry->d_name);

            if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
                number != fd)
                visit(number, context);
            at += entry->d_reclen;
        }
    close(fd);
}

/* Line-buffered output, as the lines are read at once. */
_Noreturn static void run_body(const mo_child_job *job,
                               char *const *environment, int failures)
{
    int code;

    environ = (char **) (uintptr_t) environment;
    for (int fd = FIRST_FILE; fd < FIRST_FILE + N_SUPERVISOR_FILES; fd++)
        close(fd);
    close(failures);
    setvbuf(stdout, NULL, _IOLBF, 0);
    code = job->body(job->context);
    (void) fflush(stdout);
    _exit(code);
}

_Noreturn static void exec_command(const mo_child_job *job,
                                   char *const *environment, pid_t supervisor,
                                   int failures)
{
    struct sigaction by_default;
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(EXIT_NOT_STARTED);
    by_default = (struct sigaction){ .sa_flags = 0 };
    by_default.sa_handler = SIG_DFL;
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &by_default, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* RLIMIT_DATA does not count reserved memory (the arenas of threads), as
     * RLIMIT_AS would. */
    const struct rlimit limit = { (rlim_t) job->memory_bytes,
                                  (rlim_t) job->memory_bytes };

    if ((job->memory_bytes == 0 || setrlimit(RLIMIT_DATA, &limit) == 0) &&
        (!job->folder || chdir(job->folder) == 0)) {
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

/* Starts the command in a process group of its own, with the standard
 * files of this process, no others, and default signal handling.  It dies with
 * its parent.  Returns -1 with *failure set to errno when it cannot be started.
 * Only for a single-threaded process. */
static pid_t spawn_child(const mo_child_job *job, char *const *environment,
                         int *failure)
{
    pid_t supervisor = getpid(), command;
    int failures[2];

    if (pipe2(failures, O_CLOEXEC) != 0) {
        *failure = errno;
        return -1;
    }
    command = fork();
    if (command == 0)
        exec_command(job, environment, supervisor, failures[1]);
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

/* Descriptors of other runs must not be held open: their end of file
 * matters. */
static void close_other(int fd, void *context)
{
    (void) context;
    if (fd > CONTROL)
        close(fd);
}

/* Standard files of the command, and SIGCHLD, the only signal that matters, as
 * a descriptor; all others are closed. Returns false with errno set. */
static bool arrange_files(int output)
{
    int nothing = open_again("/dev/null", O_RDWR), children;
    sigset_t set;

    if (nothing < 0 ||
        (nothing = fcntl(nothing, F_DUPFD_CLOEXEC, N_FILES)) < 0 ||
        dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0)
        return false;
    each_proc_entry("/proc/self/fd", close_other, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return children == CHILDREN ||
           (children >= 0 && dup3(children, CHILDREN, O_CLOEXEC) >= 0);
}

static void send_event(mo_supervisor_event event, int value)
{
    const mo_supervisor_message message = { event, value };

    /* If the parent is gone, the control socket is closed. */
    if (send(CONTROL, &message, sizeof message, MSG_NOSIGNAL) < 0)
        return;
}

/* Parent of a process: the field after the state, which follows the name in
 * parentheses, which may contain anything. */
static pid_t parent_of(int pid)
{
    char path[64], text[512];
    const char *name_end;
    ssize_t length;
    int file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = open_again(path, O_RDONLY);
    if (file < 0)
        return -1;
    length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    name_end = strrchr(text, ')');
    return name_end && strlen(name_end) > 4 ? atoi(name_end + 4) : -1;
}

/* Processes that left their group, and whose parents ended, are this
 * process's children by now (PR_SET_CHILD_SUBREAPER). */
static void kill_adopted(int pid, void *context)
{
    (void) context;
    if (parent_of(pid) == getpid())
        kill(pid, SIGKILL);
}

/* Returns whether the command has ended, or cannot be waited for; reaps all
 * other children. */
static bool has_ended(pid_t command)
{
    struct signalfd_siginfo drained;
    siginfo_t ended;

    while (read(CHILDREN, &drained, sizeof drained) > 0)
        continue;
    for (;;) {
        int failed;

        ended.si_pid = 0;
        do
            failed = waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT);
        while (failed && errno == EINTR);
        if (!failed && ended.si_pid == 0)
            return false;
        if (failed || ended.si_pid == command)
            return true;
        waitpid(ended.si_pid, NULL, 0);
    }
}

/* Returns false when the other end is closed. */
static bool forward_signal(pid_t command)
{
    int number;
    ssize_t got = recv(CONTROL, &number, sizeof number, 0);

    if (got == (ssize_t) sizeof number)
        kill(-command, number);
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Returns false when the parent is gone, or cannot be waited for. */
static bool run_loop(pid_t command)
{
    struct pollfd files[] = { { .fd = CONTROL, .events = POLLIN },
                              { .fd = CHILDREN, .events = POLLIN } };

    for (;;) {
        if (poll(files, 2, -1) < 0) {
            if (errno != EINTR)
                return false;
            continue;
        }
        if (files[0].revents && !forward_signal(command))
            return false;
        if (files[1].revents && has_ended(command))
            return true;
    }
}

_Noreturn void mo_supervisor_run(const mo_child_job *job,
                                 char *const *environment, int control,
                                 int output)
{
    pid_t command;
    int failure = 0, status;
    bool accompanied;

    setsid();
    prctl(PR_SET_NAME, "moirai-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    /* Moved up first, as any of them may have any number. The process ends
     * when the control socket cannot be moved: the parent gets end of file. */
    control = fcntl(control, F_DUPFD_CLOEXEC, N_FILES);
    output = fcntl(output, F_DUPFD_CLOEXEC, N_FILES);
    if (output < 0 || dup3(control, CONTROL, O_CLOEXEC) < 0)
        _exit(EXIT_FAILURE);
    if (!arrange_files(output)) {
        send_event(MO_SUPERVISOR_FAILED, errno);
        _exit(EXIT_FAILURE);
    }
    command = spawn_child(job, environment, &failure);
    if (command < 0) {
        send_event(MO_SUPERVISOR_FAILED, failure);
        _exit(EXIT_FAILURE);
    }
    send_event(MO_SUPERVISOR_STARTED, command);
    accompanied = run_loop(command);
    /* Kills all that the command started. The command is not reaped before
     * that, so that its process group id stays valid. */
    const struct timespec pause = { 0, ROUND_NS };

    status = 0;
    kill(-command, SIGKILL);
    kill(command, SIGKILL);
    while (waitpid(command, &status, 0) < 0)
        if (errno != EINTR) {
            status = SIGKILL; /* not known, and no success */
            break;
        }
    for (int i = 0; i < MAX_ROUNDS; i++) {
        pid_t gone = waitpid(-1, NULL, WNOHANG);

        if (gone < 0)
            break;
        if (gone == 0) {
            each_proc_entry("/proc", kill_adopted, NULL);
            nanosleep(&pause, NULL);
        }
    }
    if (accompanied)
        send_event(MO_SUPERVISOR_ENDED, status);
    else if (job->scratch)
        mo_workdir_remove(job->scratch);
    _exit(EXIT_SUCCESS);
}
