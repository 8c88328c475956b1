/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/allowed_devices.h"

#include <stdlib.h>

#include "base/array.h"

static bool pin_allows(const mo_instance *x, int op, int device)
{
    return x->pin[op] == MO_FREE || x->pin[op] == device;
}

int64_t mo_regime_resident_bytes(const mo_instance *x, mo_memory memory, int op)
{
    switch (memory) {
    case MO_MEMORY_STATIC:
        return x->memory_bytes[op];
    case MO_MEMORY_LIVE:
        return x->weight_bytes[op];
    case MO_MEMORY_NONE:
        break;
    }
    return 0;
}

void mo_allowed_devices_reset_to_pin(mo_allowed_devices *p, int op)
{
    for (int k = 0; k < p->x->n_devices; k++)
        p->allowed[mo_allowed_devices_index(p, op, k)] =
            pin_allows(p->x, op, k);
}

mo_status mo_allowed_devices_find(mo_allowed_devices *p, mo_error *err)
{
    const mo_instance *x = p->x;
    int64_t *group_bytes =
        calloc((size_t) x->n_groups + 1, sizeof *group_bytes);

    if (!group_bytes)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        if (x->group[i] != MO_FREE) {
            int64_t *sum = &group_bytes[x->group[i]];
            int64_t bytes = mo_allowed_devices_resident_bytes(p, i);

            if (!mo_int64_add(*sum, bytes, sum))
                *sum = INT64_MAX;
        }
    for (int i = 0; i < x->n; i++) {
        int64_t bytes = x->group[i] == MO_FREE
                            ? mo_allowed_devices_resident_bytes(p, i)
                            : group_bytes[x->group[i]];
        /* Whether any device is left for op. */
        bool any = false;

        for (int k = 0; k < p->x->n_devices; k++) {
            bool may =
                pin_allows(p->x, i, k) && (p->regime.memory == MO_MEMORY_NONE ||
                                           bytes <= p->x->capacity_bytes[k]);
            p->allowed[mo_allowed_devices_index(p, i, k)] = may;
            any = any || may;
        }
        if (!any)
            mo_allowed_devices_reset_to_pin(p, i);
    }
    free(group_bytes);
    return MO_OK;
}
