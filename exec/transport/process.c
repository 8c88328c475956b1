#include <config.h>

#include "exec/transport/process.h"

#include <stdlib.h>

void mo_inside_init(mo_inside *inside)
{
    mo_failure_init(&inside->failure);
    inside->post = NULL;
    mo_bell_init(&inside->server);
    atomic_init(&inside->left, 0);
    inside->begun = false;
    pthread_mutex_init(&inside->lock, NULL);
}

/* A failure may be told at any moment, even while a plan is put away. */
static void put_away(mo_inside *inside)
{
    mo_post *post;

    pthread_mutex_lock(&inside->lock);
    post = inside->post;
    inside->post = NULL;
    if (inside->begun)
        mo_gate_destroy(&inside->gate);
    inside->begun = false;
    pthread_mutex_unlock(&inside->lock);
    mo_post_free(post);
}

void mo_inside_destroy(mo_inside *inside)
{
    put_away(inside);
    mo_bell_destroy(&inside->server);
    pthread_mutex_destroy(&inside->lock);
    mo_failure_destroy(&inside->failure);
}

mo_status mo_inside_begin(mo_inside *inside, const mo_plan *plan,
                          const int *rank_of, int rank, int n_threads,
                          mo_error *err)
{
    bool *here = calloc((size_t) plan->n_devices + 1, sizeof *here);
    mo_post *post;
    mo_status status;
    int n_here = 0;

    if (!here)
        return mo_fail_memory(err);
    put_away(inside);
    for (int d = 0; d < plan->n_devices; d++) {
        here[d] = rank_of[d] == rank;
        n_here += here[d];
    }
    status =
        mo_post_new(plan, here, &inside->failure, &inside->server, &post, err);
    free(here);
    if (status != MO_OK)
        return status;
    pthread_mutex_lock(&inside->lock);
    inside->post = post;
    if (n_threads == 0)
        n_threads = n_here > 0 ? n_here : 1;
    mo_gate_init(&inside->gate, n_threads);
    inside->begun = true;
    atomic_store(&inside->left, 0);
    pthread_mutex_unlock(&inside->lock);
    return MO_OK;
}

mo_status mo_inside_await(mo_inside *inside, int transfer, bool sending,
                          mo_error *err)
{
    return mo_post_await(inside->post, transfer,
                         sending ? MO_SENDER : MO_RECEIVER, err);
}

bool mo_inside_fail(mo_inside *inside, const mo_error *why)
{
    bool first = mo_failure_set(&inside->failure, why);

    pthread_mutex_lock(&inside->lock);
    if (inside->begun) {
        mo_post_wake(inside->post);
        mo_bell_ring(&inside->gate.bell);
    }
    pthread_mutex_unlock(&inside->lock);
    mo_bell_ring(&inside->server);
    return first;
}

void mo_inside_leave(mo_inside *inside)
{
    atomic_fetch_add(&inside->left, 1);
    mo_bell_ring(&inside->server);
}

mo_status mo_inside_end(mo_inside *inside, mo_error *err)
{
    /* A courier may still be carrying what nobody waits for any more. */
    put_away(inside);
    return mo_failure_get(&inside->failure, err);
}
