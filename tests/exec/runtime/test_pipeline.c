/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind threads */
/* Tests of exec/runtime/pipeline: random plans with several requests in
 * flight, failing inputs, kernels and receivers, and backpressure. */
#include <config.h>

#include "exec/runtime/pipeline/pipeline.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/random.h"
#include "exec/runtime/joint/joint_internal.h"
#include "exec/runtime/pipeline/pipeline_internal.h"
#include "tests/exec/support/manual_plan.h"
#include "tests/support/suite.h"

enum { MAX_DEVICES = 4, NEVER = -1, STREAMED = 10000 };

/* A stream of requests in this process. */
typedef struct bench {
    mo_exec_plan *plan;
    mo_transport_world *world;
    const mo_backend *backends[MAX_DEVICES];
    mo_backend_unit_options units[MAX_DEVICES];
    int rank_of[MAX_DEVICES];
    mo_run_plan_options run;
    mo_pipeline_options options;
    mo_pipeline_result result;
    int bad_input;    /* requests that are this modulo 7 have no input */
    int64_t bad_sink; /* this request cannot be delivered */
    int64_t last;     /* the delivery of this one interrupts */
    atomic_int interrupt;
    int sink_us; /* duration of a delivery */
    _Atomic int64_t n_taken, n_delivered;
    _Atomic int64_t most_ahead; /* of taken to delivered requests */
    int n_failed;
    int64_t next;
} bench;

static uint32_t input_of(int64_t request)
{
    return 7654321u * (uint32_t) request + 3;
}

static mo_status make_inputs(void *context, int64_t request,
                             mo_tensor_dense *inputs, mo_error *err)
{
    bench *b = context;
    int64_t ahead =
        atomic_fetch_add(&b->n_taken, 1) + 1 - atomic_load(&b->n_delivered);
    int64_t most = atomic_load(&b->most_ahead);
    mo_status status;

    while (ahead > most &&
           !atomic_compare_exchange_weak(&b->most_ahead, &most, ahead))
        continue;
    if (b->bad_input != NEVER && request % 7 == b->bad_input)
        return mo_fail_at(err, MO_E_IO, "x.npy", 0, "cannot open");
    status = mo_tensor_new(&b->plan->inputs[0].desc, &inputs[0], err);
    for (int64_t i = 0; i < mo_tensor_desc_elements(&inputs[0].desc); i++)
        ((uint32_t *) inputs[0].data)[i] = input_of(request);
    return status;
}

static mo_status check_outputs(void *context, int64_t request,
                               const mo_tensor_dense *outputs,
                               const mo_error *failure, mo_error *err)
{
    bench *b = context;
    struct timespec pause = { .tv_nsec = 1000L * b->sink_us };

    ck_assert_int_eq(request, b->next++);
    if (b->sink_us > 0)
        nanosleep(&pause, NULL);
    if (request == b->bad_sink)
        return mo_fail(err, MO_E_IO, "the disk is full");
    if (request == b->last)
        atomic_store(&b->interrupt, 15);
    ck_assert((outputs == NULL) == (failure != NULL));
    b->n_failed += failure != NULL;
    for (int o = 0; outputs && o < b->plan->n_outputs; o++) {
        uint32_t wanted = manual_plan_result(b->plan, o, input_of(request));

        for (int64_t i = 0; i < mo_tensor_desc_elements(&outputs[o].desc); i++)
            ck_assert_uint_eq(((uint32_t *) outputs[o].data)[i], wanted);
    }
    atomic_fetch_add(&b->n_delivered, 1);
    return MO_OK;
}

static void set_up(bench *b, const manual_plan_options *plan,
                   const mo_backend *backend, int n_slots, int64_t n_requests)
{
    memset(b, 0, sizeof *b);
    b->plan = manual_plan_make(plan);
    MUST(mo_transport_local.open(&(mo_transport_world_options){ 0 }, &b->world,
                                 &err));
    for (int d = 0; d < MAX_DEVICES; d++)
        b->backends[d] = backend;
    b->run = (mo_run_plan_options){ .transport = &mo_transport_local,
                                    .world = b->world,
                                    .backends = b->backends,
                                    .units = b->units,
                                    .rank_of = b->rank_of,
                                    .runs = 1 };
    b->options = (mo_pipeline_options){ .run = &b->run,
                                        .n_slots = n_slots,
                                        .n_requests = n_requests,
                                        .source = make_inputs,
                                        .sink = check_outputs,
                                        .context = b };
    b->bad_input = NEVER;
    b->bad_sink = NEVER;
    b->last = NEVER;
}

static void tear_down(bench *b)
{
    mo_pipeline_result_clear(&b->result);
    mo_transport_local.close(b->world);
    mo_arena_free(b->plan->arena);
}

static manual_plan_options random_plan(mo_random *r, int seed)
{
    return (manual_plan_options){
        .seed = (uint64_t) seed,
        .n_devices = mo_random_below(r, MAX_DEVICES) + 1,
        .n_calls = mo_random_below(r, 30) + 1,
        .elements = (int64_t) mo_random_below(r, 4) * 5000,
    };
}

START_TEST(requests_have_the_outputs_of_single_runs_in_order)
{
    mo_random r = { mo_random_seed((uint64_t) _i, 5) };
    manual_plan_options plan = random_plan(&r, _i);
    int n_slots = mo_random_below(&r, 5) + 1;
    int n_requests = mo_random_below(&r, 50) + 1;
    bench b;

    set_up(&b, &plan, &manual_backend, n_slots, n_requests);
    b.bad_input = mo_random_below(&r, 3) == 0 ? mo_random_below(&r, 7) : NEVER;
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.next, n_requests);
    ck_assert_int_eq(b.result.n_accepted, n_requests);
    ck_assert_int_eq(b.result.n_failed, b.n_failed);
    ck_assert_int_eq(b.result.n_completed, n_requests - b.n_failed);
    ck_assert_int_eq(b.result.n_lost, 0);
    if (b.bad_input != NEVER)
        ck_assert_int_eq(b.n_failed, (n_requests + 6 - b.bad_input) / 7);
    ck_assert(b.result.p50_ns <= b.result.p95_ns &&
              b.result.p95_ns <= b.result.p99_ns);
    tear_down(&b);
}
END_TEST

/* A stream that ends after STREAMED requests. */
static mo_status read_inputs(void *context, int64_t request,
                             const atomic_bool *stopped,
                             mo_tensor_dense *inputs, bool *end, mo_error *err)
{
    bench *b = context;

    ck_assert(!atomic_load(stopped));
    ck_assert_int_eq(request, atomic_load(&b->n_taken));
    *end = request == STREAMED;
    return *end ? MO_OK : make_inputs(context, request, inputs, err);
}

START_TEST(a_stream_of_unknown_length_is_read_in_order_to_its_end)
{
    manual_plan_options plan = { 3, 3, 6, 5 };
    bench b;

    set_up(&b, &plan, &manual_backend, 5, INT64_MAX);
    b.options.next = read_inputs;
    b.bad_input = 2;
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.next, STREAMED);
    ck_assert_int_eq(b.result.n_accepted, STREAMED);
    ck_assert_int_eq(b.result.n_failed, b.n_failed);
    ck_assert_int_eq(b.n_failed, (STREAMED + 4) / 7);
    ck_assert_int_eq(b.result.n_completed, STREAMED - b.n_failed);
    ck_assert_int_gt(b.result.n_steady, STREAMED / 2);
    tear_down(&b);
}
END_TEST

START_TEST(slots_have_their_own_values_and_share_the_rest)
{
    manual_plan_options plan = { 3, 3, 25, 8000 };
    bench b;

    set_up(&b, &plan, &manual_backend, 4, 20);
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    for (int d = 0; d < 3; d++) {
        ck_assert_int_eq(b.result.devices[d].slot_bytes,
                         b.plan->devices[d].arena_bytes);
        ck_assert_int_ge(b.result.devices[d].shared_bytes, 0);
    }
    ck_assert_int_gt(b.result.period_ns, 0);
    tear_down(&b);
}
END_TEST

/* Whether a call of the plan fails, as in manual_backend_failing. */
static bool may_fail(const mo_exec_plan *plan)
{
    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].call.n_in > 2 && c % 7 == 3)
            return true;
    return false;
}

START_TEST(a_kernel_that_fails_is_the_failure_of_its_request)
{
    mo_random r = { mo_random_seed((uint64_t) _i, 6) };
    manual_plan_options plan = random_plan(&r, _i);
    bench b;

    set_up(&b, &plan, &manual_backend_failing, 3, 12);
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.next, 12);
    ck_assert_int_eq(b.n_failed, may_fail(b.plan) ? 12 : 0);
    tear_down(&b);
}
END_TEST

START_TEST(a_slow_receiver_stops_the_intake)
{
    manual_plan_options plan = { 9, 3, 12, 100 };
    bench b;

    set_up(&b, &plan, &manual_backend, 2, 40);
    b.sink_us = 2000;
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.result.n_completed, 40);
    /* Of two slots, at most four outcomes wait, and one is on its way out. */
    ck_assert_int_le(b.most_ahead, 5);
    ck_assert_int_ge(b.most_ahead, 3);
    tear_down(&b);
}
END_TEST

START_TEST(a_receiver_that_fails_ends_the_run)
{
    manual_plan_options plan = { 9, 3, 12, 100 };
    mo_error err = { 0 };
    bench b;

    set_up(&b, &plan, &manual_backend, 3, 1000);
    b.bad_sink = 17;
    ck_assert_int_eq(mo_pipeline_run(b.plan, &b.options, &b.result, &err),
                     MO_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "the disk is full"));
    ck_assert_int_eq(b.result.n_completed, 17);
    ck_assert_int_eq(b.result.n_accepted,
                     b.result.n_completed + b.result.n_lost);
    ck_assert_int_eq(b.result.lost[0], 17);
    tear_down(&b);
}
END_TEST

START_TEST(an_interrupt_ends_the_intake_and_loses_nothing)
{
    mo_random r = { mo_random_seed((uint64_t) _i, 7) };
    manual_plan_options plan = random_plan(&r, _i);
    int n_slots = mo_random_below(&r, 5) + 1;
    bench b;

    set_up(&b, &plan, &manual_backend, n_slots, 100000);
    b.options.interrupt = &b.interrupt;
    b.last = mo_random_below(&r, 20);
    b.bad_input = mo_random_below(&r, 3) == 0 ? mo_random_below(&r, 7) : NEVER;
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.result.interrupt, 15);
    ck_assert_int_gt(b.result.n_accepted, b.last);
    ck_assert_int_le(b.result.n_accepted, b.last + 1 + 3 * n_slots);
    ck_assert_int_eq(b.next, b.result.n_accepted);
    ck_assert_int_eq(b.result.n_lost, 0);
    ck_assert_int_eq(b.result.n_completed + b.result.n_failed, b.next);
    tear_down(&b);
}
END_TEST

START_TEST(an_interrupt_after_the_last_request_changes_nothing)
{
    manual_plan_options plan = { 9, 3, 12, 100 };
    bench b;

    set_up(&b, &plan, &manual_backend, 3, 10);
    b.options.interrupt = &b.interrupt;
    b.last = 9;
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.result.interrupt, 0);
    ck_assert_int_eq(b.result.n_completed, 10);
    tear_down(&b);
}
END_TEST

START_TEST(devices_work_on_several_requests_at_once)
{
    manual_plan_options plan = { 4, 2, 16, 64 };
    bench b;

    /* Calls of half a millisecond: a request takes 8 ms without overlap. */
    set_up(&b, &plan, &manual_backend_slow, 4, 12);
    MUST(mo_pipeline_run(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.result.n_completed, 12);
    for (int d = 0; d < 2; d++) {
        int n = 0;

        for (int c = 0; c < b.plan->n_calls; c++)
            n += b.plan->calls[c].device == d;
        ck_assert_int_ge(b.result.devices[d].load_ns, n * 500000);
    }
    tear_down(&b);
}
END_TEST

typedef struct contender {
    mo_joint_gate *gate;
    int slot;
    int64_t request;
    int64_t *entered; /* requests in order */
    int *n_entered;
} contender;

static void *contend(void *context)
{
    contender *c = context;

    mo_joint_gate_enter(c->gate, c->slot, c->request);
    c->entered[(*c->n_entered)++] = c->request;
    mo_joint_gate_leave(c->gate);
    return NULL;
}

static int count_waiting(mo_joint_gate *gate)
{
    int n = 0;

    pthread_mutex_lock(&gate->lock);
    for (int s = 0; s < gate->n_slots; s++)
        n += gate->waiting[s] < INT64_MAX;
    pthread_mutex_unlock(&gate->lock);
    return n;
}

START_TEST(the_gate_lets_the_oldest_request_in_first)
{
    const int64_t requests[] = { 9, 4, 12, 6 };
    mo_joint_gate gate = { .n_slots = 0 };
    int64_t entered[4];
    int n_entered = 0;
    pthread_t threads[4];
    contender contenders[4];

    MUST(mo_joint_gate_init(&gate, 5, &err));
    mo_joint_gate_enter(&gate, 4, 5);
    ck_assert(!mo_joint_gate_yield(&gate, 4, 5));
    for (int i = 0; i < 4; i++) {
        contenders[i] =
            (contender){ &gate, i, requests[i], entered, &n_entered };
        pthread_create(&threads[i], NULL, contend, &contenders[i]);
        while (count_waiting(&gate) <= i)
            sched_yield();
    }
    /* Request 4 goes before 5, which goes before all others. */
    ck_assert(mo_joint_gate_yield(&gate, 4, 5));
    ck_assert_int_eq(n_entered, 1);
    mo_joint_gate_leave(&gate);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    ck_assert(entered[0] == 4 && entered[1] == 6 && entered[2] == 9 &&
              entered[3] == 12);
    mo_joint_gate_destroy(&gate);
}
END_TEST

START_TEST(messages_with_impossible_numbers_are_refused)
{
    mo_pipeline_done done = { .busy_ns = 5, .status = MO_E_IO };
    mo_pipeline_start start = { .request = -1 };
    mo_error err = { 0 };

    memset(done.text, 'x', sizeof done.text);
    ck_assert_int_eq(mo_pipeline_decode_done(&done, &err), MO_OK);
    ck_assert_uint_eq(strlen(done.text), sizeof done.text - 1);
    done.busy_ns = -1;
    ck_assert_int_ne(mo_pipeline_decode_done(&done, &err), MO_OK);
    done.busy_ns = 0;
    done.status = 1000;
    ck_assert_int_ne(mo_pipeline_decode_done(&done, &err), MO_OK);
    ck_assert_int_eq(mo_pipeline_decode_start(&start, &err), MO_OK);
    start.request = -2;
    ck_assert_int_ne(mo_pipeline_decode_start(&start, &err), MO_OK);
}
END_TEST

SUITE(pipeline)
{
    SOME(requests_have_the_outputs_of_single_runs_in_order, 200, 10);
    TEST(a_stream_of_unknown_length_is_read_in_order_to_its_end);
    TEST(slots_have_their_own_values_and_share_the_rest);
    SOME(a_kernel_that_fails_is_the_failure_of_its_request, 40, 5);
    TEST(a_slow_receiver_stops_the_intake);
    TEST(a_receiver_that_fails_ends_the_run);
    SOME(an_interrupt_ends_the_intake_and_loses_nothing, 200, 10);
    TEST(an_interrupt_after_the_last_request_changes_nothing);
    TEST(devices_work_on_several_requests_at_once);
    TEST(the_gate_lets_the_oldest_request_in_first);
    TEST(messages_with_impossible_numbers_are_refused);
}
