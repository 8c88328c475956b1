/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/support/plan_runner.h"

#include <string.h>

#include "base/random.h"
#include "exec/tensor/dense_tensor.h"
#include "tests/support/suite.h"

static void make_inputs(plan_runner *r, unsigned seed)
{
    const mo_exec_plan *plan = r->plan;

    ck_assert_int_le(plan->n_inputs, PLAN_RUNNER_INPUTS);
    for (int i = 0; i < plan->n_inputs; i++) {
        MUST(mo_tensor_new(&plan->inputs[i].desc, &r->inputs[i], &err));
        mo_tensor_fill_random(&r->inputs[i], mo_random_seed(seed, (uint64_t) i),
                              1, 2);
    }
}

void plan_runner_begin(plan_runner *r, const mo_exec_plan *plan, unsigned seed)
{
    memset(r, 0, sizeof *r);
    r->plan = plan;
    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++) {
        r->backends[d] = &mo_backend_cpu;
        r->units[d] = (mo_backend_unit_options){ .threads = 1 };
    }
    r->options = (mo_run_plan_options){ .transport = &mo_transport_local,
                                        .backends = r->backends,
                                        .units = r->units,
                                        .rank_of = r->rank_of,
                                        .inputs = r->inputs,
                                        .runs = 1 };
    make_inputs(r, seed);
    MUST(mo_transport_local.open(&(mo_transport_world_options){ 0 },
                                 &r->options.world, &err));
}

void plan_runner_go(plan_runner *r)
{
    MUST(mo_run_plan(r->plan, &r->options, &r->result, &err));
}

void plan_runner_take(plan_runner *r, mo_run_result *result)
{
    *result = r->result;
    memset(&r->result, 0, sizeof r->result);
}

void plan_runner_end(plan_runner *r)
{
    mo_run_result_clear(&r->result);
    mo_transport_local.close(r->options.world);
    for (int i = 0; i < PLAN_RUNNER_INPUTS; i++)
        mo_tensor_clear(&r->inputs[i]);
}

void plan_runner_result(const mo_exec_plan *plan, unsigned seed,
                        mo_run_result *result)
{
    plan_runner r;

    plan_runner_begin(&r, plan, seed);
    plan_runner_go(&r);
    plan_runner_take(&r, result);
    plan_runner_end(&r);
}

void check_outputs_close(const mo_run_result *a, const mo_run_result *b,
                         double allowed, int seed)
{
    ck_assert_int_eq(a->n_outputs, b->n_outputs);
    for (int i = 0; i < a->n_outputs; i++) {
        mo_tensor_difference d =
            mo_tensor_compare(&a->outputs[i], &b->outputs[i]);

        ck_assert(
            mo_tensor_desc_equal(&a->outputs[i].desc, &b->outputs[i].desc));
        ck_assert_msg(d.relative <= allowed, "seed %d: output %d is off by %g",
                      seed, i, d.relative);
    }
}

void check_outputs_equal(const mo_run_result *a, const mo_run_result *b,
                         int seed)
{
    ck_assert_int_eq(a->n_outputs, b->n_outputs);
    for (int i = 0; i < a->n_outputs; i++) {
        const mo_tensor_dense *x = &a->outputs[i], *y = &b->outputs[i];

        ck_assert(mo_tensor_desc_equal(&x->desc, &y->desc));
        ck_assert_msg(memcmp(x->data, y->data,
                             (size_t) mo_tensor_desc_bytes(&x->desc)) == 0,
                      "seed %d: output %d differs", seed, i);
    }
}
