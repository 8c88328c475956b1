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

typedef struct mo_gate {
    int n_threads;
    atomic_int arrived, votes;
    atomic_uint opened; /* how often */
    atomic_bool verdict;
    mo_bell bell;
} mo_gate;

void mo_gate_init(mo_gate *gate, int n_threads);
void mo_gate_destroy(mo_gate *gate);

/* True for the last one, who sees to it that the gate is opened.  *round is for
 * mo_gate_pass. */
bool mo_gate_arrive(mo_gate *gate, bool vote, unsigned *round);

/* Did anybody of this process vote for it?  For the last one. */
bool mo_gate_vote(mo_gate *gate);

/* Lets all through, with the verdict of everybody. */
void mo_gate_open(mo_gate *gate, bool verdict);

/* Waits until it is opened, or until there is a failure. */
mo_status mo_gate_pass(mo_gate *gate, unsigned round, mo_failure *failure,
                       bool *verdict, mo_error *err);

#endif
