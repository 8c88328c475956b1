/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives of the stand-in: operations in streams. A communicator
 * has a stream of its own, as NCCL's have, which serializes its operations;
 * the caller's stream waits for that.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tests/standin/nccl/standin_nccl.h"

typedef struct op {
    ncclComm_t comm;
    int peer;
    const char *from; /* NULL: a receive */
    char *to;
    size_t bytes;
    atomic_int kept;
    /* of the current run */
    bool header_sent, matched, stuck;
    size_t done;
} op;

static void begin_op(void *context)
{
    op *o = context;

    o->header_sent = o->matched = o->stuck = false;
    o->done = 0;
}

static bool is_gone(op *o)
{
    if (o->comm->state == ncclSuccess)
        o->comm->state = ncclRemoteError;
    return false;
}

static bool send_header(op *o)
{
    const standin_message own = { o->from ? STANDIN_SENDS : STANDIN_RECEIVES,
                                  o->bytes };

    if (o->header_sent)
        return true;
    /* Few bytes in a large buffer: all or nothing. */
    o->header_sent = standin_link_send(o->comm->links[o->peer].socket, &own,
                                       sizeof own) == (long) sizeof own;
    return o->header_sent || is_gone(o);
}

/* The other end has to do the opposite, with as many bytes. */
static bool match_header(op *o, const standin_message *received)
{
    uint64_t wanted = o->from ? STANDIN_RECEIVES : STANDIN_SENDS;

    if (received->word == wanted && received->what == o->bytes) {
        o->matched = true;
        return true;
    }
    o->stuck = true;
    if (received->word != wanted)
        standin_nccl_cuda()->standin_report("NCCL: seats %d and %d both %s",
                                            o->comm->rank, o->peer,
                                            o->from ? "send" : "receive");
    else
        standin_nccl_cuda()->standin_report(
            "NCCL: seat %d %s %zu bytes, seat %d has %zu", o->comm->rank,
            o->from ? "sends" : "receives", o->bytes, o->peer,
            (size_t) received->what);
    o->comm->state = ncclInvalidUsage;
    return false;
}

static bool exchange_headers(op *o)
{
    standin_link *link = &o->comm->links[o->peer];
    long n;

    if (o->matched)
        return true;
    n = standin_link_receive(link->socket,
                             (char *) &link->received + link->n_said,
                             sizeof link->received - link->n_said);
    if (n < 0)
        return is_gone(o);
    link->n_said += (size_t) n;
    if (link->n_said < sizeof link->received)
        return false;
    link->n_said = 0;
    return match_header(o, &link->received);
}

static bool move_bytes(op *o)
{
    int socket = o->comm->links[o->peer].socket;
    long n = 1;

    while (o->done < o->bytes && n > 0) {
        if (o->from)
            n = standin_link_send(socket, o->from + o->done,
                                  o->bytes - o->done);
        else
            n = standin_link_receive(socket, o->to + o->done,
                                     o->bytes - o->done);
        if (n < 0)
            return is_gone(o);
        o->done += (size_t) n;
    }
    return o->done == o->bytes;
}

static bool poll_op(void *context)
{
    op *o = context;

    if (o->comm->aborted)
        return true;
    if (o->stuck || o->comm->state == ncclRemoteError)
        return false;
    return send_header(o) && exchange_headers(o) && move_bytes(o);
}

static void keep_op(void *context)
{
    ((op *) context)->kept++;
}

static void drop_op(void *context)
{
    op *o = context;

    if (--o->kept > 0)
        return;
    standin_comm_drop(o->comm);
    free(o);
}

static const standin_external_op errand = { begin_op, poll_op, keep_op,
                                            drop_op };

/* Makes one stream wait for all that is in another. */
static CUresult make_wait(CUstream behind, CUstream before)
{
    const standin_cuda *cuda = standin_nccl_cuda();
    CUevent event = NULL;
    CUresult result = cuda->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);

    if (result == CUDA_SUCCESS)
        result = cuda->cuEventRecord(event, before);
    if (result == CUDA_SUCCESS)
        result = cuda->cuStreamWaitEvent(behind, event, 0);
    if (event)
        cuda->cuEventDestroy(event);
    return result;
}

ncclResult_t standin_op_put(ncclComm_t comm, int peer, const void *from,
                            void *to, size_t bytes, CUstream stream)
{
    op *o = calloc(1, sizeof *o);
    CUresult result;

    if (!o)
        return ncclSystemError;
    *o = (op){ .comm = comm,
               .peer = peer,
               .from = from,
               .to = to,
               .bytes = bytes,
               .kept = 1 };
    comm->kept++;
    result = make_wait(comm->stream, stream);
    if (result == CUDA_SUCCESS)
        result = standin_nccl_cuda()->standin_foreign(comm->stream, &errand, o);
    if (result == CUDA_SUCCESS)
        result = make_wait(stream, comm->stream);
    drop_op(o);
    return result == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}
