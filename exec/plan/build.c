/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/lower/lower.h"
#include "exec/plan/passes/passes.h"
#include "exec/plan/schedule/schedule_steps.h"

/* What was sent and is needed no more may have a small part of the memory;
 * where nobody says how much there is, of this much.  A larger part is left to
 * what calls work with, of which nothing is known yet. */
enum { KEEP_SHARE = 256, WORK_SHARE = 16 };

#define KEEP_UNTOLD_BYTES (INT64_C(16) << 30)

static int64_t keep_of(int64_t capacity_bytes)
{
    return (capacity_bytes == INT64_MAX ? KEEP_UNTOLD_BYTES : capacity_bytes) /
           KEEP_SHARE;
}

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
        plan->devices[d].keep_bytes = keep_of(x->capacity_bytes[d]);
        if (!plan->devices[d].id)
            return mo_fail_memory(err);
    }
    return MO_OK;
}

/* What attention no longer reads would keep others from fusing. */
static mo_status attend(const mo_plan_source *source, mo_exec_plan *plan,
                        mo_error *err)
{
    mo_status status = mo_pass_fuse_attention(source, plan, err);

    return status == MO_OK ? mo_pass_dce(plan, err) : status;
}

/* What nobody reads would keep calls apart; what passes leave behind them is
 * taken out in the end. */
static mo_status improve(const mo_plan_source *source, mo_exec_plan *plan,
                         mo_error *err)
{
    mo_status status = mo_pass_dce(plan, err);

    if (status == MO_OK)
        status = mo_pass_const_fold(plan, err);
    if (status == MO_OK && source->attend)
        status = attend(source, plan, err);
    if (status == MO_OK && source->fuse)
        status = mo_pass_fuse_pointwise(source, plan, err);
    if (status == MO_OK && source->layout)
        status = mo_pass_nhwc_layout(plan, err);
    if (status == MO_OK && source->fuse)
        status = mo_pass_copy_elim(source->keen, plan, err);
    if (status == MO_OK && source->fuse)
        status = mo_pass_merge_qkv(source->attend, plan, err);
    return status == MO_OK ? mo_pass_dce(plan, err) : status;
}

/* Devices that are too small, or nearly, keep nothing.  Were there any? */
static bool keep_less(mo_exec_plan *plan)
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

static mo_status lay_out(const mo_plan_source *source, mo_exec_plan *plan,
                         const int64_t *start_ns, mo_error *err)
{
    mo_status status = mo_plan_order_steps(source, plan, start_ns, err);

    if (status == MO_OK && source->lanes)
        status = mo_plan_assign_streams(source->lanes, plan, err);
    return status == MO_OK ? mo_plan_assign_memory(plan, err) : status;
}

/* Who sends should hardly ever be held up, but first of all it must fit. */
static mo_status make_steps(const mo_plan_source *source, mo_exec_plan *plan,
                            mo_error *err)
{
    int64_t *start_ns = NULL;
    mo_status status = mo_plan_insert_transfers(source, plan, &start_ns, err);

    if (status == MO_OK)
        status = lay_out(source, plan, start_ns, err);
    if (status == MO_OK && keep_less(plan))
        status = lay_out(source, plan, start_ns, err);
    free(start_ns);
    return status;
}

static mo_status make(const mo_plan_source *source, mo_exec_plan *plan,
                      mo_error *err)
{
    mo_status status = make_devices(source->instance, plan, err);

    plan->predicted_ns = source->schedule->makespan_ns;
    if (status == MO_OK)
        status = mo_plan_lower(source, plan, err);
    if (status == MO_OK)
        status = improve(source, plan, err);
    if (status == MO_OK && source->fuse && source->reals == MO_ELEM_F32)
        status = mo_pass_concat_inplace(source->nest, plan, err);
    if (status == MO_OK)
        status = mo_pass_precision(source->reals, plan, err);
    return status == MO_OK ? make_steps(source, plan, err) : status;
}

mo_status mo_plan_build(const mo_plan_source *source, mo_exec_plan **plan,
                        mo_error *err)
{
    mo_plan_source wanted = *source;
    mo_exec_plan *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    if (wanted.as_placed)
        wanted.keen = wanted.attend = wanted.nest = NULL;
    made->arena = mo_arena_new();
    status = made->arena ? make(&wanted, made, err) : mo_fail_memory(err);
    if (status == MO_OK)
        *plan = made;
    else
        mo_plan_free(made);
    return status;
}
