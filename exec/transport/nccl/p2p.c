/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/stop.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/transport/nccl/p2p_internal.h"

enum { WARM_BYTES = 256 };

static const double default_time_limit_s = 600;

_Static_assert(sizeof(bool) == 1, "they travel as bytes");

/* What a rank sends to all others, before the unique ids it has created. */
typedef struct notice {
    int32_t version;    /* of its NCCL; 0: it has none */
    int32_t needs_nccl; /* it has an end of a pair, so it needs NCCL */
} notice;

/* *all: the buffers of all ranks, by rank; the caller frees it. */
static mo_status allgather(mo_nccl_p2p *nccl, const void *own, size_t bytes,
                           char **all, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    size_t size;

    *all = NULL;
    if (!mo_size_mul(bytes, (size_t) o->n_ranks, &size))
        return mo_fail_memory(err);
    *all = calloc(size + 1, 1);
    if (!*all)
        return mo_fail_memory(err);
    return o->allgather(o->context, own, *all, bytes, err);
}

static bool is_set(const char *variable)
{
    const char *text = getenv(variable);

    return text && *text && strcmp(text, "0") != 0;
}

/* With several requests in flight, kernels of NCCL that wait for a peer may
 * occupy what others need to begin, and none ends: then one communicator on any
 * rank means none at all, and values go through the memory of the processes. */
static mo_status compute_layout(mo_nccl_p2p *nccl, mo_error *err)
{
    const mo_nccl_p2p_options *o = &nccl->options;
    const mo_exec_plan *plan = o->plan;
    size_t n = (size_t) plan->n_devices;
    bool *is_gpu = calloc(n + 1, sizeof *is_gpu);
    /* A device is in the plan more than once: it has slots. */
    bool has_copies = n > 1 && plan->devices && plan->devices[0].id &&
                      plan->devices[0].id == plan->devices[1].id;
    bool one_comm = is_set("MOIRAI_NCCL_SAFE"), host_fallback;
    char *all = NULL;
    mo_status status;

    if (!is_gpu)
        return mo_fail_memory(err);
    memcpy(is_gpu, o->is_gpu, n * sizeof *is_gpu);
    if (has_copies && !is_set("MOIRAI_NCCL_PIPELINE"))
        one_comm = true;
    /* The rank of a device knows whether it is a GPU. The last byte is whether
     * one communicator for all is requested, by any rank. */
    is_gpu[n] = one_comm;
    status = allgather(nccl, is_gpu, n + 1, &all, err);
    for (size_t d = 0; d < n && status == MO_OK; d++)
        is_gpu[d] = all[(size_t) o->rank_of[d] * (n + 1) + d] != 0;
    for (size_t r = 0; r < (size_t) o->n_ranks && status == MO_OK; r++)
        one_comm |= all[r * (n + 1) + n] != 0;
    free(all);
    host_fallback = one_comm && has_copies;
    for (int t = 0; t < plan->n_transfers && status == MO_OK && host_fallback;
         t++)
        if (mo_nccl_comm_layout_takes(plan, o->rank_of, is_gpu, t))
            snprintf(
                nccl->unavailable, sizeof nccl->unavailable,
                "NCCL's transfers of several requests may wait for each other; "
                "MOIRAI_NCCL_PIPELINE=1 takes NCCL all the same");
    for (size_t d = 0; d < n && host_fallback; d++)
        is_gpu[d] = false;
    if (status == MO_OK)
        status = mo_nccl_comm_layout_compute(plan, o->rank_of, is_gpu, o->rank,
                                             one_comm, &nccl->layout, err);
    free(is_gpu);
    return status;
}

/* A rank without an end of a pair needs no NCCL. One that has an end but no
 * NCCL reports that in its notice; with MOIRAI_NCCL set it is an error. */
static mo_status fill_notice(mo_nccl_p2p *nccl, notice *own, ncclUniqueId *ids,
                             mo_error *err)
{
    const char *named = getenv("MOIRAI_NCCL");
    mo_status status;

    if (nccl->layout.n_members == 0)
        return MO_OK;
    own->needs_nccl = 1;
    status = mo_cuda_api_get(&nccl->driver, err);
    if (status == MO_OK)
        status = mo_nccl_api_get(&nccl->api, err);
    if (status != MO_OK) {
        nccl->api = NULL;
        return named && *named ? status : MO_OK;
    }
    own->version = nccl->api->version;
    for (int i = 0; i < nccl->layout.n_ids && status == MO_OK; i++)
        if (nccl->layout.creator_of[i] == nccl->options.rank)
            status = mo_nccl_check(nccl->api, "ncclGetUniqueId",
                                   nccl->api->ncclGetUniqueId(&ids[i]), err);
    return status;
}

/* All ranks need the same version of NCCL. */
static void compare_versions(mo_nccl_p2p *nccl, const char *all, size_t bytes)
{
    char here[MO_NCCL_VERSION_SIZE], there[MO_NCCL_VERSION_SIZE];
    notice first = { 0 }, other;
    int first_rank = -1;

    for (int r = 0; r < nccl->options.n_ranks && !*nccl->unavailable; r++) {
        memcpy(&other, all + (size_t) r * bytes, sizeof other);
        if (!other.needs_nccl)
            continue;
        if (first_rank < 0) {
            first = other;
            first_rank = r;
        }
        if (other.version == 0)
            snprintf(nccl->unavailable, sizeof nccl->unavailable,
                     "rank %d has no NCCL to use", r);
        else if (other.version != first.version)
            snprintf(nccl->unavailable, sizeof nccl->unavailable,
                     "rank %d has NCCL %s, but rank %d %s", r,
                     mo_nccl_version_format(other.version, there), first_rank,
                     mo_nccl_version_format(first.version, here));
    }
}

static mo_status exchange_ids(mo_nccl_p2p *nccl, mo_error *err)
{
    size_t bytes =
        sizeof(notice) + (size_t) nccl->layout.n_ids * sizeof(ncclUniqueId);
    char *own = calloc(bytes, 1), *all = NULL;
    notice own_notice = { 0 };
    mo_error load_error = { 0 };
    mo_status status;

    nccl->ids = calloc((size_t) nccl->layout.n_ids + 1, sizeof *nccl->ids);
    if (!own || !nccl->ids) {
        free(own);
        return mo_fail_memory(err);
    }
    status = fill_notice(nccl, &own_notice, nccl->ids, &load_error);
    if (status == MO_OK) {
        memcpy(own, &own_notice, sizeof own_notice);
        memcpy(own + sizeof own_notice, nccl->ids, bytes - sizeof own_notice);
        status = allgather(nccl, own, bytes, &all, err);
    } else if (err)
        *err = load_error;
    if (status == MO_OK && own_notice.needs_nccl && own_notice.version == 0)
        snprintf(nccl->unavailable, sizeof nccl->unavailable, "%.250s",
                 load_error.text);
    if (status == MO_OK) {
        compare_versions(nccl, all, bytes);
        for (int i = 0; i < nccl->layout.n_ids; i++) {
            size_t rank = (size_t) nccl->layout.creator_of[i];

            memcpy(&nccl->ids[i],
                   all + rank * bytes + sizeof(notice) +
                       (size_t) i * sizeof *nccl->ids,
                   sizeof *nccl->ids);
        }
    }
    free(own);
    free(all);
    return status;
}

int mo_nccl_peer_rank(const mo_nccl_p2p *nccl, int pair)
{
    const mo_nccl_pair *l = &nccl->layout.pairs[pair];
    const int *rank_of = nccl->options.rank_of;
    int rank = rank_of[l->from];

    return rank == nccl->options.rank ? rank_of[l->to] : rank;
}

/* Enqueues a send (data) or receive (target) on the stream; returns when NCCL
 * has accepted it. */
static mo_status enqueue(mo_nccl_p2p *nccl, const mo_nccl_pair *pair,
                         const void *data, void *target, size_t bytes,
                         CUstream stream, mo_error *err)
{
    const mo_nccl_api *api = nccl->api;
    ncclComm_t comm = nccl->comms[pair->own].comm;
    ncclResult_t result;

    if (data)
        result = api->ncclSend(data, bytes, ncclInt8, pair->peer, comm, stream);
    else
        result =
            api->ncclRecv(target, bytes, ncclInt8, pair->peer, comm, stream);
    if (result == ncclInProgress)
        return mo_nccl_comm_wait(nccl, pair->own, err);
    return result == ncclSuccess
               ? MO_OK
               : mo_nccl_comm_handle_error(nccl, pair->own, result, err);
}

/* Registers the buffer with NCCL, which may then move it faster; a refusal is
 * no error. */
static void register_buffer(mo_nccl_p2p *nccl, int transfer, ncclComm_t comm,
                            void *memory, size_t bytes)
{
#if NCCL_VERSION_CODE >= 21900
    if (!nccl->register_buffers || nccl->register_tried[transfer] ||
        !nccl->api->ncclCommRegister)
        return;
    nccl->register_tried[transfer] = true;
    if (nccl->api->ncclCommRegister(comm, memory, bytes,
                                    &nccl->registered[transfer]) != ncclSuccess)
        nccl->registered[transfer] = NULL;
#else
    (void) nccl, (void) transfer, (void) comm, (void) memory, (void) bytes;
#endif
}

static mo_status enqueue_transfer(const mo_backend_carrier *carrier,
                                  const mo_backend_transfer *what, void *stream,
                                  mo_error *err)
{
    mo_nccl_p2p *nccl = carrier->context;
    const mo_nccl_pair *pair =
        &nccl->layout.pairs[nccl->layout.pair_of[what->id]];
    void *memory = what->data ? (void *) (uintptr_t) what->data : what->target;

    if (nccl->aborted)
        return mo_nccl_comms_abort(nccl, NULL, err);
    if (what->bytes == 0)
        return MO_OK;

    int at;

    pthread_mutex_lock(&nccl->recorder.lock);
    at = nccl->recorder.n % MO_NCCL_FLIGHT_RECORDS;
    nccl->recorder.items[at].transfer = what->id;
    nccl->recorder.items[at].sending = what->data != NULL;
    /* n only has to tell whether the ring is full, and the next position. */
    nccl->recorder.n = nccl->recorder.n + 1 < 2 * MO_NCCL_FLIGHT_RECORDS
                           ? nccl->recorder.n + 1
                           : MO_NCCL_FLIGHT_RECORDS;
    pthread_mutex_unlock(&nccl->recorder.lock);
    register_buffer(nccl, what->id, nccl->comms[pair->own].comm, memory,
                    what->bytes);
    return enqueue(nccl, pair, what->data, what->target, what->bytes, stream,
                   err);
}

/* Moves a few bytes in the direction of the pair. */
static mo_status warm_pair(mo_nccl_p2p *nccl, const mo_nccl_pair *pair,
                           CUdeviceptr memory, CUstream stream, mo_error *err)
{
    void *at = (void *) (uintptr_t) memory;
    bool sends = nccl->options.rank_of[pair->from] == nccl->options.rank;
    mo_status status =
        enqueue(nccl, pair, sends ? at : NULL, at, WARM_BYTES, stream, err);
    const mo_cuda_api *api = nccl->driver;
    CUresult result;

    if (status != MO_OK)
        return status;
    /* The first transfer of a communicator takes long. */
    while ((result = api->cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY) {
        status = mo_nccl_comms_check(nccl, err);
        if (status != MO_OK)
            return status;
        sched_yield();
    }
    return mo_cuda_check(api, "cuStreamQuery", result, err);
}

static mo_status prepare_comms(const mo_backend_carrier *carrier,
                               mo_backend_unit *const *units, mo_error *err)
{
    mo_nccl_p2p *nccl = carrier->context;
    mo_status status;

    mo_nccl_p2p_start_run(nccl);
    status = mo_nccl_comms_create(nccl, units, err);
    for (int i = 0; i < nccl->layout.n && status == MO_OK; i++)
        if (nccl->layout.pairs[i].own >= 0) {
            const mo_nccl_pair *pair = &nccl->layout.pairs[i];
            const mo_cuda_api *api = nccl->driver;
            int device = nccl->layout.members[pair->own].device;
            CUdeviceptr memory = 0;
            CUstream stream = NULL;
            status = mo_backend_cuda.bind_thread(units[device], err);

            if (status == MO_OK)
                status =
                    mo_cuda_check(api, "cuMemAlloc",
                                  api->cuMemAlloc(&memory, WARM_BYTES), err);
            if (status == MO_OK)
                status = mo_cuda_check(
                    api, "cuStreamCreate",
                    api->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), err);
            if (status == MO_OK)
                status = warm_pair(nccl, pair, memory, stream, err);
            if (stream)
                api->cuStreamDestroy(stream);
            if (memory)
                api->cuMemFree(memory);
        }
    mo_nccl_p2p_start_run(nccl);
    return status;
}

static mo_status poll_comms(const mo_backend_carrier *carrier, mo_error *err)
{
    mo_nccl_p2p *nccl = carrier->context;
    mo_status status;

    pthread_mutex_lock(&nccl->poll_lock);
    status = mo_nccl_comms_check(nccl, err);
    pthread_mutex_unlock(&nccl->poll_lock);
    return status;
}

static void restart_limit(const mo_backend_carrier *carrier)
{
    mo_nccl_p2p_start_run(carrier->context);
}

static const char *eager_reason(const mo_backend_carrier *carrier)
{
    const mo_nccl_p2p *nccl = carrier->context;

    return nccl->eager ? "MOIRAI_NCCL_EAGER is set" : NULL;
}

mo_status mo_nccl_p2p_new(const mo_nccl_p2p_options *options,
                          mo_nccl_p2p **nccl, mo_error *err)
{
    mo_nccl_p2p *n = calloc(1, sizeof *n);
    size_t n_rows;
    mo_status status;

    *nccl = NULL;
    if (!n)
        return mo_fail_memory(err);
    n->options = *options;
    pthread_mutex_init(&n->poll_lock, NULL);
    n->n_transfers = options->plan ? options->plan->n_transfers : 0;
    n->register_buffers = is_set("MOIRAI_NCCL_REGISTER");
    n->eager = is_set("MOIRAI_NCCL_EAGER");
    n->carrier = (mo_backend_carrier){ .context = n,
                                       .connect = prepare_comms,
                                       .enqueue = enqueue_transfer,
                                       .poll = poll_comms,
                                       .restart = restart_limit,
                                       .eager_reason = eager_reason };
    pthread_mutex_init(&n->recorder.lock, NULL);
    mo_nccl_p2p_start_run(n);

    const char *text = getenv("MOIRAI_NCCL_PATIENCE");
    double seconds = default_time_limit_s;

    if (text && *text &&
        (mo_number_read_double(text, strlen(text), &seconds) != MO_NUMBER_OK ||
         !(seconds > 0) || seconds > 1e8))
        status = mo_fail(err, MO_E_USAGE,
                         "MOIRAI_NCCL_PATIENCE is '%.40s'; it must be seconds",
                         text);
    else {
        n->time_limit_ns = (int64_t) (seconds * 1e9);
        status = MO_OK;
    }
    if (status == MO_OK)
        status = compute_layout(n, err);
    if (status == MO_OK && n->layout.n > 0)
        status = exchange_ids(n, err);
    if (status == MO_OK) {
        n_rows = (size_t) n->n_transfers + 1;
        n->comms = calloc((size_t) n->layout.n_members + 1, sizeof *n->comms);
        n->registered = calloc(n_rows, sizeof *n->registered);
        n->register_tried = calloc(n_rows, sizeof *n->register_tried);
        n->abort_count = calloc(1, sizeof *n->abort_count);
        if (!n->comms || !n->registered || !n->register_tried ||
            !n->abort_count)
            status = mo_fail_memory(err);
    }
    if (status != MO_OK) {
        mo_nccl_p2p_free(n);
        return status;
    }
    *nccl = n;
    return MO_OK;
}

static void deregister_buffers(mo_nccl_p2p *nccl)
{
#if NCCL_VERSION_CODE >= 21900
    const mo_nccl_comm_layout *l = &nccl->layout;

    for (int t = 0; t < nccl->n_transfers; t++)
        if (nccl->registered[t]) {
            int own = l->pairs[l->pair_of[t]].own;

            if (nccl->comms[own].comm)
                nccl->api->ncclCommDeregister(nccl->comms[own].comm,
                                              nccl->registered[t]);
        }
#else
    (void) nccl;
#endif
}

void mo_nccl_p2p_free(mo_nccl_p2p *nccl)
{
    if (!nccl)
        return;
    if (nccl->abort_count && nccl->api) {
        if (!nccl->aborted)
            deregister_buffers(nccl);
        mo_nccl_comms_destroy(nccl);
    } else
        free(nccl->abort_count);
    pthread_mutex_destroy(&nccl->recorder.lock);
    mo_nccl_comm_layout_clear(&nccl->layout);
    free(nccl->ids);
    free(nccl->comms);
    free(nccl->registered);
    free(nccl->register_tried);
    pthread_mutex_destroy(&nccl->poll_lock);
    free(nccl);
}

const mo_backend_carrier *mo_nccl_p2p_carrier(const mo_nccl_p2p *nccl,
                                              int transfer)
{
    return !*nccl->unavailable && nccl->layout.pair_of[transfer] >= 0
               ? &nccl->carrier
               : NULL;
}

int mo_nccl_p2p_n_transfers(const mo_nccl_p2p *nccl)
{
    int n = 0;

    for (int t = 0; t < nccl->options.plan->n_transfers; t++)
        n += mo_nccl_p2p_carrier(nccl, t) != NULL;
    return n;
}

const char *mo_nccl_p2p_unavailable_reason(const mo_nccl_p2p *nccl)
{
    return *nccl->unavailable ? nccl->unavailable : NULL;
}

void mo_nccl_p2p_start_run(mo_nccl_p2p *nccl)
{
    atomic_store(&nccl->run_started_ns, mo_stop_clock_ns());
}

/* Appends to text, truncated to its size. */
MO_PRINTF(2, 3)
static void append_text(char text[MO_ERROR_TEXT_SIZE], const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, MO_ERROR_TEXT_SIZE - used, format, args);
    va_end(args);
}

/* "...; rank 2 waits for tensor 't' of rank 0; begun before: 's' to rank 1" */
void mo_nccl_p2p_add_error_context(mo_nccl_p2p *nccl, mo_error *err)
{
    mo_nccl_flight_recorder *recorder = &nccl->recorder;
    const mo_nccl_p2p_options *o = &nccl->options;
    char *text = err->text;

    pthread_mutex_lock(&recorder->lock);
    for (int k = 0; k < recorder->n && k < MO_NCCL_FLIGHT_RECORDS; k++) {
        int at = (recorder->n - 1 - k) % MO_NCCL_FLIGHT_RECORDS;
        const mo_plan_transfer *t =
            &o->plan->transfers[recorder->items[at].transfer];
        const char *tensor = o->plan->values[t->from_value].name;
        bool sending = recorder->items[at].sending;
        int other = o->rank_of[sending ? t->to : t->from];

        if (k == 0 && sending)
            append_text(text,
                        "; rank %d waits for rank %d to take tensor '%.60s'",
                        o->rank, other, tensor);
        else if (k == 0)
            append_text(text, "; rank %d waits for tensor '%.60s' of rank %d",
                        o->rank, tensor, other);
        else
            append_text(text, "%s '%.60s' %s rank %d",
                        k == 1 ? "; begun before:" : ",", tensor,
                        sending ? "to" : "of", other);
    }
    pthread_mutex_unlock(&recorder->lock);
}
