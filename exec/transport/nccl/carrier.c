/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <sched.h>
#include <stdlib.h>

#include "base/stop.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/transport/nccl/p2p_internal.h"

enum { WARM_BYTES = 256 };

int mo_nccl_peer_rank(const mo_nccl_p2p *nccl, int line)
{
    const mo_nccl_pair *l = &nccl->lines.lines[line];
    const int *rank_of = nccl->options.rank_of;
    int rank = rank_of[l->from];

    return rank == nccl->options.rank ? rank_of[l->to] : rank;
}

/* ------------------------------------------------------- one end of a line */

/* Puts it into the stream; returns when it is there. */
static mo_status put(mo_nccl_p2p *nccl, const mo_nccl_pair *line,
                     const void *data, void *target, size_t bytes,
                     CUstream stream, mo_error *err)
{
    const mo_nccl_api *api = nccl->api;
    ncclComm_t comm = nccl->comms[line->own].comm;
    ncclResult_t result;

    if (data)
        result = api->ncclSend(data, bytes, ncclInt8, line->peer, comm, stream);
    else
        result =
            api->ncclRecv(target, bytes, ncclInt8, line->peer, comm, stream);
    if (result == ncclInProgress)
        return mo_nccl_comm_wait(nccl, line->own, err);
    return result == ncclSuccess
               ? MO_OK
               : mo_nccl_comm_handle_error(nccl, line->own, result, err);
}

/* NCCL may move bytes faster that it knows beforehand; where it does not want
 * to, it moves them as always. */
static void announce(mo_nccl_p2p *nccl, int transfer, ncclComm_t comm,
                     void *memory, size_t bytes)
{
#if NCCL_VERSION_CODE >= 21900
    if (!nccl->registers || nccl->was_tried[transfer] ||
        !nccl->api->ncclCommRegister)
        return;
    nccl->was_tried[transfer] = true;
    if (nccl->api->ncclCommRegister(comm, memory, bytes,
                                    &nccl->registered[transfer]) != ncclSuccess)
        nccl->registered[transfer] = NULL;
#else
    (void) nccl, (void) transfer, (void) comm, (void) memory, (void) bytes;
#endif
}

static mo_status carry(const mo_backend_carrier *carrier,
                       const mo_backend_transfer *what, void *stream,
                       mo_error *err)
{
    mo_nccl_p2p *nccl = carrier->context;
    const mo_nccl_pair *line =
        &nccl->lines.lines[nccl->lines.line_of[what->transfer]];
    void *memory = what->data ? (void *) (uintptr_t) what->data : what->target;

    if (nccl->given_up)
        return mo_nccl_comms_abort(nccl, NULL, err);
    if (what->bytes == 0)
        return MO_OK;
    mo_nccl_flight_recorder_record(&nccl->ring, what->transfer,
                                   what->data != NULL);
    announce(nccl, what->transfer, nccl->comms[line->own].comm, memory,
             what->bytes);
    return put(nccl, line, what->data, what->target, what->bytes, stream, err);
}

/* ----------------------------------------------------------------- warm-up */

/* Until the stream is done; NCCL's first words over a line take long. */
static mo_status await_stream(mo_nccl_p2p *nccl, CUstream stream, mo_error *err)
{
    const mo_cuda_api *api = nccl->driver;
    mo_status status;
    CUresult result;

    while ((result = api->cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY) {
        status = mo_nccl_comms_check(nccl, err);
        if (status != MO_OK)
            return status;
        sched_yield();
    }
    return mo_cuda_check(api, "cuStreamQuery", result, err);
}

/* A few bytes, there and nowhere else. */
static mo_status warm_line(mo_nccl_p2p *nccl, const mo_nccl_pair *line,
                           CUdeviceptr memory, CUstream stream, mo_error *err)
{
    void *at = (void *) (uintptr_t) memory;
    bool sends = nccl->options.rank_of[line->from] == nccl->options.rank;
    mo_status status =
        put(nccl, line, sends ? at : NULL, at, WARM_BYTES, stream, err);

    return status == MO_OK ? await_stream(nccl, stream, err) : status;
}

static mo_status warm_up(mo_nccl_p2p *nccl, const mo_nccl_pair *line,
                         mo_backend_unit *const *units, mo_error *err)
{
    const mo_cuda_api *api = nccl->driver;
    int device = nccl->lines.seats[line->own].device;
    CUdeviceptr memory = 0;
    CUstream stream = NULL;
    mo_status status = mo_backend_cuda.enter(units[device], err);

    if (status == MO_OK)
        status = mo_cuda_check(api, "cuMemAlloc",
                               api->cuMemAlloc(&memory, WARM_BYTES), err);
    if (status == MO_OK)
        status = mo_cuda_check(
            api, "cuStreamCreate",
            api->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), err);
    if (status == MO_OK)
        status = warm_line(nccl, line, memory, stream, err);
    if (stream)
        api->cuStreamDestroy(stream);
    if (memory)
        api->cuMemFree(memory);
    return status;
}

static mo_status ready(const mo_backend_carrier *carrier,
                       mo_backend_unit *const *units, mo_error *err)
{
    mo_nccl_p2p *nccl = carrier->context;
    mo_status status;

    mo_nccl_p2p_start_run(nccl);
    status = mo_nccl_comms_create(nccl, units, err);
    for (int i = 0; i < nccl->lines.n && status == MO_OK; i++)
        if (nccl->lines.lines[i].own >= 0)
            status = warm_up(nccl, &nccl->lines.lines[i], units, err);
    mo_nccl_p2p_start_run(nccl);
    return status;
}

/* ---------------------------------------------------------------- the rest */

static mo_status poll(const mo_backend_carrier *carrier, mo_error *err)
{
    return mo_nccl_comms_check(carrier->context, err);
}

static const char *eager_because(const mo_backend_carrier *carrier)
{
    const mo_nccl_p2p *nccl = carrier->context;

    return nccl->eager ? "MOIRAI_NCCL_EAGER is set" : NULL;
}

void mo_nccl_carrier_init(mo_nccl_p2p *nccl)
{
    nccl->carrier = (mo_backend_carrier){ .context = nccl,
                                          .ready = ready,
                                          .carry = carry,
                                          .poll = poll,
                                          .eager_because = eager_because };
}
