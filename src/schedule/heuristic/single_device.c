/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/single_device.h"

#include <stdbool.h>
#include <stdlib.h>

int64_t mo_single_device_ns(const mo_instance *x, int device)
{
    int64_t sum_ns = 0;

    for (int i = 0; i < x->n; i++)
        sum_ns += mo_instance_p_ns(x, i, device);
    return sum_ns;
}

typedef struct device_speed {
    int64_t all_ns;
    int device;
} device_speed;

static int compare_speeds(const void *a, const void *b)
{
    const device_speed *v = a, *w = b;

    if (v->all_ns != w->all_ns)
        return v->all_ns < w->all_ns ? -1 : 1;
    return (v->device > w->device) - (v->device < w->device);
}

mo_status mo_single_device_order(const mo_instance *x, int *devices,
                                 mo_error *err)
{
    size_t n = (size_t) x->n_devices;
    device_speed *speeds = malloc((n + 1) * sizeof *speeds);

    if (!speeds)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_devices; k++)
        speeds[k] = (device_speed){ mo_single_device_ns(x, k), k };
    qsort(speeds, n, sizeof *speeds, compare_speeds);
    for (int k = 0; k < x->n_devices; k++)
        devices[k] = speeds[k].device;
    free(speeds);
    return MO_OK;
}

mo_status mo_single_device_schedule(const mo_instance *x,
                                    const mo_regime *regime, int device,
                                    mo_schedule **schedule, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status;
    bool fits = false;
    int *devices;

    *schedule = NULL;
    for (int i = 0; i < x->n; i++)
        if (x->pin[i] != MO_FREE && x->pin[i] != device)
            return MO_OK;
    devices = malloc(((size_t) x->n + 1) * sizeof *devices);
    if (!devices)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        devices[i] = device;
    status = mo_schedule_new(x, regime, devices, &s, err);
    free(devices);
    if (status == MO_OK)
        status = mo_schedule_left_shift(x, s, err);
    if (status == MO_OK)
        status = mo_schedule_fits_memory(x, s, &fits, err);
    if (status == MO_OK && fits)
        *schedule = s;
    else
        mo_schedule_free(s);
    return status;
}

/* The fastest first, until one fits. */
mo_status mo_single_device_best(const mo_instance *x, const mo_regime *regime,
                                int *device, int64_t *ns, mo_error *err)
{
    int64_t *total_ns = malloc(((size_t) x->n_devices + 1) * sizeof *total_ns);
    mo_status status = total_ns ? MO_OK : mo_fail_memory(err);

    *device = MO_FREE;
    for (int k = 0; k < x->n_devices && total_ns; k++)
        total_ns[k] = mo_single_device_ns(x, k);
    for (int i = 0; i < x->n_devices && *device == MO_FREE && status == MO_OK;
         i++) {
        int k = 0;
        mo_schedule *alone = NULL;

        for (int l = 1; l < x->n_devices; l++)
            k = total_ns[l] < total_ns[k] ? l : k;
        status = mo_single_device_schedule(x, regime, k, &alone, err);
        if (alone) {
            *device = k;
            *ns = total_ns[k];
        }
        total_ns[k] = INT64_MAX;
        mo_schedule_free(alone);
    }
    free(total_ns);
    return status;
}
