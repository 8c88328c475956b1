/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_recorder.h - ring buffer of the last transfers that this rank has
 * started, for error messages.
 *
 * Written by the thread that starts them, read by any.
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
    int n; /* number of records, modulo the size */
} mo_nccl_flight_recorder;

void mo_nccl_flight_recorder_init(mo_nccl_flight_recorder *recorder,
                                  const mo_exec_plan *plan, const int *rank_of,
                                  int rank);
void mo_nccl_flight_recorder_destroy(mo_nccl_flight_recorder *recorder);

void mo_nccl_flight_recorder_record(mo_nccl_flight_recorder *recorder,
                                    int transfer, bool sending);

/* Appends the last transfers, if any, to the text of *err: "...; rank 2 waits
 * for tensor 't' of rank 0; before: 's' to rank 1, ..." From any thread. */
void mo_nccl_flight_recorder_append(mo_nccl_flight_recorder *recorder,
                                    mo_error *err);

#endif
