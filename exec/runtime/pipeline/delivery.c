/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delivery of outputs in the order of requests, at rank 0. Requests may
 * overtake each other: an outcome waits in a ring until those before it are
 * delivered.
 */
#include "exec/runtime/pipeline/pipeline_internal.h"

#include <stdlib.h>

#include "base/stop.h"

void mo_pipeline_stop(mo_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    p->stopped = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void mo_pipeline_clear_outputs(const mo_exec_plan *plan,
                               mo_tensor_dense *outputs)
{
    for (int i = 0; outputs && i < plan->n_outputs; i++)
        mo_tensor_clear(&outputs[i]);
    free(outputs);
}

void mo_pipeline_store_outcome(mo_pipeline *p, int64_t request,
                               mo_tensor_dense *outputs,
                               const mo_error *failure)
{
    mo_pipeline_outcome *o = &p->outcomes[request % p->n_outcomes];

    pthread_mutex_lock(&p->lock);
    mo_pipeline_share_complete(&p->shares[o->share], mo_stop_clock_ns());
    o->ready = true;
    o->outputs = outputs;
    if (!outputs)
        o->failure = *failure;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

mo_status mo_pipeline_discard_outputs(void *context, int64_t request,
                                      const mo_tensor_dense *outputs,
                                      const mo_error *failure, mo_error *err)
{
    (void) context, (void) request, (void) outputs;
    return failure ? mo_fail(err, failure->status, "%s", failure->text) : MO_OK;
}

mo_status mo_pipeline_deliver_direct(mo_pipeline *p, int64_t request,
                                     const mo_tensor_dense *outputs,
                                     const mo_error *failure, mo_error *err)
{
    const mo_pipeline_options *o = p->options;
    mo_status status = o->sink(o->context, request, outputs, failure, err);

    p->n_completed += status == MO_OK && outputs;
    p->n_failed += status == MO_OK && !outputs;
    pthread_mutex_lock(&p->lock);
    mo_pipeline_share_complete(p->shares, mo_stop_clock_ns());
    p->next_out = request + 1;
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Delivers the next outcome, which is ready. */
static void deliver_next(mo_pipeline *p)
{
    const mo_pipeline_options *o = p->options;
    mo_pipeline_outcome *outcome = &p->outcomes[p->next_out % p->n_outcomes];
    mo_error err = { 0 };
    mo_status status = o->sink(
        o->context, p->next_out,
        outcome->outputs
            ? outcome->outputs + mo_pipeline_first_output(p, outcome->share)
            : NULL,
        outcome->outputs ? NULL : &outcome->failure, &err);

    if (status == MO_OK && outcome->outputs)
        p->n_completed++;
    if (status == MO_OK && !outcome->outputs)
        p->n_failed++;
    mo_pipeline_clear_outputs(p->plan, outcome->outputs);
    pthread_mutex_lock(&p->lock);
    outcome->outputs = NULL;
    outcome->ready = false;
    p->next_out++;
    if (status != MO_OK && p->sink_status == MO_OK) {
        outcome->lost = true;
        p->sink_status = status;
        p->sink_error = err;
        p->stopped = true;
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (status != MO_OK)
        o->run->transport->fail(o->run->world, &err);
}

void mo_pipeline_deliver(mo_pipeline *p)
{
    for (;;) {
        bool ready;

        pthread_mutex_lock(&p->lock);
        while (!p->stopped && p->next_out < p->n_requests &&
               !p->outcomes[p->next_out % p->n_outcomes].ready)
            pthread_cond_wait(&p->changed, &p->lock);
        ready = p->next_out < p->n_requests &&
                p->outcomes[p->next_out % p->n_outcomes].ready &&
                p->sink_status == MO_OK;
        pthread_mutex_unlock(&p->lock);
        if (!ready)
            return;
        deliver_next(p);
    }
}

void mo_pipeline_deliver_rest(mo_pipeline *p)
{
    bool ended = false;

    p->next = p->next_out;
    while (p->next_out < p->next_in) {
        mo_pipeline_outcome *o = &p->outcomes[p->next_out % p->n_outcomes];

        if (o->ready && p->sink_status == MO_OK && !ended) {
            deliver_next(p);
            p->next = p->next_out;
            continue;
        }
        ended = p->options->resumes;
        mo_pipeline_clear_outputs(p->plan, o->outputs);
        o->outputs = NULL;
        for (int i = 0; o->inputs && i < mo_pipeline_n_inputs(p); i++)
            mo_tensor_clear(&o->inputs[i]);
        free(o->inputs);
        o->inputs = NULL;
        o->lost = true;
        p->next_out++;
    }
}
