#include "exec/backend/cuda/algo/tensorcore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/backend/cuda/jit/jit_cache.h"

typedef struct tensor_way {
    mo_cuda_way base;
    const mo_cuda_task *task;
    mo_tensor_problem problem;
    mo_tensor_plan plan;
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
static bool is_aligned(const mo_tensor_arguments *a)
{
    uintptr_t all = (uintptr_t) a->a | (uintptr_t) a->b | (uintptr_t) a->out |
                    (uintptr_t) a->bias | (uintptr_t) a->residual;

    return all % 16 == 0;
}

static mo_status enqueue_tensor(mo_unit *unit, const mo_cuda_way *way,
                                const void *const *in, void *const *out,
                                void *workspace, CUstream stream, mo_error *err)
{
    const tensor_way *w = (const tensor_way *) way;
    const mo_tensor_problem *p = &w->problem;
    const mo_tensor_tile *t = &w->plan.tile;
    mo_tensor_arguments a = p->arguments;
    mo_code_extra extra = mo_code_extra_of(w->task->call, in);
    void *arguments[] = { &a, &extra };
    mo_cuda_grid grid = {
        .blocks = { (unsigned) (parts_of(a.m, t->m) * parts_of(a.n, t->n)),
                    (unsigned) p->batches, (unsigned) w->plan.parts },
        .threads = { (unsigned) mo_tensor_threads(t), 1, 1 },
        .shared = (unsigned) mo_tensor_shared(p, t),
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

static void drop_tensor(mo_unit *unit, mo_cuda_way *way)
{
    tensor_way *w = (tensor_way *) way;

    mo_cuda_free(unit, w->arrived);
    free(w);
}

static const mo_cuda_way_kind tensor_kind = { enqueue_tensor, drop_tensor };

bool mo_tensor_is(const mo_cuda_way *way)
{
    return way->kind == &tensor_kind;
}

/* ---- making */

static void set_parts(tensor_way *w)
{
    mo_tensor_arguments *a = &w->problem.arguments;
    int step = MO_TENSOR_STEP_BYTES / (int) mo_elem_bytes(w->problem.elem);
    int steps = parts_of(a->k, step);

    a->tiles_m = parts_of(a->m, w->plan.tile.m);
    a->n_parts = w->plan.parts;
    a->part_k = parts_of(steps, w->plan.parts) * step;
    a->clustered = w->plan.clustered;
}

/* Memory for the parts where the device's own is needed: sums in the workspace,
 * counters of our own. */
static mo_status make_room(mo_unit *unit, tensor_way *w, mo_error *err)
{
    const mo_tensor_tile *t = &w->plan.tile;
    const mo_tensor_arguments *a = &w->problem.arguments;
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

static mo_status ask(mo_unit *unit, tensor_way *w, mo_error *err)
{
    mo_code code = { 0 };
    mo_status status;

    mo_tensor_source(&code, w->task, &w->problem, &w->plan.tile);
    status = mo_code_ready(&code, err);
    if (status == MO_OK)
        status = mo_cuda_ask(unit, code.text, "tensor", &w->function, err);
    mo_code_clear(&code);
    return status;
}

static void name_plan(const mo_tensor_plan *plan, char name[MO_CUDA_WAY_NAME])
{
    const mo_tensor_tile *t = &plan->tile;

    snprintf(name, MO_CUDA_WAY_NAME, "tensor %dx%d/%dx%d g%d s%d k%d", t->m,
             t->n, t->warp_m, t->warp_n, t->groups, t->stages, plan->parts);
}

static mo_status add_way(mo_unit *unit, const mo_cuda_task *task,
                         const mo_tensor_problem *problem,
                         const mo_tensor_plan *plan, mo_cuda_ways *ways,
                         mo_error *err)
{
    char name[MO_CUDA_WAY_NAME];
    tensor_way *w;
    mo_status status;

    name_plan(plan, name);
    if (!mo_cuda_wants(task, name))
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
    return mo_cuda_ways_add(unit, ways, &w->base, err);
}

static bool has_clusters(const mo_unit *unit)
{
    int has = 0;

    return unit->arch >= 90 &&
           unit->api->cuDeviceGetAttribute(&has,
                                           CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
                                           unit->device) == CUDA_SUCCESS &&
           has != 0;
}

mo_status mo_cuda_tensor_ways(mo_unit *unit, const mo_cuda_task *task,
                              mo_cuda_ways *ways, mo_error *err)
{
    enum { TRIED = 10 };
    mo_tensor_plan plans[TRIED];
    mo_tensor_problem problem;
    mo_status status = MO_OK;
    int n;

    if (!mo_cuda_wants_kind(task, "tensor") ||
        !mo_tensor_problem_of(unit, task, &problem))
        return MO_OK;
    n = mo_tensor_plans(unit, has_clusters(unit), &problem, plans,
                        unit->options.measure ? TRIED : 1);
    for (int i = 0; i < n && status == MO_OK; i++)
        status = add_way(unit, task, &problem, &plans[i], ways, err);
    return status;
}
