/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the in-process part of every transport: the first error,
 * transfers between the devices of the process, the barrier before each run,
 * and the count of threads that have left.
 */
#ifndef MO_EXEC_TRANSPORT_PROCESS_H
#define MO_EXEC_TRANSPORT_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/thread/eventcount.h"
#include "exec/thread/first_error.h"
#include "exec/thread/vote_barrier.h"
#include "exec/transport/local_copy.h"

typedef struct mo_transport_process {
    mo_first_error failure;
    mo_transport_local_copy *copier; /* NULL outside of a plan; owned */
    mo_vote_barrier barrier;
    mo_eventcount server_event; /* notified for the serving thread */
    atomic_int n_exited;
    bool active;
    /* copier is not freed while another thread may notify it. */
    pthread_mutex_t lock;
} mo_transport_process;

void mo_transport_process_init(mo_transport_process *process);
void mo_transport_process_destroy(mo_transport_process *process);

/* The devices with rank_of == rank belong to this process. n_threads arrive at
 * the barrier; 0: one for each device, and one where there is none. */
mo_status mo_transport_process_begin(mo_transport_process *process,
                                     const mo_exec_plan *plan,
                                     const int *rank_of, int rank,
                                     int n_threads, mo_error *err);

/* Returns MO_OK when the transfer is complete at this end, or the stored
 * error. */
mo_status mo_transport_process_await(mo_transport_process *process,
                                     int transfer, bool sending, mo_error *err);

/* Returns whether it is, without waiting. */
bool mo_transport_process_is_done(mo_transport_process *process, int transfer,
                                  bool sending);

/* Stores the error and wakes all waiting threads; returns false when one is
 * stored already. From any thread. */
bool mo_transport_process_fail(mo_transport_process *process,
                               const mo_error *why);

void mo_transport_process_leave(mo_transport_process *process);

/* To be called when all threads have left: frees the transfers, so that no
 * thread accesses the devices' memory any more. Returns the stored error, or
 * MO_OK. */
mo_status mo_transport_process_end(mo_transport_process *process,
                                   mo_error *err);

#endif
