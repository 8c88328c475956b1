/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_ablation.h - ablation study: the same method without each device in
 * turn.
 */
#ifndef MO_DRIVER_PLACE_DEVICE_ABLATION_H
#define MO_DRIVER_PLACE_DEVICE_ABLATION_H

#include "base/error.h"
#include "driver/place/method_run.h"
#include "report/method_table.h"

typedef struct mo_place_ablation {
    mo_report_device_loss *losses; /* by device */
    char (*why)[160];              /* by device, the reason */
} mo_place_ablation;

/* seconds are per device. *study begins as zeros; the caller clears it, also
 * after a failure. */
mo_status mo_place_ablation_run(const mo_place_context *setting,
                                const mo_instance *x, const mo_method *method,
                                double seconds, mo_place_ablation *study,
                                mo_error *err);
void mo_place_ablation_clear(mo_place_ablation *study);

#endif
