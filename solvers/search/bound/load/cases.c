/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Branching of the load bound on the number of equal branches that have an op,
 * or an op and its reader, on certain devices.  "At least m of N there" is "at
 * most N - m elsewhere": all limits are upper ones, and multipliers are costs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "solvers/search/bound/load/load_bound_internal.h"

#define INTEGER_TOLERANCE 1e-3

bool mo_load_limits_add(mo_load_limit *limits, int *n, mo_load_limit limit)
{
    for (int i = 0; i < *n; i++)
        if (limits[i].where.op == limit.where.op &&
            limits[i].where.device == limit.where.device &&
            limits[i].where.to == limit.where.to &&
            limits[i].elsewhere == limit.elsewhere) {
            limits[i].count = mo_min_int(limits[i].count, limit.count);
            return true;
        }
    if (*n == MO_LOAD_MAX_LIMITS)
        return false;
    limits[(*n)++] = limit;
    return true;
}

mo_status mo_load_limits_add_rows(const mo_load_problem *f, mo_load_rows *rows,
                                  mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < f->cases.n_limits && status == MO_OK; i++) {
        status = MO_ARRAY_GROW(rows->rows, rows->n, rows->room, err);
        if (status == MO_OK)
            rows->rows[rows->n++] =
                (mo_load_row){ .resource = -1 - i,
                               .base_ns = -f->cases.limits[i].count *
                                          f->cases.unit_ns };
    }
    return status;
}

/* Returns whether a branch counts, with op on device and its reader on to. */
static bool counts(const mo_load_limit *limit, int device, int to)
{
    bool there = device == limit->where.device &&
                 (limit->where.to == MO_FREE || limit->where.to == to);

    return there != limit->elsewhere;
}

void mo_load_limits_add_load(const mo_load_problem *f, const mo_load_rows *rows,
                             const mo_load_pattern *pattern, int64_t *load_ns)
{
    int first = f->group_start[pattern->group];
    int last = f->group_start[pattern->group + 1];

    for (size_t i = 0; i < rows->n && f->cases.n_limits > 0; i++) {
        const mo_load_limit *limit;
        int op, reader;

        if (rows->rows[i].resource >= 0)
            continue;
        limit = &f->cases.limits[-1 - rows->rows[i].resource];
        op = limit->where.op;
        if (op < first || op >= last)
            continue;
        reader = f->ops[op].reader;
        if (counts(limit, pattern->device[op - first],
                   reader == MO_FREE ? 0 : pattern->device[reader - first]))
            load_ns[i] += f->ops[op].count * f->cases.unit_ns;
    }
}

void mo_load_limits_cost(const mo_load_problem *f, const mo_load_rows *rows,
                         const int64_t *weight, int64_t *cost)
{
    int n_devices = f->n_devices;

    for (int i = 0; i < f->n * n_devices * n_devices; i++)
        cost[i] = 0;
    for (size_t i = 0; i < rows->n && f->cases.n_limits > 0; i++) {
        const mo_load_limit *limit;
        int64_t *of_op;

        if (rows->rows[i].resource >= 0)
            continue;
        limit = &f->cases.limits[-1 - rows->rows[i].resource];
        of_op = cost + mo_load_index(f, limit->where.op, 0) * n_devices;
        for (int k = 0; k < n_devices * n_devices; k++)
            if (counts(limit, k / n_devices, k % n_devices))
                of_op[k] += weight[i] * f->cases.unit_ns;
    }
}

typedef struct fraction_search {
    const mo_load_problem *f;
    double *number; /* by device of the present op and that of its reader */
    mo_load_fractions *found;
} fraction_search;

/* Takes a number of branches, of which moving one takes impact_ns. */
static void consider(fraction_search *s, mo_load_where where, double number,
                     double impact_ns)
{
    double part = fmin(number - floor(number), ceil(number) - number);
    mo_load_fractions *found = s->found;
    int at = found->n;

    if (part <= INTEGER_TOLERANCE || number >= s->f->ops[where.op].count)
        return;
    while (at > 0 && found->items[at - 1].weighs < part * impact_ns)
        at--;
    if (at == MO_LOAD_FRACTIONS)
        return;
    found->n = mo_min_int(found->n + 1, MO_LOAD_FRACTIONS);
    memmove(found->items + at + 1, found->items + at,
            (size_t) (found->n - 1 - at) * sizeof *found->items);
    found->items[at] =
        (mo_load_fraction){ where, (int) floor(number), part * impact_ns };
}

static void consider_op(fraction_search *s, int op)
{
    const mo_load_problem *f = s->f;
    int n_devices = f->n_devices;

    for (int k = 0; k < n_devices; k++) {
        double sum = 0;
        int64_t most_ns = 0;

        for (int to = 0; to < n_devices; to++) {
            double number = s->number[k * n_devices + to];
            int64_t ns = mo_load_transfer_ns(f, op, k, to);

            sum += number;
            most_ns = mo_max_i64(most_ns, ns);
            if (to != k && f->ops[op].reader != MO_FREE)
                consider(s, (mo_load_where){ op, k, to }, number, (double) ns);
        }
        if (sum > INTEGER_TOLERANCE)
            consider(s, (mo_load_where){ op, k, MO_FREE }, sum,
                     (double) (f->p_ns[mo_load_index(f, op, k)] + most_ns +
                               mo_load_item_input(f, op, k).ns));
    }
}

mo_status mo_load_find_fractions(const mo_load_problem *f,
                                 const mo_load_lp_solution *solution,
                                 mo_load_fractions *found, mo_error *err)
{
    size_t n = (size_t) f->n_devices;
    fraction_search s = { .f = f, .found = found };

    s.number = malloc((n * n + 1) * sizeof *s.number);
    if (!s.number)
        return mo_fail_memory(err);
    found->n = 0;
    for (int g = 0; g < f->n_groups; g++)
        for (int o = f->group_start[g]; o < f->group_start[g + 1]; o++) {
            /* Sets the numbers of branches by device of op and of its reader.
             */
            const mo_load_problem *problem = s.f;
            int first = problem->group_start[g],
                reader = problem->ops[o].reader;

            for (int i = 0; i < problem->n_devices * problem->n_devices; i++)
                s.number[i] = 0;
            for (size_t i = 0; i < solution->n; i++) {
                const int *device = solution->patterns[i].device;

                if (solution->patterns[i].group == g && solution->weight[i] > 0)
                    s.number[device[o - first] * problem->n_devices +
                             (reader == MO_FREE ? 0
                                                : device[reader - first])] +=
                        solution->weight[i] * problem->ops[o].count;
            }
            consider_op(&s, o);
        }
    free(s.number);
    return MO_OK;
}
