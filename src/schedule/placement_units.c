/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/placement_units.h"

#include <stdlib.h>

#include "base/array.h"
#include "schedule/allowed_devices.h"

mo_status mo_placement_units_make(const mo_instance *x, const mo_regime *regime,
                                  mo_placement_units **units, mo_error *err)
{
    mo_placement_units *u = calloc(1, sizeof *u);
    size_t n = (size_t) x->n + 1;
    int *unit_of_group =
        malloc(((size_t) x->n_groups + 1) * sizeof *unit_of_group);

    if (u) {
        u->of_op = calloc(n, sizeof *u->of_op);
        u->start = calloc(n + 1, sizeof *u->start);
        u->ops = calloc(n, sizeof *u->ops);
        u->pin = calloc(n, sizeof *u->pin);
        u->bytes = calloc(n, sizeof *u->bytes);
    }
    if (!unit_of_group || !u || !u->of_op || !u->start || !u->ops || !u->pin ||
        !u->bytes) {
        free(unit_of_group);
        mo_placement_units_free(u);
        return mo_fail_memory(err);
    }
    /* Numbers the units; unit_of_group is a buffer by group. */
    for (int g = 0; g < x->n_groups; g++)
        unit_of_group[g] = -1;
    for (int i = 0; i < x->n; i++) {
        int group = x->group[i];

        if (group == MO_FREE) {
            u->of_op[i] = u->n++;
            continue;
        }
        if (unit_of_group[group] < 0)
            unit_of_group[group] = u->n++;
        u->of_op[i] = unit_of_group[group];
    }
    free(unit_of_group);
    for (int i = 0; i < x->n; i++)
        u->start[u->of_op[i] + 1]++;
    for (int unit = 0; unit < u->n; unit++)
        u->start[unit + 1] += u->start[unit];
    /* Counting sort from behind: every end moves down to the start of its
     * unit. */
    for (int i = x->n - 1; i >= 0; i--)
        u->ops[--u->start[u->of_op[i] + 1]] = i;
    for (int unit = 0; unit < u->n; unit++)
        u->start[unit] = u->start[unit + 1];
    u->start[u->n] = x->n;
    for (int i = 0; i < x->n; i++) {
        int unit = u->of_op[i];
        int64_t bytes = mo_regime_resident_bytes(x, regime->memory, i);

        u->pin[unit] = x->pin[i];
        if (!mo_int64_add(u->bytes[unit], bytes, &u->bytes[unit]))
            u->bytes[unit] = INT64_MAX;
    }
    *units = u;
    return MO_OK;
}

void mo_placement_units_free(mo_placement_units *units)
{
    if (!units)
        return;
    free(units->bytes);
    free(units->pin);
    free(units->ops);
    free(units->start);
    free(units->of_op);
    free(units);
}

void mo_placement_units_free_bytes(const mo_instance *x,
                                   const mo_placement_units *units,
                                   int64_t *room_bytes)
{
    for (int k = 0; k < x->n_devices; k++)
        room_bytes[k] = x->capacity_bytes[k];
    for (int u = 0; u < units->n; u++) {
        int pin = units->pin[u];

        /* Negative stays negative: stop subtracting before it can overflow. */
        if (pin != MO_FREE && room_bytes[pin] >= 0)
            room_bytes[pin] -= units->bytes[u];
    }
}
