/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/nccl/standin_nccl.h"

enum { STANDIN_NCCL_VERSION = 22890 }; /* of no real release */

#define AS_TEXT(name) #name
#define SYMBOL(name)  { AS_TEXT(name), offsetof(standin_cuda, name) },

static const struct {
    const char *name;
    size_t offset;
} symbols[] = { STANDIN_NCCL_NAMES(SYMBOL) };

static standin_cuda cuda;

static void load_cuda(void)
{
    const char *file = getenv("MOIRAI_CUDA");
    void *library = file ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = library ? dlsym(library, symbols[i].name) : NULL;

        if (!found) {
            fprintf(stderr,
                    "stand-in: NCCL: MOIRAI_CUDA names nothing that has %s\n",
                    symbols[i].name);
            abort();
        }
        memcpy((char *) &cuda + symbols[i].offset, &found, sizeof found);
    }
}

const standin_cuda *standin_nccl_cuda(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_cuda);
    return &cuda;
}

ncclResult_t ncclGetVersion(int *version)
{
    *version = STANDIN_NCCL_VERSION;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {
        "no error",
        "unhandled cuda error",
        "unhandled system error",
        "internal error",
        "invalid argument",
        "invalid usage",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };

    return result >= 0 && result < ncclNumResults ? texts[result]
                                                  : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void) comm;
    return "";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    standin_link_name(id);
    return ncclSuccess;
}

void standin_comm_drop(ncclComm_t comm)
{
    if (--comm->kept > 0)
        return;
    if (comm->stream)
        standin_nccl_cuda()->cuStreamDestroy(comm->stream);
    standin_link_close(comm);
    free(comm->links);
    free(comm);
}

static bool make_stream(ncclComm_t comm)
{
    return standin_nccl_cuda()->cuStreamCreate(
               &comm->stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
}

static ncclComm_t new_comm(int n_ranks, const ncclUniqueId *id, int rank)
{
    ncclComm_t comm = calloc(1, sizeof *comm);

    if (!comm)
        return NULL;
    comm->links = calloc((size_t) n_ranks, sizeof *comm->links);
    if (!comm->links) {
        free(comm);
        return NULL;
    }
    for (int s = 0; s < n_ranks; s++)
        comm->links[s].socket = -1;
    comm->n_ranks = n_ranks;
    comm->rank = rank;
    comm->listener = -1;
    comm->kept = 1;
    comm->state = ncclInProgress;
    memcpy(comm->name, id->internal, sizeof comm->name - 1);
    return comm;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *made, int n_ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    ncclComm_t comm;

    *made = NULL;
    if (n_ranks < 1 || rank < 0 || rank >= n_ranks)
        return ncclInvalidArgument;
    if (!config || config->blocking != 0) {
        standin_nccl_cuda()->standin_report(
            "NCCL: only communicators that do not block are known");
        return ncclInvalidUsage;
    }
    comm = new_comm(n_ranks, &id, rank);
    if (!comm)
        return ncclSystemError;
    if (!make_stream(comm) || !standin_link_listen(comm)) {
        standin_nccl_cuda()->standin_report(
            "NCCL: seat %d of %s cannot listen: is it taken?", rank,
            comm->name);
        standin_comm_drop(comm);
        return ncclSystemError;
    }
    *made = comm;
    return ncclInProgress;
}

/* Reports the use of an aborted or destroyed communicator. */
static bool is_usable(ncclComm_t comm, const char *what)
{
    if (comm && !comm->aborted && !comm->finalized)
        return true;
    standin_nccl_cuda()->standin_report("NCCL: %s: the communicator is gone",
                                        what);
    return false;
}

/* The last operation is reported as in progress once before it is complete. */
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state)
{
    if (!comm || comm->aborted) {
        standin_nccl_cuda()->standin_report(
            "NCCL: ncclCommGetAsyncError: the communicator is gone");
        return ncclInvalidArgument;
    }
    if (!comm->joined && comm->state == ncclInProgress &&
        standin_link_join(comm)) {
        comm->joined = true;
        comm->state = ncclSuccess;
    }
    *state =
        comm->state == ncclSuccess && comm->busy ? ncclInProgress : comm->state;
    comm->busy = false;
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    if (!is_usable(comm, "ncclCommFinalize"))
        return ncclInvalidArgument;
    comm->finalized = comm->busy = true;
    return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    if (!comm || comm->aborted || !comm->finalized) {
        standin_nccl_cuda()->standin_report(
            "NCCL: ncclCommDestroy of what is not finalized");
        return ncclInvalidUsage;
    }
    if (comm->kept > 1) {
        standin_nccl_cuda()->standin_report(
            "NCCL: ncclCommDestroy while programs use it: it would "
            "wait for ever");
        abort();
    }
    standin_comm_drop(comm);
    return ncclSuccess;
}

/* Pending operations end; they keep their reference to the communicator. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    standin_nccl_cuda()->standin_lock();
    if (comm->aborted) {
        standin_nccl_cuda()->standin_report(
            "NCCL: ncclCommAbort of what was aborted");
        abort();
    }
    comm->aborted = true;
    standin_link_close(comm);
    standin_comm_drop(comm);
    standin_nccl_cuda()->standin_unlock();
    return ncclSuccess;
}

static ncclResult_t enqueue(ncclComm_t comm, int peer, const void *from,
                            void *to, size_t bytes, ncclDataType_t type,
                            CUstream stream)
{
    ncclResult_t result;

    if (!is_usable(comm, from ? "ncclSend" : "ncclRecv"))
        return ncclInvalidArgument;
    if (!comm->joined || comm->busy) {
        standin_nccl_cuda()->standin_report(
            "NCCL: a transfer while the communicator is busy");
        return ncclInvalidUsage;
    }
    if (type != ncclInt8 || peer < 0 || peer >= comm->n_ranks ||
        peer == comm->rank)
        return ncclInvalidArgument;
    result = standin_op_put(comm, peer, from, to, bytes, stream);
    if (result != ncclSuccess)
        return result;
    comm->busy = true;
    return ncclInProgress;
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(comm, peer, from, NULL, count, type, stream);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(comm, peer, NULL, to, count, type, stream);
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *memory, size_t bytes,
                              void **handle)
{
    *handle = memory;
    return is_usable(comm, "ncclCommRegister") && bytes > 0
               ? ncclSuccess
               : ncclInvalidArgument;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
    return is_usable(comm, "ncclCommDeregister") && handle
               ? ncclSuccess
               : ncclInvalidArgument;
}
