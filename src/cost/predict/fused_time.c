/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/predict/fused_time.h"

/* Figures of a device that matter here; zeros when it is unknown. */
typedef struct speeds {
    double launch_us, bandwidth_gbs;
} speeds;

static speeds speeds_of(const mo_cluster *cluster, const char *key)
{
    int id = cluster ? mo_cluster_find(cluster, key) : -1;
    const mo_device_model *model;

    if (id >= 0)
        return (speeds){ cluster->devices[id].launch_us,
                         cluster->devices[id].bandwidth_gbs };
    model = mo_device_find(key);
    if (model)
        return (speeds){ model->launch_us, model->bandwidth_gbs };
    return (speeds){ 0, 0 };
}

double mo_predict_fused_us(const void *context, const mo_fused *fused)
{
    speeds device = speeds_of(context, fused->key);
    double sum = 0, longest = 0, saved = 0;

    for (int i = 0; i < fused->n; i++) {
        sum += fused->us[i];
        if (fused->us[i] > longest)
            longest = fused->us[i];
    }
    if (device.launch_us > 0)
        saved += (fused->n - 1) * device.launch_us;
    if (device.bandwidth_gbs > 0)
        saved += fused->saved_bytes / (device.bandwidth_gbs * 1e3);
    return sum - saved > longest ? sum - saved : longest;
}
