/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "solvers/process/spawn.h"
#include "solvers/process/proc_entries.h"
#include "solvers/process/workdir.h"

/* Descriptors of the supervisor; above the standard ones. */
enum { LEASH = 3, CHILDREN, N_FILES };

/* Time for killed processes to disappear. */
enum { MAX_ROUNDS = 2000, ROUND_NS = 1000000 };

/* ------------------------------------------------------------------- setup */

/* Descriptors of other runs must not be held open: their end of file
 * matters. */
static void close_other(int fd, void *context)
{
    (void) context;
    if (fd > LEASH)
        close(fd);
}

/* Moved up first, as any of them may have any number. */
static void arrange_files(int leash, int output)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    leash = fcntl(leash, F_DUPFD_CLOEXEC, N_FILES);
    output = fcntl(output, F_DUPFD_CLOEXEC, N_FILES);
    nothing = fcntl(nothing, F_DUPFD_CLOEXEC, N_FILES);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    dup3(leash, LEASH, O_CLOEXEC);
    mo_proc_entries_each("/proc/self/fd", close_other, NULL);
}

/* Of signals only SIGCHLD matters, as a descriptor. */
static int watch_children(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void tell(mo_supervisor_event event, int value)
{
    const mo_supervisor_message news = { event, value };

    /* If the parent is gone, the control socket is closed. */
    if (send(LEASH, &news, sizeof news, MSG_NOSIGNAL) < 0)
        return;
}

/* ------------------------------------------------------------- killing all */

/* Parent of a process: the field after the state, which follows the name in
 * parentheses, which may contain anything. */
static pid_t parent_of(int pid)
{
    char path[64], text[512];
    const char *name_end;
    ssize_t length;
    int file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    name_end = strrchr(text, ')');
    return name_end && strlen(name_end) > 4 ? atoi(name_end + 4) : -1;
}

/* Processes that left their group, and whose parents ended, are our children
 * by now (PR_SET_CHILD_SUBREAPER). */
static void kill_adopted(int pid, void *context)
{
    (void) context;
    if (parent_of(pid) == getpid())
        kill(pid, SIGKILL);
}

/* Kills all that the command started. The command is not reaped before that,
 * so that its process group id stays valid. */
static int leave_none(pid_t command)
{
    const struct timespec pause = { 0, ROUND_NS };
    int status = 0;

    kill(-command, SIGKILL);
    kill(command, SIGKILL);
    while (waitpid(command, &status, 0) < 0 && errno == EINTR)
        continue;
    for (int i = 0; i < MAX_ROUNDS; i++) {
        pid_t gone = waitpid(-1, NULL, WNOHANG);

        if (gone < 0)
            break;
        if (gone == 0) {
            mo_proc_entries_each("/proc", kill_adopted, NULL);
            nanosleep(&pause, NULL);
        }
    }
    return status;
}

/* --------------------------------------------------------------- main loop */

/* Returns whether the command has ended; reaps all other children. */
static bool has_ended(pid_t command)
{
    struct signalfd_siginfo drained;
    siginfo_t ended;

    while (read(CHILDREN, &drained, sizeof drained) > 0)
        continue;
    for (;;) {
        ended.si_pid = 0;
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            ended.si_pid == 0)
            return false;
        if (ended.si_pid == command)
            return true;
        waitpid(ended.si_pid, NULL, 0);
    }
}

/* Returns false when the other end is closed. */
static bool pass_on(pid_t command)
{
    int number;
    ssize_t got = recv(LEASH, &number, sizeof number, 0);

    if (got == (ssize_t) sizeof number)
        kill(-command, number);
    return got > 0 || (got < 0 && errno == EINTR);
}

/* Returns false when the parent is gone. */
static bool watch(pid_t command)
{
    struct pollfd files[] = { { .fd = LEASH, .events = POLLIN },
                              { .fd = CHILDREN, .events = POLLIN } };

    for (;;) {
        if (poll(files, 2, -1) < 0)
            continue;
        if (files[0].revents && !pass_on(command))
            return false;
        if (files[1].revents && has_ended(command))
            return true;
    }
}

_Noreturn void mo_supervisor_run(const mo_child_job *job,
                                 char *const *environment, int leash,
                                 int output)
{
    pid_t command;
    int failure = 0, status;
    bool accompanied;

    setsid();
    prctl(PR_SET_NAME, "moirai-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    arrange_files(leash, output);
    if (watch_children() != CHILDREN) {
        tell(MO_SUPERVISOR_FAILED, errno);
        _exit(EXIT_FAILURE);
    }
    command = mo_spawn_child(job, environment, &failure);
    if (command < 0) {
        tell(MO_SUPERVISOR_FAILED, failure);
        _exit(EXIT_FAILURE);
    }
    tell(MO_SUPERVISOR_STARTED, command);
    accompanied = watch(command);
    status = leave_none(command);
    if (accompanied)
        tell(MO_SUPERVISOR_ENDED, status);
    else if (job->scratch)
        mo_workdir_remove(job->scratch);
    _exit(EXIT_SUCCESS);
}
