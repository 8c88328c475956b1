/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/*
 * Plans of real networks, fine and coarsened, on one device and on several:
 * they verify, and their arenas are close to the lower bound. The files are in
 * the folder MOIRAI_DATA; missing values are synthesized.
 */
#include <stdio.h>

#include "exec/plan/schedule/liveness.h"
#include "exec/plan/schedule/offsets.h"
#include "exec/plan/verify/verify.h"
#include "ingest/read.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

static const char *const models[] = {
    "runnable/squeezenet1_1/model.xml",
    "runnable/small_regnet/model.xml",
    "runnable/small_swin/model.xml",
    "runnable/small_bert/model.xml",
    "runnable/small_gpt2/model.xml",
    "runnable/small_trunk/model.xml",
    "openvino/resnet50.xml",
    "openvino/googlenet.xml",
    "openvino/mobilenet_v3_large.xml",
    "openvino/swin_t.xml",
    "openvino/esmfold_trunk4_64.xml",
    "openvino/gpt2_512.xml",
    "openvino/bert_base_128.xml",
};

static char data[3072];

static mo_graph *read_model(int model)
{
    char path[4096];
    mo_graph *g = NULL;

    snprintf(path, sizeof path, "%s/%s", data, models[model]);
    MUST(mo_read_graph(path, NULL, &g, NULL, &err));
    return g;
}

static int64_t rounded(int64_t bytes)
{
    return (bytes + MO_PLAN_BUFFER_ALIGN - 1) / MO_PLAN_BUFFER_ALIGN *
           MO_PLAN_BUFFER_ALIGN;
}

/* The most bytes live on a device at one step: changes by step, summed up. */
static int64_t most_alive(const mo_exec_plan *plan,
                          const mo_plan_live_range *lives, int device)
{
    int n = plan->devices[device].n_steps;
    int64_t *change = calloc((size_t) n + 3, sizeof *change);
    int64_t now = 0, most = 0;

    ck_assert_ptr_nonnull(change);
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].device == device &&
            mo_plan_live_range_is_nonempty(&lives[v])) {
            int64_t bytes =
                rounded(mo_tensor_desc_bytes(&plan->values[v].desc));

            change[lives[v].begin + 1] += bytes;
            change[lives[v].end + 2] -= bytes;
        }
    for (int s = 0; s < n + 3; s++) {
        now += change[s];
        most = now > most ? now : most;
    }
    free(change);
    return most;
}

static void check_memory(const mo_exec_plan *plan, const char *model)
{
    mo_plan_live_range *lives = NULL;

    MUST(mo_plan_liveness(plan, &lives, &err));
    for (int d = 0; d < plan->n_devices; d++) {
        int64_t bytes = plan->devices[d].arena_bytes;
        int64_t most = most_alive(plan, lives, d);

        printf("%s on %d: device %s: %lld bytes, %.4f of what lives\n", model,
               plan->n_devices, plan->devices[d].id, (long long) bytes,
               most > 0 ? (double) bytes / (double) most : 1.0);
        ck_assert_int_ge(bytes, most);
        ck_assert_msg((double) bytes <= 1.05 * (double) most + 64, "%s", model);
    }
    free(lives);
}

static void check_plan(random_plan *r, const char *name)
{
    mo_error err = { 0 };

    ck_assert_msg(mo_verify_plan(r->plan, &err) == MO_OK, "%s: %s", name,
                  err.text);
    check_memory(r->plan, name);
    random_plan_clear(r);
}

START_TEST(plans_of_models_verify_and_are_small)
{
    int model = _i / 2, n_devices = _i % 2 ? RANDOM_PLAN_DEVICES : 1;
    char folder[4096];
    random_plan r;

    snprintf(folder, sizeof folder, "%s/%s", data, models[model]);
    *strrchr(folder, '/') = '\0';
    random_plan_of(&r, read_model(model), read_model(model), folder,
                   /* seed */ (unsigned) (_i + model), n_devices);
    check_plan(&r, models[model]);
}
END_TEST

SUITE(plan_models)
{
    const char *given = getenv("MOIRAI_DATA");

    if (!given) {
        puts("skipped: the environment has no MOIRAI_DATA");
        exit(77);
    }
    snprintf(data, sizeof data, "%s", given);
    SOME(plans_of_models_verify_and_are_small, 2 * COUNT(models), 6);
}
