/* SPDX-License-Identifier: Apache-2.0 */

#include <config.h>

#include "driver/plugin/view.h"

_Static_assert(sizeof(moirai_flow) == sizeof(mo_flow) &&
                   offsetof(moirai_flow, tensor) == offsetof(mo_flow, tensor) &&
                   sizeof(int) == sizeof(int32_t) &&
                   (int) MOIRAI_NONE == (int) MO_FREE &&
                   (int) MOIRAI_CONGESTION_NONE == (int) MO_CONGESTION_NONE &&
                   (int) MOIRAI_TENSORS_ONCE == (int) MO_TENSORS_ONCE &&
                   (int) MOIRAI_MEMORY_NONE == (int) MO_MEMORY_NONE &&
                   (int) MOIRAI_OBJECTIVE_PERIOD == (int) MO_OBJECTIVE_PERIOD,
               "a view is an instance");

moirai_view mo_plugin_view(const mo_instance *x, const mo_regime *regime,
                           mo_objective objective, int in_flight)
{
    return (moirai_view){
        .size = sizeof(moirai_view),
        .n_ops = x->n,
        .n_devices = x->n_devices,
        .n_flows = x->n_flows,
        .n_tensors = x->n_tensors,
        .n_groups = x->n_groups,
        .congestion = (int32_t) regime->congestion,
        .tensors = (int32_t) regime->tensors,
        .memory = (int32_t) regime->memory,
        .objective = (int32_t) objective,
        .in_flight = in_flight,
        .op_names = (const char *const *) x->op_names,
        .device_ids = (const char *const *) x->device_ids,
        .time_ns = x->p_ns,
        .memory_bytes = x->memory_bytes,
        .weight_bytes = x->weight_bytes,
        .capacity_bytes = x->capacity_bytes,
        .flows = (const moirai_flow *) x->flows,
        .tensor_bytes = x->tensor_bytes,
        .pin = x->pin,
        .group = x->group,
        .flow_row = x->comm.flow_row,
        .pair_column = x->comm.pair_kind,
        .transfer_ns = x->comm.ns,
        .n_columns = x->comm.n_kinds,
    };
}
