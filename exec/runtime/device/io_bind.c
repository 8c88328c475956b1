/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "exec/tensor/nhwc.h"
#include "exec/tensor/convert.h"
#include "exec/runtime/device/device_run_internal.h"

/* ------------------------------------------------------------------- inputs */

static mo_status new_copy(mo_run_device *d, int64_t bytes, void **copy,
                          mo_error *err)
{
    *copy = malloc((size_t) bytes + 1);
    if (!*copy)
        return mo_fail_memory(err);
    d->copies[d->n_copies++] = *copy;
    return MO_OK;
}

/* An input as its value has it: of another type maybe, or turned. */
static mo_status find_input(mo_run_device *d, const mo_tensor_dense *input,
                            int v, mo_error *err)
{
    const mo_plan_value *value = &d->plan->values[v];
    int64_t bytes = mo_tensor_desc_bytes(&value->desc);
    const void *plain = input->data;
    mo_status status = MO_OK;
    void *copy = NULL;

    if (input->desc.elem != value->desc.elem) {
        status = new_copy(d, bytes, &copy, err);
        if (status == MO_OK)
            mo_tensor_narrow_f32(value->desc.elem, plain, copy,
                                 mo_tensor_desc_elements(&value->desc));
        plain = copy;
    }
    d->inputs[v] = plain;
    if (status != MO_OK || !value->channels_last)
        return status;
    status = new_copy(d, bytes, &copy, err);
    if (status == MO_OK)
        mo_tensor_to_nhwc(&value->desc, plain, copy);
    d->inputs[v] = copy;
    return status;
}

mo_status mo_run_bind_inputs(mo_run_device *d, mo_error *err)
{
    const mo_exec_plan *plan = d->plan;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_inputs; i++)
        for (int k = 0; k < plan->inputs[i].n_values; k++) {
            int v = plan->inputs[i].values[k];

            if (status == MO_OK && plan->values[v].device == d->device &&
                d->where[v] && mo_tensor_desc_bytes(&plan->values[v].desc) > 0)
                status = find_input(d, &d->options->inputs[i], v, err);
        }
    return status;
}

mo_status mo_run_load_inputs(const mo_run_device *d, mo_error *err)
{
    mo_status status = MO_OK;

    for (int v = 0; v < d->plan->n_values && status == MO_OK; v++) {
        size_t bytes;

        if (!d->inputs || !d->inputs[v])
            continue;
        bytes = (size_t) mo_tensor_desc_bytes(&d->plan->values[v].desc);
        if (d->backend->apart)
            status =
                d->backend->put(d->unit, d->where[v], d->inputs[v], bytes, err);
        else
            memcpy(d->where[v], d->inputs[v], bytes);
    }
    return status;
}

/* ------------------------------------------------------------------ outputs */

static mo_status fetch(mo_run_device *d, int v, mo_error *err)
{
    int64_t bytes = mo_tensor_desc_bytes(&d->plan->values[v].desc);

    if (d->fetched[v] || d->constants[v] || bytes == 0)
        return MO_OK;
    d->fetched[v] = malloc((size_t) bytes);
    if (!d->fetched[v])
        return mo_fail_memory(err);
    return d->backend->get(d->unit, d->fetched[v], d->where[v], (size_t) bytes,
                           err);
}

mo_status mo_run_fetch_outputs(mo_run_device *d, mo_error *err)
{
    const mo_exec_plan *plan = d->plan;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (plan->values[plan->outputs[i].value].device == d->device)
            status = fetch(d, plan->outputs[i].value, err);
    return status;
}

const void *mo_run_device_output(const mo_run_device *device, int value)
{
    if (device->constants[value])
        return device->constants[value];
    return device->backend->apart ? device->fetched[value]
                                  : device->where[value];
}
