/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/interrupt.h"

#include <fcntl.h>
#include <pthread.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { MAX_PIPES = 64, FREE = 0 };

static const int signals[] = { SIGINT, SIGTERM };
enum { N_SIGNALS = sizeof signals / sizeof *signals };

/*
 * A signal handler has no context argument, so its data has to be global, and
 * may be read at any moment: the write ends of the pipes, each plus one, so
 * that FREE is none. All else is protected by the lock.
 */
static _Atomic int write_ends[MAX_PIPES];
static _Atomic int last;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int reading[MAX_PIPES];
static int n_watches;
static struct sigaction before[N_SIGNALS];

static void notify_all(int number)
{
    char byte = (char) number;

    for (int i = 0; i < MAX_PIPES; i++) {
        int fd = atomic_load(&write_ends[i]) - 1;

        /* A full pipe is readable anyway. */
        if (fd >= 0 && write(fd, &byte, 1) != 1)
            continue;
    }
}

static bool is_handler(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler != SIG_DFL &&
           action->sa_handler != SIG_IGN;
}

/* A host process that has a handler of its own receives the signal, too, and
 * decides what ends beside the children. */
static void handle_signal(int number)
{
    const struct sigaction *host = &before[number == signals[0] ? 0 : 1];
    int saved = errno;

    /* Readers of a pipe look at it. */
    if (!is_handler(host))
        atomic_store(&last, number);
    notify_all(number);
    if (is_handler(host))
        host->sa_handler(number);
    errno = saved;
}

void mo_interrupt_all(void)
{
    notify_all(SIGINT);
}

mo_status mo_interrupt_open(int *fd, mo_error *err)
{
    mo_status status = MO_OK;
    int ends[2], at;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return mo_fail_errno(err, "", "cannot make a pipe");
    pthread_mutex_lock(&lock);
    at = 0;
    while (at < MAX_PIPES && atomic_load(&write_ends[at]) != FREE)
        at++;
    if (at == MAX_PIPES) {
        status =
            mo_fail(err, MO_E_LIMIT, "more than %d runs at a time", MAX_PIPES);
    } else {
        reading[at] = ends[0];
        atomic_store(&write_ends[at], ends[1] + 1);
        /* An ignored signal (nohup, a background job of sh) stays ignored. */
        if (n_watches++ == 0) {
            struct sigaction action = { .sa_flags = SA_RESTART };

            action.sa_handler = handle_signal;
            sigfillset(&action.sa_mask);
            for (int i = 0; i < N_SIGNALS; i++) {
                sigaction(signals[i], NULL, &before[i]);
                if (before[i].sa_handler != SIG_IGN)
                    sigaction(signals[i], &action, NULL);
            }
        }
    }
    pthread_mutex_unlock(&lock);
    if (status != MO_OK) {
        close(ends[0]);
        close(ends[1]);
        return status;
    }
    *fd = ends[0];
    return MO_OK;
}

void mo_interrupt_close(int fd)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_PIPES; i++) {
        if (atomic_load(&write_ends[i]) == FREE || reading[i] != fd)
            continue;
        if (--n_watches == 0)
            for (int s = 0; s < N_SIGNALS; s++)
                sigaction(signals[s], &before[s], NULL);
        close(atomic_exchange(&write_ends[i], FREE) - 1);
        close(fd);
        break;
    }
    pthread_mutex_unlock(&lock);
}

int mo_interrupt_last_signal(void)
{
    return atomic_load(&last);
}
