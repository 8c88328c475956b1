/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking control messages, gather and broadcast between ranks. */
#include <config.h>

#include "base/stop.h"
#include "exec/transport/failure_detector.h"
#include "exec/transport/tcp/tcp_internal.h"

static const int64_t poll_ns = 100000000;

typedef struct wait_context {
    mo_tcp_world *world;
    mo_tcp_conn *conn;
    bool sending;
} wait_context;

static bool is_complete(const wait_context *t)
{
    return t->sending ? atomic_load(&t->conn->control_sent)
                      : !atomic_load(&t->conn->control_expected);
}

static bool can_proceed(void *context)
{
    wait_context *t = context;

    return is_complete(t) ||
           mo_first_error_is_set(&t->world->job.process.failure);
}

/* The buffer belongs to a caller that returns now: the I/O thread must not
 * access it any more, and a connection with a partial message is unusable. */
static void break_control(mo_tcp_world *world, int peer)
{
    mo_tcp_conn *conn = &world->conns[peer];

    pthread_mutex_lock(&world->plan_lock);
    pthread_mutex_lock(&conn->lock);
    atomic_store(&conn->broken_ns, mo_stop_clock_ns());
    atomic_store(&conn->control_expected, false);
    conn->n = 0;
    pthread_mutex_unlock(&conn->lock);
    pthread_mutex_unlock(&world->plan_lock);
}

/* Waits until the message is sent, or received. */
static mo_status wait_control(mo_tcp_world *world, int peer, bool sending,
                              mo_error *err)
{
    mo_transport_job *job = &world->job;
    wait_context t = { world, &world->conns[peer], sending };
    int64_t since_ns = mo_stop_clock_ns();

    while (!is_complete(&t)) {
        if (mo_first_error_is_set(&job->process.failure))
            return mo_first_error_get(&job->process.failure, err);
        if (mo_failure_detector_peer_wait_expired(job->detector, peer,
                                                  since_ns))
            return mo_fail(err, MO_E_IO,
                           "rank %d (host %s) has left before the end: start "
                           "all ranks with the same command",
                           peer, job->endpoints[peer].host);
        mo_eventcount_wait_timed(&job->process.server_event, can_proceed, &t,
                                 poll_ns);
    }
    return MO_OK;
}

static mo_status post_control_send(mo_tcp_world *world, int peer,
                                   const void *data, size_t bytes,
                                   mo_error *err)
{
    mo_tcp_conn *conn = &world->conns[peer];
    bool wake = false;
    mo_status status;

    atomic_store(&conn->control_sent, false);
    pthread_mutex_lock(&conn->lock);
    status = mo_tcp_conn_enqueue(
        world, conn,
        (mo_tcp_send_item){ { MO_TCP_MSG_CONTROL, 0, (int64_t) bytes }, data },
        &wake, err);
    pthread_mutex_unlock(&conn->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

static void post_control_receive(mo_tcp_world *world, int peer, void *data,
                                 size_t bytes)
{
    mo_tcp_conn *conn = &world->conns[peer];

    conn->control_buffer = data;
    conn->control_bytes = bytes;
    atomic_store(&conn->control_expected, true);
    mo_tcp_io_thread_wake(world);
}

mo_status mo_tcp_control_send(mo_tcp_world *world, int peer, const void *data,
                              size_t bytes, mo_error *err)
{
    mo_status status = post_control_send(world, peer, data, bytes, err);

    if (status == MO_OK)
        status = wait_control(world, peer, true, err);
    if (status != MO_OK)
        break_control(world, peer);
    return status;
}

mo_status mo_tcp_control_receive(mo_tcp_world *world, int peer, void *data,
                                 size_t bytes, mo_error *err)
{
    mo_status status;

    post_control_receive(world, peer, data, bytes);
    status = wait_control(world, peer, false, err);
    if (status != MO_OK)
        break_control(world, peer);
    return status;
}

mo_status mo_tcp_control_exchange(mo_tcp_world *world, int peer,
                                  const void *own, void *other, size_t bytes,
                                  mo_error *err)
{
    mo_status status;

    post_control_receive(world, peer, other, bytes);
    status = post_control_send(world, peer, own, bytes, err);
    if (status == MO_OK)
        status = wait_control(world, peer, true, err);
    if (status == MO_OK)
        status = wait_control(world, peer, false, err);
    if (status != MO_OK)
        break_control(world, peer);
    return status;
}

mo_status mo_tcp_collect(mo_transport_world *handle, int from, void *data,
                         size_t bytes, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = mo_first_error_get(&world->job.process.failure, err);

    if (from == 0 || bytes == 0 || status != MO_OK)
        return status;
    return world->job.rank == from
               ? mo_tcp_control_send(world, 0, data, bytes, err)
               : mo_tcp_control_receive(world, from, data, bytes, err);
}

mo_status mo_tcp_broadcast(mo_transport_world *handle, void *data, size_t bytes,
                           mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = mo_first_error_get(&world->job.process.failure, err);

    if (status != MO_OK || world->job.rank != 0)
        return status == MO_OK
                   ? mo_tcp_control_receive(world, 0, data, bytes, err)
                   : status;
    for (int r = 1; r < world->job.n_ranks && status == MO_OK; r++)
        status = mo_tcp_control_send(world, r, data, bytes, err);
    return status;
}
