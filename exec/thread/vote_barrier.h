/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vote_barrier.h - barrier of the threads of one process that also reduces one
 * bit by OR.
 *
 * Arrival and release are apart, so that the last thread to arrive can first
 * combine the vote with that of other processes. The caller owns the struct.
 */
#ifndef MO_EXEC_THREAD_VOTE_BARRIER_H
#define MO_EXEC_THREAD_VOTE_BARRIER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"
#include "exec/thread/eventcount.h"
#include "exec/thread/first_error.h"

typedef struct mo_vote_barrier {
    int n_threads;
    atomic_int n_arrived, n_votes;
    atomic_uint
        generation; /* number of releases: the generation of the barrier */
    atomic_bool verdict;
    mo_eventcount event;
} mo_vote_barrier;

void mo_vote_barrier_init(mo_vote_barrier *barrier, int n_threads);
void mo_vote_barrier_destroy(mo_vote_barrier *barrier);

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
