/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/tensorcore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/backend/cuda/jit/jit_cache.h"

typedef struct tensor_way {
    mo_cuda_algo base;
    const mo_cuda_algo_problem *task;
    mo_cuda_tensorcore_problem problem;
    mo_cuda_tensorcore_config plan;
    mo_cuda_function *function;
    CUdeviceptr arrived; /* by tile: the parts that are done; 0 between runs */
} tensor_way;

/* ---- running */

static int parts_of(int whole, int part)
{
    return (whole + part - 1) / part;
}

static const void *operand(const void *const *in, int i)
{
    return i < 0 ? NULL : in[i];
}

/* Copies of 16 bytes want such addresses; the planner gives no others. */
static bool is_aligned(const mo_cuda_tensorcore_args *a)
{
    uintptr_t all = (uintptr_t) a->a | (uintptr_t) a->b | (uintptr_t) a->out |
                    (uintptr_t) a->bias | (uintptr_t) a->residual;

    return all % 16 == 0;
}

static mo_status enqueue_tensor(mo_backend_unit *unit, const mo_cuda_algo *way,
                                const void *const *in, void *const *out,
                                void *workspace, CUstream stream, mo_error *err)
{
    const tensor_way *w = (const tensor_way *) way;
    const mo_cuda_tensorcore_problem *p = &w->problem;
    const mo_cuda_tensorcore_tile *t = &w->plan.tile;
    mo_cuda_tensorcore_args a = p->arguments;
    mo_cuda_epilogue_inputs extra =
        mo_cuda_epilogue_inputs_of(w->task->call, in);
    void *arguments[] = { &a, &extra };
    mo_cuda_grid grid = {
        .blocks = { (unsigned) (parts_of(a.m, t->m) * parts_of(a.n, t->n)),
                    (unsigned) p->batches, (unsigned) w->plan.parts },
        .threads = { (unsigned) mo_cuda_tensorcore_block_threads(t), 1, 1 },
        .shared = (unsigned) mo_cuda_tensorcore_shared_bytes(p, t),
        .cluster = w->plan.clustered ? (unsigned) w->plan.parts : 1,
    };

    a.a = in[p->a_in];
    a.b =
        p->b_packed ? (const void *) (uintptr_t) w->task->columns : in[p->b_in];
    a.out = out[0];
    a.bias = operand(in, p->bias);
    a.residual = operand(in, p->residual);
    a.parts = workspace;
    a.arrived = (unsigned *) (uintptr_t) w->arrived;
    if (!is_aligned(&a))
        return mo_fail(err, MO_E_SUPPORT,
                       "an operand is not aligned to 16 bytes");
    return mo_cuda_launch(unit, w->function, &grid, stream, arguments, err);
}

static void drop_tensor(mo_backend_unit *unit, mo_cuda_algo *way)
{
    tensor_way *w = (tensor_way *) way;

    mo_cuda_free(unit, w->arrived);
    free(w);
}

static const mo_cuda_algo_class tensor_kind = { enqueue_tensor, drop_tensor };

bool mo_cuda_is_tensorcore_algo(const mo_cuda_algo *way)
{
    return way->kind == &tensor_kind;
}

/* ---- making */

static void set_parts(tensor_way *w)
{
    mo_cuda_tensorcore_args *a = &w->problem.arguments;
    int step =
        MO_CUDA_TENSORCORE_K_STEP_BYTES / (int) mo_elem_size(w->problem.elem);
    int steps = parts_of(a->k, step);

    a->tiles_m = parts_of(a->m, w->plan.tile.m);
    a->n_parts = w->plan.parts;
    a->part_k = parts_of(steps, w->plan.parts) * step;
    a->clustered = w->plan.clustered;
}

/* Memory for the parts where the device's own is needed: sums in the workspace,
 * counters of our own. */
static mo_status make_room(mo_backend_unit *unit, tensor_way *w, mo_error *err)
{
    const mo_cuda_tensorcore_tile *t = &w->plan.tile;
    const mo_cuda_tensorcore_args *a = &w->problem.arguments;
    size_t tiles = (size_t) parts_of(a->n, t->n) * (size_t) a->tiles_m *
                   (size_t) w->problem.batches;
    size_t sums = (size_t) (t->m * t->n) * sizeof(float);
    mo_status status;

    if (w->plan.parts == 1 || w->plan.clustered)
        return MO_OK;
    if (!mo_size_mul(tiles, sums, &w->base.workspace) ||
        !mo_size_mul(w->base.workspace, (size_t) w->plan.parts,
                     &w->base.workspace))
        return mo_fail_memory(err);
    status = mo_cuda_alloc(unit, tiles * sizeof(unsigned), &w->arrived, err);
    if (status != MO_OK)
        return status;
    return mo_cuda_check(unit->api, "cuMemsetD8Async",
                         unit->api->cuMemsetD8Async(w->arrived, 0,
                                                    tiles * sizeof(unsigned),
                                                    unit->stream),
                         err);
}

static mo_status ask(mo_backend_unit *unit, tensor_way *w, mo_error *err)
{
    mo_cuda_source code = { 0 };
    mo_status status;

    mo_cuda_emit_tensorcore(&code, w->task, &w->problem, &w->plan.tile);
    status = mo_cuda_source_check(&code, err);
    if (status == MO_OK)
        status =
            mo_cuda_jit_request(unit, code.text, "tensor", &w->function, err);
    mo_cuda_source_clear(&code);
    return status;
}

static void name_plan(const mo_cuda_tensorcore_config *plan,
                      char name[MO_CUDA_ALGO_NAME_SIZE])
{
    const mo_cuda_tensorcore_tile *t = &plan->tile;

    snprintf(name, MO_CUDA_ALGO_NAME_SIZE, "tensor %dx%d/%dx%d g%d s%d k%d",
             t->m, t->n, t->warp_m, t->warp_n, t->groups, t->stages,
             plan->parts);
}

static mo_status add_way(mo_backend_unit *unit,
                         const mo_cuda_algo_problem *task,
                         const mo_cuda_tensorcore_problem *problem,
                         const mo_cuda_tensorcore_config *plan,
                         mo_cuda_algo_list *ways, mo_error *err)
{
    char name[MO_CUDA_ALGO_NAME_SIZE];
    tensor_way *w;
    mo_status status;

    name_plan(plan, name);
    if (!mo_cuda_algo_wanted(task, name))
        return MO_OK;
    w = calloc(1, sizeof *w);
    if (!w)
        return mo_fail_memory(err);
    w->base.kind = &tensor_kind;
    w->base.consumed = problem->b_packed ? 2 : 0;
    w->task = task;
    w->problem = *problem;
    w->plan = *plan;
    memcpy(w->base.name, name, sizeof name);
    set_parts(w);
    status = make_room(unit, w, err);
    if (status == MO_OK)
        status = ask(unit, w, err);
    if (status != MO_OK) {
        drop_tensor(unit, &w->base);
        return status;
    }
    return mo_cuda_algo_list_add(unit, ways, &w->base, err);
}

static bool has_clusters(const mo_backend_unit *unit)
{
    int has = 0;

    return unit->arch >= 90 &&
           unit->api->cuDeviceGetAttribute(&has,
                                           CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
                                           unit->device) == CUDA_SUCCESS &&
           has != 0;
}

mo_status mo_cuda_tensorcore_algos(mo_backend_unit *unit,
                                   const mo_cuda_algo_problem *task,
                                   mo_cuda_algo_list *ways, mo_error *err)
{
    enum { TRIED = 10 };
    mo_cuda_tensorcore_config plans[TRIED];
    mo_cuda_tensorcore_problem problem;
    mo_status status = MO_OK;
    int n;

    if (!mo_cuda_algo_kind_wanted(task, "tensor") ||
        !mo_cuda_tensorcore_problem_init(unit, task, &problem))
        return MO_OK;
    n = mo_cuda_tensorcore_find_configs(unit, has_clusters(unit), &problem,
                                        plans,
                                        unit->options.measure ? TRIED : 1);
    for (int i = 0; i < n && status == MO_OK; i++)
        status = add_way(unit, task, &problem, &plans[i], ways, err);
    return status;
}
