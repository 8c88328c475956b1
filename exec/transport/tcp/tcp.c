/* SPDX-License-Identifier: Apache-2.0 */
/* The transport tcp: connections, sends, receives and barriers. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/transport/failure_detector.h"
#include "exec/transport/local_copy.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/tcp/tcp_internal.h"

/* Connections between two ranks: for the failure detector, and for data. */
enum { CONTROL, DATA, N_KINDS };

/* Attempts of rank 0 to join the ranks that are left, and the time between two
 * of them; seconds that no join takes. */
enum { MIN_ATTEMPTS = 20, RETRY_NS = 50000000, NEVER_S = 1 << 30 };

/* The error for a signal before the ranks are connected; mo_rdv_join() reports
 * all other cases. */
static void describe_missing(void *context, mo_error *why)
{
    (void) context;
    mo_fail(why, MO_E_IO,
            "stopped before all ranks had come: start all of them");
}

/* With a world that has lost ranks: its failure detector goes on. */
static bool is_lost(void *context, int rank)
{
    mo_tcp_world *lost = context;

    return mo_failure_detector_peer_of(lost->job.detector, rank).lost;
}

/* Whether a rank waits in vain for rank 0, which has ended or given it up. */
static bool is_left_alone(mo_tcp_world *lost)
{
    mo_failure_detector *detector = lost->job.detector;
    const mo_failure_detector_peer first =
        mo_failure_detector_peer_of(detector, 0);

    return lost->job.rank != 0 &&
           (first.lost || first.done || is_lost(lost, lost->job.rank));
}

/* Joins, after a loss again until all that are left have come. */
static mo_status join(mo_tcp_world *world, mo_tcp_world *lost,
                      const mo_transport_world_options *options,
                      mo_rdv_endpoint *endpoints, mo_secure_channel **channels,
                      mo_error *err)
{
    const mo_rdv_join_options join = { .seconds = world->job.join_timeout_s,
                                       .n_kinds = N_KINDS,
                                       .note = options ? options->note : NULL,
                                       .is_lost = lost ? is_lost : NULL,
                                       .context = lost,
                                       .key = world->job.tolerates_losses
                                                  ? &world->key
                                                  : NULL };
    const struct timespec delay = { .tv_nsec = RETRY_NS };
    int attempts = MIN_ATTEMPTS + world->params.n_ranks;
    mo_error why = { 0 };
    mo_status status;

    for (;;) {
        status = mo_rdv_join(&world->params, &join, endpoints, channels, &why);
        if (status == MO_OK || !lost || status == MO_E_MEMORY ||
            is_left_alone(lost) || (world->params.rank == 0 && --attempts == 0))
            break;
        nanosleep(&delay, NULL);
        why = (mo_error){ 0 };
    }
    if (status != MO_OK && err)
        *err = why;
    return status;
}

/* Numbers the ranks that have come: the others have no port. */
static mo_status number_ranks(mo_tcp_world *world, const mo_tcp_world *lost,
                              const mo_rdv_endpoint *endpoints, mo_error *err)
{
    mo_transport_job *job = &world->job;
    int n = 0;

    job->endpoints =
        calloc((size_t) world->params.n_ranks, sizeof *job->endpoints);
    job->origins = calloc((size_t) world->params.n_ranks, sizeof *job->origins);
    if (!job->endpoints || !job->origins)
        return mo_fail_memory(err);
    for (int r = 0; r < world->params.n_ranks; r++) {
        if (endpoints[r].port <= 0)
            continue;
        if (r == world->params.rank)
            job->rank = n;
        job->endpoints[n] = endpoints[r];
        job->origins[n++] = lost ? mo_transport_job_origin(&lost->job, r) : r;
    }
    job->n_ranks = n;
    world->params.rank = job->rank;
    world->params.n_ranks = n;
    return MO_OK;
}

static mo_status connect_all(mo_tcp_world *world, mo_tcp_world *lost,
                             const mo_transport_world_options *options,
                             mo_rdv_endpoint *endpoints,
                             mo_secure_channel **channels, mo_error *err)
{
    mo_status status = join(world, lost, options, endpoints, channels, err);
    int n;

    if (status != MO_OK)
        return status;
    status = number_ranks(world, lost, endpoints, err);
    n = world->job.n_ranks;
    if (status == MO_OK)
        world->conns = calloc((size_t) n, sizeof *world->conns);
    if (!world->conns) {
        for (int i = 0; i < N_KINDS * world->params.n_ranks; i++)
            mo_secure_channel_free(channels[i]);
        return mo_fail_memory(err);
    }
    for (int r = 0; r < n; r++)
        mo_tcp_conn_init(&world->conns[r], channels[DATA * n + r]);
    return mo_transport_job_set_connections(
        &world->job, channels + (ptrdiff_t) CONTROL * n, err);
}

static mo_status join_ranks(mo_tcp_world *world, mo_tcp_world *lost,
                            const mo_transport_world_options *options,
                            mo_error *err)
{
    size_t n = (size_t) world->params.n_ranks;
    mo_secure_channel **channels = calloc(n * N_KINDS, sizeof *channels);
    mo_rdv_endpoint *endpoints = calloc(n, sizeof *endpoints);
    mo_status status =
        channels && endpoints
            ? connect_all(world, lost, options, endpoints, channels, err)
            : mo_fail_memory(err);

    free(endpoints);
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
    explicit_bzero(&world->key, sizeof world->key);
    free(world);
}

/* lost: the world that this one follows, or NULL. */
static mo_status open_world(const mo_transport_world_options *options,
                            mo_tcp_world *lost, mo_transport_world **handle,
                            mo_error *err)
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
    if (lost) {
        w->params = lost->params;
        w->key = lost->key;
        w->params.epoch++;
    } else if (status == MO_OK)
        status = mo_rdv_params_resolve(options ? &options->launch : &none,
                                       &w->params, err);
    if (status == MO_OK && !lost)
        status = mo_rdv_params_check(&w->params, options ? options->note : NULL,
                                     err);
    if (status == MO_OK) {
        w->job.rank = w->params.rank;
        w->job.n_ranks = w->params.n_ranks;
        /* join() has its own deadlines: this one is never reached. */
        status = mo_transport_job_start_detector(&w->job, options, NEVER_S,
                                                 describe_missing, err);
    }
    if (status == MO_OK)
        status = join_ranks(w, lost, options, err);
    if (status == MO_OK) {
        *handle = (mo_transport_world *) w;
        return MO_OK;
    }
    if (w->job.detector && !lost)
        mo_transport_job_abort_open(&w->job, err);
    free_world(w);
    return status;
}

mo_status mo_tcp_open(const mo_transport_world_options *options,
                      mo_transport_world **handle, mo_error *err)
{
    return open_world(options, NULL, handle, err);
}

bool mo_tcp_loss(mo_transport_world *handle, mo_transport_loss *loss)
{
    return mo_transport_job_loss(&mo_tcp_world_of(handle)->job, loss);
}

mo_status mo_tcp_reopen(mo_transport_world *handle,
                        const mo_transport_world_options *options,
                        mo_transport_world **world, mo_error *err)
{
    mo_tcp_world *lost = mo_tcp_world_of(handle);
    mo_status status = open_world(options, lost, world, err);

    if (status == MO_OK || lost->job.rank == 0)
        return status;
    if (mo_failure_detector_peer_of(lost->job.detector, 0).done)
        return MO_OK;
    /* The end of rank 0 is a better reason than its missing answer. */
    return is_left_alone(lost)
               ? mo_failure_detector_left_alone(lost->job.detector, err)
               : status;
}

int mo_tcp_origin(const mo_transport_world *handle, int rank)
{
    return mo_transport_job_origin(&mo_tcp_world_of_const(handle)->job, rank);
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

    /* Rank 0 has all results, and needs nothing more of a rank that is lost. */
    if (status != MO_OK)
        return mo_transport_job_loss(&world->job, NULL) ? MO_OK : status;
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
    .loss = mo_tcp_loss,
    .reopen = mo_tcp_reopen,
    .origin = mo_tcp_origin,
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
