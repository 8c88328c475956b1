/* SPDX-License-Identifier: Apache-2.0 */
/* The transport tcp: sends, receives and barriers over data connections. */
#include <config.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/transport/rendezvous/join.h"
#include "exec/transport/tcp/tcp_internal.h"

/* Connections between two ranks: for the failure detector, and for data. */
enum { CONTROL, DATA, N_KINDS };

/* ---------------------------------------------------------------- the plan */

/* The memory of a value that is partly read, or not yet written, is about to
 * be freed: the connection becomes unusable. */
static void break_if_partial(mo_tcp_conn *conn)
{
    bool values = conn->body_started && conn->header.kind == MO_TCP_MSG_DATA;

    pthread_mutex_lock(&conn->lock);
    for (size_t i = 0; i < conn->n; i++)
        values |= conn->queue[conn->first + i].header.kind == MO_TCP_MSG_DATA;
    if (values) {
        conn->n = 0;
        atomic_store(&conn->broken_ns, mo_stop_clock_ns());
    }
    pthread_mutex_unlock(&conn->lock);
}

static void clear_plan(mo_tcp_world *world)
{
    pthread_mutex_lock(&world->plan_lock);
    for (int r = 0; r < world->job.n_ranks && world->transfers; r++)
        break_if_partial(&world->conns[r]);
    for (int t = 0; t < world->n_transfers; t++)
        free(world->transfers[t].unexpected);
    free(world->transfers);
    world->transfers = NULL;
    world->n_transfers = 0;
    pthread_mutex_unlock(&world->plan_lock);
}

static mo_status install_plan(mo_tcp_world *world, const mo_exec_plan *plan,
                              const int *rank_of, int n_threads, mo_error *err)
{
    mo_tcp_transfer *transfers =
        calloc((size_t) plan->n_transfers + 1, sizeof *transfers);
    mo_status status;
    const mo_transport_job *job = &world->job;

    if (!transfers)
        return mo_fail_memory(err);
    clear_plan(world);
    pthread_mutex_lock(&world->plan_lock);
    status = mo_transport_job_begin(&world->job, plan, rank_of, n_threads, err);
    if (status == MO_OK) {
        world->transfers = transfers;
        world->n_transfers = plan->n_transfers;
        for (int t = 0; t < plan->n_transfers; t++) {
            int from = job->rank_of[plan->transfers[t].from];
            int to = job->rank_of[plan->transfers[t].to];

            if (from != to && (from == job->rank || to == job->rank))
                world->transfers[t].conn =
                    &world->conns[from == job->rank ? to : from];
        }
    }
    pthread_mutex_unlock(&world->plan_lock);
    if (status != MO_OK)
        free(transfers);
    return status;
}

/* --------------------------------------------------------------- comparing */

/* Rank 0 receives all digests and sends the first rank that differs; -1:
 * none. */
static mo_status find_other_digest(mo_tcp_world *world, uint64_t digest,
                                   int64_t *other, mo_error *err)
{
    mo_status status = MO_OK;
    uint64_t theirs;

    *other = -1;
    for (int r = 1; r < world->job.n_ranks && status == MO_OK; r++) {
        status = mo_tcp_control_receive(world, r, &theirs, sizeof theirs, err);
        if (status == MO_OK && *other < 0 && theirs != digest)
            *other = r;
    }
    for (int r = 1; r < world->job.n_ranks && status == MO_OK; r++)
        status = mo_tcp_control_send(world, r, other, sizeof *other, err);
    return status;
}

static mo_status compare_plans(mo_tcp_world *world, uint64_t digest,
                               mo_error *err)
{
    int64_t other = -1;
    mo_status status;

    if (world->job.rank == 0) {
        status = find_other_digest(world, digest, &other, err);
    } else {
        status = mo_tcp_control_send(world, 0, &digest, sizeof digest, err);
        if (status == MO_OK)
            status =
                mo_tcp_control_receive(world, 0, &other, sizeof other, err);
    }
    if (status != MO_OK || other < 0)
        return status;
    return mo_transport_job_plan_mismatch(&world->job, (int) other, err);
}

static mo_status ping_clock(void *world, int peer, bool first, int64_t *number,
                            mo_error *err)
{
    mo_status status;

    if (first) {
        status = mo_tcp_control_send(world, peer, number, sizeof *number, err);
        return status == MO_OK ? mo_tcp_control_receive(world, peer, number,
                                                        sizeof *number, err)
                               : status;
    }
    status = mo_tcp_control_receive(world, peer, number, sizeof *number, err);
    *number = mo_stop_clock_ns();
    return status == MO_OK
               ? mo_tcp_control_send(world, peer, number, sizeof *number, err)
               : status;
}

/* Exchanges which ranks have an extension, since builds may differ. */
static mo_status exchange_extensions(mo_tcp_world *world, mo_error *err)
{
    int n = world->job.n_ranks;
    bool own = world->extension != NULL;
    mo_status status = MO_OK;

    if (!world->peer_has_extension)
        world->peer_has_extension =
            calloc((size_t) n, sizeof *world->peer_has_extension);
    if (!world->peer_has_extension)
        return mo_fail_memory(err);
    for (int r = 0; r < n && status == MO_OK; r++)
        if (r != world->job.rank)
            status = mo_tcp_control_exchange(
                world, r, &own, &world->peer_has_extension[r], sizeof own, err);
    world->peer_has_extension[world->job.rank] = own;
    return status;
}

/* Pairwise exchanges in ascending order of ranks: no cycle of waiting ranks
 * can form. */
static mo_status allgather(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err)
{
    mo_tcp_world *world = context;
    mo_status status = MO_OK;

    memcpy((char *) all + (size_t) world->job.rank * bytes, own, bytes);
    for (int r = 0; r < world->job.n_ranks && status == MO_OK; r++)
        if (r != world->job.rank)
            status = mo_tcp_control_exchange(
                world, r, own, (char *) all + (size_t) r * bytes, bytes, err);
    return status;
}

mo_status mo_tcp_begin(mo_transport_world *handle, const mo_exec_plan *plan,
                       const int *rank_of, int n_threads, uint64_t digest,
                       mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = install_plan(world, plan, rank_of, n_threads, err);

    if (status == MO_OK)
        status = compare_plans(world, digest, err);
    if (status == MO_OK)
        status = exchange_extensions(world, err);
    if (status == MO_OK)
        status =
            mo_transport_job_share_memory(&world->job, allgather, world, err);
    if (status == MO_OK)
        status =
            mo_transport_job_sync_clocks(&world->job, ping_clock, world, err);
    return status;
}

/* ----------------------------------------------------------------- opening */

/* The error for a signal before the ranks are connected; mo_rdv_join() reports
 * all other cases. */
static void describe_missing(void *context, mo_error *why)
{
    (void) context;
    mo_fail(why, MO_E_IO,
            "stopped before all ranks had come: start all of them");
}

static mo_status create_conns(mo_tcp_world *world, const int *sockets,
                              mo_error *err)
{
    int n = world->job.n_ranks, on = 1;

    world->conns = calloc((size_t) n, sizeof *world->conns);
    for (int r = 0; r < n; r++) {
        /* No SO_SNDBUF or SO_RCVBUF: they would switch off the autotuning of
         * the kernel, which reaches larger buffers. */
        if (sockets[r] >= 0)
            setsockopt(sockets[r], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (world->conns)
            mo_tcp_conn_init(&world->conns[r], sockets[r]);
        else if (sockets[r] >= 0)
            close(sockets[r]);
    }
    return world->conns ? MO_OK : mo_fail_memory(err);
}

static mo_status connect_all(mo_tcp_world *world,
                             const mo_transport_world_options *options,
                             int *sockets, mo_error *err)
{
    const mo_rdv_join_options join = { .seconds = world->job.peer_timeout_s,
                                       .n_kinds = N_KINDS,
                                       .note = options ? options->note : NULL };
    int n = world->job.n_ranks;
    mo_status status =
        mo_rdv_join(&world->params, &join, world->job.endpoints, sockets, err);

    if (status == MO_OK)
        status = create_conns(world, sockets + DATA * n, err);
    if (status == MO_OK)
        status = mo_transport_job_set_connections(&world->job,
                                                  sockets + CONTROL * n, err);
    return status;
}

static mo_status join_ranks(mo_tcp_world *world,
                            const mo_transport_world_options *options,
                            mo_error *err)
{
    size_t n = (size_t) world->job.n_ranks;
    int *sockets = calloc(n * N_KINDS, sizeof *sockets);
    mo_status status;

    world->job.endpoints = calloc(n, sizeof *world->job.endpoints);
    status = sockets && world->job.endpoints
                 ? connect_all(world, options, sockets, err)
                 : mo_fail_memory(err);
    free(sockets);
    return status == MO_OK ? mo_tcp_io_thread_start(world, err) : status;
}

static void free_world(mo_tcp_world *world)
{
    mo_tcp_io_thread_stop(world);
    clear_plan(world);
    for (int r = 0; r < world->job.n_ranks && world->conns; r++)
        mo_tcp_conn_clear(&world->conns[r]);
    free(world->conns);
    free(world->peer_has_extension);
    mo_transport_job_destroy(&world->job);
    pthread_mutex_destroy(&world->plan_lock);
    pthread_mutex_destroy(&world->barrier_lock);
    free(world);
}

/* *world is NULL only when out of memory. */
static mo_status new_world(const mo_transport_world_options *options,
                           mo_tcp_world **world, mo_error *err)
{
    *world = calloc(1, sizeof **world);
    if (!*world)
        return mo_fail_memory(err);
    pthread_mutex_init(&(*world)->plan_lock, NULL);
    pthread_mutex_init(&(*world)->barrier_lock, NULL);
    return mo_transport_job_init(&(*world)->job, options, err);
}

mo_status mo_tcp_open(const mo_transport_world_options *options,
                      mo_transport_world **handle, mo_error *err)
{
    const mo_rdv_launch_options none = { 0 };
    mo_tcp_world *w;
    mo_status status = new_world(options, &w, err);

    *handle = NULL;
    if (!w)
        return status;
    if (status == MO_OK)
        status = mo_rdv_params_resolve(options ? &options->launch : &none,
                                       &w->params, err);
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

/* ------------------------------------------------------------------- a run */

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

static mo_status send_remote(mo_tcp_world *world, int transfer,
                             const void *data, mo_error *err)
{
    int64_t bytes = world->job.plan->transfers[transfer].bytes;
    mo_tcp_transfer *t = &world->transfers[transfer];
    mo_status status = MO_OK;
    bool wake = false;

    pthread_mutex_lock(&t->conn->lock);
    if (t->clear_to_send || bytes <= MO_TCP_EAGER_BYTES)
        status = mo_tcp_conn_enqueue(world, t->conn, MO_TCP_MSG_DATA, transfer,
                                     data, bytes, &wake, err);
    else
        t->data_ready = true;
    t->clear_to_send = false;
    pthread_mutex_unlock(&t->conn->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

mo_status mo_tcp_send(mo_transport_world *handle, int transfer,
                      const void *data, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = MO_OK;

    if (!mo_transport_job_send(&world->job, transfer, data))
        status = send_remote(world, transfer, data, err);
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
            status =
                mo_tcp_conn_enqueue(world, t->conn, MO_TCP_MSG_CLEAR_TO_SEND,
                                    transfer, NULL, 0, &wake, err);
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

    return atomic_load(&s->world->job.process.n_left) == s->n_threads;
}

mo_status mo_tcp_serve(mo_transport_world *handle, int n_threads, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    serve_context s = { world, n_threads };

    mo_eventcount_wait(&world->job.process.server_event, all_left, &s);
    clear_plan(world);
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
    .n_ranks = mo_tcp_n_ranks,
    .rank = mo_tcp_rank,
    .begin = mo_tcp_begin,
    .send = mo_tcp_send,
    .receive = mo_tcp_receive,
    .wait = mo_tcp_wait,
    .barrier = mo_tcp_barrier,
    .clock_offset_ns = mo_tcp_clock_offset_ns,
    .serve = mo_tcp_serve,
    .leave = mo_tcp_leave,
    .collect = mo_tcp_collect,
    .broadcast = mo_tcp_broadcast,
    .fail = mo_tcp_fail,
    .path = path,
};
