/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/place/device_ablation.h"

#include <stdio.h>
#include <stdlib.h>

#include "cost/instance/without_device.h"

static mo_status run_without(const mo_place_context *setting,
                             const mo_instance *x, int device,
                             const mo_method *method, double seconds,
                             mo_place_ablation *study, mo_error *err)
{
    mo_instance *rest = NULL;
    mo_place_result e = { 0 };
    mo_status status = mo_instance_without_device(x, device, &rest, err);

    mo_driver_log_info(setting->logger, "without %s", x->device_ids[device]);
    if (status == MO_OK)
        status = mo_place_run_method(setting, rest, method, seconds, &e, err);
    if (status == MO_OK && !e.row.why && e.row.fits)
        study->losses[device].makespan_ns = e.row.makespan_ns;
    else if (status == MO_OK)
        snprintf(study->why[device], sizeof study->why[device], "%s",
                 e.row.why ? e.row.why : "does not fit");
    mo_place_result_clear(&e);
    mo_instance_free(rest);
    return status;
}

static mo_status study_device(const mo_place_context *setting,
                              const mo_instance *x, int device,
                              const mo_method *method, double seconds,
                              mo_place_ablation *study, mo_error *err)
{
    int pinned = mo_instance_first_pinned_to(x, device);
    mo_status status = MO_OK;

    if (x->n_devices == 1)
        snprintf(study->why[device], sizeof study->why[device],
                 "there is no other");
    else if (pinned != MO_FREE)
        snprintf(study->why[device], sizeof study->why[device],
                 "op '%.100s' is pinned to it", x->op_names[pinned]);
    else
        status = run_without(setting, x, device, method, seconds, study, err);
    if (study->why[device][0])
        study->losses[device].why = study->why[device];
    return status;
}

mo_status mo_place_ablation_run(const mo_place_context *setting,
                                const mo_instance *x, const mo_method *method,
                                double seconds, mo_place_ablation *study,
                                mo_error *err)
{
    size_t n = (size_t) x->n_devices + 1;
    mo_status status = MO_OK;

    study->losses = calloc(n, sizeof *study->losses);
    study->why = calloc(n, sizeof *study->why);
    if (!study->losses || !study->why)
        return mo_fail_memory(err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        status = study_device(setting, x, k, method, seconds, study, err);
    return status;
}

void mo_place_ablation_clear(mo_place_ablation *study)
{
    free(study->losses);
    free(study->why);
}
