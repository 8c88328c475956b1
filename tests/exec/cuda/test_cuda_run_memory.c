/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/runtime/run.h for GPU memory: the reported allocation equals
 * the bytes requested from the driver, and all of it is freed. Random
 * networks, and those of the folder MOIRAI_DATA if present. */
#include <config.h>

#include "exec/runtime/run.h"

#include <stdio.h>

#include "base/random.h"
#include "exec/backend/cuda/driver/cuda_api.h"
#include "ingest/read.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

enum { MAX_PIECES = 4096 };

/* Live allocations, and their size when a kernel was launched. */
static struct {
    CUresult (*alloc)(CUdeviceptr *at, size_t bytes);
    CUresult (*release)(CUdeviceptr at);
    CUresult (*launch)(CUgraphExec graph, CUstream stream);
    struct {
        CUdeviceptr at;
        size_t bytes;
    } pieces[MAX_PIECES];
    int n;
    int64_t now, most, replayed;
} driver;

static CUresult count_alloc(CUdeviceptr *at, size_t bytes)
{
    CUresult result = driver.alloc(at, bytes);

    if (result != CUDA_SUCCESS)
        return result;
    ck_assert_int_lt(driver.n, MAX_PIECES);
    driver.pieces[driver.n].at = *at;
    driver.pieces[driver.n++].bytes = bytes;
    driver.now += (int64_t) bytes;
    if (driver.now > driver.most)
        driver.most = driver.now;
    return result;
}

static CUresult count_release(CUdeviceptr at)
{
    for (int i = 0; i < driver.n; i++)
        if (driver.pieces[i].at == at) {
            driver.now -= (int64_t) driver.pieces[i].bytes;
            driver.pieces[i] = driver.pieces[--driver.n];
            return driver.release(at);
        }
    ck_abort_msg("memory is released that nobody has");
}

static CUresult count_launch(CUgraphExec graph, CUstream stream)
{
    driver.replayed = driver.now;
    return driver.launch(graph, stream);
}

/* The table of entry points is shared: from now on all calls are counted. */
static void count_memory(void)
{
    const mo_cuda_api *found = NULL;
    mo_cuda_api *api;

    use_cuda();
    MUST(mo_cuda_api_get(&found, &err));
    memcpy(&api, &found, sizeof api);
    if (api->cuMemAlloc == count_alloc)
        return;
    driver.alloc = api->cuMemAlloc;
    driver.release = api->cuMemFree;
    driver.launch = api->cuGraphLaunch;
    api->cuMemAlloc = count_alloc;
    api->cuMemFree = count_release;
    api->cuGraphLaunch = count_launch;
}

static const bool yes = true;
static const int lanes = 4;

/* Fused as for a GPU. */
static void plan_again(random_plan *r)
{
    mo_plan_free(r->plan);
    r->plan = NULL;
    r->source.fuse = r->source.layout = true;
    r->source.can_jit = r->source.fuses_attention = &yes;
    r->source.max_streams = &lanes;
    MUST(mo_plan_build(&r->source, &r->plan, &err));
}

static void make_random(random_plan *r, unsigned seed)
{
    if (seed % 3 == 0)
        random_plan_of(r, random_picture(seed), random_picture(seed), NULL,
                       seed, 1);
    else if (seed % 3 == 1)
        random_plan_of(r, random_attention(seed), random_attention(seed), NULL,
                       seed, 1);
    else
        random_plan_make(r, seed, 1);
    plan_again(r);
}

static mo_graph *read_model(const char *folder)
{
    char path[4096];
    mo_graph *g = NULL;

    snprintf(path, sizeof path, "%s/model.xml", folder);
    MUST(mo_read_graph(path, NULL, &g, NULL, &err));
    return g;
}

static void make_known(random_plan *r, const char *name)
{
    char folder[4000];

    snprintf(folder, sizeof folder, "%s/runnable/%s", getenv("MOIRAI_DATA"),
             name);
    random_plan_of(r, read_model(folder), read_model(folder), folder, 0, 1);
    plan_again(r);
}

static void run(const mo_exec_plan *plan, bool measure, mo_run_result *result)
{
    plan_runner r;

    plan_runner_begin(&r, plan, 0);
    r.backends[0] = &mo_backend_cuda;
    r.units[0].autotune = measure;
    r.units[0].cache = "";
    r.options.warm_ups = 1;
    r.options.runs = 2;
    plan_runner_go(&r);
    plan_runner_take(&r, result);
    plan_runner_end(&r);
}

static void check_memory(const mo_exec_plan *plan, bool measure,
                         const char *name)
{
    const mo_plan_device *planned = &plan->devices[0];
    mo_run_result result = { 0 };

    driver.most = driver.replayed = 0;
    run(plan, measure, &result);
    printf("%s: %lld bytes for values, %lld to work in, %lld with weights, "
           "%lld at most while kernels were tried\n",
           name, (long long) planned->arena_bytes,
           (long long) result.workspace_bytes[0],
           (long long) result.allocated_bytes[0], (long long) driver.most);
    ck_assert_int_ge(result.allocated_bytes[0],
                     planned->arena_bytes + result.workspace_bytes[0]);
    if (driver.replayed > 0)
        ck_assert_int_eq(driver.replayed, result.allocated_bytes[0]);
    ck_assert_int_eq(driver.n, 0);
    ck_assert_int_eq(driver.now, 0);
    mo_run_result_clear(&result);
}

START_TEST(what_is_told_is_what_is_allocated)
{
    char name[32];
    random_plan r;

    count_memory();
    make_random(&r, (unsigned) _i);
    snprintf(name, sizeof name, "seed %d", _i);
    check_memory(r.plan, _i % 2 != 0, name);
    random_plan_clear(&r);
}
END_TEST

static const char *const known[] = { "small_bert",    "small_gpt2",
                                     "small_regnet",  "small_swin",
                                     "squeezenet1_1", "small_trunk" };

START_TEST(so_it_is_for_known_networks)
{
    random_plan r;

    count_memory();
    make_known(&r, known[_i]);
    check_memory(r.plan, true, known[_i]);
    random_plan_clear(&r);
}
END_TEST

SUITE(cuda_run_memory)
{
    bool real = getenv("MOIRAI_TEST_GPU") != NULL;

    use_cuda();
    EACH(what_is_told_is_what_is_allocated, real && !is_watched() ? 24 : 3);
    if (getenv("MOIRAI_DATA") && real)
        EACH(so_it_is_for_known_networks, COUNT(known));
}
