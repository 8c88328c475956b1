/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/unit_contraction.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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

/* Fills the units by what is together, numbers by unit of p. */
static void fill_units(const mo_period_problem *p, const int *of_unit,
                       mo_placement_units *u)
{
    int at = 0;

    for (int unit = 0; unit < u->n; unit++)
        u->pin[unit] = MO_FREE;
    for (int i = 0; i < p->units->n; i++) {
        int to = of_unit[i];

        if (p->units->pin[i] != MO_FREE)
            u->pin[to] = p->units->pin[i];
        if (!mo_int64_add(u->bytes[to], p->units->bytes[i], &u->bytes[to]))
            u->bytes[to] = INT64_MAX;
    }
    for (int i = 0; i < p->x->n; i++) {
        u->of_op[i] = of_unit[p->units->of_op[i]];
        u->start[u->of_op[i] + 1]++;
    }
    for (int unit = 0; unit < u->n; unit++)
        u->start[unit + 1] += u->start[unit];
    for (int i = 0; i < p->x->n; i++)
        u->ops[u->start[u->of_op[i]]++] = i;
    for (int unit = 0; unit < u->n; unit++) {
        int next = u->start[unit];

        u->start[unit] = at;
        at = next;
    }
}

mo_status mo_period_problem_join(const mo_period_problem *p, int64_t period_ns,
                                 mo_period_problem *joined, mo_error *err)
{
    size_t n = (size_t) p->x->n * (size_t) p->x->n_devices;
    int *of_unit = calloc((size_t) p->units->n + 1, sizeof *of_unit);
    mo_status status = MO_OK;

    *joined = *p;
    joined->units = NULL;
    joined->domains.allowed = calloc(n + 1, sizeof *joined->domains.allowed);
    if (!of_unit || !joined->domains.allowed)
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        mo_placement_units *u = calloc(1, sizeof *u);
        size_t count = (size_t) p->x->n + 1;

        if (!u) {
            status = mo_fail_memory(err);
        } else {
            joined->units = u;
            u->of_op = calloc(count, sizeof *u->of_op);
            u->start = calloc(count + 1, sizeof *u->start);
            u->ops = calloc(count, sizeof *u->ops);
            u->pin = calloc(count, sizeof *u->pin);
            u->bytes = calloc(count, sizeof *u->bytes);
            status = u->of_op && u->start && u->ops && u->pin && u->bytes
                         ? MO_OK
                         : mo_fail_memory(err);
        }
    }
    if (status == MO_OK) {
        for (int u = 0; u < p->units->n; u++)
            of_unit[u] = u;
        joined->units->n = mo_period_contract_units(p, period_ns, of_unit);
        fill_units(p, of_unit, joined->units);
        memcpy(joined->domains.allowed, p->domains.allowed,
               n * sizeof *joined->domains.allowed);
        const mo_placement_units *u = joined->units;

        for (int unit = 0; unit < u->n; unit++)
            for (int k = 0; k < joined->x->n_devices; k++) {
                bool all = true;

                for (int i = u->start[unit]; i < u->start[unit + 1]; i++)
                    all &=
                        mo_allowed_devices_has(&joined->domains, u->ops[i], k);
                for (int i = u->start[unit]; i < u->start[unit + 1]; i++)
                    joined->domains.allowed[mo_allowed_devices_index(
                        &joined->domains, u->ops[i], k)] = all;
            }
    }
    free(of_unit);
    return status;
}
