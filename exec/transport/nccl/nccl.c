/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/nccl/p2p.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/transport/tcp/tcp_internal.h"
#include "exec/transport/transport.h"

/*
 * The transport: ranks over TCP, of which those with GPUs have NCCL besides.
 * All that the ranks say to each other, and what NCCL cannot carry, goes the
 * way of TCP.
 */
struct mo_tcp_extension {
    void (*note)(const char *text);
    bool *is_gpu; /* by device of the plan that begins next; or NULL */
    int n_devices;
    bool carries;
    pthread_mutex_t lock; /* the watch's thread looks at nccl, too */
    mo_nccl_p2p *nccl;    /* from begin to the end of serve, or NULL */
};

/* Everybody gets everybody's, in the order of their numbers, so nobody waits in
 * a circle.  Those who were built without NCCL have nothing to say. */
static mo_status share(void *context, const void *own, void *all, size_t bytes,
                       mo_error *err)
{
    mo_transport_world *world = context;
    const mo_transport_job *ranks = &world->ranks;
    mo_status status = MO_OK;

    memcpy((char *) all + (size_t) ranks->rank * bytes, own, bytes);
    for (int r = 0; r < ranks->n_ranks && status == MO_OK; r++)
        if (r != ranks->rank && world->have_beside[r])
            status = mo_tcp_control_exchange(
                world, r, own, (char *) all + (size_t) r * bytes, bytes, err);
    return status;
}

static mo_status failure(void *context, mo_error *err)
{
    mo_transport_world *world = context;

    return mo_first_error_get(&world->ranks.inside.failure, err);
}

static void put_nccl(mo_transport_world *world, mo_nccl_p2p *nccl)
{
    mo_tcp_extension *b = world->beside;
    mo_nccl_p2p *before;

    pthread_mutex_lock(&b->lock);
    before = b->nccl;
    b->nccl = nccl;
    pthread_mutex_unlock(&b->lock);
    mo_nccl_p2p_free(before);
}

/* What a rank waited for is added to what the watch has found. */
static void explain(void *context, mo_error *why)
{
    mo_transport_world *world = context;
    mo_tcp_extension *b = world->beside;

    pthread_mutex_lock(&b->lock);
    if (b->nccl)
        mo_nccl_p2p_add_error_context(b->nccl, why);
    pthread_mutex_unlock(&b->lock);
}

/* --------------------------------------------------------------- the world */

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **world, mo_error *err)
{
    mo_tcp_extension *b = calloc(1, sizeof *b);
    mo_status status;

    *world = NULL;
    if (!b)
        return mo_fail_memory(err);
    status = mo_transport_tcp.open(options, world, err);
    if (status != MO_OK) {
        free(b);
        return status;
    }
    b->note = options ? options->note : NULL;
    pthread_mutex_init(&b->lock, NULL);
    (*world)->beside = b;
    mo_transport_job_set_error_context(&(*world)->ranks, explain, *world);
    return MO_OK;
}

static void close_world(mo_transport_world *world)
{
    mo_tcp_extension *b = world ? world->beside : NULL;

    if (!b)
        return;
    put_nccl(world, NULL);
    mo_transport_tcp.close(world);
    pthread_mutex_destroy(&b->lock);
    free(b->is_gpu);
    free(b);
}

static mo_status announce(mo_transport_world *world,
                          const mo_backend *const *backends, int n_devices,
                          mo_error *err)
{
    mo_tcp_extension *b = world->beside;

    free(b->is_gpu);
    b->is_gpu = calloc((size_t) n_devices + 1, sizeof *b->is_gpu);
    if (!b->is_gpu)
        return mo_fail_memory(err);
    b->n_devices = n_devices;
    for (int d = 0; d < n_devices; d++)
        b->is_gpu[d] = backends[d] == &mo_backend_cuda;
    return MO_OK;
}

static void tell_why_not(const mo_transport_world *world,
                         const mo_nccl_p2p *nccl)
{
    const mo_tcp_extension *b = world->beside;
    char text[512];

    if (!mo_nccl_p2p_unavailable_reason(nccl) || !b->note ||
        world->ranks.rank != 0)
        return;
    snprintf(text, sizeof text,
             "transfers between GPUs go through the processes' memory: %s",
             mo_nccl_p2p_unavailable_reason(nccl));
    b->note(text);
}

static mo_status begin(mo_transport_world *world, const mo_exec_plan *plan,
                       const int *rank_of, int n_threads, uint64_t digest,
                       mo_error *err)
{
    mo_tcp_extension *b = world->beside;
    mo_nccl_p2p_options options = { .plan = plan,
                                    .is_gpu = b->is_gpu,
                                    .rank = world->ranks.rank,
                                    .n_ranks = world->ranks.n_ranks,
                                    .share = share,
                                    .failure = failure,
                                    .context = world };
    mo_nccl_p2p *nccl = NULL;
    mo_status status =
        mo_transport_tcp.begin(world, plan, rank_of, n_threads, digest, err);

    /* Values of links that are measured alone are in the process. */
    if (status != MO_OK || !b->is_gpu || b->n_devices != plan->n_devices)
        return status;
    options.rank_of = world->ranks.rank_of;
    status = mo_nccl_p2p_new(&options, &nccl, err);
    free(b->is_gpu);
    b->is_gpu = NULL;
    if (status != MO_OK)
        return status;
    b->carries = mo_nccl_p2p_n_transfers(nccl) > 0;
    tell_why_not(world, nccl);
    put_nccl(world, nccl);
    return MO_OK;
}

static const mo_backend_carrier *carrier(mo_transport_world *world,
                                         int transfer)
{
    mo_nccl_p2p *nccl = world->beside->nccl;

    return nccl ? mo_nccl_p2p_carrier(nccl, transfer) : NULL;
}

static mo_status barrier(mo_transport_world *world, bool *stop, mo_error *err)
{
    mo_status status = mo_transport_tcp.barrier(world, stop, err);

    if (world->beside->nccl)
        mo_nccl_p2p_start_run(world->beside->nccl);
    return status;
}

/* Programs are gone when all threads have left; the plan is still there. */
static mo_status serve(mo_transport_world *world, int n_threads, mo_error *err)
{
    mo_status status = mo_transport_tcp.serve(world, n_threads, err);

    put_nccl(world, NULL);
    return status;
}

static const char *say(const mo_transport_world *world)
{
    return world->beside->carries ? "nccl" : mo_transport_tcp.name;
}

/* ------------------------------------------------------------- as with TCP */

static int count_ranks(const mo_transport_world *world)
{
    return mo_transport_tcp.n_ranks(world);
}

static int own_rank(const mo_transport_world *world)
{
    return mo_transport_tcp.rank(world);
}

static mo_status send_value(mo_transport_world *world, int transfer,
                            const void *data, mo_error *err)
{
    return mo_transport_tcp.send(world, transfer, data, err);
}

static mo_status receive_value(mo_transport_world *world, int transfer,
                               void *data, mo_error *err)
{
    return mo_transport_tcp.receive(world, transfer, data, err);
}

static mo_status await(mo_transport_world *world, int transfer, bool sending,
                       mo_error *err)
{
    return mo_transport_tcp.await(world, transfer, sending, err);
}

static int64_t clock_offset_ns(const mo_transport_world *world)
{
    return mo_transport_tcp.clock_offset_ns(world);
}

static void leave(mo_transport_world *world)
{
    mo_transport_tcp.leave(world);
}

static mo_status collect(mo_transport_world *world, int from, void *data,
                         size_t bytes, mo_error *err)
{
    return mo_transport_tcp.collect(world, from, data, bytes, err);
}

static mo_status spread(mo_transport_world *world, void *data, size_t bytes,
                        mo_error *err)
{
    return mo_transport_tcp.spread(world, data, bytes, err);
}

static void fail(mo_transport_world *world, const mo_error *why)
{
    mo_transport_tcp.fail(world, why);
}

const mo_transport mo_transport_nccl = {
    .name = "nccl",
    .help = "as tcp, and NCCL between GPUs of several ranks",
    .open = open_world,
    .close = close_world,
    .n_ranks = count_ranks,
    .rank = own_rank,
    .announce = announce,
    .begin = begin,
    .carrier = carrier,
    .send = send_value,
    .receive = receive_value,
    .await = await,
    .barrier = barrier,
    .clock_offset_ns = clock_offset_ns,
    .serve = serve,
    .leave = leave,
    .collect = collect,
    .spread = spread,
    .fail = fail,
    .say = say,
};
