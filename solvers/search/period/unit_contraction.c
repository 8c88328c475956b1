/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/unit_contraction.h"

#include "base/minmax.h"
#include "schedule/resource.h"
#include "schedule/schedule.h"

int mo_period_item_count(const mo_period_problem *p)
{
    if (p->regime.congestion == MO_CONGESTION_NONE || p->x->n_devices < 2)
        return 0;
    return p->regime.tensors == MO_TENSORS_ONCE ? p->x->n_tensors
                                                : p->x->n_flows;
}

int64_t mo_period_item_ns(const mo_period_problem *p, int item, int a, int b)
{
    int pair[2];
    const int *ids;

    return mo_resource_list(p->x, p->regime.congestion, a, b, pair, &ids) == 0
               ? 0
               : mo_schedule_item_ns(p->x, &p->regime, item, a, b);
}

void mo_period_item_flows(const mo_period_problem *p, int item, int *first,
                          int *end)
{
    bool once = p->regime.tensors == MO_TENSORS_ONCE;

    *first = once ? p->x->tensor_start[item] : item;
    *end = once ? p->x->tensor_start[item + 1] : item + 1;
}

/* The first unit of those together; of_unit has a lower one, or itself. */
static int find_first(int *of_unit, int u)
{
    while (of_unit[u] != u)
        u = of_unit[u] = of_unit[of_unit[u]];
    return u;
}

int mo_period_contract_units(const mo_period_problem *p, int64_t period_ns,
                             int *of_unit)
{
    const int *of_op = p->units->of_op;
    int n_items = mo_period_item_count(p), K = p->x->n_devices, n = 0;

    for (int i = 0; i < n_items; i++) {
        int first, end;
        bool is_longer = true;

        mo_period_item_flows(p, i, &first, &end);
        for (int a = 0; a < K; a++) /* every transfer takes longer */
            for (int b = 0; b < K; b++)
                is_longer &=
                    a == b || mo_period_item_ns(p, i, a, b) > period_ns;
        if (!is_longer)
            continue;
        for (int q = first; q < end; q++) {
            int u = find_first(of_unit, of_op[p->x->flows[q].from]);
            int v = find_first(of_unit, of_op[p->x->flows[q].to]);

            of_unit[mo_max_int(u, v)] = mo_min_int(u, v);
        }
    }
    for (int u = 0; u < p->units->n; u++)
        find_first(of_unit, u);
    for (int u = 0; u < p->units->n; u++)
        of_unit[u] = of_unit[u] == u ? n++ : of_unit[of_unit[u]];
    return n;
}
