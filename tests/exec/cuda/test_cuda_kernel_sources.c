/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-sanitizers no-valgrind */
/*
 * Tests of all generated device code of real networks: NVRTC compiles it, also
 * for devices that are not present. Kernels are prepared on the stand-in
 * driver with the attributes of each device; nothing runs. The networks are in
 * the folder MOIRAI_DATA. With MOIRAI_LONG all of them for all devices;
 * MOIRAI_ARCH=70 selects sm_70.
 */
#include <config.h>

#include <stdio.h>

#include "base/parallel_for.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "ingest/read.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

/* Of the devices below, unless MOIRAI_LONG. */
enum { USUAL = 5, FEW = 2, EXIT_SKIPPED = 77 };

static const char *const models[] = { "small_swin",    "small_bert",
                                      "small_regnet",  "small_gpt2",
                                      "squeezenet1_1", "small_trunk" };

static const struct {
    int arch;
    mo_backend_precision precision;
    mo_elem reals;
} devices[] = {
    { 70, MO_BACKEND_PRECISION_F32, MO_ELEM_F32 },
    { 75, MO_BACKEND_PRECISION_F32, MO_ELEM_F16 },
    { 80, MO_BACKEND_PRECISION_F32, MO_ELEM_BF16 },
    { 90, MO_BACKEND_PRECISION_TF32, MO_ELEM_F32 },
    { 100, MO_BACKEND_PRECISION_TF32, MO_ELEM_F32 },
    { 80, MO_BACKEND_PRECISION_TF32, MO_ELEM_F32 },
    { 90, MO_BACKEND_PRECISION_F32, MO_ELEM_F16 },
    { 100, MO_BACKEND_PRECISION_F32, MO_ELEM_BF16 },
};

static char data[3072];
static mo_cuda_api compiler;

/* NVRTC of CUDA 13 does not support Volta any more. */
static bool supports_arch(int arch)
{
    char *cubin = NULL;
    size_t size = 0;
    mo_status status = mo_cuda_nvrtc_compile(
        &compiler, "MO_KERNEL(nothing)(int x) { MO_BEGIN(); }", "nothing", arch,
        &cubin, &size, NULL);

    free(cubin);
    return status == MO_OK;
}

static mo_graph *read_model(const char *model)
{
    char path[4096];
    mo_graph *g = NULL;

    snprintf(path, sizeof path, "%s/runnable/%s/model.xml", data, model);
    MUST(mo_read_graph(path, NULL, &g, NULL, &err));
    return g;
}

/* On one device, fused as for a GPU. */
static void make_plan(random_plan *r, const char *model, mo_elem reals)
{
    static const bool yes = true;
    char folder[4096];

    snprintf(folder, sizeof folder, "%s/runnable/%s", data, model);
    random_plan_of(r, read_model(model), read_model(model), folder, 0, 1);
    mo_plan_free(r->plan);
    r->plan = NULL;
    r->source.fuse = r->source.layout = true;
    r->source.can_jit = r->source.fuses_attention = &yes;
    r->source.storage_elem = reals;
    MUST(mo_plan_build(&r->source, &r->plan, &err));
}

static mo_backend_kernel *prepare(mo_backend_unit *unit,
                                  const mo_exec_plan *plan, const mo_call *call)
{
    mo_backend_operand *in = calloc((size_t) call->n_in + 1, sizeof *in);
    mo_tensor_desc *out = calloc((size_t) call->n_out, sizeof *out);
    mo_backend_kernel *kernel = NULL;
    size_t workspace;

    ck_assert(in && out);
    for (int i = 0; i < call->n_in; i++) {
        const mo_plan_value *value = &plan->values[call->in[i]];

        in[i].desc = value->desc;
        in[i].constant = value->constant ? value->constant->data : NULL;
    }
    for (int i = 0; i < call->n_out; i++)
        out[i] = plan->values[call->out[i]].desc;
    MUST(mo_backend_cuda.prepare(unit, call, in, out, &kernel, &workspace,
                                 &err));
    free(in);
    free(out);
    return kernel;
}

static void prepare_all(mo_backend_unit *unit, const mo_exec_plan *plan)
{
    for (int i = 0; i < plan->n_calls; i++)
        mo_backend_cuda.free_kernel(unit,
                                    prepare(unit, plan, &plan->calls[i].call));
}

typedef struct job {
    const mo_backend_unit *unit;
    mo_error *errs;
} job;

static void compile_one(void *context, int i, int thread)
{
    const job *j = context;
    const char *name = NULL;
    const char *text =
        mo_cuda_jit_cache_source(j->unit->jit_cache, (size_t) i, &name);
    char *cubin = NULL;
    size_t size = 0;

    (void) thread;
    mo_cuda_nvrtc_compile(&compiler, text, name, j->unit->arch, &cubin, &size,
                          &j->errs[i]);
    free(cubin);
}

static void compile_all(const mo_backend_unit *unit, const char *model)
{
    job j = { .unit = unit };
    const char *name;
    int n = 0;

    while (mo_cuda_jit_cache_source(unit->jit_cache, (size_t) n, &name))
        n++;
    ck_assert_int_gt(n, 0);
    j.errs = calloc((size_t) n, sizeof *j.errs);
    ck_assert_ptr_nonnull(j.errs);
    mo_parallel_for(0, n, compile_one, &j);
    for (int i = 0; i < n; i++)
        ck_assert_msg(j.errs[i].status == MO_OK, "%s for sm_%d: %s", model,
                      unit->arch, j.errs[i].text);
    printf("%s for sm_%d: %d sources\n", model, unit->arch, n);
    free(j.errs);
}

static void check_network(const char *model, int arch,
                          mo_backend_precision precision, mo_elem reals)
{
    const mo_backend_unit_options options = { .cache = "",
                                              .precision = precision };
    mo_backend_unit *unit = NULL;
    random_plan r;

    use_standin();
    MUST(mo_backend_cuda.open(&options, &unit, &err));
    unit->arch = arch;
    unit->max_shared_bytes = unit->arch < 80 ? 64 << 10 : 99 << 10;
    make_plan(&r, model, reals);
    prepare_all(unit, r.plan);
    compile_all(unit, model);
    random_plan_clear(&r);
    mo_backend_cuda.close(unit);
}

START_TEST(kernels_of_networks_compile_for_every_device)
{
    int d = _i % COUNT(devices);
    const char *model = models[(_i + _i / COUNT(devices)) % COUNT(models)];

    if (supports_arch(devices[d].arch))
        check_network(model, devices[d].arch, devices[d].precision,
                      devices[d].reals);
}
END_TEST

START_TEST(kernels_of_networks_compile_for_the_device_asked_for)
{
    int arch = atoi(getenv("MOIRAI_ARCH"));

    ck_assert_msg(supports_arch(arch), "NVRTC does not know sm_%d", arch);
    check_network(models[_i], arch, MO_BACKEND_PRECISION_F32, MO_ELEM_F32);
}
END_TEST

static void skip(const char *why)
{
    printf("skipped: %s\n", why);
    exit(EXIT_SKIPPED);
}

SUITE(cuda_kernel_sources)
{
    const char *given = getenv("MOIRAI_DATA");
    mo_error err = { 0 };

    if (!given)
        skip("the environment has no MOIRAI_DATA");
    if (mo_cuda_api_load_nvrtc(&compiler, &err) != MO_OK)
        skip(err.text);
    snprintf(data, sizeof data, "%s", given);
    if (getenv("MOIRAI_ARCH"))
        EACH(kernels_of_networks_compile_for_the_device_asked_for,
             getenv("MOIRAI_LONG") ? COUNT(models) : FEW);
    else
        EACH(kernels_of_networks_compile_for_every_device,
             is_set("MOIRAI_LONG") ? COUNT(devices) * COUNT(models)
                                   : in_ci(USUAL, FEW));
}
