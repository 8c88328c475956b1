/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intake of requests at rank 0, in their order: each is assigned to a share,
 * the copy of the network that will finish it first, and waits in the ring of
 * outcomes for a slot of it. The thread of a free slot reads a stream until a
 * request is assigned to its own share.
 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/stop.h"

/* Nothing more is taken after an interrupt. */
static void close_interrupted(mo_pipeline *p)
{
    const atomic_int *interrupt = p->options->interrupt;

    if (!interrupt || atomic_load(interrupt) == 0 ||
        p->next_in >= p->n_requests)
        return;
    p->interrupt = atomic_load(interrupt);
    p->n_requests = p->next_in;
    pthread_cond_broadcast(&p->changed);
}

/* Takes the first request that waits for the share, if there is one. */
static bool take_waiting(mo_pipeline *p, int share, mo_tensor_dense *inputs,
                         int64_t *request, mo_error *why)
{
    for (int64_t n = p->next_out; n < p->next_in; n++) {
        mo_pipeline_outcome *o = &p->outcomes[n % p->n_outcomes];

        if (!o->waits || o->share != share)
            continue;
        o->waits = false;
        *request = n;
        *why = o->failure;
        if (o->inputs)
            memcpy(inputs, o->inputs,
                   (size_t) mo_pipeline_n_inputs(p) * sizeof *inputs);
        free(o->inputs);
        o->inputs = NULL;
        return true;
    }
    return false;
}

/* Assigns the next request. Its inputs, if they are read, stay where they are
 * for the share that reads, and wait in the ring for another. */
static void assign(mo_pipeline *p, int reader, mo_tensor_dense *inputs,
                   const mo_error *why)
{
    mo_pipeline_outcome *o = &p->outcomes[p->next_in % p->n_outcomes];
    size_t bytes = (size_t) mo_pipeline_n_inputs(p) * sizeof *inputs;
    int64_t now_ns = mo_stop_clock_ns();

    o->share = mo_pipeline_choose_share(p, now_ns);
    if (o->share != reader && p->options->next) {
        o->inputs = malloc(bytes + 1);
        if (o->inputs) {
            memcpy(o->inputs, inputs, bytes);
            memset(inputs, 0, bytes);
        } else
            o->share = reader;
    }
    o->waits = true;
    o->failure = *why;
    mo_pipeline_share_assign(&p->shares[o->share], now_ns);
    p->next_in++;
    if (p->n_shares > 1)
        pthread_cond_broadcast(&p->changed);
}

/* Reads the next request of a stream, without the lock, and assigns it. */
static void read_next(mo_pipeline *p, int share, mo_tensor_dense *inputs)
{
    const mo_pipeline_options *o = p->options;
    int64_t request = p->next_in;
    mo_error why = { 0 };
    bool end = false;

    p->reading = true;
    pthread_mutex_unlock(&p->lock);
    why.status = o->next(o->context, request, &p->stopped, inputs, &end, &why);
    pthread_mutex_lock(&p->lock);
    p->reading = false;
    /* A run that is resumed reads on where this one has stopped. */
    if (end && !(p->options->resumes && p->stopped)) {
        close_interrupted(p);
        p->n_requests = p->next_in;
    } else if (!end)
        assign(p, share, inputs, &why);
    pthread_cond_broadcast(&p->changed);
}

bool mo_pipeline_take(mo_pipeline *p, int share, mo_tensor_dense *inputs,
                      int64_t *request, mo_error *why)
{
    const mo_error none = { 0 };
    bool taken = false;

    pthread_mutex_lock(&p->lock);
    while (!p->stopped) {
        taken = take_waiting(p, share, inputs, request, why);
        if (taken)
            break;
        if (!p->reading)
            close_interrupted(p);
        if (p->next_in >= p->n_requests)
            break;
        if (p->reading || p->next_in >= p->next_out + p->n_outcomes)
            pthread_cond_wait(&p->changed, &p->lock);
        else if (p->options->next)
            read_next(p, share, inputs);
        else
            assign(p, share, inputs, &none);
    }
    pthread_mutex_unlock(&p->lock);
    return taken;
}
