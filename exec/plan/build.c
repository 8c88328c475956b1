/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "exec/plan/lower/lower.h"
#include "exec/plan/passes/passes.h"
#include "exec/plan/schedule/schedule_steps.h"

/* Sent values may keep their buffers after their last local use: up to a small
 * share of the device's memory, or of DEFAULT_MEMORY_BYTES where the capacity
 * is unknown. A larger share is reserved for workspaces, of a size not
 * known yet. */
enum { KEEP_SHARE = 256, WORK_SHARE = 16 };

#define DEFAULT_MEMORY_BYTES (INT64_C(16) << 30)

static mo_status make_devices(const mo_instance *x, mo_exec_plan *plan,
                              mo_error *err)
{
    size_t n = (size_t) x->n_devices;

    plan->n_devices = x->n_devices;
    plan->devices = mo_arena_array(plan->arena, n, sizeof *plan->devices);
    if (!plan->devices)
        return mo_fail_memory(err);
    for (size_t d = 0; d < n; d++) {
        const char *id = x->device_ids[d];

        plan->devices[d].id = mo_arena_text(plan->arena, id, strlen(id));
        plan->devices[d].capacity_bytes = x->capacity_bytes[d];
        plan->devices[d].keep_bytes =
            mo_ablated(MO_ABLATION_deferred_awaits)
                ? 0
                : (x->capacity_bytes[d] == INT64_MAX ? DEFAULT_MEMORY_BYTES
                                                     : x->capacity_bytes[d]) /
                      KEEP_SHARE;
        if (!plan->devices[d].id)
            return mo_fail_memory(err);
    }
    return MO_OK;
}

/* Devices without memory to spare keep no sent buffers. Returns whether any
 * changed. */
static bool release_kept_buffers(mo_exec_plan *plan)
{
    bool any = false;

    for (int d = 0; d < plan->n_devices; d++) {
        mo_plan_device *device = &plan->devices[d];

        if (device->keep_bytes > 0 &&
            !mo_plan_device_fits(device, device->capacity_bytes / WORK_SHARE)) {
            device->keep_bytes = 0;
            any = true;
        }
    }
    return any;
}

static mo_status assign_steps(const mo_plan_source *source, mo_exec_plan *plan,
                              const int64_t *start_ns, mo_error *err)
{
    mo_status status = mo_plan_order_steps(source, plan, start_ns, err);

    if (status == MO_OK && source->max_streams &&
        !mo_ablated(MO_ABLATION_streams))
        status = mo_plan_assign_streams(source->max_streams, plan, err);
    return status == MO_OK ? mo_plan_assign_memory(plan, err) : status;
}

static mo_status run_pipeline(const mo_plan_source *source, mo_exec_plan *plan,
                              mo_error *err)
{
    mo_status status = make_devices(source->instance, plan, err);

    plan->predicted_ns = source->schedule->makespan_ns;
    if (status == MO_OK)
        status = mo_plan_lower(source, plan, err);
    if (status == MO_OK) {
        /* The optimization pipeline. Calls that these passes leave without a
         * reader would keep others from being fused; those of the other
         * passes are removed at the end. */
        if (!mo_ablated(MO_ABLATION_const_fold))
            status = mo_pass_const_fold(plan, err);
        if (status == MO_OK && source->fuses_attention)
            status = mo_pass_fuse_attention(source, plan, err);
        if (status == MO_OK && !mo_ablated(MO_ABLATION_fuse_norm))
            status = mo_pass_fuse_norm(source->fuses_attention, plan, err);
        if (status == MO_OK && !mo_ablated(MO_ABLATION_fuse_rotate))
            status = mo_pass_fuse_rotate(source->fuses_attention, plan, err);
        if (status == MO_OK && source->fuse &&
            !mo_ablated(MO_ABLATION_fuse_gelu))
            status = mo_pass_fuse_gelu(plan, err);
        if (status == MO_OK)
            status = mo_pass_dce(plan, err);
        if (status == MO_OK && source->fuse &&
            !mo_ablated(MO_ABLATION_fuse_pointwise))
            status = mo_pass_fuse_pointwise(source, plan, err);
        if (status == MO_OK && source->layout &&
            !mo_ablated(MO_ABLATION_nhwc_layout))
            status = mo_pass_nhwc_layout(plan, err);
        if (status == MO_OK && source->fuse &&
            !mo_ablated(MO_ABLATION_copy_elim))
            status = mo_pass_copy_elim(source->can_jit, plan, err);
        if (status == MO_OK && source->fuse &&
            !mo_ablated(MO_ABLATION_merge_qkv))
            status = mo_pass_merge_qkv(source->fuses_attention, plan, err);
        if (status == MO_OK && !mo_ablated(MO_ABLATION_fold_batches))
            mo_pass_fold_batches(plan);
        if (status == MO_OK)
            status = mo_pass_dce(plan, err);
    }
    if (status == MO_OK && source->fuse &&
        source->storage_elem == MO_ELEM_F32 &&
        !mo_ablated(MO_ABLATION_concat_inplace))
        status = mo_pass_concat_inplace(source->concat_inplace, plan, err);
    if (status == MO_OK)
        status =
            mo_pass_precision(source->storage_elem, source->earlier, plan, err);
    if (status == MO_OK && !mo_ablated(MO_ABLATION_reuse_values))
        status = mo_pass_reuse_values(source->can_jit, plan, err);
    if (status == MO_OK && !mo_ablated(MO_ABLATION_convert_weights))
        status = mo_pass_convert_weights(source->can_jit, plan, err);
    if (status == MO_OK)
        status = mo_pass_state_inplace(plan, err);
    if (status != MO_OK)
        return status;

    /* Sends should hardly ever stall the sender, but fitting into memory comes
     * first. */
    int64_t *start_ns = NULL;
    status = mo_plan_insert_transfers(source, plan, &start_ns, err);

    if (status == MO_OK)
        status = assign_steps(source, plan, start_ns, err);
    if (status == MO_OK && release_kept_buffers(plan))
        status = assign_steps(source, plan, start_ns, err);
    free(start_ns);
    return status;
}

mo_status mo_plan_build(const mo_plan_source *source, mo_exec_plan **plan,
                        mo_error *err)
{
    mo_plan_source effective = *source;
    mo_exec_plan *built = calloc(1, sizeof *built);
    mo_status status;

    if (!built)
        return mo_fail_memory(err);
    if (effective.as_placed)
        effective.can_jit = effective.fuses_attention =
            effective.concat_inplace = NULL;
    if (mo_ablated(MO_ABLATION_fuse_attention))
        effective.fuses_attention = NULL;
    built->arena = mo_arena_new();
    status = built->arena ? run_pipeline(&effective, built, err)
                          : mo_fail_memory(err);
    if (status == MO_OK)
        *plan = built;
    else
        mo_plan_free(built);
    return status;
}
