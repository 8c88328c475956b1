/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/vote_barrier.h"

void mo_vote_barrier_init(mo_vote_barrier *gate, int n_threads)
{
    gate->n_threads = n_threads;
    atomic_init(&gate->arrived, 0);
    atomic_init(&gate->votes, 0);
    atomic_init(&gate->opened, 0);
    atomic_init(&gate->verdict, false);
    mo_eventcount_init(&gate->bell);
}

void mo_vote_barrier_destroy(mo_vote_barrier *gate)
{
    mo_eventcount_destroy(&gate->bell);
}

bool mo_vote_barrier_arrive(mo_vote_barrier *gate, bool vote, unsigned *round)
{
    *round = atomic_load(&gate->opened);
    if (vote)
        atomic_fetch_add(&gate->votes, 1);
    return atomic_fetch_add(&gate->arrived, 1) + 1 == gate->n_threads;
}

bool mo_vote_barrier_local_vote(mo_vote_barrier *gate)
{
    return atomic_load(&gate->votes) > 0;
}

/* Nobody can arrive for the next round before this one is opened: the counters
 * are ours until then. */
void mo_vote_barrier_release(mo_vote_barrier *gate, bool verdict)
{
    atomic_store(&gate->arrived, 0);
    atomic_store(&gate->votes, 0);
    atomic_store(&gate->verdict, verdict);
    atomic_fetch_add(&gate->opened, 1);
    mo_eventcount_notify(&gate->bell);
}

typedef struct passing {
    mo_vote_barrier *gate;
    mo_first_error *failure;
    unsigned round;
} passing;

static bool may_go(void *context)
{
    passing *p = context;

    return atomic_load(&p->gate->opened) != p->round ||
           mo_first_error_is_set(p->failure);
}

mo_status mo_vote_barrier_wait(mo_vote_barrier *gate, unsigned round,
                               mo_first_error *failure, bool *verdict,
                               mo_error *err)
{
    passing p = { gate, failure, round };

    mo_eventcount_wait(&gate->bell, may_go, &p);
    *verdict = atomic_load(&gate->verdict);
    return mo_first_error_get(failure, err);
}
