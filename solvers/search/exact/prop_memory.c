/* SPDX-License-Identifier: Apache-2.0 */
/* prop_memory.c - propagator of static memory: the units on a device must fit
 * its capacity. */
#include "solvers/search/exact/exact_internal.h"

static bool is_unit_on(const mo_exact_search *s, int unit, int device)
{
    int literal = s->model.place_literal[unit * s->model.x->n_devices + device];

    return literal != MO_EXACT_NO_LITERAL && s->core.truth[literal] > 0;
}

static void explain_placed_units(mo_exact_search *s, int device)
{
    mo_exact_core_clear_facts(&s->core);
    for (int u = 0; u < s->model.units->n; u++)
        if (is_unit_on(s, u, device) && s->model.units->bytes[u] > 0)
            mo_exact_explain_literal(
                &s->core,
                s->model.place_literal[u * s->model.x->n_devices + device]);
}

static bool propagate_device_memory(mo_exact_search *s, int device)
{
    const mo_placement_units *units = s->model.units;
    /* The free bytes of the device, negative if it is overfull. */
    int64_t room = s->model.x->capacity_bytes[device];

    for (int u = 0; u < units->n && room >= 0; u++)
        if (is_unit_on(s, u, device))
            room -= units->bytes[u];

    if (room < 0) {
        explain_placed_units(s, device);
        return false;
    }
    for (int u = 0; u < units->n; u++) {
        int literal =
            s->model.place_literal[u * s->model.x->n_devices + device];

        if (literal == MO_EXACT_NO_LITERAL || s->core.truth[literal] != 0 ||
            units->bytes[u] <= room)
            continue;
        explain_placed_units(s, device);
        if (!mo_exact_core_imply_by_facts(&s->core, literal ^ 1))
            return false;
    }
    return true;
}

bool mo_exact_propagate_memory(mo_exact_search *s)
{
    const mo_instance *x = s->model.x;

    if (s->model.regime.memory == MO_MEMORY_NONE)
        return true;
    for (int k = 0; k < x->n_devices; k++)
        if (x->capacity_bytes[k] != INT64_MAX && !propagate_device_memory(s, k))
            return false;
    return true;
}
