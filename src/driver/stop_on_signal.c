/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/stop_on_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "solvers/process/interrupt.h"

struct mo_driver_signals {
    int signals; /* readable after a signal */
    int quit[2]; /* closing the other end stops the thread */
    struct sigaction before_int, before_term; /* previous actions */
    pthread_t thread;
    mo_driver_on_signal *on_signal;
    void *context;
};

static bool is_second(void *context, int number, int count)
{
    (void) context, (void) number;
    return count > 1;
}

/* Counts signals in a thread of its own, since a method may not poll for a
 * while. */
static void *count_signals(void *context)
{
    const mo_driver_signals *watch = context;
    struct pollfd wait[] = { { .fd = watch->signals, .events = POLLIN },
                             { .fd = watch->quit[0] } };
    int n = 0;
    char number;

    while (poll(wait, 2, -1) >= 0 || errno == EINTR) {
        if (wait[1].revents)
            break;
        while (read(watch->signals, &number, 1) == 1)
            if (mo_interrupt_last_signal() != 0 &&
                watch->on_signal(watch->context, number, ++n)) {
                /* Terminates as if the signal had not been caught; temporary
                 * files, children and their folders are removed. */
                mo_cleanup_run();
                sigaction(number,
                          number == SIGINT ? &watch->before_int
                                           : &watch->before_term,
                          NULL);
                raise(number);
            }
    }
    return NULL;
}

static mo_status begin_thread(mo_driver_signals *watch, mo_error *err)
{
    if (pipe2(watch->quit, O_CLOEXEC) != 0)
        return mo_fail_errno(err, "", "cannot make a pipe");
    if (pthread_create(&watch->thread, NULL, count_signals, watch) == 0)
        return MO_OK;
    close(watch->quit[0]);
    close(watch->quit[1]);
    return mo_fail(err, MO_E_LIMIT, "cannot begin a thread");
}

static mo_status begin_watching(mo_driver_signals *watch, mo_error *err)
{
    mo_status status;

    sigaction(SIGINT, NULL, &watch->before_int);
    sigaction(SIGTERM, NULL, &watch->before_term);
    status = mo_interrupt_open(&watch->signals, err);
    if (status != MO_OK)
        return status;
    status = begin_thread(watch, err);
    if (status != MO_OK)
        mo_interrupt_close(watch->signals);
    return status;
}

mo_status mo_driver_signals_begin(mo_driver_on_signal *on_signal, void *context,
                                  mo_driver_signals **watch, mo_error *err)
{
    mo_driver_signals *w = malloc(sizeof *w);
    mo_status status;

    if (!w)
        return mo_fail_memory(err);
    w->on_signal = on_signal ? on_signal : is_second;
    w->context = context;
    status = begin_watching(w, err);
    if (status == MO_OK)
        *watch = w;
    else
        free(w);
    return status;
}

void mo_driver_signals_end(mo_driver_signals *watch)
{
    if (!watch)
        return;
    close(watch->quit[1]);
    pthread_join(watch->thread, NULL);
    close(watch->quit[0]);
    mo_interrupt_close(watch->signals);
    free(watch);
}
