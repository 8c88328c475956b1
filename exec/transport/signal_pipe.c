/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/signal_pipe.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A handler is given nothing but the signal: where it writes to can only be
 * global (see base/cleanup.c). */
static atomic_int pipe_end = -1;

static struct sigaction before_term, before_int;

static void write_down(int signal_number)
{
    int fd = atomic_load(&pipe_end), error = errno;
    char byte = (char) signal_number;

    /* A full pipe has more than enough of them. */
    if (fd >= 0 && write(fd, &byte, 1) < 0)
        errno = error;
}

void mo_signal_pipe_install(int fd)
{
    struct sigaction ours = { .sa_flags = SA_RESTART };

    ours.sa_handler = write_down;
    sigemptyset(&ours.sa_mask);
    atomic_store(&pipe_end, fd);
    sigaction(SIGTERM, &ours, &before_term);
    sigaction(SIGINT, &ours, &before_int);
}

void mo_signal_pipe_ignore(void)
{
    atomic_store(&pipe_end, -1);
}

void mo_signal_pipe_restore(void)
{
    mo_signal_pipe_ignore();
    sigaction(SIGTERM, &before_term, NULL);
    sigaction(SIGINT, &before_int, NULL);
}
