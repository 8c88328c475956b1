/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>

#include "exec/transport/process.h"
#include "exec/transport/transport.h"

struct mo_transport_world {
    mo_transport_process inside;
};

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **world, mo_error *err)
{
    mo_transport_world *w = calloc(1, sizeof *w);

    (void) options;
    *world = NULL;
    if (!w)
        return mo_fail_memory(err);
    mo_transport_process_init(&w->inside);
    *world = w;
    return MO_OK;
}

static void close_world(mo_transport_world *world)
{
    if (!world)
        return;
    mo_transport_process_destroy(&world->inside);
    free(world);
}

static int count_ranks(const mo_transport_world *world)
{
    (void) world;
    return 1;
}

static int own_rank(const mo_transport_world *world)
{
    (void) world;
    return 0;
}

static mo_status begin(mo_transport_world *world, const mo_exec_plan *plan,
                       const int *rank_of, int n_threads, uint64_t digest,
                       mo_error *err)
{
    (void) digest;
    for (int d = 0; d < plan->n_devices; d++)
        if (rank_of[d] != 0)
            return mo_fail(err, MO_E_INPUT,
                           "device '%s' is of rank %d, but there is one "
                           "process only; start as many as there are ranks",
                           plan->devices[d].id, rank_of[d]);
    return mo_transport_process_begin(&world->inside, plan, rank_of, 0,
                                      n_threads, err);
}

static mo_status send(mo_transport_world *world, int transfer, const void *data,
                      mo_error *err)
{
    (void) err;
    mo_transport_local_copy_send(world->inside.post, transfer, data);
    return MO_OK;
}

static mo_status receive(mo_transport_world *world, int transfer, void *data,
                         mo_error *err)
{
    (void) err;
    mo_transport_local_copy_receive(world->inside.post, transfer, data);
    return MO_OK;
}

static mo_status await(mo_transport_world *world, int transfer, bool sending,
                       mo_error *err)
{
    return mo_transport_process_await(&world->inside, transfer, sending, err);
}

static mo_status barrier(mo_transport_world *world, bool *stop, mo_error *err)
{
    mo_vote_barrier *gate = &world->inside.gate;
    unsigned round;

    if (mo_vote_barrier_arrive(gate, *stop, &round))
        mo_vote_barrier_release(gate, mo_vote_barrier_local_vote(gate));
    return mo_vote_barrier_wait(gate, round, &world->inside.failure, stop, err);
}

static int64_t clock_offset_ns(const mo_transport_world *world)
{
    (void) world;
    return 0;
}

typedef struct serving {
    mo_transport_world *world;
    int n_threads;
} serving;

static bool all_left(void *context)
{
    serving *s = context;

    return atomic_load(&s->world->inside.left) == s->n_threads;
}

static mo_status serve(mo_transport_world *world, int n_threads, mo_error *err)
{
    serving s = { world, n_threads };

    mo_eventcount_wait(&world->inside.server, all_left, &s);
    return mo_transport_process_end(&world->inside, err);
}

static void leave(mo_transport_world *world)
{
    mo_transport_process_leave(&world->inside);
}

/* Everything is at rank 0 already. */
static mo_status collect(mo_transport_world *world, int from, void *data,
                         size_t bytes, mo_error *err)
{
    (void) from;
    (void) data;
    (void) bytes;
    return mo_first_error_get(&world->inside.failure, err);
}

static mo_status spread(mo_transport_world *world, void *data, size_t bytes,
                        mo_error *err)
{
    return collect(world, 0, data, bytes, err);
}

static void fail(mo_transport_world *world, const mo_error *why)
{
    mo_transport_process_fail(&world->inside, why);
}

const mo_transport mo_transport_local = {
    .name = "local",
    .help = "threads of one process",
    .open = open_world,
    .close = close_world,
    .n_ranks = count_ranks,
    .rank = own_rank,
    .begin = begin,
    .send = send,
    .receive = receive,
    .await = await,
    .barrier = barrier,
    .clock_offset_ns = clock_offset_ns,
    .serve = serve,
    .leave = leave,
    .collect = collect,
    .spread = spread,
    .fail = fail,
};
