/* SPDX-License-Identifier: Apache-2.0 */
#include "models/frame/single_device_start.h"

#include "schedule/serial_makespan.h"
#include "schedule/heuristic/single_device.h"

mo_status mo_frame_single_device_start(const mo_instance *x,
                                       const mo_regime *regime,
                                       const mo_memory_rows *rows,
                                       const int *devices, int n_devices,
                                       mo_schedule **schedule,
                                       int64_t *upper_ns, mo_error *err)
{
    mo_schedule *best = NULL;

    for (int i = 0; i < n_devices; i++) {
        mo_schedule *alone = NULL;
        mo_status status =
            mo_single_device_schedule(x, regime, devices[i], &alone, err);

        if (status != MO_OK) {
            mo_schedule_free(best);
            return status;
        }
        if (alone && mo_memory_rows_accept(rows, alone->device) &&
            (!best || alone->makespan_ns < best->makespan_ns)) {
            mo_schedule_free(best);
            best = alone;
        } else {
            mo_schedule_free(alone);
        }
    }
    *schedule = best;
    if (!best)
        return mo_serial_makespan(x, regime, upper_ns, err);
    *upper_ns = best->makespan_ns;
    return MO_OK;
}
