/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/process.h"

#include <stdlib.h>

#include "exec/transport/local_copy.h"

void mo_transport_process_init(mo_transport_process *process)
{
    mo_first_error_init(&process->failure);
    process->copier = NULL;
    mo_eventcount_init(&process->server_event);
    atomic_init(&process->n_exited, 0);
    process->active = false;
    pthread_mutex_init(&process->lock, NULL);
}

/* An error may be reported at any moment, even while the plan is released:
 * hence the lock. */
static void release_plan(mo_transport_process *process)
{
    mo_transport_local_copy *copier;

    pthread_mutex_lock(&process->lock);
    copier = process->copier;
    process->copier = NULL;
    if (process->active)
        mo_eventcount_destroy(&process->barrier.event);
    process->active = false;
    pthread_mutex_unlock(&process->lock);
    mo_transport_local_copy_free(copier);
}

void mo_transport_process_destroy(mo_transport_process *process)
{
    release_plan(process);
    mo_eventcount_destroy(&process->server_event);
    pthread_mutex_destroy(&process->lock);
    mo_first_error_destroy(&process->failure);
}

mo_status mo_transport_process_begin(mo_transport_process *process,
                                     const mo_exec_plan *plan,
                                     const int *rank_of, int rank,
                                     int n_threads, mo_error *err)
{
    bool *here = calloc((size_t) plan->n_devices + 1, sizeof *here);
    mo_transport_local_copy *copier;
    mo_status status;
    int n_here = 0;

    if (!here)
        return mo_fail_memory(err);
    release_plan(process);
    for (int d = 0; d < plan->n_devices; d++) {
        here[d] = rank_of[d] == rank;
        n_here += here[d];
    }
    status = mo_transport_local_copy_new(plan, here, &process->failure,
                                         &process->server_event, &copier, err);
    free(here);
    if (status != MO_OK)
        return status;
    pthread_mutex_lock(&process->lock);
    process->copier = copier;
    if (n_threads == 0)
        n_threads = n_here > 0 ? n_here : 1;
    process->barrier.n_threads = n_threads;
    atomic_init(&process->barrier.n_arrived, 0);
    atomic_init(&process->barrier.n_votes, 0);
    atomic_init(&process->barrier.generation, 0);
    atomic_init(&process->barrier.verdict, false);
    mo_eventcount_init(&process->barrier.event);
    process->active = true;
    atomic_store(&process->n_exited, 0);
    pthread_mutex_unlock(&process->lock);
    return MO_OK;
}

mo_status mo_transport_process_await(mo_transport_process *process,
                                     int transfer, bool sending, mo_error *err)
{
    return mo_transport_local_copy_await(
        process->copier, transfer,
        sending ? MO_TRANSPORT_SENDER : MO_TRANSPORT_RECEIVER, err);
}

bool mo_transport_process_is_done(mo_transport_process *process, int transfer,
                                  bool sending)
{
    return mo_transport_local_copy_is_done(process->copier, transfer,
                                           sending ? MO_TRANSPORT_SENDER
                                                   : MO_TRANSPORT_RECEIVER);
}

bool mo_transport_process_fail(mo_transport_process *process,
                               const mo_error *why)
{
    bool first = mo_first_error_set(&process->failure, why);

    pthread_mutex_lock(&process->lock);
    if (process->active) {
        mo_transport_local_copy_notify_all(process->copier);
        mo_eventcount_notify(&process->barrier.event);
    }
    pthread_mutex_unlock(&process->lock);
    mo_eventcount_notify(&process->server_event);
    return first;
}

void mo_transport_process_leave(mo_transport_process *process)
{
    atomic_fetch_add(&process->n_exited, 1);
    mo_eventcount_notify(&process->server_event);
}

mo_status mo_transport_process_end(mo_transport_process *process, mo_error *err)
{
    /* A worker may still be copying what no device waits for any more. */
    release_plan(process);
    return mo_first_error_get(&process->failure, err);
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
