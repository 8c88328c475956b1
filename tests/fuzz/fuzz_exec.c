/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differential fuzzer of the executor: for any placement, congestion and
 * transfer model the plan of a network passes the verifier, and its outputs are
 * those of one device, bit by bit.
 */
#include "exec/plan/verify/verify.h"
#include "tests/fuzz/fuzz_network.h"
#include "tests/support/suite.h"

static mo_schedule *draw_schedule(fuzz_input *in, const mo_instance *x)
{
    mo_regime regime = { .memory = MO_MEMORY_NONE };
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    mo_schedule *schedule = NULL;

    ck_assert_ptr_nonnull(device);
    regime.congestion = (mo_congestion) fuzz_below(in, 4);
    regime.tensors = (mo_tensors) fuzz_below(in, 2);
    for (int i = 0; i < x->n; i++)
        device[i] = fuzz_below(in, x->n_devices);
    MUST(mo_schedule_new(x, &regime, device, &schedule, &err));
    MUST(mo_schedule_left_shift(x, schedule, &err));
    free(device);
    return schedule;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = fuzz_input_of(data, size);
    fuzz_network *network = fuzz_network_draw(&in);
    mo_plan_source source = network->made.source;
    mo_schedule *schedule = draw_schedule(&in, network->made.problem.x);
    mo_exec_plan *plan = NULL;

    source.schedule = schedule;
    MUST(mo_plan_build(&source, &plan, &err));
    MUST(mo_verify_plan(plan, &err));
    fuzz_network_check(network, plan);
    mo_plan_free(plan);
    mo_schedule_free(schedule);
    return 0;
}
