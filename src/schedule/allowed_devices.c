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

static void add_saturating(int64_t *sum, int64_t bytes)
{
    if (!mo_int64_add(*sum, bytes, sum))
        *sum = INT64_MAX;
}

static bool fits_capacity(const mo_allowed_devices *p, int64_t bytes,
                          int device)
{
    return p->regime.memory == MO_MEMORY_NONE ||
           bytes <= p->x->capacity_bytes[device];
}

void mo_allowed_devices_reset_to_pin(mo_allowed_devices *p, int op)
{
    for (int k = 0; k < p->x->n_devices; k++)
        p->allowed[mo_allowed_devices_index(p, op, k)] =
            pin_allows(p->x, op, k);
}

/* Returns whether any device is left for op. */
static bool restrict_op(mo_allowed_devices *p, int op, int64_t bytes)
{
    bool any = false;

    for (int k = 0; k < p->x->n_devices; k++) {
        bool may = pin_allows(p->x, op, k) && fits_capacity(p, bytes, k);
        p->allowed[mo_allowed_devices_index(p, op, k)] = may;
        any = any || may;
    }
    return any;
}

mo_status mo_allowed_devices_find(mo_allowed_devices *p, mo_error *err)
{
    const mo_instance *x = p->x;
    int64_t *group_bytes =
        calloc((size_t) x->n_groups + 1, sizeof *group_bytes);

    if (!group_bytes)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        if (x->group[i] != MO_FREE)
            add_saturating(&group_bytes[x->group[i]],
                           mo_allowed_devices_resident_bytes(p, i));
    for (int i = 0; i < x->n; i++) {
        int64_t bytes = x->group[i] == MO_FREE
                            ? mo_allowed_devices_resident_bytes(p, i)
                            : group_bytes[x->group[i]];
        if (!restrict_op(p, i, bytes))
            mo_allowed_devices_reset_to_pin(p, i);
    }
    free(group_bytes);
    return MO_OK;
}
