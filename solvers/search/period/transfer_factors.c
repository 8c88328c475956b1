/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/transfer_factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/schedule.h"

enum { MAX_FACTOR = 4096 /* table entries of a tensor and all its readers */ };

typedef struct unit_pair {
    int a, b, item;
    bool is_reversed;
    int share;
} unit_pair;

static int compare_unit_pairs(const void *s, const void *t)
{
    const unit_pair *a = s, *b = t;

    if (a->a != b->a)
        return a->a - b->a;
    if (a->b != b->b)
        return a->b - b->b;
    return a->item - b->item;
}

static mo_status add_factor(mo_transfer_factors *c, int n, int *vars,
                            mo_error *err)
{
    size_t size = 1;
    int64_t *table;

    for (int i = 0; i < n; i++)
        size *= (size_t) c->problem->x->n_devices;
    table = calloc(size, sizeof *table);
    if (!table)
        return mo_fail_memory(err);
    c->tables[c->n_factors] = table;
    c->factors[c->n_factors++] = (mo_labelling_factor){ n, vars, table };
    return MO_OK;
}

static mo_status add_item(mo_transfer_factors *c, int item, bool is_reversed,
                          int share, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(c->items, c->n_items, c->item_room, err);

    if (status == MO_OK)
        c->items[c->n_items++] =
            (mo_transfer_cost){ item, c->n_factors - 1, is_reversed, share };
    return status;
}

static unit_pair make_pair(const mo_transfer_factors *c, int q, int item,
                           int share)
{
    const int *unit = c->problem->units->of_op;
    int a = unit[c->problem->x->flows[q].from],
        b = unit[c->problem->x->flows[q].to];

    return (unit_pair){ mo_min_int(a, b), mo_max_int(a, b), item, a > b,
                        share };
}

/* Distinct units that read the tensor, without its producer's; their number.
 * vars has room for all and begins with the producer's. */
static int list_readers(const mo_transfer_factors *c, int t, int *vars)
{
    const mo_instance *x = c->problem->x;
    const int *unit = c->problem->units->of_op;
    int n = 1;

    vars[0] = unit[x->tensor_from[t]];
    for (int q = x->tensor_start[t]; q < x->tensor_start[t + 1]; q++) {
        int u = unit[x->flows[q].to];
        bool known = false;

        for (int i = 0; i < n && !known; i++)
            known = vars[i] == u;
        if (!known)
            vars[n++] = u;
    }
    return n;
}

/* Pairs of a tensor that is sent once, or one factor of all its readers where
 * that is small. */
static mo_status add_tensor(mo_transfer_factors *c, int t, unit_pair *pairs,
                            int *n_pairs, mo_error *err)
{
    const mo_instance *x = c->problem->x;
    int n_flows = x->tensor_start[t + 1] - x->tensor_start[t], n;
    int *vars = calloc((size_t) n_flows + 2, sizeof *vars);
    double size;
    mo_status status = MO_OK;

    if (!vars)
        return mo_fail_memory(err);
    n = list_readers(c, t, vars);
    size = pow(x->n_devices, n);
    if (n > 2 && size <= MAX_FACTOR) {
        status = add_factor(c, n, vars, err);
        if (status == MO_OK)
            return add_item(c, t, false, 1, err);
    }
    for (int i = 1; i < n && status == MO_OK; i++)
        pairs[(*n_pairs)++] = (unit_pair){ mo_min_int(vars[0], vars[i]),
                                           mo_max_int(vars[0], vars[i]), t,
                                           vars[0] > vars[i], n - 1 };
    free(vars);
    return status;
}

static mo_status add_pairs(mo_transfer_factors *c, unit_pair *pairs, int n,
                           mo_error *err)
{
    mo_status status = MO_OK;

    qsort(pairs, (size_t) n, sizeof *pairs, compare_unit_pairs);
    for (int i = 0; i < n && status == MO_OK; i++) {
        if (i == 0 || pairs[i].a != pairs[i - 1].a ||
            pairs[i].b != pairs[i - 1].b) {
            int *vars = c->pairs[c->n_factors];

            vars[0] = pairs[i].a;
            vars[1] = pairs[i].b;
            status = add_factor(c, 2, vars, err);
        }
        if (status == MO_OK)
            status = add_item(c, pairs[i].item, pairs[i].is_reversed,
                              pairs[i].share, err);
    }
    return status;
}

mo_status mo_transfer_factors_init(mo_transfer_factors *c,
                                   const mo_period_problem *problem,
                                   mo_error *err)
{
    const mo_instance *x = problem->x;
    bool once = problem->regime.tensors == MO_TENSORS_ONCE;
    size_t n_most = (size_t) x->n_flows + 1;
    unit_pair *pairs = calloc(n_most, sizeof *pairs);
    int n = 0;
    mo_status status = MO_OK;

    *c = (mo_transfer_factors){ .problem = problem };
    c->factors = calloc(n_most, sizeof *c->factors);
    c->tables = calloc(n_most, sizeof *c->tables);
    c->pairs = calloc(n_most, sizeof *c->pairs);
    if (!pairs || !c->factors || !c->tables || !c->pairs)
        status = mo_fail_memory(err);
    if (c->problem->regime.congestion == MO_CONGESTION_NONE) {
        free(pairs);
        return status;
    }
    for (int t = 0; t < x->n_tensors && once && status == MO_OK; t++)
        status = add_tensor(c, t, pairs, &n, err);
    for (int q = 0; q < x->n_flows && !once && status == MO_OK; q++) {
        pairs[n] = make_pair(c, q, q, 1);
        n += pairs[n].a != pairs[n].b;
    }
    if (status == MO_OK)
        status = add_pairs(c, pairs, n, err);
    free(pairs);
    return status;
}

/* Cost of an item from a to b, different devices. */
static int64_t item_cost(const mo_transfer_factors *c, int item, int a, int b,
                         const int64_t *price, const int64_t *pair_cost)
{
    const mo_instance *x = c->problem->x;
    bool once = c->problem->regime.tensors == MO_TENSORS_ONCE;
    int tensor = once ? item : x->flows[item].tensor;
    int64_t ns = mo_schedule_item_ns(x, &c->problem->regime, item, a, b);
    int64_t host_price = c->problem->host >= 0 ? price[c->problem->host] : 0;

    return ns * pair_cost[a * x->n_devices + b] +
           mo_instance_overhead_ns(x, tensor, a) * price[a] +
           mo_instance_overhead_ns(x, tensor, b) * price[b] +
           x->host_transfer_ns * host_price;
}

/* Cost of a tensor by the device of its producer, the first digit, and those
 * of its readers: each device once. */
static void fill_tensor_table(mo_transfer_factors *c, const mo_transfer_cost *i,
                              const int64_t *price, const int64_t *pair_cost)
{
    int K = c->problem->x->n_devices, n = c->factors[i->factor].n;
    int64_t *table = c->tables[i->factor], pair[MAX_FACTOR];
    int digit[16] = { 0 };

    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++)
            pair[a * K + b] =
                a == b ? 0 : item_cost(c, i->item, a, b, price, pair_cost);
    for (size_t at = 0;; at++) {
        int64_t sum = 0;

        for (int j = 1; j < n; j++) {
            bool again = digit[j] == digit[0];

            for (int k = 1; k < j && !again; k++)
                again = digit[k] == digit[j];
            if (!again)
                sum += pair[digit[0] * K + digit[j]];
        }
        table[at] = sum;
        for (int j = n - 1; j >= 0; j--) {
            if (++digit[j] < K)
                break;
            if (j == 0)
                return;
            digit[j] = 0;
        }
    }
}

void mo_transfer_factors_price(mo_transfer_factors *c, const int64_t *price,
                               const int64_t *pair_cost)
{
    int K = c->problem->x->n_devices;

    for (size_t i = 0; i < c->n_items; i++) {
        const mo_transfer_cost *at = &c->items[i];
        int64_t *table = c->tables[at->factor];
        bool first = i == 0 || c->items[i - 1].factor != at->factor;

        if (c->factors[at->factor].n > 2) {
            fill_tensor_table(c, at, price, pair_cost);
            continue;
        }
        if (first)
            memset(table, 0, (size_t) (K * K) * sizeof *table);
        for (int a = 0; a < K; a++)
            for (int b = 0; b < K; b++)
                if (a != b)
                    table[at->is_reversed ? b * K + a : a * K + b] +=
                        item_cost(c, at->item, a, b, price, pair_cost) /
                        at->share;
    }
}

void mo_transfer_factors_clear(mo_transfer_factors *c)
{
    for (int f = 0; f < c->n_factors; f++) {
        if (c->factors[f].n > 2)
            free((void *) (uintptr_t) c->factors[f].vars);
        free(c->tables[f]);
    }
    free(c->factors);
    free(c->tables);
    free(c->pairs);
    free(c->items);
    *c = (mo_transfer_factors){ 0 };
}
