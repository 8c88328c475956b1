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

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/thread/worker.h"
#include "exec/transport/failure_detector.h"
#include "exec/transport/tcp/tcp_internal.h"

/* Delay of the failure detector's report; time of busy polling after an event;
 * longest poll. */
static const int64_t report_delay_ns = 2000000000, spin_ns = 50000;
enum { SLEEP_MS = 500 };

/* Longest wait for the rest of a message, by the failure detector's timeout:
 * of a rank that sends nothing at all, that one reports more. */
static const double partial_timeouts = 1.25;

static bool is_open(mo_tcp_conn *conn)
{
    return conn->channel && atomic_load(&conn->broken_ns) == 0;
}

/* A control message without a posted receive is pending. */
static bool is_stalled(const mo_tcp_conn *conn)
{
    return conn->n_header == sizeof conn->header && !conn->body_started;
}

/* Received bytes are left in the channel, where poll() does not see them. */
static bool has_received(mo_tcp_conn *conn)
{
    return is_open(conn) && !is_stalled(conn) &&
           mo_secure_channel_has_received(conn->channel);
}

/* Fills polled: the pipe, then all connections; returns the count. *ready: a
 * connection can be read without waiting. */
static nfds_t fill_pollfds(mo_tcp_world *world, struct pollfd *polled,
                           bool *ready)
{
    nfds_t n = 0;

    *ready = false;
    polled[n++] = (struct pollfd){ .fd = world->pipe[0], .events = POLLIN };
    for (int r = 0; r < world->job.n_ranks; r++) {
        mo_tcp_conn *conn = &world->conns[r];
        short events = 0;

        if (is_open(conn) && !is_stalled(conn))
            events |= POLLIN;
        if (is_open(conn)) {
            pthread_mutex_lock(&conn->lock);
            if (mo_tcp_conn_has_unsent(conn))
                events |= POLLOUT;
            pthread_mutex_unlock(&conn->lock);
        }
        *ready |= has_received(conn);
        polled[n++] = (struct pollfd){
            .fd = events ? mo_secure_channel_socket(conn->channel) : -1,
            .events = events
        };
    }
    return n;
}

/* Whether a value that was to come through the connection is still missing. */
static bool awaits_value(mo_tcp_world *world, mo_tcp_conn *conn)
{
    bool awaits = false;
    pthread_mutex_lock(&world->plan_lock);
    pthread_mutex_lock(&conn->lock);
    for (int i = 0; world->transfers && i < world->n_transfers; i++)
        awaits |= world->transfers[i].conn == conn &&
                  world->transfers[i].receive_posted;
    pthread_mutex_unlock(&conn->lock);
    pthread_mutex_unlock(&world->plan_lock);
    return awaits;
}

/* A sender has the whole message when it sends the first byte: a rest that does
 * not come while the rank is alive is lost or withheld on its way. elapsed_ns
 * is the time since the last check, less while this process was stopped. */
static bool has_lost_rest(const mo_tcp_world *world, mo_tcp_conn *conn,
                          bool received, int64_t elapsed_ns)
{
    /* No message or record has begun, or its rest is being read. */
    if (!is_open(conn) || received || is_stalled(conn) ||
        (conn->n_header == 0 &&
         !mo_secure_channel_has_partial(conn->channel)) ||
        has_received(conn))
        conn->waited_ns = 0;
    else
        conn->waited_ns += elapsed_ns;
    return (double) conn->waited_ns * 1e-9 >
           partial_timeouts * world->job.peer_timeout_s;
}

static void check_partial(mo_tcp_world *world, const struct pollfd *polled,
                          int64_t elapsed_ns)
{
    mo_error why = { 0 };

    for (int r = 0; r < world->job.n_ranks; r++) {
        mo_tcp_conn *conn = &world->conns[r];

        if (!has_lost_rest(world, conn, polled[1 + r].revents != 0, elapsed_ns))
            continue;
        mo_fail(&why, MO_E_IO,
                "rank %d (host %s) has sent a part of a message, and nothing "
                "more of it for %.0f s: see what is between the two machines",
                r, world->job.endpoints[r].host,
                (double) conn->waited_ns * 1e-9);
        mo_transport_job_fail_peer(&world->job, r, &why);
        return;
    }
}

/* A closed connection means that the rank has exited; the failure detector
 * reports how, and while closing it is no error. A rank that is done has sent
 * all its values: one that is still missing was lost. */
static void check_conns(mo_tcp_world *world, const struct pollfd *polled,
                        int64_t *last_check_ns)
{
    int64_t now = mo_stop_clock_ns();
    int64_t elapsed_ns =
        mo_min_i64(now - *last_check_ns, INT64_C(2000000) * SLEEP_MS);
    mo_error why = { 0 };

    *last_check_ns = now;
    if (atomic_load(&world->closing) ||
        mo_first_error_is_set(&world->job.process.failure))
        return;
    for (int r = 0; r < world->job.n_ranks; r++) {
        int64_t broken = atomic_load(&world->conns[r].broken_ns);
        const mo_secure_channel *channel = world->conns[r].channel;

        if (broken != 0 && atomic_load(&world->conns[r].lacked_memory)) {
            mo_fail_memory(&why);
            mo_transport_job_fail(&world->job, &why);
            return;
        }
        if (broken != 0 && *mo_secure_channel_failure(channel)) {
            mo_fail(&why, MO_E_IO, "rank %d (host %s) %s", r,
                    world->job.endpoints[r].host,
                    mo_secure_channel_failure(channel));
            mo_transport_job_fail_peer(&world->job, r, &why);
            return;
        }
        if (broken == 0 || now - broken < report_delay_ns ||
            (mo_failure_detector_peer_has_left(world->job.detector, r) &&
             !awaits_value(world, &world->conns[r])))
            continue;
        mo_fail(&why, MO_E_IO,
                "the connection with rank %d (host %s) has broken", r,
                world->job.endpoints[r].host);
        mo_transport_job_fail_peer(&world->job, r, &why);
        return;
    }
    check_partial(world, polled, elapsed_ns);
}

static void *run_io_thread(void *context)
{
    mo_tcp_world *world = context;
    struct pollfd *polled = world->polled;
    int64_t last_event_ns = 0, last_check_ns = mo_stop_clock_ns();

    while (!atomic_load(&world->stopping)) {
        bool ready;
        nfds_t n = fill_pollfds(world, polled, &ready);
        int n_ready = poll(polled, n, 0);

        /* Waking up takes longer than most messages: for a while after an
         * event the thread polls without blocking. */
        while (!ready && n_ready == 0 &&
               mo_stop_clock_ns() - last_event_ns < spin_ns) {
            sched_yield();
            n_ready = poll(polled, n, 0);
        }
        if (!ready && n_ready == 0)
            n_ready = poll(polled, n, SLEEP_MS);

        /* Without poll() the thread cannot wait; it goes on, to report the
         * error to the other ranks. */
        if (n_ready < 0 && errno != EINTR) {
            mo_error why = { 0 };

            if (!mo_first_error_is_set(&world->job.process.failure)) {
                mo_fail_errno(&why, NULL, "cannot wait for the other ranks");
                mo_transport_job_fail(&world->job, &why);
            }
            sched_yield();
        }
        if (n_ready > 0 || (ready && n_ready == 0))
            last_event_ns = mo_stop_clock_ns();

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
            if (polled[1 + r].revents || is_stalled(conn) || has_received(conn))
                mo_tcp_conn_receive(world, conn);
        }
        pthread_mutex_unlock(&world->plan_lock);
        check_conns(world, polled, &last_check_ns);
    }
    return NULL;
}

mo_status mo_tcp_io_thread_start(mo_tcp_world *world, mo_error *err)
{
    sigset_t all, before;
    int failed;

    world->polled =
        calloc((size_t) world->job.n_ranks + 1, sizeof *world->polled);
    if (!world->polled)
        return mo_fail_memory(err);
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
    return mo_thread_fail_start(failed, err);
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
