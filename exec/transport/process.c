/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/process.h"

#include <stdlib.h>

void mo_transport_process_init(mo_transport_process *inside)
{
    mo_first_error_init(&inside->failure);
    inside->post = NULL;
    mo_eventcount_init(&inside->server);
    atomic_init(&inside->left, 0);
    inside->begun = false;
    pthread_mutex_init(&inside->lock, NULL);
}

/* A failure may be told at any moment, even while a plan is put away. */
static void put_away(mo_transport_process *inside)
{
    mo_transport_local_copy *post;

    pthread_mutex_lock(&inside->lock);
    post = inside->post;
    inside->post = NULL;
    if (inside->begun)
        mo_vote_barrier_destroy(&inside->gate);
    inside->begun = false;
    pthread_mutex_unlock(&inside->lock);
    mo_transport_local_copy_free(post);
}

void mo_transport_process_destroy(mo_transport_process *inside)
{
    put_away(inside);
    mo_eventcount_destroy(&inside->server);
    pthread_mutex_destroy(&inside->lock);
    mo_first_error_destroy(&inside->failure);
}

mo_status mo_transport_process_begin(mo_transport_process *inside,
                                     const mo_exec_plan *plan,
                                     const int *rank_of, int rank,
                                     int n_threads, mo_error *err)
{
    bool *here = calloc((size_t) plan->n_devices + 1, sizeof *here);
    mo_transport_local_copy *post;
    mo_status status;
    int n_here = 0;

    if (!here)
        return mo_fail_memory(err);
    put_away(inside);
    for (int d = 0; d < plan->n_devices; d++) {
        here[d] = rank_of[d] == rank;
        n_here += here[d];
    }
    status = mo_transport_local_copy_new(plan, here, &inside->failure,
                                         &inside->server, &post, err);
    free(here);
    if (status != MO_OK)
        return status;
    pthread_mutex_lock(&inside->lock);
    inside->post = post;
    if (n_threads == 0)
        n_threads = n_here > 0 ? n_here : 1;
    mo_vote_barrier_init(&inside->gate, n_threads);
    inside->begun = true;
    atomic_store(&inside->left, 0);
    pthread_mutex_unlock(&inside->lock);
    return MO_OK;
}

mo_status mo_transport_process_await(mo_transport_process *inside, int transfer,
                                     bool sending, mo_error *err)
{
    return mo_transport_local_copy_await(
        inside->post, transfer,
        sending ? MO_TRANSPORT_SENDER : MO_TRANSPORT_RECEIVER, err);
}

bool mo_transport_process_fail(mo_transport_process *inside,
                               const mo_error *why)
{
    bool first = mo_first_error_set(&inside->failure, why);

    pthread_mutex_lock(&inside->lock);
    if (inside->begun) {
        mo_transport_local_copy_notify_all(inside->post);
        mo_eventcount_notify(&inside->gate.bell);
    }
    pthread_mutex_unlock(&inside->lock);
    mo_eventcount_notify(&inside->server);
    return first;
}

void mo_transport_process_leave(mo_transport_process *inside)
{
    atomic_fetch_add(&inside->left, 1);
    mo_eventcount_notify(&inside->server);
}

mo_status mo_transport_process_end(mo_transport_process *inside, mo_error *err)
{
    /* A courier may still be carrying what nobody waits for any more. */
    put_away(inside);
    return mo_first_error_get(&inside->failure, err);
}
