/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GEMM on tensor cores: choice of tile and split-k by a cost model. A batch of
 * one leaves most products with fewer tiles than there are SMs; smaller tiles
 * load more, and split-k needs a reduction. The model estimates clocks of an
 * SM, only to select the few configurations that are worth timing; its
 * constants are those of an H200.
 */
#include "exec/backend/cuda/algo/tensorcore.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/cuda/jit/jit_cache.h"

static const mo_cuda_tensorcore_tile tile_table[] = {
    /* m, n, warp, groups, stages, blocks */
    { 128, 128, 64, 32, 1, 3, 1 }, /**/
    { 128, 64, 64, 32, 1, 4, 2 },  /**/
    { 64, 128, 32, 64, 1, 4, 2 },  /**/
    { 128, 32, 32, 32, 1, 4, 2 },  /**/
    { 32, 128, 32, 32, 1, 4, 2 },  /**/
    { 64, 64, 64, 32, 2, 4, 2 },   /**/
    { 64, 64, 32, 32, 1, 4, 3 },   /**/
    { 64, 32, 32, 32, 2, 4, 3 },   /**/
    { 32, 64, 32, 32, 2, 4, 3 },   /**/
    { 32, 32, 32, 32, 4, 4, 4 },   /**/
    { 16, 64, 16, 32, 2, 5, 4 },
};
enum { TILES = sizeof tile_table / sizeof *tile_table };

/* The largest cluster that every device with clusters supports; split-k
 * without clusters. */
enum { MAX_CLUSTER = 8, MAX_PARTS = 16, MIN_STEPS = 2, CONFIGS_PER_TILE = 3 };

int mo_cuda_tensorcore_block_threads(const mo_cuda_tensorcore_tile *tile)
{
    return tile->m / tile->warp_m * (tile->n / tile->warp_n) * tile->groups *
           32;
}

static int step_elements(const mo_cuda_tensorcore_problem *problem)
{
    return MO_CUDA_TENSORCORE_K_STEP_BYTES / (int) mo_elem_size(problem->elem);
}

/* Elements of one operand's tile in a stage; rows of transposed tiles are
 * padded by 8. */
static int operand_tile_elements(const mo_cuda_tensorcore_problem *problem,
                                 mo_cuda_tensorcore_layout form, int outer)
{
    return step_elements(problem) *
           (form == MO_CUDA_TENSORCORE_MN_MAJOR ? outer + 8 : outer);
}

size_t
mo_cuda_tensorcore_shared_bytes(const mo_cuda_tensorcore_problem *problem,
                                const mo_cuda_tensorcore_tile *tile)
{
    size_t stage =
        (size_t) (operand_tile_elements(problem, problem->a_form, tile->m) +
                  operand_tile_elements(problem, problem->b_form, tile->n)) *
        mo_elem_size(problem->elem);
    size_t copies = stage * (size_t) tile->stages;
    size_t sums =
        (size_t) (tile->groups * tile->m * (tile->n + 8)) * sizeof(float);

    return copies > sums ? copies : sums;
}

/* Registers: 3xTF32 keeps the sums twice; im2col keeps two numbers for every
 * window that a thread copies from. */
static bool is_usable_tile(const mo_backend_unit *unit,
                           const mo_cuda_tensorcore_problem *p,
                           const mo_cuda_tensorcore_tile *t)
{
    int columns = step_elements(p) / p->a_count;
    int rows = t->m * columns / mo_cuda_tensorcore_block_threads(t);

    return mo_cuda_tensorcore_shared_bytes(p, t) <= unit->max_shared_bytes &&
           (p->kind != MO_CUDA_TENSORCORE_3XTF32 ||
            t->warp_m * t->warp_n <= 1024) &&
           (p->a_form != MO_CUDA_TENSORCORE_IM2COL || rows <= 16) &&
           (t->m <= 32 || p->arguments.m > t->m / 2) &&
           (t->n <= 64 || p->arguments.n > t->n / 2);
}

/* Clocks of an SM for one step of one block, latencies hidden by other
 * blocks. */
static double step_clocks(const mo_cuda_tensorcore_problem *p,
                          const mo_cuda_tensorcore_tile *t)
{
    static const double rates[] = { [MO_CUDA_TENSORCORE_TF32] = 600,
                                    [MO_CUDA_TENSORCORE_3XTF32] = 180,
                                    [MO_CUDA_TENSORCORE_F16] = 1200,
                                    [MO_CUDA_TENSORCORE_BF16] = 1200 };
    double bytes = (double) (t->m + t->n) * MO_CUDA_TENSORCORE_K_STEP_BYTES;
    double products = (double) t->m * t->n * step_elements(p) / rates[p->kind];
    double pieces = (double) t->m / t->warp_m * t->n / t->warp_n * 4 *
                    (t->warp_m + t->warp_n) / 16;

    return mo_max_double(mo_max_double(bytes / 48, products),
                         pieces * 4 + bytes / 128);
}

static double estimate_clocks(const mo_backend_unit *unit,
                              const mo_cuda_tensorcore_problem *p,
                              const mo_cuda_tensorcore_config *config)
{
    enum { STEP_LATENCY = 350, START = 2500, CLUSTER = 900, LAST = 2200 };
    const mo_cuda_tensorcore_tile *t = &config->tile;
    const mo_cuda_tensorcore_args *a = &p->arguments;
    int64_t steps =
        mo_ceil_div(mo_ceil_div(a->k, step_elements(p)), config->parts);
    int64_t blocks = mo_ceil_div(a->m, t->m) * mo_ceil_div(a->n, t->n) *
                     p->batches * config->parts;
    int64_t each = mo_ceil_div(blocks, unit->sms);
    int64_t room = (int64_t) (unit->max_shared_bytes /
                              mo_cuda_tensorcore_shared_bytes(p, t));
    double busy = (double) (each * steps) * step_clocks(p, t);
    double waits, bytes;

    room = room < t->blocks ? room : t->blocks;
    waits = (double) (mo_ceil_div(each, room < 1 ? 1 : room) * steps) *
            STEP_LATENCY;
    bytes = (double) (blocks * steps) * (t->m + t->n) *
            MO_CUDA_TENSORCORE_K_STEP_BYTES;
    return mo_max_double(mo_max_double(busy, waits), bytes / 2500) + START +
           (double) t->m * t->n / 16 +
           (config->parts == 1  ? 0
            : config->clustered ? CLUSTER
                                : LAST + config->parts * t->m * t->n / 16.0);
}

/* Keeps the cheapest configurations in order. */
static void insert_config(mo_cuda_tensorcore_config *configs, int *n, int room,
                          const mo_cuda_tensorcore_config *config)
{
    int at = *n;

    if (*n == room && configs[room - 1].cost <= config->cost)
        return;
    if (*n < room)
        (*n)++;
    else
        at = room - 1;
    for (; at > 0 && configs[at - 1].cost > config->cost; at--)
        configs[at] = configs[at - 1];
    configs[at] = *config;
}

/* The cheapest split-k factors for one tile. */
static int
find_tile_configs(const mo_backend_unit *unit, bool clusters,
                  const mo_cuda_tensorcore_problem *p,
                  const mo_cuda_tensorcore_tile *tile,
                  mo_cuda_tensorcore_config configs[CONFIGS_PER_TILE])
{
    static const int parts[] = { 1, 2, 3, 4, 5, 6, 8, 12, 16 };
    int64_t steps = mo_ceil_div(p->arguments.k, step_elements(p));
    int n = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        mo_cuda_tensorcore_config config = { .tile = *tile, .parts = parts[i] };

        if (parts[i] > 1 &&
            (mo_ablated(MO_ABLATION_cuda_split_k) ||
             steps < (int64_t) MIN_STEPS * parts[i] ||
             mo_ceil_div(steps, mo_ceil_div(steps, parts[i])) != parts[i]))
            continue;
        config.clustered = clusters && parts[i] > 1 &&
                           parts[i] <= MAX_CLUSTER && parts[i] <= unit->sms;
        config.cost = estimate_clocks(unit, p, &config);
        insert_config(configs, &n, CONFIGS_PER_TILE, &config);
    }
    return n;
}

int mo_cuda_tensorcore_find_configs(const mo_backend_unit *unit, bool clusters,
                                    const mo_cuda_tensorcore_problem *problem,
                                    mo_cuda_tensorcore_config *configs,
                                    int room)
{
    mo_cuda_tensorcore_config some[CONFIGS_PER_TILE];
    int n = 0;

    for (int i = 0; i < TILES; i++) {
        int found = is_usable_tile(unit, problem, &tile_table[i])
                        ? find_tile_configs(unit, clusters, problem,
                                            &tile_table[i], some)
                        : 0;

        for (int j = 0; j < found; j++)
            insert_config(configs, &n, room, &some[j]);
    }
    return n;
}

typedef struct tensorcore_algo {
    mo_cuda_algo base;
    const mo_cuda_algo_problem *task;
    mo_cuda_tensorcore_problem problem;
    mo_cuda_tensorcore_config config;
    mo_cuda_function *function;
    CUdeviceptr arrived; /* by slot of the unit, by tile: completed parts; 0
                            between runs */
    size_t tiles;
} tensorcore_algo;

static const void *operand_address(const void *const *in, int i)
{
    return i < 0 ? NULL : in[i];
}

/* Copies of 16 bytes need aligned addresses; the memory planner gives no
 * others. */
static bool is_aligned(const mo_cuda_tensorcore_args *a)
{
    uintptr_t all = (uintptr_t) a->a | (uintptr_t) a->b | (uintptr_t) a->out |
                    (uintptr_t) a->bias | (uintptr_t) a->residual;

    return all % 16 == 0;
}

static mo_status enqueue_tensorcore(mo_backend_unit *unit,
                                    const mo_cuda_algo *algo,
                                    const void *const *in, void *const *out,
                                    void *workspace, CUstream stream,
                                    mo_error *err)
{
    const tensorcore_algo *w = (const tensorcore_algo *) algo;
    const mo_cuda_tensorcore_problem *p = &w->problem;
    const mo_cuda_tensorcore_tile *t = &w->config.tile;
    mo_cuda_tensorcore_args a = p->arguments;
    mo_cuda_epilogue_inputs extra =
        mo_cuda_epilogue_inputs_of(w->task->call, in);
    void *arguments[] = { &a, &extra };
    mo_cuda_grid grid = {
        .blocks = { (unsigned) ((int) mo_ceil_div(a.m, t->m) *
                                (int) mo_ceil_div(a.n, t->n)),
                    (unsigned) p->batches, (unsigned) w->config.parts },
        .threads = { (unsigned) mo_cuda_tensorcore_block_threads(t), 1, 1 },
        .shared = (unsigned) mo_cuda_tensorcore_shared_bytes(p, t),
        .cluster = w->config.clustered ? (unsigned) w->config.parts : 1,
    };

    a.a = in[p->a_in];
    a.b =
        p->b_packed ? (const void *) (uintptr_t) w->task->columns : in[p->b_in];
    a.out = out[0];
    a.bias = operand_address(in, p->bias);
    a.residual = operand_address(in, p->residual);
    a.parts = workspace;
    a.arrived = (unsigned *) (uintptr_t) w->arrived;
    if (a.arrived)
        a.arrived += (size_t) unit->slot * w->tiles;
    if (!is_aligned(&a))
        return mo_fail(err, MO_E_SUPPORT,
                       "an operand is not aligned to 16 bytes");
    return mo_cuda_launch(unit, w->function, &grid, stream, arguments, err);
}

static void drop_tensorcore(mo_backend_unit *unit, mo_cuda_algo *algo)
{
    tensorcore_algo *w = (tensorcore_algo *) algo;

    mo_cuda_free(unit, w->arrived);
    free(w);
}

static const mo_cuda_algo_class tensorcore_class = { enqueue_tensorcore,
                                                     drop_tensorcore };

bool mo_cuda_is_tensorcore_algo(const mo_cuda_algo *algo)
{
    return algo->kind == &tensorcore_class;
}

/* Memory of split-k without clusters: sums in the workspace, counters of its
 * own. */
static mo_status allocate_split_k(mo_backend_unit *unit, tensorcore_algo *w,
                                  mo_error *err)
{
    const mo_cuda_tensorcore_tile *t = &w->config.tile;
    const mo_cuda_tensorcore_args *a = &w->problem.arguments;
    size_t tiles = (size_t) mo_ceil_div(a->n, t->n) * (size_t) a->tiles_m *
                   (size_t) w->problem.batches;
    size_t sums = (size_t) (t->m * t->n) * sizeof(float), counters;
    mo_status status;

    if (w->config.parts == 1 || w->config.clustered)
        return MO_OK;
    if (!mo_size_mul(tiles, sums, &w->base.workspace) ||
        !mo_size_mul(w->base.workspace, (size_t) w->config.parts,
                     &w->base.workspace))
        return mo_fail_memory(err);
    w->tiles = tiles;
    counters = tiles * (size_t) mo_cuda_unit_slots(unit) * sizeof(unsigned);
    status = mo_cuda_alloc(unit, counters, &w->arrived, err);
    if (status != MO_OK)
        return status;
    return mo_cuda_check(
        unit->api, "cuMemsetD8Async",
        unit->api->cuMemsetD8Async(w->arrived, 0, counters, unit->stream), err);
}

static mo_status add_algo(mo_backend_unit *unit,
                          const mo_cuda_algo_problem *task,
                          const mo_cuda_tensorcore_problem *problem,
                          const mo_cuda_tensorcore_config *config,
                          mo_cuda_algo_list *algos, mo_error *err)
{
    char name[MO_CUDA_ALGO_NAME_SIZE];
    tensorcore_algo *w;
    mo_status status;

    const mo_cuda_tensorcore_tile *t = &config->tile;

    snprintf(name, MO_CUDA_ALGO_NAME_SIZE, "tensor %dx%d/%dx%d g%d s%d k%d",
             t->m, t->n, t->warp_m, t->warp_n, t->groups, t->stages,
             config->parts);
    if (!mo_cuda_algo_wanted(task, name))
        return MO_OK;
    w = calloc(1, sizeof *w);
    if (!w)
        return mo_fail_memory(err);
    w->base.kind = &tensorcore_class;
    w->base.consumed = problem->b_packed ? 2 : 0;
    w->task = task;
    w->problem = *problem;
    w->config = *config;
    memcpy(w->base.name, name, sizeof name);

    mo_cuda_tensorcore_args *a = &w->problem.arguments;
    int step =
        MO_CUDA_TENSORCORE_K_STEP_BYTES / (int) mo_elem_size(w->problem.elem);
    int steps = (int) mo_ceil_div(a->k, step);

    a->tiles_m = (int) mo_ceil_div(a->m, w->config.tile.m);
    a->n_parts = w->config.parts;
    a->part_k = (int) mo_ceil_div(steps, w->config.parts) * step;
    a->clustered = w->config.clustered;
    status = allocate_split_k(unit, w, err);
    if (status == MO_OK) {
        mo_cuda_source code = { 0 };

        mo_cuda_emit_tensorcore(&code, w->task, &w->problem, &w->config.tile);
        status = mo_cuda_source_check(&code, err);
        if (status == MO_OK)
            status = mo_cuda_jit_request(unit, code.text, "tensor",
                                         &w->function, err);
        mo_cuda_source_clear(&code);
    }
    if (status != MO_OK) {
        drop_tensorcore(unit, &w->base);
        return status;
    }
    return mo_cuda_algo_list_add(unit, algos, &w->base, err);
}

mo_status mo_cuda_tensorcore_algos(mo_backend_unit *unit,
                                   const mo_cuda_algo_problem *task,
                                   mo_cuda_algo_list *algos, mo_error *err)
{
    enum { TRIED = 10 };
    mo_cuda_tensorcore_config configs[TRIED];
    mo_cuda_tensorcore_problem problem;
    mo_status status = MO_OK;
    int n;

    if (!mo_cuda_algo_kind_wanted(task, "tensor") ||
        !mo_cuda_tensorcore_problem_init(unit, task, &problem))
        return MO_OK;
    n = mo_cuda_tensorcore_find_configs(unit, mo_cuda_has_clusters(unit),
                                        &problem, configs,
                                        unit->options.autotune ? TRIED : 1);
    for (int i = 0; i < n && status == MO_OK; i++)
        status = add_algo(unit, task, &problem, &configs[i], algos, err);
    return status;
}
