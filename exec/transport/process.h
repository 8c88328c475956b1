/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the in-process part of every transport: the first error,
 * transfers between the devices of the process, the barrier before each run,
 * and the count of threads that have left.
 */
#ifndef MO_EXEC_TRANSPORT_PROCESS_H
#define MO_EXEC_TRANSPORT_PROCESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/thread/eventcount.h"
#include "exec/thread/first_error.h"

/* Barrier of the threads of the process that also reduces one bit by OR.
 * Arrival and release are apart, so that the last thread to arrive can first
 * combine the vote with that of other processes. */
typedef struct mo_vote_barrier {
    int n_threads;
    atomic_int n_arrived, n_votes;
    atomic_uint
        generation; /* number of releases: the generation of the barrier */
    atomic_bool verdict;
    mo_eventcount event;
} mo_vote_barrier;

typedef struct mo_transport_process {
    mo_first_error failure;
    /* local_copy.h; NULL outside of a plan; owned */
    struct mo_transport_local_copy *copier;
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

/* Counts the calling thread and its vote. Returns true to the last thread of
 * the round, which has to cause mo_vote_barrier_release(); *round is the
 * argument of mo_vote_barrier_wait(). */
bool mo_vote_barrier_arrive(mo_vote_barrier *barrier, bool vote,
                            unsigned *round);

/* Returns whether any thread of this process voted true; for the last thread
 * only. */
bool mo_vote_barrier_local_vote(mo_vote_barrier *barrier);

/* Releases all waiting threads; each gets verdict, the OR over all
 * processes. */
void mo_vote_barrier_release(mo_vote_barrier *barrier, bool verdict);

/* Waits for the release of round and returns MO_OK with *verdict; returns the
 * stored error as soon as failure has one. */
mo_status mo_vote_barrier_wait(mo_vote_barrier *barrier, unsigned round,
                               mo_first_error *failure, bool *verdict,
                               mo_error *err);

#endif
