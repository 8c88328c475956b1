/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport nccl: tcp, extended by NCCL between ranks with GPUs. All
 * control messages, and values that NCCL does not carry, go over TCP.
 */
#include <config.h>

#include "exec/transport/nccl/p2p.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/transport/tcp/tcp_internal.h"
#include "exec/transport/transport.h"

struct mo_tcp_extension {
    void (*note)(const char *text);
    bool *is_gpu; /* by device of the plan that begins next, owned; or NULL */
    int n_devices;
    bool in_use;
    bool *is_carried; /* by transfer of the last plan: NCCL does it; owned */
    pthread_mutex_t lock; /* the failure detector's thread reads nccl, too */
    mo_nccl_p2p *nccl;    /* from begin to the end of serve, owned; or NULL */
};

/* Allgather over pairwise exchanges in ascending order of ranks, so no cycle
 * of waiting ranks can form. Ranks that were built without NCCL take no
 * part. */
static mo_status allgather(void *context, const void *own, void *all,
                           size_t bytes, mo_error *err)
{
    mo_tcp_world *world = context;
    const mo_transport_job *job = &world->job;
    mo_status status = MO_OK;

    memcpy((char *) all + (size_t) job->rank * bytes, own, bytes);
    for (int r = 0; r < job->n_ranks && status == MO_OK; r++)
        if (r != job->rank && world->peer_has_extension[r])
            status = mo_tcp_control_exchange(
                world, r, own, (char *) all + (size_t) r * bytes, bytes, err);
    return status;
}

static mo_status get_failure(void *context, mo_error *err)
{
    mo_tcp_world *world = context;

    return mo_first_error_get(&world->job.process.failure, err);
}

static void replace_p2p(mo_tcp_world *world, mo_nccl_p2p *nccl)
{
    mo_tcp_extension *b = world->extension;
    mo_nccl_p2p *before;

    pthread_mutex_lock(&b->lock);
    before = b->nccl;
    b->nccl = nccl;
    pthread_mutex_unlock(&b->lock);
    mo_nccl_p2p_free(before);
}

/* Appends the last transfers of this rank to an error of the failure
 * detector. */
static void add_context(void *context, mo_error *why)
{
    mo_tcp_world *world = context;
    mo_tcp_extension *b = world->extension;

    pthread_mutex_lock(&b->lock);
    if (b->nccl)
        mo_nccl_p2p_add_error_context(b->nccl, why);
    pthread_mutex_unlock(&b->lock);
}

static mo_status open_world(const mo_transport_world_options *options,
                            mo_transport_world **handle, mo_error *err)
{
    mo_tcp_extension *b = calloc(1, sizeof *b);
    mo_tcp_world *world;
    mo_status status;

    *handle = NULL;
    if (!b)
        return mo_fail_memory(err);
    status = mo_tcp_open(options, handle, err);
    if (status != MO_OK) {
        free(b);
        return status;
    }
    b->note = options ? options->note : NULL;
    pthread_mutex_init(&b->lock, NULL);
    world = mo_tcp_world_of(*handle);
    world->extension = b;
    mo_transport_job_set_error_context(&world->job, add_context, world);
    return MO_OK;
}

static void close_world(mo_transport_world *handle)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_tcp_extension *b = world ? world->extension : NULL;

    if (!b)
        return;
    replace_p2p(world, NULL);
    mo_tcp_close(handle);
    pthread_mutex_destroy(&b->lock);
    free(b->is_gpu);
    free(b->is_carried);
    free(b);
}

/* Communicators are finalized by all their ranks together, before DONE. */
static mo_status settle(mo_transport_world *handle, mo_error *err)
{
    return mo_tcp_world_of(handle)->extension->in_use
               ? MO_OK
               : mo_tcp_settle(handle, err);
}

static mo_status set_backends(mo_transport_world *handle,
                              const mo_backend *const *backends, int n_devices,
                              mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_tcp_extension *b = world->extension;

    free(b->is_gpu);
    b->is_gpu = calloc((size_t) n_devices + 1, sizeof *b->is_gpu);
    if (!b->is_gpu)
        return mo_fail_memory(err);
    b->n_devices = n_devices;
    for (int d = 0; d < n_devices; d++)
        b->is_gpu[d] = backends[d] == &mo_backend_cuda;
    return MO_OK;
}

static mo_status begin_plan(mo_transport_world *handle,
                            const mo_exec_plan *plan, const int *rank_of,
                            int n_threads, uint64_t digest, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_tcp_extension *b = world->extension;
    mo_nccl_p2p_options options = { .plan = plan,
                                    .is_gpu = b->is_gpu,
                                    .rank = world->job.rank,
                                    .n_ranks = world->job.n_ranks,
                                    .allgather = allgather,
                                    .failure = get_failure,
                                    .context = world };
    mo_nccl_p2p *nccl = NULL;
    mo_status status =
        mo_tcp_begin(handle, plan, rank_of, n_threads, digest, err);

    free(b->is_carried);
    b->is_carried = NULL;
    /* A plan without backends (the link benchmark) has its values in
     * host memory. */
    if (status != MO_OK || !b->is_gpu || b->n_devices != plan->n_devices)
        return status;
    options.rank_of = world->job.rank_of;
    status = mo_nccl_p2p_new(&options, &nccl, err);
    free(b->is_gpu);
    b->is_gpu = NULL;
    if (status != MO_OK)
        return status;
    b->in_use = mo_nccl_p2p_n_transfers(nccl) > 0;
    b->is_carried =
        calloc((size_t) plan->n_transfers + 1, sizeof *b->is_carried);
    for (int t = 0; t < plan->n_transfers && b->is_carried; t++)
        b->is_carried[t] = mo_nccl_p2p_carrier(nccl, t) != NULL;
    if (mo_nccl_p2p_unavailable_reason(nccl) && b->note &&
        world->job.rank == 0) {
        char text[512];

        snprintf(text, sizeof text,
                 "transfers between GPUs go through the processes' memory: %s",
                 mo_nccl_p2p_unavailable_reason(nccl));
        b->note(text);
    }
    replace_p2p(world, nccl);
    return b->is_carried ? MO_OK : mo_fail_memory(err);
}

static const mo_backend_carrier *get_carrier(mo_transport_world *handle,
                                             int transfer)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_nccl_p2p *nccl = world->extension->nccl;

    return nccl ? mo_nccl_p2p_carrier(nccl, transfer) : NULL;
}

static mo_status wait_at_barrier(mo_transport_world *handle, bool *stop,
                                 mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = mo_tcp_barrier(handle, stop, err);

    if (world->extension->nccl)
        mo_nccl_p2p_start_run(world->extension->nccl);
    return status;
}

/* No CUDA graph is left when all threads have left; the plan is still valid. */
static mo_status serve(mo_transport_world *handle, int n_threads, mo_error *err)
{
    mo_tcp_world *world = mo_tcp_world_of(handle);
    mo_status status = mo_tcp_serve(handle, n_threads, err);

    replace_p2p(world, NULL);
    return status;
}

static const char *describe(const mo_transport_world *handle)
{
    const mo_tcp_world *world = mo_tcp_world_of_const(handle);

    return world->extension->in_use ? "nccl" : mo_transport_tcp.name;
}

/* Exact for transfers of this rank. */
static const char *path(const mo_transport_world *handle, int transfer)
{
    const mo_tcp_world *world = mo_tcp_world_of_const(handle);
    const bool *is_carried = world->extension->is_carried;

    return is_carried && is_carried[transfer]
               ? mo_transport_nccl.name
               : mo_transport_job_path(&world->job, transfer,
                                       mo_transport_tcp.name);
}

const mo_transport mo_transport_nccl = {
    .name = "nccl",
    .help = "as tcp, and NCCL between GPUs of several ranks",
    .open = open_world,
    .close = close_world,
    .settle = settle,
    .n_ranks = mo_tcp_n_ranks,
    .rank = mo_tcp_rank,
    .set_backends = set_backends,
    .begin = begin_plan,
    .carrier = get_carrier,
    .send = mo_tcp_send,
    .receive = mo_tcp_receive,
    .wait = mo_tcp_wait,
    .barrier = wait_at_barrier,
    .clock_offset_ns = mo_tcp_clock_offset_ns,
    .serve = serve,
    .leave = mo_tcp_leave,
    .collect = mo_tcp_collect,
    .broadcast = mo_tcp_broadcast,
    .fail = mo_tcp_fail,
    .describe = describe,
    .path = path,
};
