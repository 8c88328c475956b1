/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "solvers/process/interrupt.h"
#include "solvers/process/supervisor.h"

/* Appends a word, and the NULL behind it. */
static mo_status append_word(char ***words, size_t *n, size_t *capacity,
                             const char *format, va_list arguments,
                             mo_error *err)
{
    char *word;

    if (mo_array_reserve((void **) words, capacity, *n + 2, sizeof **words,
                         err) != MO_OK)
        return MO_E_MEMORY;
    if (vasprintf(&word, format, arguments) < 0)
        return mo_fail_memory(err);
    (*words)[(*n)++] = word;
    (*words)[*n] = NULL;
    return MO_OK;
}

mo_status mo_argv_add(mo_argv *line, mo_error *err, const char *format, ...)
{
    va_list arguments;
    mo_status status;

    va_start(arguments, format);
    status = append_word(&line->argv, &line->n_argv, &line->room_argv, format,
                         arguments, err);
    va_end(arguments);
    return status;
}

mo_status mo_argv_add_option(mo_argv *line, mo_error *err, const char *name,
                             const char *format, ...)
{
    va_list arguments;
    mo_status status = mo_argv_add(line, err, "%s", name);

    if (status != MO_OK)
        return status;
    va_start(arguments, format);
    status = append_word(&line->argv, &line->n_argv, &line->room_argv, format,
                         arguments, err);
    va_end(arguments);
    return status;
}

mo_status mo_argv_set_env(mo_argv *line, mo_error *err, const char *format, ...)
{
    va_list arguments;
    mo_status status;

    va_start(arguments, format);
    status = append_word(&line->environment, &line->n_environment,
                         &line->room_environment, format, arguments, err);
    va_end(arguments);
    return status;
}

void mo_argv_clear(mo_argv *line)
{
    for (size_t i = 0; i < line->n_argv; i++)
        free(line->argv[i]);
    for (size_t i = 0; i < line->n_environment; i++)
        free(line->environment[i]);
    free(line->argv);
    free(line->environment);
    *line = (mo_argv){ 0 };
}

static const double default_grace_s = 5;

/* Time for the supervisor to kill the command. */
static const double supervisor_grace_s = 5;

/* Only the first two members are set at first. */
typedef struct line_splitter {
    void (*line)(void *listener, const char *text); /* or NULL */
    void *listener;
    size_t length;
    char text[MO_CHILD_LINE + 1];
} line_splitter;

static void append_bytes(line_splitter *splitter, const char *data, size_t size)
{
    size_t room = MO_CHILD_LINE - splitter->length;

    if (size > room)
        size = room;
    memcpy(splitter->text + splitter->length, data, size);
    splitter->length += size;
}

static void emit_line(line_splitter *splitter)
{
    if (splitter->length > 0 && splitter->text[splitter->length - 1] == '\r')
        splitter->length--;
    splitter->text[splitter->length] = 0;
    splitter->length = 0;
    if (splitter->line)
        splitter->line(splitter->listener, splitter->text);
}

static size_t count_settings(char *const *settings)
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

static void put_setting(char **settings, size_t *n, const char *setting)
{
    size_t i = 0;

    while (i < *n && !same_name(settings[i], setting))
        i++;
    /* exec takes no const, and changes nothing. */
    settings[i] = (char *) (uintptr_t) setting;
    *n += i == *n;
}

typedef struct child_run {
    const mo_child_job *job;
    int64_t start_ns;
    pid_t supervisor, command; /* command is 0 until it is known */
    int control, output, interrupt;
    line_splitter splitter;

    double kill_s;            /* when to kill it; INFINITY: not set */
    double kill_supervisor_s; /* when to kill the supervisor, too; INFINITY: not
                                 set */
    bool soft, hard; /* the signal of the soft or hard limit was sent */
    int interrupts;
    bool ended;
    int failure, status; /* errno, or as waitpid() returns it */
} child_run;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static double elapsed_s(const child_run *r)
{
    return (double) (now_ns() - r->start_ns) / 1e9;
}

/* Signals are blocked, so that none reaches the new process with this
 * process's handlers installed. */
static mo_status start_supervisor(child_run *r, int control, int output,
                                  mo_error *err)
{
    char **environment;
    sigset_t all, before;

    char *const *more = (char *const *) (uintptr_t) r->job->environment;
    size_t n = count_settings(environ), n_more = count_settings(more);
    char **settings = calloc(n + n_more + 1, sizeof *settings);

    if (!settings) {
        environment = NULL;
    } else {
        if (n > 0)
            memcpy(settings, environ, n * sizeof *settings);
        for (size_t i = 0; i < n_more; i++)
            put_setting(settings, &n, more[i]);
        environment = settings;
    }
    if (!environment)
        return mo_fail(err, MO_E_MEMORY, "out of memory");

    (void) fflush(stdout);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->supervisor = fork();
    if (r->supervisor == 0)
        mo_supervisor_run(r->job, environment, control, output);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(environment);
    return r->supervisor < 0 ? mo_fail_errno(err, "", "cannot start a process")
                             : MO_OK;
}

static void close_both(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static mo_status start_run(child_run *r, mo_error *err)
{
    int control[2], output[2];
    mo_status status;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
        return mo_fail_errno(err, "", "cannot make a socket");
    if (pipe2(output, O_CLOEXEC) != 0) {
        status = mo_fail_errno(err, "", "cannot make a pipe");
        close_both(control);
        return status;
    }
    r->start_ns = now_ns();
    status = start_supervisor(r, control[1], output[1], err);
    if (status != MO_OK) {
        close_both(control);
        close_both(output);
        return status;
    }
    close(control[1]);
    close(output[1]);
    r->control = control[0];
    r->output = output[0];
    fcntl(r->output, F_SETFL, O_NONBLOCK);
    return MO_OK;
}

static void send_signal(child_run *r, int number)
{
    /* A supervisor that is gone is noticed by reading. */
    if (send(r->control, &number, sizeof number, MSG_NOSIGNAL) < 0)
        return;
}

static void interrupt_command(child_run *r)
{
    send_signal(r, SIGINT);
    r->kill_s =
        fmin(r->kill_s, elapsed_s(r) + (r->job->grace_s > 0 ? r->job->grace_s
                                                            : default_grace_s));
}

/* Whole milliseconds, for poll(); -1: forever. */
static int timeout_ms(double now, double next)
{
    return next < INT32_MAX / 1000 ? (int) ceil(fmax(next - now, 0) * 1000)
                                   : -1;
}

/* Sends due signals, and returns the time to the next one, for poll(). A
 * supervisor that does not react is killed, and its command with it. */
static int enforce_limits(child_run *r)
{
    double now = elapsed_s(r), next = r->kill_s;

    if (!r->hard && now >= r->kill_s) {
        r->hard = true;
        r->kill_supervisor_s = now + supervisor_grace_s;
        send_signal(r, SIGKILL);
    }
    if (now >= r->kill_supervisor_s) {
        r->kill_supervisor_s = INFINITY;
        kill(r->supervisor, SIGKILL);
    }
    if (!r->soft && r->job->soft_s > 0 && now >= r->job->soft_s) {
        r->soft = true;
        interrupt_command(r);
        next = r->kill_s;
    }
    if (r->hard)
        return timeout_ms(now, r->kill_supervisor_s);
    if (!r->soft && r->job->soft_s > 0)
        next = fmin(next, r->job->soft_s);
    return timeout_ms(now, next);
}

/* Returns false when nothing is left for now. */
static bool read_output(child_run *r)
{
    char data[16384];
    ssize_t got = read(r->output, data, sizeof data);

    if (got > 0) {
        const char *at = data, *end;
        size_t size = (size_t) got;

        /* A line is emitted when it is complete; longer ones are truncated, and
         * a carriage return before the newline is removed. */
        while (size > 0 && (end = memchr(at, '\n', size))) {
            append_bytes(&r->splitter, at, (size_t) (end - at));
            emit_line(&r->splitter);
            size -= (size_t) (end + 1 - at);
            at = end + 1;
        }
        append_bytes(&r->splitter, at, size);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(r->output);
        r->output = -1;
    }
    return got > 0;
}

static void read_supervisor(child_run *r)
{
    mo_supervisor_message news;
    ssize_t got = recv(r->control, &news, sizeof news, 0);

    if (got < 0 && errno == EINTR)
        return;
    if (got != (ssize_t) sizeof news) {
        /* The supervisor was killed. The command died with it, but others of
         * its process group may not have. */
        if (r->command > 0)
            kill(-r->command, SIGKILL);
        r->status = SIGKILL;
        r->ended = true;
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
static void supervise_run(child_run *r)
{
    while (!r->ended) {
        struct pollfd files[] = { { .fd = r->control, .events = POLLIN },
                                  { .fd = r->interrupt, .events = POLLIN },
                                  { .fd = r->output, .events = POLLIN } };

        if (poll(files, 3, enforce_limits(r)) < 0) {
            /* Without poll() the command is given up. */
            r->failure = errno == EINTR ? 0 : errno;
            r->ended = r->failure != 0;
            continue;
        }
        if (files[2].revents)
            read_output(r);
        if (files[1].revents) {
            /* The first interrupt is passed on; the second one kills. */
            char byte;

            while (read(r->interrupt, &byte, 1) == 1)
                if (r->interrupts++ == 0)
                    interrupt_command(r);
                else
                    r->kill_s = 0;
        }
        if (files[0].revents)
            read_supervisor(r);
    }
    while (r->output >= 0 && read_output(r))
        continue;
    /* Calls line for a last line without a newline. */
    if (r->splitter.length > 0)
        emit_line(&r->splitter);
}

mo_status mo_child_run(const mo_child_job *job, mo_child_result *result,
                       mo_error *err)
{
    child_run r = {
        .job = job, .splitter = { .line = job->line, .listener = job->listener }
    };
    mo_status status = mo_interrupt_open(&r.interrupt, err);

    if (status != MO_OK)
        return status;
    r.kill_s = job->hard_s > 0 ? job->hard_s : INFINITY;
    r.kill_supervisor_s = INFINITY;
    status = start_run(&r, err);
    if (status == MO_OK) {
        supervise_run(&r);
        bool killed = WIFSIGNALED(r.status);

        result->seconds = elapsed_s(&r);
        result->by_signal = killed;
        result->code = killed ? WTERMSIG(r.status) : WEXITSTATUS(r.status);
        if (r.failure) {
            result->end = MO_CHILD_NOT_STARTED;
            result->code = r.failure;
        } else if (r.interrupts) {
            result->end = MO_CHILD_INTERRUPTED;
        } else if (killed && (r.hard || (r.soft && result->code == SIGINT))) {
            result->end = MO_CHILD_TIMEOUT;
        } else {
            result->end = killed ? MO_CHILD_KILLED : MO_CHILD_EXITED;
        }
        close(r.control);
        if (r.output >= 0)
            close(r.output);
        while (waitpid(r.supervisor, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    mo_interrupt_close(r.interrupt);
    return status;
}
