/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/heuristic/bin_packing.h"

#include <stdlib.h>

#include "schedule/heuristic/single_device.h"

/* Units are numbered by their first op.  One that is too large for the rest of
 * a device goes to the next device that has room, and smaller ones may still
 * fill up the one before. */
static bool pack_in_order(const mo_instance *x, const mo_placement_units *units,
                          const int *devices, int64_t *room_bytes,
                          int *placement)
{
    for (int u = 0; u < units->n; u++) {
        bool is_free = units->pin[u] == MO_FREE;
        int at = 0;

        while (is_free && at < x->n_devices &&
               room_bytes[devices[at]] < units->bytes[u])
            at++;
        if (at == x->n_devices)
            return false;
        if (is_free)
            room_bytes[devices[at]] -= units->bytes[u];
        for (int j = units->start[u]; j < units->start[u + 1]; j++)
            placement[units->ops[j]] = is_free ? devices[at] : units->pin[u];
    }
    return true;
}

mo_status mo_bin_packing_in_order(const mo_instance *x,
                                  const mo_placement_units *units,
                                  int *placement, bool *found, mo_error *err)
{
    size_t n_devices = (size_t) x->n_devices;
    int *devices = malloc((n_devices + 1) * sizeof *devices);
    int64_t *room_bytes = malloc((n_devices + 1) * sizeof *room_bytes);
    mo_status status = devices && room_bytes
                           ? mo_single_device_order(x, devices, err)
                           : mo_fail_memory(err);

    *found = false;
    if (status == MO_OK) {
        mo_placement_units_free_bytes(x, units, room_bytes);
        *found = pack_in_order(x, units, devices, room_bytes, placement);
    }
    free(room_bytes);
    free(devices);
    return status;
}
