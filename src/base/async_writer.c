/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "base/async_writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* A queue of one batch between two threads: the caller fills it when it is
 * empty, the writer thread empties it when the batch is written. */
struct mo_async_writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *data;
    size_t size; /* 0: nothing to write */
    bool ending;
    int failure;
    mo_async_writer_fn *into;
    void *context;
};

int mo_write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);

        if (n >= 0) {
            data += n;
            size -= (size_t) n;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static void *writer_thread(void *argument)
{
    mo_async_writer *pump = argument;

    pthread_mutex_lock(&pump->lock);
    for (;;) {
        while (pump->size == 0 && !pump->ending)
            pthread_cond_wait(&pump->changed, &pump->lock);
        if (pump->size == 0)
            break;
        if (!pump->failure) {
            int failure;

            pthread_mutex_unlock(&pump->lock);
            failure = pump->into(pump->context, pump->data, pump->size);
            pthread_mutex_lock(&pump->lock);
            pump->failure = failure;
        }
        pump->size = 0;
        pthread_cond_signal(&pump->changed);
    }
    pthread_mutex_unlock(&pump->lock);
    return NULL;
}

/* The thread blocks all signals except those that writing raises: signals are
 * for the threads that the program started itself. */
static bool start_thread(mo_async_writer *pump)
{
    sigset_t blocked, before;
    bool started;

    sigfillset(&blocked);
    sigdelset(&blocked, SIGPIPE);
    sigdelset(&blocked, SIGXFSZ);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    started = pthread_create(&pump->thread, NULL, writer_thread, pump) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

mo_async_writer *mo_async_writer_new(mo_async_writer_fn *into, void *context)
{
    mo_async_writer *pump;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return NULL;
    pump = calloc(1, sizeof *pump);
    if (!pump)
        return NULL;
    pump->into = into;
    pump->context = context;
    pthread_mutex_init(&pump->lock, NULL);
    pthread_cond_init(&pump->changed, NULL);
    if (!start_thread(pump)) {
        pthread_cond_destroy(&pump->changed);
        pthread_mutex_destroy(&pump->lock);
        free(pump);
        return NULL;
    }
    return pump;
}

int mo_async_writer_submit(mo_async_writer *pump, const char *data, size_t size)
{
    int failure;

    pthread_mutex_lock(&pump->lock);
    while (pump->size > 0)
        pthread_cond_wait(&pump->changed, &pump->lock);
    failure = pump->failure;
    pump->data = data;
    pump->size = size;
    pthread_cond_signal(&pump->changed);
    pthread_mutex_unlock(&pump->lock);
    return failure;
}

void mo_async_writer_free(mo_async_writer *pump)
{
    if (!pump)
        return;
    pthread_mutex_lock(&pump->lock);
    pump->ending = true;
    pthread_cond_signal(&pump->changed);
    pthread_mutex_unlock(&pump->lock);
    pthread_join(pump->thread, NULL);
    pthread_cond_destroy(&pump->changed);
    pthread_mutex_destroy(&pump->lock);
    free(pump);
}
