/* SPDX-License-Identifier: Apache-2.0 */
/* The transport local: one process, all transfers in-process. */
#include <config.h>

#include <stdlib.h>

#include "exec/transport/local_copy.h"
#include "exec/transport/process.h"
#include "exec/transport/transport.h"

/* The world is the in-process part alone. */
static mo_transport_process *process_of(mo_transport_world *world)
{
    return (mo_transport_process *) world;
}

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **world, mo_error *err)
{
    mo_transport_process *process = calloc(1, sizeof *process);

    (void) options;
    *world = NULL;
    if (!process)
        return mo_fail_memory(err);
    mo_transport_process_init(process);
    *world = (mo_transport_world *) process;
    return MO_OK;
}

static void close_world(mo_transport_world *world)
{
    if (!world)
        return;
    mo_transport_process_destroy(process_of(world));
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

static mo_status begin_plan(mo_transport_world *world, const mo_exec_plan *plan,
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
    return mo_transport_process_begin(process_of(world), plan, rank_of, 0,
                                      n_threads, err);
}

static mo_status send_value(mo_transport_world *world, int transfer,
                            const void *data, mo_error *err)
{
    (void) err;
    mo_transport_local_copy_send(process_of(world)->copier, transfer, data);
    return MO_OK;
}

static mo_status receive_value(mo_transport_world *world, int transfer,
                               void *data, mo_error *err)
{
    (void) err;
    mo_transport_local_copy_receive(process_of(world)->copier, transfer, data);
    return MO_OK;
}

static mo_status wait_transfer(mo_transport_world *world, int transfer,
                               bool sending, mo_error *err)
{
    return mo_transport_process_await(process_of(world), transfer, sending,
                                      err);
}

static bool is_done(mo_transport_world *world, int transfer, bool sending)
{
    return mo_transport_process_is_done(process_of(world), transfer, sending);
}

static mo_status wait_at_barrier(mo_transport_world *world, bool *stop,
                                 mo_error *err)
{
    mo_transport_process *process = process_of(world);
    mo_vote_barrier *barrier = &process->barrier;
    unsigned round;

    if (mo_vote_barrier_arrive(barrier, *stop, &round))
        mo_vote_barrier_release(barrier, mo_vote_barrier_local_vote(barrier));
    return mo_vote_barrier_wait(barrier, round, &process->failure, stop, err);
}

static int64_t clock_offset_ns(const mo_transport_world *world)
{
    (void) world;
    return 0;
}

typedef struct serve_context {
    mo_transport_process *process;
    int n_threads;
} serve_context;

static bool all_left(void *context)
{
    serve_context *s = context;

    return atomic_load(&s->process->n_exited) == s->n_threads;
}

static mo_status serve(mo_transport_world *world, int n_threads, mo_error *err)
{
    serve_context s = { process_of(world), n_threads };

    mo_eventcount_wait(&s.process->server_event, all_left, &s);
    return mo_transport_process_end(s.process, err);
}

static void leave(mo_transport_world *world)
{
    mo_transport_process_leave(process_of(world));
}

/* All data is on rank 0 already. */
static mo_status collect(mo_transport_world *world, int from, void *data,
                         size_t bytes, mo_error *err)
{
    (void) from;
    (void) data;
    (void) bytes;
    return mo_first_error_get(&process_of(world)->failure, err);
}

static mo_status broadcast(mo_transport_world *world, void *data, size_t bytes,
                           mo_error *err)
{
    return collect(world, 0, data, bytes, err);
}

static void fail(mo_transport_world *world, const mo_error *why)
{
    mo_transport_process_fail(process_of(world), why);
}

const mo_transport mo_transport_local = {
    .name = "local",
    .help = "threads of one process",
    .open = open_world,
    .close = close_world,
    .n_ranks = count_ranks,
    .rank = own_rank,
    .begin = begin_plan,
    .send = send_value,
    .receive = receive_value,
    .wait = wait_transfer,
    .is_done = is_done,
    .barrier = wait_at_barrier,
    .clock_offset_ns = clock_offset_ns,
    .serve = serve,
    .leave = leave,
    .collect = collect,
    .broadcast = broadcast,
    .fail = fail,
};
