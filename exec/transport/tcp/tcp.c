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

static mo_status make_links(mo_world *world, const int *sockets, mo_error *err)
{
    int n = world->ranks.n_ranks, on = 1;

    world->links = calloc((size_t) n, sizeof *world->links);
    for (int r = 0; r < n; r++) {
        /* The system sizes buffers by what goes through them; sizes that we
         * ask for would be final, and smaller. */
        if (sockets[r] >= 0)
            setsockopt(sockets[r], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (world->links)
            mo_tcp_link_init(&world->links[r], sockets[r]);
        else if (sockets[r] >= 0)
            close(sockets[r]);
    }
    return world->links ? MO_OK : mo_fail_memory(err);
}

static mo_status connect_all(mo_world *world, const mo_world_options *options,
                             int *sockets, mo_error *err)
{
    const mo_join_options join = { .seconds = world->ranks.patience_s,
                                   .n_kinds = N_KINDS,
                                   .note = options ? options->note : NULL };
    int n = world->ranks.n_ranks;
    mo_status status =
        mo_join(&world->job, &join, world->ranks.cards, sockets, err);

    if (status == MO_OK)
        status = make_links(world, sockets + VALUES * n, err);
    if (status == MO_OK)
        status = mo_ranks_connected(&world->ranks, sockets + WATCH * n, err);
    return status;
}

static mo_status meet(mo_world *world, const mo_world_options *options,
                      mo_error *err)
{
    size_t n = (size_t) world->ranks.n_ranks;
    int *sockets = calloc(n * N_KINDS, sizeof *sockets);
    mo_status status;

    world->ranks.cards = calloc(n, sizeof *world->ranks.cards);
    status = sockets && world->ranks.cards
                 ? connect_all(world, options, sockets, err)
                 : mo_fail_memory(err);
    free(sockets);
    return status == MO_OK ? mo_tcp_start(world, err) : status;
}

static void free_world(mo_world *world)
{
    mo_tcp_stop(world);
    mo_tcp_forget_plan(world);
    for (int r = 0; r < world->ranks.n_ranks && world->links; r++)
        mo_tcp_link_clear(&world->links[r]);
    free(world->links);
    free(world->have_beside);
    mo_ranks_destroy(&world->ranks);
    pthread_mutex_destroy(&world->plan_lock);
    pthread_mutex_destroy(&world->gate_lock);
    free(world);
}

/* *world is NULL only where there is no memory. */
static mo_status new_world(const mo_world_options *options, mo_world **world,
                           mo_error *err)
{
    *world = calloc(1, sizeof **world);
    if (!*world)
        return mo_fail_memory(err);
    pthread_mutex_init(&(*world)->plan_lock, NULL);
    pthread_mutex_init(&(*world)->gate_lock, NULL);
    return mo_ranks_init(&(*world)->ranks, options, err);
}

static mo_status open_world(const mo_world_options *options, mo_world **world,
                            mo_error *err)
{
    const mo_launch nothing = { 0 };
    mo_world *w;
    mo_status status = new_world(options, &w, err);

    *world = NULL;
    if (!w)
        return status;
    if (status == MO_OK)
        status =
            mo_launch_find(options ? &options->launch : &nothing, &w->job, err);
    if (status == MO_OK) {
        w->ranks.rank = w->job.rank;
        w->ranks.n_ranks = w->job.n_ranks;
        /* Joining knows its own deadlines: this is never waited for. */
        status = mo_ranks_watch(&w->ranks, options, 10 * w->ranks.patience_s,
                                say_missing, err);
    }
    if (status == MO_OK)
        status = meet(w, options, err);
    if (status == MO_OK) {
        *world = w;
        return MO_OK;
    }
    if (w->ranks.watch)
        mo_ranks_give_up(&w->ranks, err);
    free_world(w);
    return status;
}

static void close_world(mo_world *world)
{
    if (!world)
        return;
    atomic_store(&world->parting, true);
    if (mo_ranks_part(&world->ranks))
        mo_watch_end(world->ranks.watch);
    free_world(world);
}

/* -------------------------------------------------------------------- a run */

static int count_ranks(const mo_world *world)
{
    return world->ranks.n_ranks;
}

static int own_rank(const mo_world *world)
{
    return world->ranks.rank;
}

static mo_status send_far(mo_world *world, int transfer, const void *data,
                          mo_error *err)
{
    int64_t bytes = world->ranks.plan->transfers[transfer].bytes;
    mo_tcp_transfer *t = &world->transfers[transfer];
    mo_status status = MO_OK;
    bool wake = false;

    pthread_mutex_lock(&t->link->lock);
    if (t->ready || bytes <= MO_TCP_SMALL)
        status = mo_tcp_push(world, t->link, MO_TCP_DATA, transfer, data, bytes,
                             &wake, err);
    else
        t->begun = true;
    t->ready = false;
    pthread_mutex_unlock(&t->link->lock);
    if (wake)
        mo_tcp_wake(world);
    return status;
}

static mo_status send_value(mo_world *world, int transfer, const void *data,
                            mo_error *err)
{
    mo_inside *inside = &world->ranks.inside;
    mo_status status = MO_OK;

    mo_post_send(inside->post, transfer, data);
    if (!mo_post_is_local(inside->post, transfer))
        status = send_far(world, transfer, data, err);
    return status == MO_OK ? mo_failure_get(&inside->failure, err) : status;
}

/* It is here already, or will come; *here tells. */
static mo_status expect(mo_world *world, int transfer, void *data, bool *here,
                        mo_error *err)
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
        if (bytes > MO_TCP_SMALL)
            status = mo_tcp_push(world, t->link, MO_TCP_READY, transfer, NULL,
                                 0, &wake, err);
    }
    pthread_mutex_unlock(&t->link->lock);
    if (wake)
        mo_tcp_wake(world);
    return status;
}

static mo_status receive_value(mo_world *world, int transfer, void *data,
                               mo_error *err)
{
    mo_inside *inside = &world->ranks.inside;
    mo_status status = MO_OK;
    bool here = false;

    mo_post_receive(inside->post, transfer, data);
    if (!mo_post_is_local(inside->post, transfer))
        status = expect(world, transfer, data, &here, err);
    if (here)
        mo_post_done(inside->post, transfer);
    return status == MO_OK ? mo_failure_get(&inside->failure, err) : status;
}

static mo_status await(mo_world *world, int transfer, bool sending,
                       mo_error *err)
{
    return mo_inside_await(&world->ranks.inside, transfer, sending, err);
}

static mo_status barrier(mo_world *world, bool *stop, mo_error *err)
{
    mo_inside *inside = &world->ranks.inside;
    mo_status status = MO_OK;
    unsigned round;

    if (mo_gate_arrive(&inside->gate, *stop, &round))
        status = mo_tcp_gate_arrive(world, mo_gate_vote(&inside->gate), err);
    if (status != MO_OK)
        return status;
    return mo_gate_pass(&inside->gate, round, &inside->failure, stop, err);
}

static int64_t clock_offset_ns(const mo_world *world)
{
    return world->ranks.clock_offset_ns;
}

typedef struct serving {
    mo_world *world;
    int n_threads;
} serving;

static bool all_left(void *context)
{
    serving *s = context;

    return atomic_load(&s->world->ranks.inside.left) == s->n_threads;
}

static mo_status serve(mo_world *world, int n_threads, mo_error *err)
{
    serving s = { world, n_threads };

    mo_bell_wait(&world->ranks.inside.server, all_left, &s);
    mo_tcp_forget_plan(world);
    return mo_inside_end(&world->ranks.inside, err);
}

static void leave(mo_world *world)
{
    mo_inside_leave(&world->ranks.inside);
}

static void fail(mo_world *world, const mo_error *why)
{
    mo_ranks_fail(&world->ranks, why);
}

const mo_transport mo_transport_tcp = {
    .name = "tcp",
    .help = "processes that meet at --master, or that a launcher has started",
    .open = open_world,
    .close = close_world,
    .n_ranks = count_ranks,
    .rank = own_rank,
    .begin = mo_tcp_begin,
    .send = send_value,
    .receive = receive_value,
    .await = await,
    .barrier = barrier,
    .clock_offset_ns = clock_offset_ns,
    .serve = serve,
    .leave = leave,
    .collect = mo_tcp_collect,
    .spread = mo_tcp_spread,
    .fail = fail,
};
