/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/cudnn/engine_plan.h"

#include <stdio.h>

enum { MOST_CONFIGS = 24, MOST_NOTES = 32, MOST_WORKSPACE = 64 << 20 };

/* What an engine says of itself: a bit per note. */
typedef struct engine_notes {
    unsigned numerical, behaviour;
} engine_notes;

#define NOTE(name) (1u << (name))

/* Notes are enumerators, whatever the attribute; of newer ones than a word has
 * bits nothing is known. */
static unsigned notes_named(mo_cuda_cudnn_desc_pool *set,
                            mo_cuda_cudnn_desc engine,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type)
{
    int values[MOST_NOTES];
    int64_t n = 0;
    unsigned bits = 0;

    if (set->status != CUDNN_STATUS_SUCCESS)
        return 0;
    set->status = set->api->cudnnBackendGetAttribute(engine, name, type,
                                                     MOST_NOTES, &n, values);
    for (int64_t i = 0; i < n && set->status == CUDNN_STATUS_SUCCESS; i++)
        if (values[i] >= 0 && values[i] < 32)
            bits |= NOTE(values[i]);
    return bits;
}

/* False where the engine cannot be asked. */
static bool read_notes(const mo_cuda_api *api, mo_cuda_cudnn_desc config,
                       engine_notes *notes)
{
    mo_cuda_cudnn_desc_pool set = { .api = api };
    mo_cuda_cudnn_desc engine =
        mo_cuda_cudnn_desc_create(&set, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t n = 0;
    bool good;

    if (set.status == CUDNN_STATUS_SUCCESS)
        set.status = api->cudnnBackendGetAttribute(
            config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            1, &n, &engine);
    notes->numerical =
        notes_named(&set, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                    CUDNN_TYPE_NUMERICAL_NOTE);
    notes->behaviour =
        notes_named(&set, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                    CUDNN_TYPE_BEHAVIOR_NOTE);
    good = set.status == CUDNN_STATUS_SUCCESS;
    mo_cuda_cudnn_desc_pool_clear(&set);
    return good;
}

/* Tensor cores have no floats but TF32; Winograd's large tiles lose digits, and
 * of halves there are none to lose. */
static unsigned unwanted(const mo_backend_unit *unit, mo_elem elem)
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

static bool suits(const mo_backend_unit *unit, mo_cuda_cudnn_desc config,
                  mo_elem elem)
{
    engine_notes notes;

    return read_notes(unit->api, config, &notes) &&
           !(notes.numerical & unwanted(unit, elem)) &&
           !(notes.behaviour & NOTE(CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION));
}

/* False where the engine cannot do the graph after all. */
static bool make_plan(mo_backend_unit *unit, cudnnHandle_t handle,
                      mo_cuda_cudnn_desc config, mo_cuda_cudnn_plan *plan)
{
    mo_cuda_cudnn_desc_pool set = { .api = unit->api };
    mo_cuda_cudnn_desc desc = mo_cuda_cudnn_desc_create(
        &set, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t workspace = -1, n = 0;

    mo_cuda_cudnn_set_attr(&set, desc, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                           CUDNN_TYPE_HANDLE, 1, &handle);
    mo_cuda_cudnn_set_attr_desc(
        &set, desc, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    mo_cuda_cudnn_desc_finalize(&set, desc);
    if (set.status == CUDNN_STATUS_SUCCESS)
        set.status = unit->api->cudnnBackendGetAttribute(
            desc, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
            &n, &workspace);
    if (set.status != CUDNN_STATUS_SUCCESS || workspace < 0 ||
        workspace > MOST_WORKSPACE) {
        mo_cuda_cudnn_desc_pool_clear(&set);
        return false;
    }
    plan->config = config;
    plan->plan = desc;
    plan->workspace = (size_t) workspace;
    return true;
}

/* Configurations of one of the library's ways to guess; they are the set's. */
static int propose(mo_cuda_cudnn_desc_pool *set, mo_cuda_cudnn_desc graph,
                   cudnnBackendHeurMode_t mode, mo_cuda_cudnn_desc *configs)
{
    mo_cuda_cudnn_desc guess =
        mo_cuda_cudnn_desc_create(set, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    int64_t n = 0;

    mo_cuda_cudnn_set_attr_desc(set, guess,
                                CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    mo_cuda_cudnn_set_attr(set, guess, CUDNN_ATTR_ENGINEHEUR_MODE,
                           CUDNN_TYPE_HEUR_MODE, 1, &mode);
    mo_cuda_cudnn_desc_finalize(set, guess);
    for (int i = 0; i < MOST_CONFIGS; i++)
        configs[i] =
            mo_cuda_cudnn_desc_create(set, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (set->status == CUDNN_STATUS_SUCCESS)
        set->status = set->api->cudnnBackendGetAttribute(
            guess, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            MOST_CONFIGS, &n, configs);
    if (set->status != CUDNN_STATUS_SUCCESS)
        return 0;
    return n < MOST_CONFIGS ? (int) n : MOST_CONFIGS;
}

static int plans_by(mo_backend_unit *unit, cudnnHandle_t handle,
                    mo_cuda_cudnn_desc graph, const mo_cuda_algo_problem *task,
                    cudnnBackendHeurMode_t mode, mo_cuda_cudnn_plan *plans)
{
    mo_cuda_cudnn_desc_pool set = { .api = unit->api };
    mo_cuda_cudnn_desc configs[MOST_CONFIGS];
    int proposed = propose(&set, graph, mode, configs), n = 0;

    for (int i = 0; i < proposed && n < MO_CUDA_CUDNN_MAX_PLANS; i++) {
        snprintf(plans[n].name, sizeof plans[n].name, "cudnn %d v%zu", i + 1,
                 unit->api->cudnnGetVersion());
        if (mo_cuda_algo_wanted(task, plans[n].name) &&
            suits(unit, configs[i], task->out[0].elem) &&
            make_plan(unit, handle, configs[i], &plans[n])) {
            mo_cuda_cudnn_desc_release(&set, configs[i]);
            n++;
        }
    }
    mo_cuda_cudnn_desc_pool_clear(&set);
    return n;
}

int mo_cuda_cudnn_find_plans(mo_backend_unit *unit, cudnnHandle_t handle,
                             mo_cuda_cudnn_desc graph,
                             const mo_cuda_algo_problem *task,
                             mo_cuda_cudnn_plan plans[MO_CUDA_CUDNN_MAX_PLANS])
{
    int n = plans_by(unit, handle, graph, task, CUDNN_HEUR_MODE_A, plans);

    if (n == 0)
        n = plans_by(unit, handle, graph, task, CUDNN_HEUR_MODE_FALLBACK,
                     plans);
    return n;
}

void mo_cuda_cudnn_plan_destroy(const mo_cuda_api *api,
                                mo_cuda_cudnn_plan *plan)
{
    if (plan->plan)
        api->cudnnBackendDestroyDescriptor(plan->plan);
    if (plan->config)
        api->cudnnBackendDestroyDescriptor(plan->config);
    *plan = (mo_cuda_cudnn_plan){ 0 };
}
