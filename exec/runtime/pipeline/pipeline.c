/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/pipeline/pipeline.h"

#include <assert.h>
#include <stdlib.h>

#include "base/digest.h"
#include "exec/runtime/consistency.h"
#include "exec/runtime/pipeline/pipeline_internal.h"
#include "exec/thread/worker.h"

static void *run_thread(void *context)
{
    mo_pipeline_thread *t = context;
    mo_pipeline *p = t->pipeline;
    const mo_run_plan_options *o = p->options->run;
    mo_error err = { 0 };
    mo_status status;

    status = t->is_frontend ? mo_pipeline_serve_requests(t, &err)
                            : mo_pipeline_serve_devices(t, &err);
    if (status != MO_OK) {
        o->transport->fail(o->world, &err);
        mo_pipeline_stop(p);
    }
    o->transport->leave(o->world);
    return NULL;
}

static void *deliver_outcomes(void *context)
{
    mo_pipeline_deliver(context);
    return NULL;
}

/* Lists the threads of this rank, n_slots for each of its groups and the
 * frontend; one without a device where there would be none. Returns their
 * number. */
static int list_threads(mo_pipeline *p, mo_pipeline_thread *threads)
{
    int n = 0;

    for (int i = 0; i < p->n_groups && !p->joint; i++) {
        const mo_pipeline_share *share = &p->shares[p->groups[i].share];

        for (int s = 0; s < share->n_slots && !p->groups[i].is_empty; s++)
            threads[n++] =
                (mo_pipeline_thread){ .pipeline = p,
                                      .group = &p->groups[i],
                                      .slot = share->first_slot + s };
    }
    for (int s = 0; s < p->slots.n_slots && p->rank == 0; s++)
        threads[n++] = (mo_pipeline_thread){ .pipeline = p,
                                             .is_frontend = true,
                                             .slot = s };
    if (n == 0)
        threads[n++] = (mo_pipeline_thread){ .pipeline = p };
    return n;
}

static mo_status begin_world(mo_pipeline *p, int n_threads, mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    uint64_t parts[2] = { 0, (uint64_t) p->slots.n_slots };
    mo_status status = mo_run_config_digest(p->plan, o, &parts[0], err);

    for (int s = 1; s < p->n_shares; s++)
        parts[1] = 1000 * parts[1] + (uint64_t) p->shares[s].first_slot;
    if (status == MO_OK && o->transport->set_backends)
        status = o->transport->set_backends(o->world, p->slots.backends,
                                            p->slots.plan.n_devices, err);
    if (status == MO_OK)
        status = o->transport->begin(o->world, &p->slots.plan, p->slots.rank_of,
                                     n_threads,
                                     mo_digest_of(parts, sizeof parts), err);
    return status;
}

/* Runs all threads. Delivery ends when all requests are delivered, or with the
 * run. */
static mo_status run_threads(mo_pipeline *p, mo_pipeline_thread *threads, int n,
                             mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    pthread_t delivery;
    int n_started = 0, failed = 0;
    bool delivers = p->rank == 0 && !p->options->direct;
    mo_error why = { 0 };
    mo_status status;

    if (delivers)
        failed = pthread_create(&delivery, NULL, deliver_outcomes, p);
    delivers = delivers && failed == 0;
    while (failed == 0 && n_started < n) {
        failed = pthread_create(&threads[n_started].thread, NULL, run_thread,
                                &threads[n_started]);
        n_started += failed == 0;
    }
    if (failed != 0) {
        mo_thread_fail_start(failed, &why);
        o->transport->fail(o->world, &why);
    }
    status = o->transport->serve(o->world, n_started, err);
    for (int i = 0; i < n_started; i++)
        pthread_join(threads[i].thread, NULL);
    if (status != MO_OK)
        mo_pipeline_stop(p);
    if (delivers)
        pthread_join(delivery, NULL);
    return status;
}

static mo_status add_group(mo_pipeline *p, int share, mo_pipeline_group **group,
                           mo_error *err)
{
    bool *chosen = calloc((size_t) p->plan->n_devices + 1, sizeof *chosen);

    if (!chosen)
        return mo_fail_memory(err);
    *group = &p->groups[p->n_groups++];
    (*group)->chosen = chosen;
    (*group)->share = share;
    return MO_OK;
}

/* One group of the devices of a share that are driven together. */
static mo_status add_together(mo_pipeline *p, int share, mo_error *err)
{
    mo_pipeline_group *together;
    int n = 0;
    mo_status status = add_group(p, share, &together, err);

    if (status != MO_OK)
        return status;
    mo_joint_slots_select(p->plan, p->options->run, together->chosen);
    for (int d = 0; d < p->plan->n_devices; d++) {
        together->chosen[d] = together->chosen[d] && p->share_of[d] == share;
        n += together->chosen[d];
    }
    together->is_empty = n == 0;
    together->separate_memory = true;
    if (n > 0 && n == p->plan->n_devices)
        p->joint = together;
    return MO_OK;
}

/* The groups of devices that are driven together, and one of each other device
 * of this rank. */
static mo_status make_groups(mo_pipeline *p, mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    int n_devices = p->plan->n_devices;
    mo_pipeline_group *alone;
    mo_status status = MO_OK;

    p->groups = calloc((size_t) n_devices + (size_t) p->n_shares + 1,
                       sizeof *p->groups);
    if (!p->groups)
        return mo_fail_memory(err);
    for (int s = 0; s < p->n_shares && status == MO_OK; s++)
        status = add_together(p, s, err);
    for (int d = 0; d < n_devices && status == MO_OK; d++) {
        bool is_done =
            o->rank_of[d] != p->rank || p->share_of[d] == MO_PLAN_NONE;

        for (int s = 0; s < p->n_shares; s++)
            is_done = is_done || p->groups[s].chosen[d];
        if (is_done)
            continue;
        if (o->backends[d]->separate_memory)
            return mo_fail(err, MO_E_SUPPORT,
                           "device '%.80s' runs one request at a time",
                           p->plan->devices[d].id);
        status = add_group(p, p->share_of[d], &alone, err);
        if (status == MO_OK)
            alone->chosen[d] = true;
    }
    return status;
}

/* Requests that a slow copy of the network may be overtaken by, beyond those in
 * flight. */
enum { OVERTAKING = 64 };

static mo_status init_pipeline(mo_pipeline *p, mo_error *err)
{
    const mo_pipeline_options *o = p->options;
    size_t n_devices = (size_t) p->plan->n_devices + 1;
    mo_status status;

    status = mo_pipeline_slots_make(p->plan, o->run->rank_of, o->run->backends,
                                    o->n_slots, &p->slots, err);
    if (status == MO_OK)
        status = mo_pipeline_list_shares(p, err);
    p->n_outcomes = 2 * o->n_slots + (o->copies ? OVERTAKING : 0);
    p->outcomes = calloc((size_t) p->n_outcomes, sizeof *p->outcomes);
    p->loads = calloc(n_devices, sizeof *p->loads);
    if (status == MO_OK && (!p->outcomes || !p->loads))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = make_groups(p, err);
    if (p->joint)
        p->slots.plan.n_transfers = 0; /* none is by the transport */
    return status;
}

mo_status mo_pipeline_run(const mo_exec_plan *plan,
                          const mo_pipeline_options *options,
                          mo_pipeline_result *result, mo_error *err)
{
    const mo_run_plan_options *o = options->run;
    mo_pipeline p = { .plan = plan,
                      .options = options,
                      .n_requests = options->n_requests,
                      .next_in = options->first,
                      .next_out = options->first,
                      .rank = o->transport->rank(o->world) };
    mo_error own = { 0 }, *e = err ? err : &own;
    mo_pipeline_thread *threads = NULL;
    mo_status status, last;
    int n = 0;

    assert(options->n_slots > 0 && options->n_slots <= MO_PIPELINE_MAX_SLOTS);
    assert(!options->direct || options->n_slots == 1);
    assert(!options->copies || plan->n_phases > 1);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    status = init_pipeline(&p, e);
    if (status == MO_OK) {
        threads = calloc((size_t) p.slots.plan.n_devices + 1, sizeof *threads);
        status = threads ? MO_OK : mo_fail_memory(e);
    }
    if (status == MO_OK) {
        n = list_threads(&p, threads);
        status = begin_world(&p, n, e);
    }
    if (status == MO_OK)
        status = run_threads(&p, threads, n, e);
    if (p.rank == 0 && p.outcomes)
        mo_pipeline_deliver_rest(&p);
    if (p.sink_status != MO_OK && (status == MO_OK || options->resumes)) {
        status = p.sink_status;
        *e = p.sink_error;
    }
    if (status != MO_OK)
        o->transport->fail(o->world, e);
    if (p.rank == 0 && p.outcomes && p.loads && p.shares && p.share_of) {
        last = mo_pipeline_summarize(&p, result, status == MO_OK ? e : NULL);
        if (status == MO_OK)
            status = last;
    }
    for (int i = 0; i < n; i++)
        mo_pipeline_frontend_free(threads[i].frontend);

    for (int i = 0; i < p.n_groups; i++) {
        mo_joint_slots_free(p.groups[i].slots);
        free(p.groups[i].chosen);
    }
    mo_pipeline_slots_clear(&p.slots);
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    free(p.groups);
    free(p.shares);
    free(p.share_of);
    free(p.outcomes);
    free(p.times);
    free(p.loads);
    free(threads);
    return status;
}
