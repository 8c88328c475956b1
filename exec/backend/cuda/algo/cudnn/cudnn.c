/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions by cuDNN's backend API: engine heuristics, execution plans,
 * algorithms.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/error.h"
#include "exec/backend/cuda/algo/algo.h"
#include "exec/backend/cuda/algo/cudnn/conv_graph.h"
#include "exec/backend/cuda/algo/epilogue_kernel.h"
#include "exec/backend/cuda/algo/libraries.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

void mo_cuda_cudnn_close(mo_backend_unit *unit)
{
    if (unit->cudnn)
        unit->api->cudnnDestroy(unit->cudnn);
    unit->cudnn = NULL;
}

static mo_status get_handle(mo_backend_unit *unit, cudnnHandle_t *handle,
                            mo_error *err)
{
    mo_status status = MO_OK;

    if (!unit->cudnn)
        status = mo_cuda_check_cudnn(unit->api, "cudnnCreate",
                                     unit->api->cudnnCreate(&unit->cudnn), err);
    *handle = unit->cudnn;
    return status;
}

enum { MAX_PLANS = 6 };

/* An engine configuration and its execution plan, owned; independent of the
 * graph. Plans are left out whose results are less exact than the unit's
 * precision or not deterministic, that need a large workspace, or that are
 * compiled at run time. */
typedef struct engine_plan {
    mo_cuda_cudnn_desc config, plan;
    size_t workspace;
    char name[MO_CUDA_ALGO_NAME_SIZE]; /* of the algorithm */
} engine_plan;

enum { MAX_CONFIGS = 24, MAX_NOTES = 32, MAX_WORKSPACE = 64 << 20 };

/* Numerical and behaviour notes of an engine, a bit per note. */
typedef struct engine_notes {
    unsigned numerical, behaviour;
} engine_notes;

#define NOTE(name) (1u << (name))

/* Notes are enumerators; those above 31, of newer versions, are ignored. */
static unsigned read_note_bits(mo_cuda_cudnn_desc_pool *pool,
                               mo_cuda_cudnn_desc engine,
                               cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type)
{
    int values[MAX_NOTES];
    int64_t n = 0;
    unsigned bits = 0;

    if (pool->status != CUDNN_STATUS_SUCCESS)
        return 0;
    pool->status = pool->api->cudnnBackendGetAttribute(engine, name, type,
                                                       MAX_NOTES, &n, values);
    for (int64_t i = 0; i < n && pool->status == CUDNN_STATUS_SUCCESS; i++)
        if (values[i] >= 0 && values[i] < 32)
            bits |= NOTE(values[i]);
    return bits;
}

/* Returns false where the engine has no notes. */
static bool read_notes(const mo_cuda_api *api, mo_cuda_cudnn_desc config,
                       engine_notes *notes)
{
    mo_cuda_cudnn_desc_pool pool = { .api = api };
    mo_cuda_cudnn_desc engine =
        mo_cuda_cudnn_desc_create(&pool, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t n = 0;
    bool good;

    if (pool.status == CUDNN_STATUS_SUCCESS)
        pool.status = api->cudnnBackendGetAttribute(
            config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            1, &n, &engine);
    notes->numerical =
        read_note_bits(&pool, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                       CUDNN_TYPE_NUMERICAL_NOTE);
    notes->behaviour =
        read_note_bits(&pool, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                       CUDNN_TYPE_BEHAVIOR_NOTE);
    good = pool.status == CUDNN_STATUS_SUCCESS;
    mo_cuda_cudnn_desc_pool_clear(&pool);
    return good;
}

/* Tensor cores compute f32 as TF32; Winograd transforms with large tiles lose
 * digits, and with 16-bit types any does. */
static unsigned rejected_notes(const mo_backend_unit *unit, mo_elem elem)
{
    unsigned notes = NOTE(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) |
                     NOTE(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION) |
                     NOTE(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) |
                     NOTE(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6) |
                     NOTE(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);

    if (elem != MO_ELEM_F32)
        return notes | NOTE(CUDNN_NUMERICAL_NOTE_WINOGRAD);
    if (unit->options.precision == MO_BACKEND_PRECISION_F32)
        return notes | NOTE(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    return notes;
}

static bool is_acceptable_engine(const mo_backend_unit *unit,
                                 mo_cuda_cudnn_desc config, mo_elem elem)
{
    engine_notes notes;

    return read_notes(unit->api, config, &notes) &&
           !(notes.numerical & rejected_notes(unit, elem)) &&
           !(notes.behaviour & NOTE(CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION));
}

/* Returns false where the engine does not support the graph. */
static bool create_plan(mo_backend_unit *unit, cudnnHandle_t handle,
                        mo_cuda_cudnn_desc config, engine_plan *plan)
{
    mo_cuda_cudnn_desc_pool pool = { .api = unit->api };
    mo_cuda_cudnn_desc desc = mo_cuda_cudnn_desc_create(
        &pool, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t workspace = -1, n = 0;

    mo_cuda_cudnn_set_attr(&pool, desc, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                           CUDNN_TYPE_HANDLE, 1, &handle);
    mo_cuda_cudnn_set_attr_desc(
        &pool, desc, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    mo_cuda_cudnn_desc_finalize(&pool, desc);
    if (pool.status == CUDNN_STATUS_SUCCESS)
        pool.status = unit->api->cudnnBackendGetAttribute(
            desc, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
            &n, &workspace);
    if (pool.status != CUDNN_STATUS_SUCCESS || workspace < 0 ||
        workspace > MAX_WORKSPACE) {
        mo_cuda_cudnn_desc_pool_clear(&pool);
        return false;
    }
    plan->config = config;
    plan->plan = desc;
    plan->workspace = (size_t) workspace;
    return true;
}

/* Queries one of the library's heuristics for engine configurations; the pool
 * owns them. */
static int query_heuristic(mo_cuda_cudnn_desc_pool *pool,
                           mo_cuda_cudnn_desc graph,
                           cudnnBackendHeurMode_t mode,
                           mo_cuda_cudnn_desc *configs)
{
    mo_cuda_cudnn_desc heuristic =
        mo_cuda_cudnn_desc_create(pool, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    int64_t n = 0;

    mo_cuda_cudnn_set_attr_desc(pool, heuristic,
                                CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    mo_cuda_cudnn_set_attr(pool, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE,
                           CUDNN_TYPE_HEUR_MODE, 1, &mode);
    mo_cuda_cudnn_desc_finalize(pool, heuristic);
    for (int i = 0; i < MAX_CONFIGS; i++)
        configs[i] =
            mo_cuda_cudnn_desc_create(pool, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (pool->status == CUDNN_STATUS_SUCCESS)
        pool->status = pool->api->cudnnBackendGetAttribute(
            heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
            CUDNN_TYPE_BACKEND_DESCRIPTOR, MAX_CONFIGS, &n, configs);
    if (pool->status != CUDNN_STATUS_SUCCESS)
        return 0;
    return n < MAX_CONFIGS ? (int) n : MAX_CONFIGS;
}

static int find_plans_by_mode(mo_backend_unit *unit, cudnnHandle_t handle,
                              mo_cuda_cudnn_desc graph,
                              const mo_cuda_algo_problem *problem,
                              cudnnBackendHeurMode_t mode, engine_plan *plans)
{
    mo_cuda_cudnn_desc_pool pool = { .api = unit->api };
    mo_cuda_cudnn_desc configs[MAX_CONFIGS];
    int proposed = query_heuristic(&pool, graph, mode, configs), n = 0;

    for (int i = 0; i < proposed && n < MAX_PLANS; i++) {
        snprintf(plans[n].name, sizeof plans[n].name, "cudnn %d v%zu", i + 1,
                 unit->api->cudnnGetVersion());
        if (mo_cuda_algo_wanted(problem, plans[n].name) &&
            is_acceptable_engine(unit, configs[i], problem->out[0].elem) &&
            create_plan(unit, handle, configs[i], &plans[n])) {
            mo_cuda_cudnn_desc_release(&pool, configs[i]);
            n++;
        }
    }
    mo_cuda_cudnn_desc_pool_clear(&pool);
    return n;
}

static void destroy_plan(const mo_cuda_api *api, engine_plan *plan)
{
    if (plan->plan)
        api->cudnnBackendDestroyDescriptor(plan->plan);
    if (plan->config)
        api->cudnnBackendDestroyDescriptor(plan->config);
    *plan = (engine_plan){ 0 };
}

typedef struct cudnn_algo {
    mo_cuda_algo algo;
    mo_cuda_cudnn_graph_variant variant;
    engine_plan plan;
    CUdeviceptr weights; /* packed ones in place of in[1]; 0: none */
    mo_cuda_epilogue_kernel
        *epilogue_kernel; /* NULL: the library applies it, or there is none */
} cudnn_algo;

enum { MAX_TENSORS = MO_CUDA_CUDNN_UID_VIRTUAL - 1 };

/* Addresses of the tensors of a graph. */
typedef struct variant_pack {
    int64_t ids[MAX_TENSORS];
    void *pointers[MAX_TENSORS];
    int n;
} variant_pack;

static void add_tensor_address(variant_pack *p, int64_t id, const void *memory)
{
    p->ids[p->n] = id;
    p->pointers[p->n++] = (void *) (uintptr_t) memory;
}

static variant_pack make_variant_pack(const cudnn_algo *algo,
                                      const void *const *in, void *const *out)
{
    const mo_cuda_epilogue *epilogue = &algo->variant.epilogue;
    const void *weights = (const void *) (uintptr_t) algo->weights;
    variant_pack p = { .n = 0 };

    add_tensor_address(&p, MO_CUDA_CUDNN_UID_DATA, in[0]);
    add_tensor_address(&p, MO_CUDA_CUDNN_UID_WEIGHTS,
                       algo->weights ? weights : in[1]);
    add_tensor_address(&p, MO_CUDA_CUDNN_UID_RESULT, out[0]);
    if (epilogue->bias >= 0)
        add_tensor_address(&p, MO_CUDA_CUDNN_UID_BIAS, in[epilogue->bias]);
    if (epilogue->residual >= 0)
        add_tensor_address(&p, MO_CUDA_CUDNN_UID_RESIDUAL,
                           in[epilogue->residual]);
    else if (algo->variant.adds_nothing)
        add_tensor_address(&p, MO_CUDA_CUDNN_UID_RESIDUAL, out[0]);
    return p;
}

static void execute_plan(mo_cuda_cudnn_desc_pool *pool, cudnnHandle_t handle,
                         mo_cuda_cudnn_desc plan, const variant_pack *p,
                         void *workspace)
{
    mo_cuda_cudnn_desc pack =
        mo_cuda_cudnn_desc_create(pool, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);

    mo_cuda_cudnn_set_attr(pool, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                           CUDNN_TYPE_INT64, p->n, p->ids);
    mo_cuda_cudnn_set_attr(pool, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                           CUDNN_TYPE_VOID_PTR, p->n, p->pointers);
    mo_cuda_cudnn_set_attr(pool, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                           CUDNN_TYPE_VOID_PTR, 1, &workspace);
    mo_cuda_cudnn_desc_finalize(pool, pack);
    if (pool->status != CUDNN_STATUS_SUCCESS)
        return;
    pool->what = "cudnnBackendExecute";
    pool->status = pool->api->cudnnBackendExecute(handle, plan, pack);
}

static mo_status enqueue(mo_backend_unit *unit, const mo_cuda_algo *base,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const cudnn_algo *algo = (const cudnn_algo *) base;
    mo_status status;

    mo_cuda_cudnn_desc_pool pool = { .api = unit->api };
    variant_pack p = make_variant_pack(algo, in, out);
    cudnnHandle_t handle;
    status = get_handle(unit, &handle, err);

    if (status == MO_OK)
        status =
            mo_cuda_check_cudnn(unit->api, "cudnnSetStream",
                                unit->api->cudnnSetStream(handle, stream), err);
    if (status == MO_OK) {
        execute_plan(&pool, handle, algo->plan.plan, &p, workspace);
        status = mo_cuda_check_cudnn(unit->api, pool.what, pool.status, err);
        mo_cuda_cudnn_desc_pool_clear(&pool);
    }
    if (status == MO_OK && algo->epilogue_kernel)
        status = mo_cuda_epilogue_kernel_enqueue(unit, algo->epilogue_kernel,
                                                 in, out, stream, err);
    return status;
}

static void drop(mo_backend_unit *unit, mo_cuda_algo *base)
{
    cudnn_algo *algo = (cudnn_algo *) base;

    destroy_plan(unit->api, &algo->plan);
    mo_cuda_epilogue_kernel_free(unit, algo->epilogue_kernel);
    free(algo);
}

static const mo_cuda_algo_class cudnn_class = { enqueue, drop };

static mo_status new_algo(mo_backend_unit *unit,
                          const mo_cuda_algo_problem *problem,
                          const mo_cuda_cudnn_graph_variant *variant,
                          engine_plan plan, mo_cuda_algo **algo, mo_error *err)
{
    cudnn_algo *new = calloc(1, sizeof *new);
    mo_status status = MO_OK;

    if (!new) {
        destroy_plan(unit->api, &plan);
        return mo_fail_memory(err);
    }
    new->algo.kind = &cudnn_class;
    snprintf(new->algo.name, sizeof new->algo.name, "%s", plan.name);
    new->algo.workspace = plan.workspace;
    new->variant = *variant;
    new->plan = plan;
    new->weights = problem->weights;
    if (problem->weights)
        new->algo.consumed = 1u << 1;
    if (variant->needs_epilogue)
        status = mo_cuda_epilogue_kernel_new(unit, problem,
                                             &new->epilogue_kernel, err);
    if (status != MO_OK) {
        drop(unit, &new->algo);
        return status;
    }
    *algo = &new->algo;
    return MO_OK;
}

/* Adds none where the library rejects the graph. */
static mo_status add_algos(mo_backend_unit *unit,
                           const mo_cuda_algo_problem *problem,
                           const mo_cuda_cudnn_graph_variant *variant,
                           mo_cuda_algo_list *algos, mo_error *err)
{
    mo_cuda_cudnn_desc_pool pool = { .api = unit->api };
    engine_plan plans[MAX_PLANS];
    cudnnHandle_t handle;
    mo_cuda_cudnn_desc graph;
    int n = 0;
    mo_status status = get_handle(unit, &handle, err);

    if (status != MO_OK)
        return status;
    graph = mo_cuda_cudnn_conv_graph(&pool, handle, problem, variant);
    if (pool.status == CUDNN_STATUS_SUCCESS) {
        n = find_plans_by_mode(unit, handle, graph, problem, CUDNN_HEUR_MODE_A,
                               plans);

        if (n == 0)
            n = find_plans_by_mode(unit, handle, graph, problem,
                                   CUDNN_HEUR_MODE_FALLBACK, plans);
    } else if (!mo_cuda_cudnn_is_unsupported(pool.status))
        status = mo_cuda_check_cudnn(unit->api, pool.what, pool.status, err);
    mo_cuda_cudnn_desc_pool_clear(&pool);
    if (status != MO_OK)
        return status;
    /* An algorithm of each plan; plans after a failure are destroyed. */
    for (int i = 0; i < n; i++) {
        mo_cuda_algo *algo = NULL;

        if (status != MO_OK) {
            destroy_plan(unit->api, &plans[i]);
            continue;
        }
        status = new_algo(unit, problem, variant, plans[i], &algo, err);
        if (status == MO_OK)
            status = mo_cuda_algo_list_add(unit, algos, algo, err);
    }
    return status;
}

/* act(convolution + residual + bias) with few activations. */
static bool supports_epilogue(const mo_cuda_algo_problem *problem,
                              const mo_cuda_epilogue *epilogue)
{
    mo_cuda_activation act = epilogue->act;

    return (act == MO_CUDA_ACT_NONE || act == MO_CUDA_ACT_RELU ||
            act == MO_CUDA_ACT_CLAMP) &&
           mo_cuda_epilogue_is_fusable(problem, epilogue,
                                       problem->call->u.conv.out_channels);
}

/* As one graph; or, if no plan is found, with a residual times 0. */
static mo_status add_fused(mo_backend_unit *unit,
                           const mo_cuda_algo_problem *problem,
                           const mo_cuda_epilogue *epilogue,
                           mo_cuda_algo_list *algos, mo_error *err)
{
    mo_cuda_cudnn_graph_variant variant = { .epilogue = *epilogue };
    int before = algos->n;
    mo_status status = add_algos(unit, problem, &variant, algos, err);

    if (status != MO_OK || algos->n > before || epilogue->residual >= 0 ||
        epilogue->bias < 0)
        return status;
    variant.adds_nothing = true;
    return add_algos(unit, problem, &variant, algos, err);
}

mo_status mo_cuda_cudnn_algos(mo_backend_unit *unit,
                              const mo_cuda_algo_problem *problem,
                              mo_cuda_algo_list *algos, mo_error *err)
{
    mo_cuda_cudnn_graph_variant unfused = {
        .epilogue = { .bias = -1, .residual = -1 },
        .needs_epilogue = problem->call->after != NULL
    };
    mo_cuda_epilogue epilogue;
    int before = algos->n;
    mo_status status;

    if (!mo_cuda_algo_kind_wanted(problem, "cudnn") ||
        !mo_cuda_cudnn_supports(problem) || !mo_cuda_has_cudnn())
        return MO_OK;
    if (problem->call->after && !problem->call->u.conv.transposed &&
        !mo_ablated(MO_ABLATION_cuda_library_epilogue) &&
        mo_cuda_epilogue_match(problem->call, problem->in, problem->out,
                               &epilogue) &&
        supports_epilogue(problem, &epilogue)) {
        status = add_fused(unit, problem, &epilogue, algos, err);
        if (status != MO_OK || algos->n > before)
            return status;
    }
    return add_algos(unit, problem, &unfused, algos, err);
}
