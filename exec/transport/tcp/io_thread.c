/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/tcp/tcp_internal.h"

/* How long news of who is gone may take; how long the thread sleeps at most;
 * and how long it looks again and again after something has come. */
static const int64_t news_ns = 2000000000, look_ns = 50000;
enum { SLEEP_MS = 500 };

/* ------------------------------------------------------------------ waiting */

static bool is_open(mo_tcp_conn *link)
{
    return link->socket >= 0 && atomic_load(&link->broken_ns) == 0;
}

/* Somebody tells what nobody has asked for yet. */
static bool must_wait(const mo_tcp_conn *link)
{
    return link->n_head == sizeof link->head && !link->begun;
}

static bool has_more(mo_tcp_conn *link)
{
    bool more;

    pthread_mutex_lock(&link->lock);
    more = link->n > 0;
    pthread_mutex_unlock(&link->lock);
    return more;
}

/* What to wait for: the pipe, then all links. */
static nfds_t list(mo_transport_world *world, struct pollfd *polled)
{
    nfds_t n = 0;

    polled[n++] = (struct pollfd){ .fd = world->pipe[0], .events = POLLIN };
    for (int r = 0; r < world->ranks.n_ranks; r++) {
        mo_tcp_conn *link = &world->links[r];
        short events = 0;

        if (is_open(link) && !must_wait(link))
            events |= POLLIN;
        if (is_open(link) && has_more(link))
            events |= POLLOUT;
        polled[n++] = (struct pollfd){ .fd = events ? link->socket : -1,
                                       .events = events };
    }
    return n;
}

/* Waking up takes longer than most messages: as long as the last one is not
 * long ago, this looks without sleeping. */
static int wait_for_some(struct pollfd *polled, nfds_t n, int64_t moved_ns)
{
    int came = poll(polled, n, 0);

    while (came == 0 && mo_stop_clock_ns() - moved_ns < look_ns) {
        sched_yield();
        came = poll(polled, n, 0);
    }
    return came != 0 ? came : poll(polled, n, SLEEP_MS);
}

/* ------------------------------------------------------------------ working */

static void empty_pipe(const mo_transport_world *world)
{
    char bytes[256];

    while (read(world->pipe[0], bytes, sizeof bytes) == sizeof bytes)
        continue;
}

static void work(mo_transport_world *world, const struct pollfd *polled)
{
    if (polled[0].revents)
        empty_pipe(world);
    pthread_mutex_lock(&world->plan_lock);
    for (int r = 0; r < world->ranks.n_ranks; r++) {
        mo_tcp_conn *link = &world->links[r];

        if (!is_open(link))
            continue;
        pthread_mutex_lock(&link->lock);
        mo_tcp_conn_flush(world, link);
        pthread_mutex_unlock(&link->lock);
        if (polled[1 + r].revents || must_wait(link))
            mo_tcp_conn_receive(world, link);
    }
    pthread_mutex_unlock(&world->plan_lock);
}

/* A connection that ends means that its rank does; but the watch says how, and
 * at the end there is nothing wrong with it. */
static void check_links(mo_transport_world *world)
{
    int64_t now = mo_stop_clock_ns();
    mo_error why = { 0 };

    if (atomic_load(&world->parting) ||
        mo_first_error_is_set(&world->ranks.inside.failure))
        return;
    for (int r = 0; r < world->ranks.n_ranks; r++) {
        int64_t broken = atomic_load(&world->links[r].broken_ns);

        if (broken == 0 || now - broken < news_ns ||
            mo_failure_detector_peer_has_left(world->ranks.watch, r))
            continue;
        mo_fail(&why, MO_E_IO,
                "the connection with rank %d (host %s) has broken", r,
                world->ranks.cards[r].host);
        mo_transport_job_fail(&world->ranks, &why);
        return;
    }
}

static void *serve(void *context)
{
    mo_transport_world *world = context;
    struct pollfd *polled =
        calloc((size_t) world->ranks.n_ranks + 1, sizeof *polled);
    int64_t moved_ns = 0;

    while (polled && !atomic_load(&world->end)) {
        nfds_t n = list(world, polled);

        if (wait_for_some(polled, n, moved_ns) > 0)
            moved_ns = mo_stop_clock_ns();
        work(world, polled);
        check_links(world);
    }
    free(polled);
    return NULL;
}

/* -------------------------------------------------------- making and ending */

mo_status mo_tcp_io_thread_start(mo_transport_world *world, mo_error *err)
{
    sigset_t all, before;
    int failed;

    if (pipe2(world->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return mo_fail_errno(err, NULL, "make a pipe");
    /* The thread inherits that it takes no signals itself. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&world->thread, NULL, serve, world);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    world->started = failed == 0;
    if (world->started)
        return MO_OK;
    close(world->pipe[0]);
    close(world->pipe[1]);
    return mo_fail(err, MO_E_MEMORY, "a thread cannot be started: %s",
                   strerror(failed));
}

void mo_tcp_io_thread_stop(mo_transport_world *world)
{
    if (!world->started)
        return;
    atomic_store(&world->end, true);
    mo_tcp_io_thread_wake(world);
    pthread_join(world->thread, NULL);
    close(world->pipe[0]);
    close(world->pipe[1]);
    world->started = false;
}
