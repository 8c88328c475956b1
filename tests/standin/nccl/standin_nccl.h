/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_nccl.h - the entry points of NCCL that Moirai uses, over sockets, so
 * that ranks with GPUs can be tested where there is none.
 *
 *     MOIRAI_CUDA=tests/standin/standin_cuda.so
 * MOIRAI_NCCL=tests/standin/standin_nccl.so
 *
 * It keeps NCCL's rules, and breaks where NCCL would, or might.  Communicators
 * are there when all have come.  What one is told to do it does one after the
 * other; a send is done when its receive is, and nothing is kept in between: a
 * stream that waits for one waits with all that is behind it.  Ends that do not
 * fit together, and the use of what was given back, are told on stderr.
 *
 * A communicator that waits for a peer that is gone knows so (ncclRemoteError),
 * but what was put into streams ends only when it is aborted.
 */
#ifndef MO_TESTS_STANDIN_NCCL_STANDIN_NCCL_H
#define MO_TESTS_STANDIN_NCCL_STANDIN_NCCL_H

#include <nccl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/standin/cuda/standin_cuda.h"

/* What both ends of an op say to each other before its bytes. */
typedef enum standin_word {
    STANDIN_HELLO = 0x48454c4f, /* what: its seat */
    STANDIN_SENDS = 0x53454e44, /* what: bytes */
    STANDIN_RECEIVES = 0x52454356
} standin_word;

typedef struct standin_message {
    uint64_t word, what;
} standin_message;

/* The way to another seat. */
typedef struct standin_link {
    int socket; /* -1: there is none */
    bool greeted;
    standin_message said; /* what has come of its next words */
    size_t n_said;
} standin_link;

struct ncclComm {
    int n_seats, seat;
    int listener;
    char name[64];
    standin_link *links; /* by seat */
    bool joined;         /* all are connected */
    ncclResult_t state;  /* of what it was told last */
    bool busy;           /* it says so once more */
    bool aborted, finalized;
    atomic_int kept; /* by its owner and by ops */
    CUstream stream;
};

/* ---- links: standin_nccl_link.c.  None of it waits. */

/* Makes a name that others can find. */
void standin_link_name(ncclUniqueId *id);

bool standin_link_listen(ncclComm_t comm);
/* Goes on connecting; true when all are there. */
bool standin_link_join(ncclComm_t comm);
void standin_link_close(ncclComm_t comm);

/* What was moved of these bytes; -1: the other end is gone. */
long standin_link_send(int socket, const void *data, size_t bytes);
long standin_link_receive(int socket, void *data, size_t bytes);

/* ---- ops: standin_nccl_op.c */

ncclResult_t standin_op_put(ncclComm_t comm, int peer, const void *from,
                            void *to, size_t bytes, CUstream stream);
void standin_comm_drop(ncclComm_t comm);

/* ---- the stand-in for CUDA, which must be there */

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
    X(standin_tell)

#define STANDIN_NCCL_MEMBER(name) __typeof__(&name) name;

typedef struct standin_cuda {
    STANDIN_NCCL_NAMES(STANDIN_NCCL_MEMBER)
} standin_cuda;

const standin_cuda *standin_nccl_cuda(void);

#endif
