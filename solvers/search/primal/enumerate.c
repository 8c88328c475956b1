/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/enumerate.h"

#include <stdlib.h>

#include "base/ablation.h"
#include "base/array.h"
#include "schedule/heuristic/heft.h"

enum {
    MAX_OPS = 6,           /* without a pin */
    MAX_PLACEMENTS = 2000, /* with one other device each */
    OP_WORK = 600          /* of an op of a placement (mo_stop_spend) */
};

bool mo_primal_enumerate_pays(const mo_instance *x, int u, int v)
{
    int n_ops = 0, n = x->n_devices;

    for (int i = 0; i < x->n; i++)
        n_ops += i != u && i != v && x->pin[i] == MO_FREE;
    for (int i = 0; i < n_ops && i < MAX_OPS; i++)
        n *= 3;
    return !mo_ablated(MO_ABLATION_enumerate) && x->n_groups == 0 &&
           n_ops <= MAX_OPS && n <= MAX_PLACEMENTS;
}

typedef struct enumeration {
    const mo_instance *x;
    const mo_regime *regime;
    int ops[MAX_OPS], n_ops; /* without a pin */
    int *placement;          /* by op */
    mo_schedule ***schedules;
    size_t *n, *room;
} enumeration;

/* The placements on a, b and, unless it is MO_FREE, the other device: those
 * that use it, as numbers of base 3. */
static mo_status append_placements(enumeration *e,
                                   const mo_primal_enumerate_ends *ends,
                                   int other, mo_error *err)
{
    const int devices[] = { ends->a, ends->b, other };
    int n_codes = 1;
    mo_status status = MO_OK;

    for (int i = 0; i < e->n_ops; i++)
        n_codes *= 3;
    for (int code = 0; code < n_codes && status == MO_OK; code++) {
        bool uses_other = false, is_twice = false;
        int rest = code;

        for (int i = 0; i < e->n_ops; i++, rest /= 3) {
            uses_other |= rest % 3 == 2;
            is_twice |= rest % 3 == 1 && ends->a == ends->b;
            e->placement[e->ops[i]] = devices[rest % 3];
        }
        if (is_twice || uses_other != (other != MO_FREE))
            continue;
        if (mo_stop_spend(ends->stop, OP_WORK * e->x->n))
            break;

        mo_schedule *s = NULL;
        status = mo_heft(e->x, e->regime, e->placement, &s, err);

        if (status == MO_OK && s) {
            status = mo_schedule_left_shift(e->x, s, err);
            if (status == MO_OK)
                status = MO_ARRAY_GROW(*e->schedules, *e->n, *e->room, err);
            if (status == MO_OK)
                (*e->schedules)[(*e->n)++] = s;
            else
                mo_schedule_free(s);
        }
    }
    return status;
}

mo_status mo_primal_enumerate(const mo_instance *x, const mo_regime *regime,
                              const mo_primal_enumerate_ends *ends,
                              mo_schedule ***schedules, size_t *n, size_t *room,
                              mo_error *err)
{
    enumeration e = { .x = x,
                      .regime = regime,
                      .placement = malloc((size_t) x->n * sizeof(int)),
                      .schedules = schedules,
                      .n = n,
                      .room = room };
    mo_status status = e.placement ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < x->n && status == MO_OK; i++) {
        e.placement[i] = x->pin[i];
        if (x->pin[i] == MO_FREE && e.n_ops < MAX_OPS)
            e.ops[e.n_ops++] = i;
    }
    if (status == MO_OK)
        status = append_placements(&e, ends, MO_FREE, err);
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        if (k != ends->a && k != ends->b)
            status = append_placements(&e, ends, k, err);
    free(e.placement);
    return status;
}
