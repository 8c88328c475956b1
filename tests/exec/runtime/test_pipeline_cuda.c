/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/runtime/pipeline with devices that are GPUs of one process
 * (exec/runtime/joint/slots.h), all of them or some beside CPUs, on the
 * stand-in or, with MOIRAI_TEST_GPU, on real ones: requests in flight have the
 * outputs of single runs. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "exec/runtime/pipeline/pipeline.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/runtime/joint_case.h"
#include "tests/support/suite.h"

enum { DEVICES = 3, KINDS = 2, REQUESTS = 9, BAD = 4 };

/* Two kinds of requests by turns: one plan, two sets of inputs with the
 * outputs of their single runs. */
typedef struct stream_case {
    joint_case made;
    plan_runner other;
    int64_t n_delivered;
} stream_case;

static const plan_runner *runner_of(const stream_case *c, int64_t request)
{
    return request % KINDS ? &c->other : &c->made.runner;
}

static mo_status copy_inputs(void *context, int64_t request,
                             mo_tensor_dense *inputs, mo_error *err)
{
    const stream_case *c = context;
    mo_status status = MO_OK;

    if (request == BAD)
        return mo_fail(err, MO_E_IO, "cannot open");
    for (int i = 0; i < c->made.made.plan->n_inputs && status == MO_OK; i++) {
        const mo_tensor_dense *from = &runner_of(c, request)->inputs[i];

        status = mo_tensor_new(&from->desc, &inputs[i], err);
        if (status == MO_OK)
            memcpy(inputs[i].data, from->data,
                   (size_t) mo_tensor_desc_bytes(&from->desc));
    }
    return status;
}

static mo_status compare_outputs(void *context, int64_t request,
                                 const mo_tensor_dense *outputs,
                                 const mo_error *failure, mo_error *err)
{
    stream_case *c = context;
    const mo_run_result *single = &runner_of(c, request)->result;

    (void) err;
    ck_assert_int_eq(request, c->n_delivered++);
    ck_assert((failure != NULL) == (request == BAD));
    for (int i = 0; outputs && i < single->n_outputs; i++) {
        size_t bytes = (size_t) mo_tensor_desc_bytes(&outputs[i].desc);

        ck_assert_msg(bytes == 0 || memcmp(outputs[i].data,
                                           single->outputs[i].data, bytes) == 0,
                      "request %d, output %d differs", (int) request, i);
    }
    return MO_OK;
}

/* mask: the devices that are GPUs. */
static void place(plan_runner *runner, unsigned mask)
{
    int n = 0;

    MUST(mo_backend_cuda.count_devices(&n, &err));
    for (int d = 0; d < DEVICES; d++) {
        if (!(mask >> d & 1))
            continue;
        runner->backends[d] = &mo_backend_cuda;
        runner->units[d].gpu = d % n;
        runner->units[d].cache = "";
    }
}

/* Calls of the first device, the only one measured, have loads. */
static void check_loads(const mo_exec_plan *plan, const int64_t *loads)
{
    int64_t sum_ns = 0;

    ck_assert_ptr_nonnull(loads);
    for (int i = 0; i < plan->n_calls; i++) {
        ck_assert(loads[i] >= 0);
        ck_assert(loads[i] == 0 || plan->calls[i].device == 0);
        sum_ns += loads[i];
    }
    ck_assert(sum_ns > 0);
}

static void run_stream(stream_case *c, int n_slots, bool time_calls)
{
    mo_run_plan_options run = c->made.runner.options;
    const mo_pipeline_options options = { .run = &run,
                                          .n_slots = n_slots,
                                          .n_requests = REQUESTS,
                                          .source = copy_inputs,
                                          .sink = compare_outputs,
                                          .time_calls = time_calls,
                                          .context = c };
    mo_pipeline_result result = { 0 };

    run.inputs = NULL;
    run.warm_ups = 0;
    run.runs = 1;
    run.trace = false;
    MUST(mo_transport_local.open(&(mo_transport_world_options){ 0 }, &run.world,
                                 &err));
    MUST(mo_pipeline_run(c->made.made.plan, &options, &result, &err));
    mo_transport_local.close(run.world);
    ck_assert_int_eq(result.n_completed, REQUESTS - 1);
    ck_assert_int_eq(result.n_failed, 1);
    if (time_calls)
        check_loads(c->made.made.plan, result.call_loads);
    else
        ck_assert_ptr_null(result.call_loads);
    mo_pipeline_result_clear(&result);
}

START_TEST(requests_have_the_outputs_of_single_runs)
{
    static const struct {
        const char *gpus;
        unsigned mask;
    } cases[] = { { "1", 7 }, { "3", 7 }, { "3", 5 }, { "1", 6 }, { "1", 1 } };
    stream_case c = { .n_delivered = 0 };

    setenv("MOIRAI_STANDIN_GPUS", cases[_i].gpus, 1);
    setenv("MOIRAI_STANDIN_PEERS", "1", 1);
    use_cuda();
    joint_case_make(&c.made, (unsigned) _i, DEVICES);
    plan_runner_begin(&c.other, c.made.made.plan, 77);
    place(&c.made.runner, cases[_i].mask);
    place(&c.other, cases[_i].mask);
    plan_runner_go(&c.made.runner);
    plan_runner_go(&c.other);
    run_stream(&c, _i % 3 + 2, cases[_i].mask == 1);
    ck_assert_int_eq(c.n_delivered, REQUESTS);
    plan_runner_end(&c.other);
    joint_case_clear(&c.made);
}
END_TEST

SUITE(pipeline_cuda)
{
    EACH(requests_have_the_outputs_of_single_runs, 5);
}
