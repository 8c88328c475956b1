/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives of the stand-in: errands in streams.  A communicator has a
 * stream of its own, as NCCL's have, in which all it is told comes one after
 * the other; the caller's stream waits for that.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tests/standin/nccl/standin_nccl.h"

typedef struct op {
    ncclComm_t comm;
    int peer;
    const char *from; /* NULL: it receives */
    char *to;
    size_t bytes;
    atomic_int kept;
    /* of the run that is under way */
    bool announced, met, stuck;
    size_t done;
} op;

static void begin(void *context)
{
    op *o = context;

    o->announced = o->met = o->stuck = false;
    o->done = 0;
}

static bool is_gone(op *o)
{
    if (o->comm->state == ncclSuccess)
        o->comm->state = ncclRemoteError;
    return false;
}

static bool announce(op *o)
{
    const standin_message own = { o->from ? STANDIN_SENDS : STANDIN_RECEIVES,
                                  o->bytes };

    if (o->announced)
        return true;
    /* Few bytes in a buffer that holds many of them: all or nothing. */
    o->announced = standin_link_send(o->comm->links[o->peer].socket, &own,
                                     sizeof own) == (long) sizeof own;
    return o->announced || is_gone(o);
}

/* The other end must be about to do the opposite, with as many bytes. */
static bool compare(op *o, const standin_message *said)
{
    uint64_t wanted = o->from ? STANDIN_RECEIVES : STANDIN_SENDS;

    if (said->word == wanted && said->what == o->bytes) {
        o->met = true;
        return true;
    }
    o->stuck = true;
    if (said->word != wanted)
        standin_nccl_cuda()->standin_tell("NCCL: seats %d and %d both %s",
                                          o->comm->seat, o->peer,
                                          o->from ? "send" : "receive");
    else
        standin_nccl_cuda()->standin_tell(
            "NCCL: seat %d %s %zu bytes, seat %d has %zu", o->comm->seat,
            o->from ? "sends" : "receives", o->bytes, o->peer,
            (size_t) said->what);
    o->comm->state = ncclInvalidUsage;
    return false;
}

static bool meet(op *o)
{
    standin_link *link = &o->comm->links[o->peer];
    long n;

    if (o->met)
        return true;
    n = standin_link_receive(link->socket, (char *) &link->said + link->n_said,
                             sizeof link->said - link->n_said);
    if (n < 0)
        return is_gone(o);
    link->n_said += (size_t) n;
    if (link->n_said < sizeof link->said)
        return false;
    link->n_said = 0;
    return compare(o, &link->said);
}

static bool move(op *o)
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

static bool poll(void *context)
{
    op *o = context;

    if (o->comm->aborted)
        return true;
    if (o->stuck || o->comm->state == ncclRemoteError)
        return false;
    return announce(o) && meet(o) && move(o);
}

static void keep(void *context)
{
    ((op *) context)->kept++;
}

static void drop(void *context)
{
    op *o = context;

    if (--o->kept > 0)
        return;
    standin_comm_drop(o->comm);
    free(o);
}

static const standin_errand errand = { begin, poll, keep, drop };

/* What comes next in a stream waits for all that is in another. */
static CUresult follow(CUstream behind, CUstream before)
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
    result = follow(comm->stream, stream);
    if (result == CUDA_SUCCESS)
        result = standin_nccl_cuda()->standin_foreign(comm->stream, &errand, o);
    if (result == CUDA_SUCCESS)
        result = follow(stream, comm->stream);
    drop(o);
    return result == CUDA_SUCCESS ? ncclSuccess : ncclUnhandledCudaError;
}
