/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/unit_domains.h"

enum { SEVERAL = -1 }; /* devices */

static void set_allowed(mo_period_problem *p, int unit, int k, bool allowed)
{
    const mo_placement_units *u = p->units;

    for (int i = u->start[unit]; i < u->start[unit + 1]; i++)
        p->domains
            .allowed[mo_allowed_devices_index(&p->domains, u->ops[i], k)] =
            allowed;
}

bool mo_period_unit_may_be(const mo_period_problem *p, int unit, int k)
{
    return mo_allowed_devices_has(&p->domains,
                                  p->units->ops[p->units->start[unit]], k);
}

void mo_period_fix_unit(mo_period_problem *p, int unit, int device)
{
    for (int k = 0; k < p->x->n_devices; k++)
        set_allowed(p, unit, k, k == device);
}

/* Returns the only device of a unit, or SEVERAL. */
static int only_device(const mo_period_problem *p, int unit)
{
    int only = SEVERAL, n = 0;

    for (int k = 0; k < p->x->n_devices; k++)
        if (mo_period_unit_may_be(p, unit, k)) {
            only = k;
            n++;
        }
    return n == 1 ? only : SEVERAL;
}

static void sum_free_bytes(const mo_period_problem *p, int64_t *free_bytes)
{
    for (int k = 0; k < p->x->n_devices; k++)
        free_bytes[k] = p->x->capacity_bytes[k];
    for (int unit = 0; unit < p->units->n; unit++) {
        int only = only_device(p, unit);

        if (only != SEVERAL)
            free_bytes[only] -= p->units->bytes[unit];
    }
}

/* Returns the number of devices that a unit has left; that of a unit with one
 * is counted in free_bytes. */
static int exclude_devices(mo_period_problem *p, int unit,
                           const int64_t *free_bytes)
{
    int64_t needed =
        only_device(p, unit) == SEVERAL ? p->units->bytes[unit] : 0;
    int n = 0;

    for (int k = 0; k < p->x->n_devices; k++) {
        if (!mo_period_unit_may_be(p, unit, k))
            continue;
        if (free_bytes[k] < needed)
            set_allowed(p, unit, k, false);
        else
            n++;
    }
    return n;
}

bool mo_period_exclude_by_memory(mo_period_problem *p, int64_t *free_bytes)
{
    bool again = p->regime.memory != MO_MEMORY_NONE;

    while (again) {
        again = false;
        sum_free_bytes(p, free_bytes);
        for (int unit = 0; unit < p->units->n; unit++) {
            bool had_several = only_device(p, unit) == SEVERAL;
            int n = exclude_devices(p, unit, free_bytes);

            if (n == 0)
                return false;
            again = again || (had_several && n == 1);
        }
    }
    return true;
}
