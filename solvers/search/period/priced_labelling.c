/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/priced_labelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/resource.h"
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
    /* vars becomes the producer's unit and the n - 1 distinct others that
     * read the tensor. */
    const int *unit = c->problem->units->of_op;
    n = 1;

    vars[0] = unit[x->tensor_from[t]];
    for (int q = x->tensor_start[t]; q < x->tensor_start[t + 1]; q++) {
        int u = unit[x->flows[q].to];
        bool known = false;

        for (int i = 0; i < n && !known; i++)
            known = vars[i] == u;
        if (!known)
            vars[n++] = u;
    }
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

/* Lists the factors; their tables are zeros.  The caller clears *f, also after
 * a failure; the problem outlives it. */
static mo_status init_transfers(mo_transfer_factors *c,
                                const mo_period_problem *problem, mo_error *err)
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
        const int *unit = problem->units->of_op;
        int a = unit[x->flows[q].from], b = unit[x->flows[q].to];

        pairs[n] =
            (unit_pair){ mo_min_int(a, b), mo_max_int(a, b), q, a > b, 1 };
        n += a != b;
    }
    if (status == MO_OK) {
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
    }
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
           x->load.host_transfer_ns * host_price;
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

/* Fills the tables: a transfer from a to b costs its time in ns times
 * pair_cost[a * K + b], K devices, and its overhead there and on the host times
 * price, by resource. */
static void price_transfers(mo_transfer_factors *c, const int64_t *price,
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

enum { MEMORY_SHIFT = 40 /* prices of a byte are multiples of 2^-40 */ };

#define MAX_WORK 2e7

__extension__ typedef __int128 wide;

static void fill_unary(mo_priced_labelling *c)
{
    const mo_instance *x = c->problem->x;
    const mo_placement_units *units = c->problem->units;
    int K = x->n_devices;

    for (int u = 0; u < units->n; u++)
        for (int k = 0; k < K; k++) {
            int64_t *cost = &c->unary[(int64_t) u * K + k];
            int first = units->ops[units->start[u]];

            *cost = 0;
            if (!mo_allowed_devices_has(&c->problem->domains, first, k)) {
                *cost = MO_LABELLING_EXCLUDED;
                continue;
            }
            for (int i = units->start[u]; i < units->start[u + 1]; i++)
                *cost += mo_instance_p_ns(x, units->ops[i], k) * c->price[k];
        }
}

/* Adds the prices of memory; returns the sum of price times capacity, rounded
 * up, or -1 where it is too large. */
static int64_t add_memory(mo_priced_labelling *c, const double *point)
{
    const mo_placement_units *units = c->problem->units;
    int K = c->problem->x->n_devices;
    int64_t total = 0;

    for (int l = 0; l < c->n_limited; l++) {
        int k = c->limited[l];
        /* In 2^-MEMORY_SHIFT cost units for a byte. */
        double exact = point[c->problem->n_resources + l] * c->memory_unit[k] *
                       c->scale * ldexp(1, MEMORY_SHIFT);
        int64_t price = exact > 0 && exact < 9e17 ? (int64_t) exact : 0;
        wide room = (wide) c->problem->x->capacity_bytes[k] * price;

        if (price == 0)
            continue;
        if (((wide) c->total_bytes * price) >> MEMORY_SHIFT >
            INT64_MAX / 64 / c->n_limited)
            return -1;
        total += (int64_t) (room >> MEMORY_SHIFT) + 1;
        for (int u = 0; u < units->n; u++) {
            int64_t *cost = &c->unary[(int64_t) u * K + k];

            /* A unit that is allowed here fits, so its price does, too. */
            if (*cost < MO_LABELLING_EXCLUDED)
                *cost += (int64_t) (((wide) units->bytes[u] * price) >>
                                    MEMORY_SHIFT);
        }
    }
    return total;
}

/* Sums the prices of the resources of each pair of devices. */
static void sum_pairs(mo_priced_labelling *c)
{
    const mo_instance *x = c->problem->x;
    int K = x->n_devices;

    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) {
            int pair[2];
            const int *ids;
            int n = a == b ? 0
                           : mo_resource_list(x, c->problem->regime.congestion,
                                              a, b, pair, &ids);

            c->pair_cost[a * K + b] = 0;
            for (int i = 0; i < n; i++)
                c->pair_cost[a * K + b] += c->price[K + ids[i]];
        }
}

static void set_prices(mo_priced_labelling *c, const double *point,
                       int64_t *sum)
{
    *sum = 0;
    for (int r = 0; r < c->problem->n_resources; r++) {
        c->price[r] = (int64_t) (point[r] * c->scale);
        *sum += c->price[r];
    }
    sum_pairs(c);
}

/* Prices so large that no sum of costs leaves 60 bits. */
static double choose_scale(const mo_period_problem *p)
{
    const mo_instance *x = p->x;
    double worst = 1;
    int longest = 2;

    for (int i = 0; i < x->n; i++) {
        int64_t most = 0;

        for (int k = 0; k < x->n_devices; k++)
            most = mo_max_i64(most, mo_instance_p_ns(x, i, k));
        worst += (double) most;
    }
    for (int a = 0; a < x->n_devices * x->n_devices; a++)
        longest = mo_max_int(longest, x->routing.routes[a].n);
    for (int q = 0; q < x->n_flows; q++) {
        int64_t most = 0;

        for (int kind = 0; kind < x->comm.n_kinds; kind++)
            most = mo_max_i64(
                most,
                mo_max_i64(
                    x->comm.ns[(int64_t) x->comm.flow_row[q] * x->comm.n_kinds +
                               kind],
                    x->comm
                        .ns[(int64_t) x->comm.tensor_row[x->flows[q].tensor] *
                                x->comm.n_kinds +
                            kind]));
        worst += (double) most * longest;
        for (int k = 0; k < x->n_devices; k++)
            worst += (double) mo_instance_overhead_ns(x, x->flows[q].tensor, k);
        worst += (double) x->load.host_transfer_ns;
    }
    worst += (double) x->load.host_request_ns;
    return fmin(ldexp(1, 40), ldexp(1, 60) / MO_PRICED_MAX_SUM / worst / 2);
}

/* Devices whose memory may bind. */
static void find_limited(mo_priced_labelling *c, int64_t upper_ns)
{
    const mo_period_problem *p = c->problem;
    int64_t total = 0;

    if (p->regime.memory == MO_MEMORY_NONE)
        return;
    for (int u = 0; u < p->units->n; u++)
        if (!mo_int64_add(total, p->units->bytes[u], &total))
            total = INT64_MAX;
    c->total_bytes = total;
    for (int k = 0; k < p->x->n_devices; k++) {
        int64_t room = p->x->capacity_bytes[k];

        c->memory_unit[k] = (double) upper_ns / (double) mo_max_i64(room, 1);
        if (room < total)
            c->limited[c->n_limited++] = k;
    }
}

mo_status mo_priced_labelling_init(mo_priced_labelling *c,
                                   const mo_period_problem *p, int64_t upper_ns,
                                   mo_error *err)
{
    const mo_instance *x = p->x;
    size_t K = (size_t) x->n_devices, n = (size_t) p->units->n;
    mo_status status;

    *c = (mo_priced_labelling){ .problem = p, .scale = choose_scale(p) };
    c->unary = calloc(n * K + 1, sizeof *c->unary);
    c->price = calloc((size_t) p->n_resources + 1, sizeof *c->price);
    c->pair_cost = calloc(K * K + 1, sizeof *c->pair_cost);
    c->label = calloc(n + 1, sizeof *c->label);
    c->device = calloc((size_t) x->n + 1, sizeof *c->device);
    c->memory_unit = calloc(K + 1, sizeof *c->memory_unit);
    c->limited = calloc(K + 1, sizeof *c->limited);
    status = c->unary && c->price && c->pair_cost && c->label && c->device &&
                     c->memory_unit && c->limited
                 ? mo_period_state_init(&c->state, p, err)
                 : mo_fail_memory(err);
    if (status != MO_OK)
        return status;
    find_limited(c, mo_max_i64(upper_ns, 1));
    c->n_prices = p->n_resources + c->n_limited;
    status = init_transfers(&c->transfers, p, err);
    if (status == MO_OK)
        status = mo_labelling_new(p->units->n, x->n_devices,
                                  c->transfers.n_factors, c->transfers.factors,
                                  MAX_WORK, &c->labelling, err);
    return status;
}

void mo_priced_labelling_clear(mo_priced_labelling *c)
{
    mo_labelling_free(c->labelling);

    for (int f = 0; f < c->transfers.n_factors; f++) {
        if (c->transfers.factors[f].n > 2)
            free((void *) (uintptr_t) c->transfers.factors[f].vars);
        free(c->transfers.tables[f]);
    }
    free(c->transfers.factors);
    free(c->transfers.tables);
    free(c->transfers.pairs);
    free(c->transfers.items);
    c->transfers = (mo_transfer_factors){ 0 };
    mo_period_state_clear(&c->state);
    free(c->unary);
    free(c->price);
    free(c->pair_cost);
    free(c->label);
    free(c->device);
    free(c->memory_unit);
    free(c->limited);
    *c = (mo_priced_labelling){ 0 };
}

static void set_placement(mo_priced_labelling *c)
{
    const mo_placement_units *units = c->problem->units;

    for (int u = 0; u < units->n; u++)
        for (int i = units->start[u]; i < units->start[u + 1]; i++)
            c->device[units->ops[i]] = c->label[u];
    mo_period_state_set(&c->state, c->device);
}

int64_t mo_priced_labelling_minimize(mo_priced_labelling *c,
                                     const double *prices, double *least)
{
    int64_t sum, room, value;
    double sum_u = 0;

    for (int r = 0; r < c->problem->n_resources; r++)
        sum_u += prices[r];
    if (sum_u > MO_PRICED_MAX_SUM)
        return INT64_MIN;
    set_prices(c, prices, &sum);
    fill_unary(c);
    room = add_memory(c, prices);
    if (room < 0 || sum <= 0)
        return INT64_MIN;
    price_transfers(&c->transfers, c->price, c->pair_cost);
    value = mo_labelling_minimize(c->labelling, c->unary, c->label);
    if (c->problem->host >= 0)
        value +=
            c->problem->x->load.host_request_ns * c->price[c->problem->host];
    set_placement(c);
    *least = ((double) value - (double) room) / c->scale;
    /* Rounded up. */
    return (value - room) / sum + ((value - room) % sum > 0);
}
