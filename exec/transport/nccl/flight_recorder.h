/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_ring.h - the transfers that this rank began last, for who wants to know
 * what it waits for.
 *
 * Written by the thread that begins them, read by any.
 */
#ifndef MO_EXEC_TRANSPORT_NCCL_FLIGHT_RECORDER_H
#define MO_EXEC_TRANSPORT_NCCL_FLIGHT_RECORDER_H

#include <pthread.h>
#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

enum { MO_NCCL_FLIGHT_RECORDS = 6 };

typedef struct mo_nccl_flight_recorder {
    pthread_mutex_t lock;
    const mo_exec_plan *plan;
    const int *rank_of;
    int rank;
    struct {
        int transfer;
        bool sending;
    } items[MO_NCCL_FLIGHT_RECORDS];
    int n; /* noted in all */
} mo_nccl_flight_recorder;

void mo_nccl_flight_recorder_init(mo_nccl_flight_recorder *ring,
                                  const mo_exec_plan *plan, const int *rank_of,
                                  int rank);
void mo_nccl_flight_recorder_destroy(mo_nccl_flight_recorder *ring);

void mo_nccl_flight_recorder_record(mo_nccl_flight_recorder *ring, int transfer,
                                    bool sending);

/* Adds to an error what was begun last, if anything was: "...; rank 2 waits for
 * tensor 't' of rank 0; before: 's' to rank 1, ..." */
void mo_nccl_flight_recorder_append(mo_nccl_flight_recorder *ring,
                                    mo_error *err);

#endif
