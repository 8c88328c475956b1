/* SPDX-License-Identifier: Apache-2.0 */
/* The transport tcp: connections, sends, receives and barriers. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "exec/transport/failure_detector.h"
#include "exec/transport/local_copy.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/tcp/tcp_internal.h"

/* Connections between two ranks: for the failure detector, and for data. */
enum { CONTROL, DATA, N_KINDS };

/* The error for a signal before the ranks are connected; mo_rdv_join() reports
 * all other cases. */
static void describe_missing(void *context, mo_error *why)
{
    (void) context;
    mo_fail(why, MO_E_IO,
            "stopped before all ranks had come: start all of them");
}

static mo_status connect_all(mo_tcp_world *world,
                             const mo_transport_world_options *options,
                             mo_secure_channel **channels, mo_error *err)
{
    const mo_rdv_join_options join = { .seconds = world->job.peer_timeout_s,
                                       .n_kinds = N_KINDS,
                                       .note = options ? options->note : NULL };
    int n = world->job.n_ranks;
    mo_status status =
        mo_rdv_join(&world->params, &join, world->job.endpoints, channels, err);

    if (status != MO_OK)
        return status;
    world->conns = calloc((size_t) n, sizeof *world->conns);
    if (!world->conns) {
        for (int r = 0; r < n; r++) {
            mo_secure_channel_free(channels[DATA * n + r]);
            mo_secure_channel_free(channels[CONTROL * n + r]);
        }
        return mo_fail_memory(err);
    }
    for (int r = 0; r < n; r++)
        mo_tcp_conn_init(&world->conns[r], channels[DATA * n + r]);
    return mo_transport_job_set_connections(
        &world->job, channels + (ptrdiff_t) CONTROL * n, err);
}

static mo_status join_ranks(mo_tcp_world *world,
                            const mo_transport_world_options *options,
                            mo_error *err)
{
    size_t n = (size_t) world->job.n_ranks;
    mo_secure_channel **channels = calloc(n * N_KINDS, sizeof *channels);
    mo_status status;

    world->job.endpoints = calloc(n, sizeof *world->job.endpoints);
    status = channels && world->job.endpoints
                 ? connect_all(world, options, channels, err)
                 : mo_fail_memory(err);
    free(channels);
    return status == MO_OK ? mo_tcp_io_thread_start(world, err) : status;
}

static void free_world(mo_tcp_world *world)
{
    mo_tcp_io_thread_stop(world);
    mo_tcp_plan_clear(world);
    for (int r = 0; r < world->job.n_ranks && world->conns; r++)
        mo_tcp_conn_clear(&world->conns[r]);
    free(world->conns);
    free(world->polled);
    free(world->peer_has_extension);
    mo_transport_job_destroy(&world->job);
    pthread_mutex_destroy(&world->plan_lock);
    pthread_mutex_destroy(&world->barrier_lock);
    free(world);
}

mo_status mo_tcp_open(const mo_transport_world_options *options,
                      mo_transport_world **handle, mo_error *err)
{
    const mo_rdv_launch_options none = { 0 };
    mo_tcp_world *w = calloc(1, sizeof *w);
    mo_status status;

    *handle = NULL;
    if (!w)
        return mo_fail_memory(err);
    pthread_mutex_init(&w->plan_lock, NULL);
    pthread_mutex_init(&w->barrier_lock, NULL);
    status = mo_transport_job_init(&w->job, options, err);
    if (status == MO_OK)
        status = mo_rdv_params_resolve(options ? &options->launch : &none,
                                       &w->params, err);
    if (status == MO_OK)
        status = mo_rdv_params_check(&w->params, options ? options->note : NULL,
                                     err);
    if (status == MO_OK) {
        w->job.rank = w->params.rank;
        w->job.n_ranks = w->params.n_ranks;
        /* mo_rdv_join() has its own deadlines: this one is never reached. */
        status = mo_transport_job_start_detector(&w->job, options,
                                                 10 * w->job.peer_timeout_s,
                                                 describe_missing, err);
    }
    if (status == MO_OK)
        status = join_ranks(w, options, err);
    if (status == MO_OK) {
        *handle = (mo_transport_world *) w;
        return MO_OK;
    }
    if (w->job.detector)
        mo_transport_job_abort_open(&w->job, err);
    free_world(w);
    return status;
}

void mo_tcp_close(mo_transport_world *handle)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);

    if (!world)
        return;
    atomic_store(&world->closing, true);
    if (mo_transport_job_finish(&world->job))
        mo_failure_detector_stop(world->job.detector);
    free_world(world);
}

mo_status mo_tcp_settle(mo_transport_world *handle, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = mo_failure_detector_await_done(world->job.detector, err);

    if (status != MO_OK)
        return status;
    atomic_store(&world->closing, true);
    mo_failure_detector_ignore_peers(world->job.detector);
    /* The failure may have been detected before that. */
    return mo_first_error_get(&world->job.process.failure, err);
}

int mo_tcp_n_ranks(const mo_transport_world *handle)
{
    const mo_tcp_world *world = mo_tcp_world_of_const(handle);

    return world->job.n_ranks;
}

int mo_tcp_rank(const mo_transport_world *handle)
{
    const mo_tcp_world *world = mo_tcp_world_of_const(handle);

    return world->job.rank;
}

mo_status mo_tcp_send(mo_transport_world *handle, int transfer,
                      const void *data, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = MO_OK;

    if (!mo_transport_job_send(&world->job, transfer, data)) {
        int64_t bytes = world->job.plan->transfers[transfer].bytes;
        mo_tcp_transfer *t = &world->transfers[transfer];
        status = MO_OK;
        bool wake = false;

        pthread_mutex_lock(&t->conn->lock);
        if (t->clear_to_send || bytes <= MO_TCP_EAGER_BYTES)
            status = mo_tcp_conn_enqueue(
                world, t->conn,
                (mo_tcp_send_item){ { MO_TCP_MSG_DATA, transfer, bytes },
                                    data },
                &wake, err);
        else
            t->data_ready = true;
        t->clear_to_send = false;
        pthread_mutex_unlock(&t->conn->lock);
        if (wake)
            mo_tcp_io_thread_wake(world);
    }
    return status == MO_OK
               ? mo_first_error_get(&world->job.process.failure, err)
               : status;
}

/* Copies an unexpected message, or posts the receive; *copied: it was there. */
static mo_status receive_remote(mo_tcp_world *world, int transfer, void *data,
                                bool *copied, mo_error *err)
{
    int64_t bytes = world->job.plan->transfers[transfer].bytes;
    mo_tcp_transfer *t = &world->transfers[transfer];
    mo_status status = MO_OK;
    bool wake = false;

    pthread_mutex_lock(&t->conn->lock);
    *copied = t->arrived;
    if (t->arrived) {
        memcpy(data, t->unexpected, (size_t) bytes);
        free(t->unexpected);
        t->unexpected = NULL;
        t->arrived = false;
    } else {
        t->receive_posted = true;
        if (bytes > MO_TCP_EAGER_BYTES)
            status = mo_tcp_conn_enqueue(
                world, t->conn,
                (mo_tcp_send_item){ { MO_TCP_MSG_CLEAR_TO_SEND, transfer, 0 },
                                    NULL },
                &wake, err);
    }
    pthread_mutex_unlock(&t->conn->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

mo_status mo_tcp_receive(mo_transport_world *handle, int transfer, void *data,
                         mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_transport_process *process = &world->job.process;
    mo_status status = MO_OK;
    bool copied = false;

    if (!mo_transport_job_receive(&world->job, transfer, data))
        status = receive_remote(world, transfer, data, &copied, err);
    if (copied)
        mo_transport_local_copy_complete(process->copier, transfer);
    return status == MO_OK ? mo_first_error_get(&process->failure, err)
                           : status;
}

mo_status mo_tcp_wait(mo_transport_world *handle, int transfer, bool sending,
                      mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);

    return mo_transport_job_wait(&world->job, transfer, sending, err);
}

static bool is_done(mo_transport_world *handle, int transfer, bool sending)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);

    return mo_transport_process_is_done(&world->job.process, transfer, sending);
}

mo_status mo_tcp_barrier(mo_transport_world *handle, bool *stop, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_transport_process *process = &world->job.process;
    mo_status status = MO_OK;
    bool released = true;
    unsigned round;

    if (mo_vote_barrier_arrive(&process->barrier, *stop, &round))
        status = mo_transport_job_barrier(&world->job, &released, err);
    if (status == MO_OK && !released)
        status = mo_tcp_barrier_arrive(
            world, mo_vote_barrier_local_vote(&process->barrier), err);
    if (status != MO_OK)
        return status;
    return mo_vote_barrier_wait(&process->barrier, round, &process->failure,
                                stop, err);
}

int64_t mo_tcp_clock_offset_ns(const mo_transport_world *handle)
{
    const mo_tcp_world *world = mo_tcp_world_of_const(handle);

    return world->job.clock_offset_ns;
}

typedef struct serve_context {
    mo_tcp_world *world;
    int n_threads;
} serve_context;

static bool all_left(void *context)
{
    serve_context *s = context;

    return atomic_load(&s->world->job.process.n_exited) == s->n_threads;
}

mo_status mo_tcp_serve(mo_transport_world *handle, int n_threads, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    serve_context s = { world, n_threads };

    mo_eventcount_wait(&world->job.process.server_event, all_left, &s);
    mo_tcp_plan_clear(world);
    return mo_transport_job_end(&world->job, err);
}

void mo_tcp_leave(mo_transport_world *handle)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);

    mo_transport_process_leave(&world->job.process);
}

void mo_tcp_fail(mo_transport_world *handle, const mo_error *why)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);

    mo_transport_job_fail(&world->job, why);
}

static const char *path(const mo_transport_world *handle, int transfer)
{
    return mo_transport_job_path(&mo_tcp_world_of_const(handle)->job, transfer,
                                 mo_transport_tcp.name);
}

const mo_transport mo_transport_tcp = {
    .name = "tcp",
    .help = "processes that meet at --master, or that a launcher has started",
    .open = mo_tcp_open,
    .close = mo_tcp_close,
    .settle = mo_tcp_settle,
    .n_ranks = mo_tcp_n_ranks,
    .rank = mo_tcp_rank,
    .begin = mo_tcp_begin,
    .send = mo_tcp_send,
    .receive = mo_tcp_receive,
    .wait = mo_tcp_wait,
    .is_done = is_done,
    .barrier = mo_tcp_barrier,
    .clock_offset_ns = mo_tcp_clock_offset_ns,
    .serve = mo_tcp_serve,
    .leave = mo_tcp_leave,
    .collect = mo_tcp_collect,
    .broadcast = mo_tcp_broadcast,
    .fail = mo_tcp_fail,
    .path = path,
};
