/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is placed on a device for good has to fit into it.
 */
#include "solvers/search/exact/exact_internal.h"

static bool is_on(const mo_exact_search *s, int unit, int device)
{
    int literal = s->model.place[unit * s->model.x->n_devices + device];

    return literal != MO_EXACT_NO_LITERAL && s->core.truth[literal] > 0;
}

/* What the device has left; below 0 where too much is there already. */
static int64_t room_bytes(const mo_exact_search *s, int device)
{
    const mo_placement_units *units = s->model.units;
    int64_t room = s->model.x->capacity_bytes[device];

    for (int u = 0; u < units->n && room >= 0; u++)
        if (is_on(s, u, device))
            room -= units->bytes[u];
    return room;
}

static void blame_all_on(mo_exact_search *s, int device)
{
    mo_exact_core_clear_facts(&s->core);
    for (int u = 0; u < s->model.units->n; u++)
        if (is_on(s, u, device) && s->model.units->bytes[u] > 0)
            mo_exact_core_add_literal_fact(
                &s->core, s->model.place[u * s->model.x->n_devices + device]);
}

static bool fill(mo_exact_search *s, int device)
{
    const mo_placement_units *units = s->model.units;
    int64_t room = room_bytes(s, device);

    if (room < 0) {
        blame_all_on(s, device);
        return false;
    }
    for (int u = 0; u < units->n; u++) {
        int literal = s->model.place[u * s->model.x->n_devices + device];

        if (literal == MO_EXACT_NO_LITERAL || s->core.truth[literal] != 0 ||
            units->bytes[u] <= room)
            continue;
        blame_all_on(s, device);
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
        if (x->capacity_bytes[k] != INT64_MAX && !fill(s, k))
            return false;
    return true;
}
