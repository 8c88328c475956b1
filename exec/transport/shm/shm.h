/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shm.h - transfers through shared memory, between ranks of one host.
 *
 * A plan is static: the size of every transfer is known before the first run.
 * So each transfer has a slot of its own in a segment that the ranks of a host
 * share: an eager protocol with preallocated bounce buffers. The sender copies
 * its value there in its own thread when it posts the transfer, and goes on;
 * the receiver copies it out when it waits for it. Neither needs a progress
 * thread, and no sender waits for a receiver. A slot is free again in the next
 * run, since a barrier separates runs.
 *
 * The segment is made by the lowest rank of each host; the others map it
 * (segment.h). Where that fails, for ranks of several users or containers, and
 * for values that are too large for the segment, the transport that connects
 * the ranks (TCP, MPI) carries the values. Other ranks may write anything into
 * the segment: what is read from it is data, or a counter that is compared,
 * never a size or a position.
 */
#ifndef MO_EXEC_TRANSPORT_SHM_SHM_H
#define MO_EXEC_TRANSPORT_SHM_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/thread/first_error.h"
#include "exec/transport/rendezvous/mesh.h"

typedef struct mo_shm mo_shm;

/* Allgather: writes the bytes at own of every rank, by rank, to all.
 * Collective: all ranks call it. */
typedef mo_status mo_shm_allgather_fn(void *context, const void *own, void *all,
                                      size_t bytes, mo_error *err);

typedef struct mo_shm_options {
    const mo_exec_plan *plan;         /* the same on all ranks; outlives it */
    const int *rank_of;               /* by device; outlives it */
    const mo_rdv_endpoint *endpoints; /* by rank */
    int rank, n_ranks;
    int64_t limit_bytes;     /* of a segment; 0: the default */
    mo_first_error *failure; /* ends every wait; outlives it */
    mo_shm_allgather_fn *allgather;
    void *context; /* of allgather */
} mo_shm_options;

/* Collective: all ranks of the job call it with the same plan. That memory
 * cannot be shared is no error. The caller frees *shm with mo_shm_free(). */
mo_status mo_shm_new(const mo_shm_options *options, mo_shm **shm,
                     mo_error *err);
void mo_shm_free(mo_shm *shm); /* NULL is allowed */

/* Returns whether the transfer, of any two ranks, goes through shared memory;
 * equal on all ranks. False for NULL, as the next. */
bool mo_shm_carries(const mo_shm *shm, int transfer);
/* Returns whether all ranks of the job share one segment. */
bool mo_shm_has_barrier(const mo_shm *shm);

/* Copies the value of a transfer that shm carries; data may be overwritten
 * when it returns. From the sending device's thread. */
void mo_shm_send(mo_shm *shm, int transfer, const void *data);

/* Waits for the value and copies it to data, or returns the stored error. From
 * the receiving device's thread. */
mo_status mo_shm_receive(mo_shm *shm, int transfer, void *data, mo_error *err);

/* Barrier of all ranks, one thread of each: returns when all have called it,
 * with the OR of their votes, or the stored error. */
mo_status mo_shm_barrier(mo_shm *shm, bool vote, bool *verdict, mo_error *err);

#endif
