#include <config.h>

#include "cli/place_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "solvers/interrupt.h"

/* As if nobody had caught it; what children and folders are there goes away
 * with us. */
static void die_of(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* A method may be where it cannot look for signals for a while, so somebody
 * else does. */
static void *count_signals(void *context)
{
    const mo_place_watch *watch = context;
    struct pollfd wait = { .fd = watch->fd, .events = POLLIN };
    int n = 0;
    char number;

    while (poll(&wait, 1, -1) >= 0 || errno == EINTR)
        while (read(watch->fd, &number, 1) == 1)
            if (mo_interrupt_last() != 0 && ++n > 1)
                die_of(number);
    return NULL;
}

mo_status mo_place_watch_begin(mo_place_watch *watch, mo_error *err)
{
    mo_status status = mo_interrupt_open(&watch->fd, err);

    if (status != MO_OK)
        return status;
    if (pthread_create(&watch->thread, NULL, count_signals, watch) != 0) {
        mo_interrupt_close(watch->fd);
        return mo_fail(err, MO_E_LIMIT, "cannot begin a thread");
    }
    return MO_OK;
}

void mo_place_watch_end(mo_place_watch *watch)
{
    pthread_cancel(watch->thread);
    pthread_join(watch->thread, NULL);
    mo_interrupt_close(watch->fd);
}
