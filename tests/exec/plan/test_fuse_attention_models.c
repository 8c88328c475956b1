/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/*
 * Attention fusion on real networks: all attention is found, and outputs are
 * unchanged. The files are in the folder MOIRAI_DATA.
 */
#include <stdio.h>

#include "exec/tensor/dense_tensor.h"
#include "exec/plan/verify/verify.h"
#include "exec/runtime/run.h"
#include "ingest/read.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

static const struct {
    const char *name;
    int attentions;
    int causal; /* number of these with a causal mask */
} models[] = {
    { "small_bert", 2, 0 },
    { "small_gpt2", 2, 2 },
    { "small_swin", 4, 0 },
    { "small_trunk", 3, 0 },
};

enum { MAX_INPUTS = 2 };

static char data[3072];

static mo_graph *read_model(int model)
{
    char path[4096];
    mo_graph *g = NULL;

    snprintf(path, sizeof path, "%s/runnable/%s/model.xml", data,
             models[model].name);
    MUST(mo_read_graph(path, NULL, &g, NULL, &err));
    return g;
}

static void run(mo_exec_plan *plan, mo_run_result *result)
{
    const mo_backend *backend = &mo_backend_cpu;
    const mo_backend_unit_options unit = { .threads = 1 };
    const int rank_of = 0;
    mo_tensor_dense inputs[MAX_INPUTS] = { { .own = false } };
    mo_run_plan_options options = { .transport = &mo_transport_local,
                                    .backends = &backend,
                                    .units = &unit,
                                    .rank_of = &rank_of,
                                    .inputs = inputs,
                                    .runs = 1 };

    ck_assert_int_le(plan->n_inputs, MAX_INPUTS);
    for (int i = 0; i < plan->n_inputs; i++) {
        MUST(mo_tensor_new(&plan->inputs[i].desc, &inputs[i], &err));
        mo_tensor_fill_random(&inputs[i], (uint64_t) i + 1, 1, 100);
    }
    MUST(mo_transport_local.open(&(mo_transport_world_options){ 0 },
                                 &options.world, &err));
    MUST(mo_run_plan(plan, &options, result, &err));
    mo_transport_local.close(options.world);
    for (int i = 0; i < plan->n_inputs; i++)
        mo_tensor_clear(&inputs[i]);
}

static void check_found(const mo_exec_plan *plan, int model)
{
    int softmaxes = 0, attentions = 0, causal = 0;

    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;

        softmaxes += call->kind == MO_CALL_SOFTMAX;
        if (call->kind != MO_CALL_ATTENTION)
            continue;
        attentions++;
        causal += call->u.attention.causal && !call->u.attention.score &&
                  !call->u.attention.has_mask;
    }
    ck_assert_msg(softmaxes == 0 && attentions == models[model].attentions &&
                      causal == models[model].causal,
                  "%s: %d attentions, %d of them causal, and %d softmaxes left",
                  models[model].name, attentions, causal, softmaxes);
}

static void check_same(const mo_run_result *a, const mo_run_result *b,
                       const char *name)
{
    ck_assert_int_eq(a->n_outputs, b->n_outputs);
    for (int i = 0; i < a->n_outputs; i++) {
        mo_tensor_difference d =
            mo_tensor_compare(&a->outputs[i], &b->outputs[i]);

        ck_assert_msg(d.same_shape && d.relative < 1e-5,
                      "%s: output %d is off by %g", name, i, d.relative);
    }
}

START_TEST(networks_put_out_the_same)
{
    const bool here = true;
    mo_run_result plain = { 0 }, result = { 0 };
    char folder[4096];
    random_plan r;
    mo_exec_plan *plan = NULL;

    snprintf(folder, sizeof folder, "%s/runnable/%s", data, models[_i].name);
    random_plan_of(&r, read_model(_i), read_model(_i), folder, 0, 1);
    r.source.fuses_attention = &here;
    r.source.fuse = r.source.layout = true;
    MUST(mo_plan_build(&r.source, &plan, &err));
    MUST(mo_verify_plan(plan, &err));
    check_found(plan, _i);
    run(r.plan, &plain);
    run(plan, &result);
    check_same(&result, &plain, models[_i].name);
    mo_run_result_clear(&result);
    mo_run_result_clear(&plain);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

SUITE(fuse_attention_models)
{
    const char *given = getenv("MOIRAI_DATA");

    if (!given) {
        puts("skipped: the environment has no MOIRAI_DATA");
        exit(77);
    }
    snprintf(data, sizeof data, "%s", given);
    EACH(networks_put_out_the_same, COUNT(models));
}
