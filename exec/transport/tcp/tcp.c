/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/transport/rendezvous/join.h"
#include "exec/transport/tcp/tcp_internal.h"

/* Connections between two ranks: for the watch, and for values. */
enum { WATCH, VALUES, N_KINDS };

/* ------------------------------------------------------------------ opening */

/* For a signal while the ranks are not connected yet; join.h knows the rest. */
static void say_missing(void *context, mo_error *why)
{
    (void) context;
    mo_fail(why, MO_E_IO,
            "stopped before all ranks had come: start all of them");
}

static mo_status make_links(mo_transport_world *world, const int *sockets,
                            mo_error *err)
{
    int n = world->ranks.n_ranks, on = 1;

    world->links = calloc((size_t) n, sizeof *world->links);
    for (int r = 0; r < n; r++) {
        /* The system sizes buffers by what goes through them; sizes that we
         * ask for would be final, and smaller. */
        if (sockets[r] >= 0)
            setsockopt(sockets[r], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (world->links)
            mo_tcp_conn_init(&world->links[r], sockets[r]);
        else if (sockets[r] >= 0)
            close(sockets[r]);
    }
    return world->links ? MO_OK : mo_fail_memory(err);
}

static mo_status connect_all(mo_transport_world *world,
                             const mo_transport_world_options *options,
                             int *sockets, mo_error *err)
{
    const mo_rdv_join_options join = { .seconds = world->ranks.patience_s,
                                       .n_kinds = N_KINDS,
                                       .note = options ? options->note : NULL };
    int n = world->ranks.n_ranks;
    mo_status status =
        mo_rdv_join(&world->job, &join, world->ranks.cards, sockets, err);

    if (status == MO_OK)
        status = make_links(world, sockets + VALUES * n, err);
    if (status == MO_OK)
        status = mo_transport_job_set_connections(&world->ranks,
                                                  sockets + WATCH * n, err);
    return status;
}

static mo_status meet(mo_transport_world *world,
                      const mo_transport_world_options *options, mo_error *err)
{
    size_t n = (size_t) world->ranks.n_ranks;
    int *sockets = calloc(n * N_KINDS, sizeof *sockets);
    mo_status status;

    world->ranks.cards = calloc(n, sizeof *world->ranks.cards);
    status = sockets && world->ranks.cards
                 ? connect_all(world, options, sockets, err)
                 : mo_fail_memory(err);
    free(sockets);
    return status == MO_OK ? mo_tcp_io_thread_start(world, err) : status;
}

static void free_world(mo_transport_world *world)
{
    mo_tcp_io_thread_stop(world);
    mo_tcp_plan_clear(world);
    for (int r = 0; r < world->ranks.n_ranks && world->links; r++)
        mo_tcp_conn_clear(&world->links[r]);
    free(world->links);
    free(world->have_beside);
    mo_transport_job_destroy(&world->ranks);
    pthread_mutex_destroy(&world->plan_lock);
    pthread_mutex_destroy(&world->gate_lock);
    free(world);
}

/* *world is NULL only where there is no memory. */
static mo_status new_world(const mo_transport_world_options *options,
                           mo_transport_world **world, mo_error *err)
{
    *world = calloc(1, sizeof **world);
    if (!*world)
        return mo_fail_memory(err);
    pthread_mutex_init(&(*world)->plan_lock, NULL);
    pthread_mutex_init(&(*world)->gate_lock, NULL);
    return mo_transport_job_init(&(*world)->ranks, options, err);
}

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **world, mo_error *err)
{
    const mo_rdv_launch_options nothing = { 0 };
    mo_transport_world *w;
    mo_status status = new_world(options, &w, err);

    *world = NULL;
    if (!w)
        return status;
    if (status == MO_OK)
        status = mo_rdv_params_resolve(options ? &options->launch : &nothing,
                                       &w->job, err);
    if (status == MO_OK) {
        w->ranks.rank = w->job.rank;
        w->ranks.n_ranks = w->job.n_ranks;
        /* Joining knows its own deadlines: this is never waited for. */
        status = mo_transport_job_start_detector(
            &w->ranks, options, 10 * w->ranks.patience_s, say_missing, err);
    }
    if (status == MO_OK)
        status = meet(w, options, err);
    if (status == MO_OK) {
        *world = w;
        return MO_OK;
    }
    if (w->ranks.watch)
        mo_transport_job_abort_open(&w->ranks, err);
    free_world(w);
    return status;
}

static void close_world(mo_transport_world *world)
{
    if (!world)
        return;
    atomic_store(&world->parting, true);
    if (mo_transport_job_finish(&world->ranks))
        mo_failure_detector_stop(world->ranks.watch);
    free_world(world);
}

/* -------------------------------------------------------------------- a run */

static int count_ranks(const mo_transport_world *world)
{
    return world->ranks.n_ranks;
}

static int own_rank(const mo_transport_world *world)
{
    return world->ranks.rank;
}

static mo_status send_far(mo_transport_world *world, int transfer,
                          const void *data, mo_error *err)
{
    int64_t bytes = world->ranks.plan->transfers[transfer].bytes;
    mo_tcp_transfer *t = &world->transfers[transfer];
    mo_status status = MO_OK;
    bool wake = false;

    pthread_mutex_lock(&t->link->lock);
    if (t->ready || bytes <= MO_TCP_EAGER_BYTES)
        status = mo_tcp_conn_enqueue(world, t->link, MO_TCP_MSG_DATA, transfer,
                                     data, bytes, &wake, err);
    else
        t->begun = true;
    t->ready = false;
    pthread_mutex_unlock(&t->link->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

static mo_status send_value(mo_transport_world *world, int transfer,
                            const void *data, mo_error *err)
{
    mo_transport_process *inside = &world->ranks.inside;
    mo_status status = MO_OK;

    mo_transport_local_copy_send(inside->post, transfer, data);
    if (!mo_transport_local_copy_is_local(inside->post, transfer))
        status = send_far(world, transfer, data, err);
    return status == MO_OK ? mo_first_error_get(&inside->failure, err) : status;
}

/* It is here already, or will come; *here tells. */
static mo_status expect(mo_transport_world *world, int transfer, void *data,
                        bool *here, mo_error *err)
{
    int64_t bytes = world->ranks.plan->transfers[transfer].bytes;
    mo_tcp_transfer *t = &world->transfers[transfer];
    mo_status status = MO_OK;
    bool wake = false;

    pthread_mutex_lock(&t->link->lock);
    *here = t->arrived;
    if (t->arrived) {
        memcpy(data, t->early, (size_t) bytes);
        free(t->early);
        t->early = NULL;
        t->arrived = false;
    } else {
        t->expected = true;
        if (bytes > MO_TCP_EAGER_BYTES)
            status =
                mo_tcp_conn_enqueue(world, t->link, MO_TCP_MSG_CLEAR_TO_SEND,
                                    transfer, NULL, 0, &wake, err);
    }
    pthread_mutex_unlock(&t->link->lock);
    if (wake)
        mo_tcp_io_thread_wake(world);
    return status;
}

static mo_status receive_value(mo_transport_world *world, int transfer,
                               void *data, mo_error *err)
{
    mo_transport_process *inside = &world->ranks.inside;
    mo_status status = MO_OK;
    bool here = false;

    mo_transport_local_copy_receive(inside->post, transfer, data);
    if (!mo_transport_local_copy_is_local(inside->post, transfer))
        status = expect(world, transfer, data, &here, err);
    if (here)
        mo_transport_local_copy_complete(inside->post, transfer);
    return status == MO_OK ? mo_first_error_get(&inside->failure, err) : status;
}

static mo_status await(mo_transport_world *world, int transfer, bool sending,
                       mo_error *err)
{
    return mo_transport_process_await(&world->ranks.inside, transfer, sending,
                                      err);
}

static mo_status barrier(mo_transport_world *world, bool *stop, mo_error *err)
{
    mo_transport_process *inside = &world->ranks.inside;
    mo_status status = MO_OK;
    unsigned round;

    if (mo_vote_barrier_arrive(&inside->gate, *stop, &round))
        status = mo_tcp_barrier_arrive(
            world, mo_vote_barrier_local_vote(&inside->gate), err);
    if (status != MO_OK)
        return status;
    return mo_vote_barrier_wait(&inside->gate, round, &inside->failure, stop,
                                err);
}

static int64_t clock_offset_ns(const mo_transport_world *world)
{
    return world->ranks.clock_offset_ns;
}

typedef struct serving {
    mo_transport_world *world;
    int n_threads;
} serving;

static bool all_left(void *context)
{
    serving *s = context;

    return atomic_load(&s->world->ranks.inside.left) == s->n_threads;
}

static mo_status serve(mo_transport_world *world, int n_threads, mo_error *err)
{
    serving s = { world, n_threads };

    mo_eventcount_wait(&world->ranks.inside.server, all_left, &s);
    mo_tcp_plan_clear(world);
    return mo_transport_process_end(&world->ranks.inside, err);
}

static void leave(mo_transport_world *world)
{
    mo_transport_process_leave(&world->ranks.inside);
}

static void fail(mo_transport_world *world, const mo_error *why)
{
    mo_transport_job_fail(&world->ranks, why);
}

const mo_transport mo_transport_tcp = {
    .name = "tcp",
    .help = "processes that meet at --master, or that a launcher has started",
    .open = open_world,
    .close = close_world,
    .n_ranks = count_ranks,
    .rank = own_rank,
    .begin = mo_tcp_plan_begin,
    .send = send_value,
    .receive = receive_value,
    .await = await,
    .barrier = barrier,
    .clock_offset_ns = clock_offset_ns,
    .serve = serve,
    .leave = leave,
    .collect = mo_tcp_collect_to_root,
    .spread = mo_tcp_broadcast,
    .fail = fail,
};
