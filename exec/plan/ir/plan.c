/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/ir/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int mo_plan_phase_find(const mo_exec_plan *plan, size_t member, int number)
{
    int phase = 0;

    while (phase + 1 < plan->n_phases) {
        const mo_plan_phase_start *next = &plan->phases[phase + 1].start;
        int first;

        memcpy(&first, (const char *) next + member, sizeof first);
        if (number < first)
            break;
        phase++;
    }
    return phase;
}

void mo_plan_free(mo_exec_plan *plan)
{
    if (!plan)
        return;
    for (mo_plan_owned_constant *c = plan->owned_constants; c; c = c->next)
        mo_tensor_clear(&c->value);
    for (int p = 0; p < plan->n_phases; p++)
        mo_plan_free(plan->parts[p]);
    mo_arena_free(plan->arena);
    free(plan);
}

mo_status mo_plan_add_constant(mo_exec_plan *plan, const mo_tensor_desc *desc,
                               mo_tensor_dense **constant, mo_error *err)
{
    mo_plan_owned_constant *owned = mo_arena_alloc(plan->arena, sizeof *owned);
    mo_status status =
        owned ? mo_tensor_new(desc, &owned->value, err) : mo_fail_memory(err);

    if (status != MO_OK)
        return status;
    owned->next = plan->owned_constants;
    plan->owned_constants = owned;
    *constant = &owned->value;
    return MO_OK;
}

mo_status mo_plan_adopt_constant(mo_exec_plan *plan, mo_tensor_dense *value,
                                 const mo_tensor_dense **constant,
                                 mo_error *err)
{
    mo_plan_owned_constant *owned = mo_arena_alloc(plan->arena, sizeof *owned);

    if (!owned)
        return mo_fail_memory(err);
    *owned = (mo_plan_owned_constant){ .value = *value,
                                       .next = plan->owned_constants };
    *value = (mo_tensor_dense){ 0 };
    plan->owned_constants = owned;
    *constant = &owned->value;
    return MO_OK;
}

mo_tensor_desc mo_plan_output_desc(const mo_exec_plan *plan, int i)
{
    mo_tensor_desc desc = plan->values[plan->outputs[i].value].desc;

    if (plan->outputs[i].widened)
        desc.elem = MO_ELEM_F32;
    return desc;
}

bool mo_plan_device_fits(const mo_plan_device *device, int64_t workspace_bytes)
{
    int64_t sum = device->arena_bytes;

    return mo_int64_add(sum, device->weight_bytes, &sum) &&
           mo_int64_add(sum, workspace_bytes, &sum) &&
           sum <= device->capacity_bytes;
}

mo_status mo_plan_check_capacity(const mo_exec_plan *plan,
                                 const int64_t *workspace, mo_error *err)
{
    for (int d = 0; d < plan->n_devices; d++) {
        const mo_plan_device *device = &plan->devices[d];
        int64_t extra = workspace ? workspace[d] : 0;

        if (!mo_plan_device_fits(device, extra)) {
            int64_t lack = device->arena_bytes - device->capacity_bytes;
            bool known = mo_int64_add(lack, device->weight_bytes, &lack) &&
                         mo_int64_add(lack, extra, &lack);

            return mo_fail(
                err, MO_E_INPUT,
                "device '%.80s' is too small by %" PRId64 " bytes: it needs "
                "%" PRId64 " for values, %" PRId64 " for weights and "
                "%" PRId64 " to work in, and has %" PRId64 "; place less "
                "there, or give it more memory",
                device->id, known ? lack : INT64_MAX, device->arena_bytes,
                device->weight_bytes, extra, device->capacity_bytes);
        }
    }
    return MO_OK;
}
