/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/background_runs.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "exec/runtime/run.h"

/* Runs between two preparations of the kernels, which would disturb the
 * measured runs more than a pipeline does: it changes the memory map of the
 * process. The shortest warm-up. */
enum { RUNS_AT_ONCE = 500, WARM_UP_NS = 50000000 };

typedef struct member {
    mo_profiler_target target;
    mo_profiler_background *background;
    pthread_t thread;
} member;

struct mo_profiler_background {
    mo_stop enough;
    int n; /* threads started */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int n_at_work;    /* running, or failed */
    mo_status status; /* of the threads that failed */
    mo_error err;
    member members[];
};

static mo_run_plan_options options_of(const mo_profiler_target *target)
{
    static const int here[] = { 0 };

    return (mo_run_plan_options){
        .transport = &mo_transport_local,
        .backends = &target->backend,
        .units = &target->unit,
        .rank_of = here,
        .inputs = target->inputs,
    };
}

mo_status mo_profiler_target_run(const mo_profiler_target *target, int warm_ups,
                                 int runs, bool whole, const mo_stop *stop,
                                 mo_run_result *result, mo_error *err)
{
    const mo_transport_world_options world_options = { 0 };
    mo_run_plan_options options = options_of(target);
    mo_status status =
        mo_transport_local.open(&world_options, &options.world, err);

    if (status != MO_OK)
        return status;
    options.warm_ups = warm_ups;
    options.warm_up_ns = WARM_UP_NS;
    options.runs = runs;
    options.whole = whole;
    options.stop = stop;
    status = mo_run_plan(target->plan, &options, result, err);
    mo_transport_local.close(options.world);
    return status;
}

/* Copies would take time of the host. */
static mo_status borrow_inputs(void *context, int64_t request,
                               mo_tensor_dense *inputs, mo_error *err)
{
    const mo_profiler_target *target = context;

    (void) request;
    (void) err;
    for (int i = 0; i < target->plan->n_inputs; i++) {
        inputs[i] = target->inputs[i];
        inputs[i].own = false;
    }
    return MO_OK;
}

enum { STREAM_NS = 500000000, MAX_REQUESTS = 20000 };

int64_t mo_profiler_stream_length(int64_t least, int64_t period_ns)
{
    int64_t n = STREAM_NS / mo_max_i64(period_ns, 1);

    return mo_min_i64(mo_max_i64(n, least), MAX_REQUESTS);
}

mo_status mo_profiler_plan_stream(const mo_exec_plan *plan,
                                  const mo_run_plan_options *devices,
                                  int n_slots, int64_t n_requests,
                                  mo_pipeline_result *result, mo_error *err)
{
    const mo_transport_world_options world_options = { 0 };
    mo_profiler_target network = { .plan = plan, .inputs = devices->inputs };
    /* Loads of calls are of a single device. */
    bool time_calls =
        plan->n_devices == 1 && devices->backends[0]->separate_memory;
    mo_run_plan_options run = *devices;
    const mo_pipeline_options options = { .run = &run,
                                          .n_slots = n_slots,
                                          .n_requests = n_requests,
                                          .source = borrow_inputs,
                                          .sink = mo_pipeline_discard_outputs,
                                          .context = &network,
                                          .time_calls = time_calls };
    mo_status status = mo_transport_local.open(&world_options, &run.world, err);

    if (status != MO_OK)
        return status;
    run.inputs = NULL;
    run.runs = 1;
    status = mo_pipeline_run(plan, &options, result, err);
    mo_transport_local.close(run.world);
    return status;
}

mo_status mo_profiler_target_stream(const mo_profiler_target *target,
                                    int n_slots, int64_t n_requests,
                                    mo_pipeline_result *result, mo_error *err)
{
    const mo_run_plan_options run = options_of(target);

    return mo_profiler_plan_stream(target->plan, &run, n_slots, n_requests,
                                   result, err);
}

/* Counts one more thread as running or failed. */
static void count_started(mo_profiler_background *c, mo_status status,
                          const mo_error *err)
{
    pthread_mutex_lock(&c->lock);
    c->n_at_work++;
    if (status != MO_OK && c->status == MO_OK) {
        c->status = status;
        c->err = *err;
    }
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void is_at_work(void *background)
{
    count_started(background, MO_OK, NULL);
}

static void *keep_busy(void *context)
{
    const member *m = context;

    if (m->target.backend->separate_memory) {
        /* A failure here would also end the measured run: it is ignored. */
        const mo_run_plan_options options = options_of(&m->target);
        mo_profiler_background *c = m->background;
        mo_error err = { 0 };
        mo_status status = mo_run_background_load(
            m->target.plan, &options, &c->enough, is_at_work, c, &err);

        if (status != MO_OK)
            count_started(c, status, &err);
    } else {
        const mo_stop *enough = &m->background->enough;
        mo_status status = MO_OK;

        is_at_work(m->background);
        while (status == MO_OK && !mo_stop_reached(enough)) {
            mo_run_result result = { 0 };

            status = mo_profiler_target_run(&m->target, 0, RUNS_AT_ONCE, true,
                                            enough, &result, NULL);
            mo_run_result_clear(&result);
        }
    }
    return NULL;
}

static mo_status start_all(mo_profiler_background *c,
                           const mo_profiler_target *targets, int n,
                           mo_error *err)
{
    for (; c->n < n; c->n++) {
        member *m = &c->members[c->n];

        *m = (member){ .target = targets[c->n], .background = c };
        if (pthread_create(&m->thread, NULL, keep_busy, m) != 0)
            return mo_fail(err, MO_E_MEMORY, "a thread could not be started");
    }
    return MO_OK;
}

mo_status mo_profiler_background_start(const mo_profiler_target *targets, int n,
                                       mo_profiler_background **background,
                                       mo_error *err)
{
    mo_profiler_background *c =
        calloc(1, sizeof *c + (size_t) n * sizeof *c->members);
    mo_status status;

    if (!c)
        return mo_fail_memory(err);
    mo_stop_after(&c->enough, 0);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    status = start_all(c, targets, n, err);
    if (status == MO_OK) {
        pthread_mutex_lock(&c->lock);
        while (c->n_at_work < c->n)
            pthread_cond_wait(&c->changed, &c->lock);
        status = c->status;
        if (status != MO_OK && err)
            *err = c->err;
        pthread_mutex_unlock(&c->lock);
    }
    if (status != MO_OK) {
        mo_profiler_background_stop(c);
        return status;
    }
    *background = c;
    return MO_OK;
}

void mo_profiler_background_stop(mo_profiler_background *c)
{
    if (!c)
        return;
    mo_stop_request(&c->enough);
    for (int i = 0; i < c->n; i++)
        pthread_join(c->members[i].thread, NULL);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
