/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/priced_labelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "base/random.h"
#include "schedule/resource.h"

enum { MEMORY_SHIFT = 40 /* prices of a byte are multiples of 2^-40 */ };

#define MAX_WORK 2e7

__extension__ typedef __int128 wide;

/* The price of a memory, in 2^-MEMORY_SHIFT cost units for a byte. */
static int64_t memory_price(const mo_priced_labelling *c, const double *point,
                            int l)
{
    double price = point[c->problem->n_resources + l] *
                   c->memory_unit[c->limited[l]] * c->scale *
                   ldexp(1, MEMORY_SHIFT);

    return price > 0 && price < 9e17 ? (int64_t) price : 0;
}

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
        int64_t price = memory_price(c, point, l);
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
        longest = mo_max_int(longest, x->routes[a].n);
    for (int q = 0; q < x->n_flows; q++) {
        int64_t most = 0;

        for (int kind = 0; kind < x->n_kinds; kind++)
            most = mo_max_i64(
                most,
                mo_max_i64(
                    x->comm_ns[(int64_t) x->flow_row[q] * x->n_kinds + kind],
                    x->comm_ns[(int64_t) x->tensor_row[x->flows[q].tensor] *
                                   x->n_kinds +
                               kind]));
        worst += (double) most * longest;
        for (int k = 0; k < x->n_devices; k++)
            worst += (double) mo_instance_overhead_ns(x, x->flows[q].tensor, k);
        worst += (double) x->host_transfer_ns;
    }
    worst += (double) x->host_request_ns;
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
    status = mo_transfer_factors_init(&c->transfers, p, err);
    if (status == MO_OK)
        status = mo_labelling_new(p->units->n, x->n_devices,
                                  c->transfers.n_factors, c->transfers.factors,
                                  MAX_WORK, &c->labelling, err);
    return status;
}

void mo_priced_labelling_clear(mo_priced_labelling *c)
{
    mo_labelling_free(c->labelling);
    mo_transfer_factors_clear(&c->transfers);
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

/* ceil(value / divisor), of a positive divisor. */
static int64_t divide_up(int64_t value, int64_t divisor)
{
    return value / divisor + (value % divisor > 0);
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
    mo_transfer_factors_price(&c->transfers, c->price, c->pair_cost);
    value = mo_labelling_minimize(c->labelling, c->unary, c->label);
    if (c->problem->host >= 0)
        value += c->problem->x->host_request_ns * c->price[c->problem->host];
    set_placement(c);
    *least = ((double) value - (double) room) / c->scale;
    return divide_up(value - room, sum);
}

/* cost times a factor of 1 - noise to 1 + noise. */
static int64_t disturb_cost(int64_t cost, double noise, mo_random *random)
{
    return cost +
           (int64_t) ((double) cost * noise * (2 * mo_random_unit(random) - 1));
}

void mo_priced_labelling_perturb(mo_priced_labelling *c, const double *prices,
                                 double noise, uint64_t seed)
{
    const mo_transfer_factors *f = &c->transfers;
    size_t K = (size_t) c->problem->x->n_devices;
    size_t n = (size_t) c->problem->units->n * K;
    mo_random random = { seed };
    int64_t sum;

    set_prices(c, prices, &sum);
    for (int r = 0; r < c->problem->n_resources; r++)
        c->price[r] = disturb_cost(c->price[r], noise, &random);
    sum_pairs(c);
    fill_unary(c);
    if (add_memory(c, prices) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (c->unary[i] < MO_LABELLING_EXCLUDED)
            c->unary[i] = disturb_cost(c->unary[i], noise, &random);
    mo_transfer_factors_price(&c->transfers, c->price, c->pair_cost);
    for (int i = 0; i < f->n_factors; i++)
        if (f->factors[i].n == 2)
            for (size_t e = 0; e < K * K; e++)
                f->tables[i][e] = disturb_cost(f->tables[i][e], noise, &random);
    mo_labelling_minimize(c->labelling, c->unary, c->label);
    set_placement(c);
}
