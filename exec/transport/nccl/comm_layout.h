/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_lines.h - which transfers NCCL carries, and by which communicators.
 *
 * A line is an ordered pair of GPUs of different processes that some transfer
 * goes between.  Each has a communicator of its own, of two, so that a GPU
 * sends and receives at the same time; numbers are those of the first transfers
 * of the lines.  In safe mode there is one communicator, of all GPUs that have
 * a line: then a GPU does one thing at a time.
 *
 * All processes come to the same lines, for they have the same plan.
 */
#ifndef MO_EXEC_TRANSPORT_NCCL_COMM_LAYOUT_H
#define MO_EXEC_TRANSPORT_NCCL_COMM_LAYOUT_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* A place of this process in a communicator. */
typedef struct mo_nccl_member {
    int id;            /* of the communicator */
    int n_seats, seat; /* in all, and which one this is */
    int device;
} mo_nccl_member;

typedef struct mo_nccl_pair {
    int from, to; /* devices */
    int own;      /* the seat here, by its place in seats; -1: no end is here */
    int peer;     /* where the other end sits in that communicator */
} mo_nccl_pair;

typedef struct mo_nccl_comm_layout {
    mo_nccl_pair *lines;
    mo_nccl_member *seats; /* of this process, ids ascending */
    int *line_of;          /* by transfer; -1: nobody carries it */
    int *maker_of;         /* by id: the rank that makes its secret */
    int n, n_seats, n_ids;
} mo_nccl_comm_layout;

/* is_gpu: by device.  Begins as zeros, and is the caller's to clear. */
mo_status mo_nccl_comm_layout_compute(const mo_exec_plan *plan,
                                      const int *rank_of, const bool *is_gpu,
                                      int rank, bool safe,
                                      mo_nccl_comm_layout *lines,
                                      mo_error *err);
void mo_nccl_comm_layout_clear(mo_nccl_comm_layout *lines);

#endif
