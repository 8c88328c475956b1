/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "solvers/process/spawn.h"
#include "solvers/process/interrupt.h"
#include "solvers/process/supervisor.h"
#include "solvers/process/line_splitter.h"

static const double default_grace_s = 5;

/* Time for the supervisor to kill the command. */
static const double keepers_grace_s = 5;

typedef struct running {
    const mo_child_job *job;
    int64_t begun_ns;
    pid_t keeper, command; /* command is 0 until it is known */
    int leash, output, interrupt;
    mo_line_splitter lines;

    double kill_s;   /* when to kill it; INFINITY: not set */
    double lost_s;   /* when to kill the supervisor, too; INFINITY: not set */
    bool soft, hard; /* the signal of the soft or hard limit was sent */
    int interrupts;
    bool ended;
    int failure, status; /* errno, or as waitpid() returns it */
} running;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static double elapsed_s(const running *r)
{
    return (double) (now_ns() - r->begun_ns) / 1e9;
}

/* ---------------------------------------------------------------- starting */

/* Signals are blocked, so that none reaches the new process with our handlers
 * installed. */
static mo_status start_keeper(running *r, int leash, int output, mo_error *err)
{
    char **environment = mo_spawn_environment(r->job);
    sigset_t all, before;

    if (!environment)
        return mo_fail(err, MO_E_MEMORY, "out of memory");

    fflush(stdout);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->keeper = fork();
    if (r->keeper == 0)
        mo_supervisor_run(r->job, environment, leash, output);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(environment);
    return r->keeper < 0 ? mo_fail_errno(err, "", "cannot start a process")
                         : MO_OK;
}

static void close_both(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static mo_status start(running *r, mo_error *err)
{
    int leash[2], output[2];
    mo_status status;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, leash) != 0)
        return mo_fail_errno(err, "", "cannot make a socket");
    if (pipe2(output, O_CLOEXEC) != 0) {
        status = mo_fail_errno(err, "", "cannot make a pipe");
        close_both(leash);
        return status;
    }
    r->begun_ns = now_ns();
    status = start_keeper(r, leash[1], output[1], err);
    if (status != MO_OK) {
        close_both(leash);
        close_both(output);
        return status;
    }
    close(leash[1]);
    close(output[1]);
    r->leash = leash[0];
    r->output = output[0];
    fcntl(r->output, F_SETFL, O_NONBLOCK);
    return MO_OK;
}

/* ------------------------------------------------------------------ limits */

static void send_signal(running *r, int number)
{
    /* A supervisor that is gone is noticed by reading. */
    if (send(r->leash, &number, sizeof number, MSG_NOSIGNAL) < 0)
        return;
}

static double grace_s(const mo_child_job *job)
{
    return job->grace_s > 0 ? job->grace_s : default_grace_s;
}

static void interrupt_it(running *r)
{
    send_signal(r, SIGINT);
    r->kill_s = fmin(r->kill_s, elapsed_s(r) + grace_s(r->job));
}

/* Whole milliseconds, for poll(); -1: forever. */
static int until(double now, double next)
{
    return next < INT32_MAX / 1000 ? (int) ceil(fmax(next - now, 0) * 1000)
                                   : -1;
}

/* Sends due signals, and returns the time to the next one, for poll(). A
 * supervisor that does not react is killed, and its command with it. */
static int keep_limits(running *r)
{
    double now = elapsed_s(r), next = r->kill_s;

    if (!r->hard && now >= r->kill_s) {
        r->hard = true;
        r->lost_s = now + keepers_grace_s;
        send_signal(r, SIGKILL);
    }
    if (now >= r->lost_s) {
        r->lost_s = INFINITY;
        kill(r->keeper, SIGKILL);
    }
    if (!r->soft && r->job->soft_s > 0 && now >= r->job->soft_s) {
        r->soft = true;
        interrupt_it(r);
        next = r->kill_s;
    }
    if (r->hard)
        return until(now, r->lost_s);
    if (!r->soft && r->job->soft_s > 0)
        next = fmin(next, r->job->soft_s);
    return until(now, next);
}

/* The first interrupt is passed on; the second one kills. */
static void hear_interrupts(running *r)
{
    char byte;

    while (read(r->interrupt, &byte, 1) == 1)
        if (r->interrupts++ == 0)
            interrupt_it(r);
        else
            r->kill_s = 0;
}

/* ------------------------------------------------------------------ output */

/* Returns false when nothing is left for now. */
static bool hear_output(running *r)
{
    char data[16384];
    ssize_t got = read(r->output, data, sizeof data);

    if (got > 0)
        mo_line_splitter_feed(&r->lines, data, (size_t) got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(r->output);
        r->output = -1;
    }
    return got > 0;
}

/* The supervisor was killed. The command died with it, but others of its
 * process group may not have. */
static void lose_keeper(running *r)
{
    if (r->command > 0)
        kill(-r->command, SIGKILL);
    r->status = SIGKILL;
    r->ended = true;
}

static void hear_keeper(running *r)
{
    mo_supervisor_message news;
    ssize_t got = recv(r->leash, &news, sizeof news, 0);

    if (got < 0 && errno == EINTR)
        return;
    if (got != (ssize_t) sizeof news) {
        lose_keeper(r);
        return;
    }
    switch (news.event) {
    case MO_SUPERVISOR_STARTED:
        r->command = news.value;
        break;
    case MO_SUPERVISOR_FAILED:
        r->failure = news.value;
        r->ended = true;
        break;
    case MO_SUPERVISOR_ENDED:
        r->status = news.value;
        r->ended = true;
        break;
    }
}

/* All that is left in the pipe was written before the command ended: every
 * process that could write is gone. */
static void attend(running *r)
{
    while (!r->ended) {
        struct pollfd files[] = { { .fd = r->leash, .events = POLLIN },
                                  { .fd = r->interrupt, .events = POLLIN },
                                  { .fd = r->output, .events = POLLIN } };

        if (poll(files, 3, keep_limits(r)) < 0)
            continue;
        if (files[2].revents)
            hear_output(r);
        if (files[1].revents)
            hear_interrupts(r);
        if (files[0].revents)
            hear_keeper(r);
    }
    while (r->output >= 0 && hear_output(r))
        continue;
    mo_line_splitter_flush(&r->lines);
}

/* ------------------------------------------------------------------ result */

static void conclude(const running *r, mo_child_result *result)
{
    bool killed = WIFSIGNALED(r->status);

    result->seconds = elapsed_s(r);
    result->by_signal = killed;
    result->code = killed ? WTERMSIG(r->status) : WEXITSTATUS(r->status);
    if (r->failure) {
        result->end = MO_CHILD_NOT_STARTED;
        result->code = r->failure;
    } else if (r->interrupts) {
        result->end = MO_CHILD_INTERRUPTED;
    } else if (killed && (r->hard || (r->soft && result->code == SIGINT))) {
        result->end = MO_CHILD_TIMEOUT;
    } else {
        result->end = killed ? MO_CHILD_KILLED : MO_CHILD_EXITED;
    }
}

mo_status mo_child_run(const mo_child_job *job, mo_child_result *result,
                       mo_error *err)
{
    running r = { .job = job,
                  .lines = { .line = job->line, .listener = job->listener } };
    mo_status status = mo_interrupt_open(&r.interrupt, err);

    if (status != MO_OK)
        return status;
    r.kill_s = job->hard_s > 0 ? job->hard_s : INFINITY;
    r.lost_s = INFINITY;
    status = start(&r, err);
    if (status == MO_OK) {
        attend(&r);
        conclude(&r, result);
        close(r.leash);
        if (r.output >= 0)
            close(r.output);
        while (waitpid(r.keeper, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    mo_interrupt_close(r.interrupt);
    return status;
}
