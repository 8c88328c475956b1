/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/thread/vote_barrier.h"

void mo_vote_barrier_init(mo_vote_barrier *barrier, int n_threads)
{
    barrier->n_threads = n_threads;
    atomic_init(&barrier->n_arrived, 0);
    atomic_init(&barrier->n_votes, 0);
    atomic_init(&barrier->generation, 0);
    atomic_init(&barrier->verdict, false);
    mo_eventcount_init(&barrier->event);
}

void mo_vote_barrier_destroy(mo_vote_barrier *barrier)
{
    mo_eventcount_destroy(&barrier->event);
}

bool mo_vote_barrier_arrive(mo_vote_barrier *barrier, bool vote,
                            unsigned *round)
{
    *round = atomic_load(&barrier->generation);
    if (vote)
        atomic_fetch_add(&barrier->n_votes, 1);
    return atomic_fetch_add(&barrier->n_arrived, 1) + 1 == barrier->n_threads;
}

bool mo_vote_barrier_local_vote(mo_vote_barrier *barrier)
{
    return atomic_load(&barrier->n_votes) > 0;
}

/* No thread arrives for the next round before this one is released: until then
 * the counters belong to the releasing thread. */
void mo_vote_barrier_release(mo_vote_barrier *barrier, bool verdict)
{
    atomic_store(&barrier->n_arrived, 0);
    atomic_store(&barrier->n_votes, 0);
    atomic_store(&barrier->verdict, verdict);
    atomic_fetch_add(&barrier->generation, 1);
    mo_eventcount_notify(&barrier->event);
}

typedef struct wait_context {
    mo_vote_barrier *barrier;
    mo_first_error *failure;
    unsigned round;
} wait_context;

static bool is_released(void *context)
{
    wait_context *p = context;

    return atomic_load(&p->barrier->generation) != p->round ||
           mo_first_error_is_set(p->failure);
}

mo_status mo_vote_barrier_wait(mo_vote_barrier *barrier, unsigned round,
                               mo_first_error *failure, bool *verdict,
                               mo_error *err)
{
    wait_context p = { barrier, failure, round };

    mo_eventcount_wait(&barrier->event, is_released, &p);
    *verdict = atomic_load(&barrier->verdict);
    return mo_first_error_get(failure, err);
}
