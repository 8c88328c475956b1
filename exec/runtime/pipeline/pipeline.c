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

    for (int i = 0; i < p->n_groups && !p->joint; i++)
        for (int s = 0; s < p->slots.n_slots && !p->groups[i].is_empty; s++)
            threads[n++] = (mo_pipeline_thread){ .pipeline = p,
                                                 .group = &p->groups[i],
                                                 .slot = s };
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

static mo_status add_group(mo_pipeline *p, mo_pipeline_group **group,
                           mo_error *err)
{
    bool *chosen = calloc((size_t) p->plan->n_devices + 1, sizeof *chosen);

    if (!chosen)
        return mo_fail_memory(err);
    *group = &p->groups[p->n_groups++];
    (*group)->chosen = chosen;
    return MO_OK;
}

/* One group of the devices that are driven together, and one of each other
 * device of this rank. */
static mo_status make_groups(mo_pipeline *p, mo_error *err)
{
    const mo_run_plan_options *o = p->options->run;
    int n_devices = p->plan->n_devices, n_together;
    mo_pipeline_group *together, *alone;
    mo_status status;

    p->groups = calloc((size_t) n_devices + 1, sizeof *p->groups);
    if (!p->groups)
        return mo_fail_memory(err);
    status = add_group(p, &together, err);
    if (status != MO_OK)
        return status;
    n_together = mo_joint_slots_select(p->plan, o, together->chosen);
    together->is_empty = n_together == 0;
    together->separate_memory = true;
    if (n_together > 0 && n_together == n_devices)
        p->joint = together;
    for (int d = 0; d < n_devices && status == MO_OK; d++) {
        if (o->rank_of[d] != p->rank || together->chosen[d])
            continue;
        if (o->backends[d]->separate_memory)
            return mo_fail(err, MO_E_SUPPORT,
                           "device '%.80s' runs one request at a time",
                           p->plan->devices[d].id);
        status = add_group(p, &alone, err);
        if (status == MO_OK)
            alone->chosen[d] = true;
    }
    return status;
}

static mo_status init_pipeline(mo_pipeline *p, mo_error *err)
{
    const mo_pipeline_options *o = p->options;
    size_t n_devices = (size_t) p->plan->n_devices + 1;
    mo_status status;

    status = mo_pipeline_slots_make(p->plan, o->run->rank_of, o->run->backends,
                                    o->n_slots, &p->slots, err);
    p->n_outcomes = 2 * o->n_slots;
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
    pthread_mutex_init(&p.lock, NULL);
    pthread_mutex_init(&p.intake, NULL);
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
    if (p.rank == 0 && p.outcomes && p.loads) {
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
    pthread_mutex_destroy(&p.intake);
    pthread_mutex_destroy(&p.lock);
    free(p.groups);
    free(p.outcomes);
    free(p.times);
    free(p.loads);
    free(threads);
    return status;
}
