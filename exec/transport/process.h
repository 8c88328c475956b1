/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h - what every transport does within one process: the first failure,
 * transfers between its devices, the gate before each run, and the threads that
 * are served until they leave.
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
    mo_transport_local_copy *post; /* NULL before begin */
    mo_vote_barrier gate;
    mo_eventcount server; /* rung for the thread that serves */
    atomic_int left;
    bool begun;
    /* Another transport's post must not go while others may ring it. */
    pthread_mutex_t lock;
} mo_transport_process;

void mo_transport_process_init(mo_transport_process *inside);
void mo_transport_process_destroy(mo_transport_process *inside);

/* The devices whose rank_of is rank are here.  n_threads come to the gate; 0:
 * one for each device, and one where there is none. */
mo_status mo_transport_process_begin(mo_transport_process *inside,
                                     const mo_exec_plan *plan,
                                     const int *rank_of, int rank,
                                     int n_threads, mo_error *err);

/* Until a transfer has gone, or has come; or something failed. */
mo_status mo_transport_process_await(mo_transport_process *inside, int transfer,
                                     bool sending, mo_error *err);

/* Wakes everybody; false when something failed before.  From any thread. */
bool mo_transport_process_fail(mo_transport_process *inside,
                               const mo_error *why);

void mo_transport_process_leave(mo_transport_process *inside);

/* When all threads have left: nothing touches their memory any more.  Returns
 * the failure, if there is one. */
mo_status mo_transport_process_end(mo_transport_process *inside, mo_error *err);

#endif
