/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - where the threads of a process wait for each other, with a vote.
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
    atomic_int arrived, votes;
    atomic_uint opened; /* how often */
    atomic_bool verdict;
    mo_eventcount bell;
} mo_vote_barrier;

void mo_vote_barrier_init(mo_vote_barrier *gate, int n_threads);
void mo_vote_barrier_destroy(mo_vote_barrier *gate);

/* True for the last one, who sees to it that the gate is opened.  *round is for
 * mo_vote_barrier_wait. */
bool mo_vote_barrier_arrive(mo_vote_barrier *gate, bool vote, unsigned *round);

/* Did anybody of this process vote for it?  For the last one. */
bool mo_vote_barrier_local_vote(mo_vote_barrier *gate);

/* Lets all through, with the verdict of everybody. */
void mo_vote_barrier_release(mo_vote_barrier *gate, bool verdict);

/* Waits until it is opened, or until there is a failure. */
mo_status mo_vote_barrier_wait(mo_vote_barrier *gate, unsigned round,
                               mo_first_error *failure, bool *verdict,
                               mo_error *err);

#endif
