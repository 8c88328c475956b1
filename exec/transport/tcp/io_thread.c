/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O thread: poll loop over all data connections. */
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

/* Delay of the failure detector's report; time of busy polling after an event;
 * longest poll. */
static const int64_t report_delay_ns = 2000000000, spin_ns = 50000;
enum { SLEEP_MS = 500 };

/* ----------------------------------------------------------------- waiting */

static bool is_open(mo_tcp_conn *conn)
{
    return conn->socket >= 0 && atomic_load(&conn->broken_ns) == 0;
}

/* A control message without a posted receive is pending. */
static bool is_stalled(const mo_tcp_conn *conn)
{
    return conn->n_header == sizeof conn->header && !conn->body_started;
}

static bool has_queued(mo_tcp_conn *conn)
{
    bool more;

    pthread_mutex_lock(&conn->lock);
    more = conn->n > 0;
    pthread_mutex_unlock(&conn->lock);
    return more;
}

/* Fills polled: the pipe, then all connections; returns the count. */
static nfds_t fill_pollfds(mo_tcp_world *world, struct pollfd *polled)
{
    nfds_t n = 0;

    polled[n++] = (struct pollfd){ .fd = world->pipe[0], .events = POLLIN };
    for (int r = 0; r < world->job.n_ranks; r++) {
        mo_tcp_conn *conn = &world->conns[r];
        short events = 0;

        if (is_open(conn) && !is_stalled(conn))
            events |= POLLIN;
        if (is_open(conn) && has_queued(conn))
            events |= POLLOUT;
        polled[n++] = (struct pollfd){ .fd = events ? conn->socket : -1,
                                       .events = events };
    }
    return n;
}

/* Waking up takes longer than most messages: for a while after an event the
 * thread polls without blocking. */
static int wait_for_events(struct pollfd *polled, nfds_t n,
                           int64_t last_event_ns)
{
    int n_ready = poll(polled, n, 0);

    while (n_ready == 0 && mo_stop_clock_ns() - last_event_ns < spin_ns) {
        sched_yield();
        n_ready = poll(polled, n, 0);
    }
    return n_ready != 0 ? n_ready : poll(polled, n, SLEEP_MS);
}

/* ----------------------------------------------------------------- working */

static void process_conns(mo_tcp_world *world, const struct pollfd *polled)
{
    if (polled[0].revents) {
        char bytes[256];

        while (read(world->pipe[0], bytes, sizeof bytes) == sizeof bytes)
            continue;
    }
    pthread_mutex_lock(&world->plan_lock);
    for (int r = 0; r < world->job.n_ranks; r++) {
        mo_tcp_conn *conn = &world->conns[r];

        if (!is_open(conn))
            continue;
        pthread_mutex_lock(&conn->lock);
        mo_tcp_conn_flush(world, conn);
        pthread_mutex_unlock(&conn->lock);
        if (polled[1 + r].revents || is_stalled(conn))
            mo_tcp_conn_receive(world, conn);
    }
    pthread_mutex_unlock(&world->plan_lock);
}

/* A closed connection means that the rank has exited; the failure detector
 * reports how, and while closing it is no error. */
static void check_conns(mo_tcp_world *world)
{
    int64_t now = mo_stop_clock_ns();
    mo_error why = { 0 };

    if (atomic_load(&world->closing) ||
        mo_first_error_is_set(&world->job.process.failure))
        return;
    for (int r = 0; r < world->job.n_ranks; r++) {
        int64_t broken = atomic_load(&world->conns[r].broken_ns);

        if (broken == 0 || now - broken < report_delay_ns ||
            mo_failure_detector_peer_has_left(world->job.detector, r))
            continue;
        mo_fail(&why, MO_E_IO,
                "the connection with rank %d (host %s) has broken", r,
                world->job.endpoints[r].host);
        mo_transport_job_fail(&world->job, &why);
        return;
    }
}

static void *run_io_thread(void *context)
{
    mo_tcp_world *world = context;
    struct pollfd *polled =
        calloc((size_t) world->job.n_ranks + 1, sizeof *polled);
    int64_t last_event_ns = 0;

    while (polled && !atomic_load(&world->stopping)) {
        nfds_t n = fill_pollfds(world, polled);

        if (wait_for_events(polled, n, last_event_ns) > 0)
            last_event_ns = mo_stop_clock_ns();
        process_conns(world, polled);
        check_conns(world);
    }
    free(polled);
    return NULL;
}

/* ------------------------------------------------------ starting, stopping */

mo_status mo_tcp_io_thread_start(mo_tcp_world *world, mo_error *err)
{
    sigset_t all, before;
    int failed;

    if (pipe2(world->pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        return mo_fail_errno(err, NULL, "make a pipe");
    /* The thread inherits the mask: it handles no signals itself. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&world->thread, NULL, run_io_thread, world);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    world->started = failed == 0;
    if (world->started)
        return MO_OK;
    close(world->pipe[0]);
    close(world->pipe[1]);
    return mo_fail(err, MO_E_MEMORY, "a thread cannot be started: %s",
                   strerror(failed));
}

void mo_tcp_io_thread_stop(mo_tcp_world *world)
{
    if (!world->started)
        return;
    atomic_store(&world->stopping, true);
    mo_tcp_io_thread_wake(world);
    pthread_join(world->thread, NULL);
    close(world->pipe[0]);
    close(world->pipe[1]);
    world->started = false;
}
