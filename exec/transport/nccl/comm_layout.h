/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_layout.h - assignment of transfers to NCCL communicators.
 *
 * A pair is an ordered pair of GPUs of different processes with a transfer
 * between them. Each has a communicator of two ranks, so that a GPU sends and
 * receives at the same time; pairs, and communicators, are numbered by their
 * first transfers. Or there is one communicator of all GPUs that have a pair:
 * then a GPU does one transfer at a time.
 *
 * All processes compute the same layout, since they have the same plan.
 */
#ifndef MO_EXEC_TRANSPORT_NCCL_COMM_LAYOUT_H
#define MO_EXEC_TRANSPORT_NCCL_COMM_LAYOUT_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* A member of a communicator in this process. */
typedef struct mo_nccl_member {
    int id;                   /* of the communicator */
    int comm_size, comm_rank; /* size of the communicator, and the rank of this
                                 member in it */
    int device;
} mo_nccl_member;

typedef struct mo_nccl_pair {
    int from, to; /* devices */
    int own;      /* index of this rank's end in members; -1: none */
    int peer;     /* rank of the other end in that communicator */
} mo_nccl_pair;

typedef struct mo_nccl_comm_layout {
    mo_nccl_pair *pairs;
    mo_nccl_member *members; /* of this process, ids ascending */
    int *pair_of;            /* by transfer; -1: NCCL does not carry it */
    int *creator_of;         /* by id: the rank that creates its ncclUniqueId */
    int n, n_members, n_ids;
} mo_nccl_comm_layout;

/* Whether a transfer is between GPUs of different ranks. */
bool mo_nccl_comm_layout_takes(const mo_exec_plan *plan, const int *rank_of,
                               const bool *is_gpu, int transfer);

/* is_gpu: by device. *layout starts as zeros; the caller frees it with
 * mo_nccl_comm_layout_clear(), also on failure. */
mo_status mo_nccl_comm_layout_compute(const mo_exec_plan *plan,
                                      const int *rank_of, const bool *is_gpu,
                                      int rank, bool one_comm,
                                      mo_nccl_comm_layout *layout,
                                      mo_error *err);
void mo_nccl_comm_layout_clear(mo_nccl_comm_layout *layout);

#endif
