/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/features.h"

#include <math.h>
#include <stdlib.h>

#include "schedule/heuristic/mean_cost.h"
#include "schedule/heuristic/single_device.h"

double mo_rl_mean_unit_ns(const mo_instance *x, const mo_placement_units *units)
{
    double sum_ns = 1; /* 1, so that the mean is not 0 */

    for (int i = 0; i < x->n; i++)
        sum_ns += (double) mo_mean_cost_op_ns(x, i);
    return sum_ns / (units->n + 1);
}

mo_rl_real mo_rl_log_scaled(double ns, double mean_ns)
{
    return (mo_rl_real) log1p(ns / mean_ns);
}

double mo_rl_unit_ns(const mo_instance *x, const mo_placement_units *units,
                     int unit, int device)
{
    double sum_ns = 0;

    for (int j = units->start[unit]; j < units->start[unit + 1]; j++)
        sum_ns += (double) mo_instance_p_ns(x, units->ops[j], device);
    return sum_ns;
}

mo_status mo_rl_single_device_placement(const mo_instance *x,
                                        const mo_placement_units *units,
                                        int **device, mo_error *err)
{
    int *devices = calloc((size_t) x->n_devices, sizeof *devices);
    mo_status status =
        devices ? mo_single_device_order(x, devices, err) : mo_fail_memory(err);

    *device = calloc((size_t) units->n + 1, sizeof **device);
    if (status == MO_OK && !*device)
        status = mo_fail_memory(err);
    for (int u = 0; u < units->n && status == MO_OK; u++)
        (*device)[u] = units->pin[u] == MO_FREE ? devices[0] : units->pin[u];
    free(devices);
    return status;
}
