/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_nccl.h - the entry points of NCCL that Moirai uses, over sockets,
 * for tests of ranks with GPUs without any GPU.
 *
 * MOIRAI_CUDA=tests/standin/standin_cuda.so
 * MOIRAI_NCCL=tests/standin/standin_nccl.so
 *
 * It keeps NCCL's rules, and fails where NCCL would, or might. A communicator
 * is complete when all ranks have joined. Its operations run one after the
 * other; a send is complete when its receive is, without buffering: a stream
 * that waits for one blocks with all that follows. Mismatched ends, and use
 * after free, are reported on stderr.
 *
 * A communicator that waits for a dead peer knows so (ncclRemoteError), but
 * enqueued operations end only when it is aborted.
 */
#ifndef MO_TESTS_STANDIN_NCCL_STANDIN_NCCL_H
#define MO_TESTS_STANDIN_NCCL_STANDIN_NCCL_H

#include <nccl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/standin/cuda/standin_cuda.h"

/* Messages that both ends of an operation exchange before its bytes. */
typedef enum standin_word {
    STANDIN_HELLO = 0x48454c4f, /* what: its rank */
    STANDIN_SENDS = 0x53454e44, /* what: bytes */
    STANDIN_RECEIVES = 0x52454356
} standin_word;

typedef struct standin_message {
    uint64_t word, what;
} standin_message;

/* The connection to another rank. */
typedef struct standin_link {
    int socket; /* -1: none */
    bool greeted;
    standin_message received; /* the received part of the next message */
    size_t n_said;
} standin_link;

struct ncclComm {
    int n_ranks, rank;
    int listener;
    char name[64];
    standin_link *links; /* by rank */
    bool joined;         /* all are connected */
    ncclResult_t state;  /* of the last operation */
    bool busy;           /* reports ncclInProgress once more */
    bool aborted, finalized;
    atomic_int kept; /* references, of the owner and of operations */
    CUstream stream;
};

/* bootstrap.c: connections.  No function blocks. */

/* Creates a name that other ranks can connect to. */
void standin_link_name(ncclUniqueId *id);

bool standin_link_listen(ncclComm_t comm);
/* Continues to connect; returns true when all are connected. */
bool standin_link_join(ncclComm_t comm);
void standin_link_close(ncclComm_t comm);

/* Returns the number of bytes moved; -1: the other end is closed. */
long standin_link_send(int socket, const void *data, size_t bytes);
long standin_link_receive(int socket, void *data, size_t bytes);

/* send_recv.c: operations. */

ncclResult_t standin_op_put(ncclComm_t comm, int peer, const void *from,
                            void *to, size_t bytes, CUstream stream);
void standin_comm_drop(ncclComm_t comm);

/* The stand-in for CUDA, which has to be loaded */

#define STANDIN_NCCL_NAMES(X)                                                  \
    X(cuStreamCreate)                                                          \
    X(cuStreamDestroy)                                                         \
    X(cuStreamWaitEvent)                                                       \
    X(cuEventCreate)                                                           \
    X(cuEventDestroy)                                                          \
    X(cuEventRecord)                                                           \
    X(standin_foreign)                                                         \
    X(standin_lock)                                                            \
    X(standin_unlock)                                                          \
    X(standin_report)

#define STANDIN_NCCL_MEMBER(name) __typeof__(&name) name;

typedef struct standin_cuda {
    STANDIN_NCCL_NAMES(STANDIN_NCCL_MEMBER)
} standin_cuda;

const standin_cuda *standin_nccl_cuda(void);

#endif
