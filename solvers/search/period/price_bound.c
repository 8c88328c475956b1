/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/price_bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/bound/bundle_method.h"
#include "schedule/resource.h"
#include "solvers/search/period/labelling.h"

enum {
    MAX_FACTOR = 4096,     /* table entries of a tensor and all its readers */
    MAX_EVALUATIONS = 300, /* of a bundle; a new one begins at the best point */
    MAX_IDLE = 2,          /* bundles that gain less than a part in */
    MIN_GAIN = 50000,
    MEMORY_SHIFT = 40 /* prices of a byte are multiples of 2^-40 */
};

#define MAX_WORK  2e7
#define TOLERANCE 1e-7
#define MAX_SUM   16 /* of the prices of resources; the optimum has 1 */

__extension__ typedef __int128 wide;

/* A contribution to the table of a factor: a flow, or with tensors once a
 * tensor; its producer is variable `from` of the factor. */
typedef struct item_cost {
    int item, factor;
    bool is_reversed; /* the producer is the second variable of a pair */
    int share;        /* the cost is divided by it */
} item_cost;

typedef struct pricing {
    const mo_period_problem *p;
    mo_period_state state;
    mo_labelling *labelling;
    mo_labelling_factor *factors;
    int (*pairs)[2]; /* variables of pair factors */
    int64_t **tables;
    int n_factors;
    size_t factor_room;
    item_cost *items;
    size_t n_items, item_room;
    int64_t *unary;
    int64_t *price;     /* by resource */
    int64_t *pair_cost; /* by pair of devices: sum of the prices */
    int *label, *device;
    double scale; /* of prices */
    int64_t upper_ns;
    double *memory_unit; /* by device: ns for a byte */
    int *limited, n_limited;
    int64_t total_bytes; /* of all units */
    int64_t best_ns;
    double *best_point; /* its prices; those of resources sum to 1 */
    mo_period_offer *offer;
    void *context;
} pricing;

/* ------------------------------------------------------------------ factors */

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

static mo_status add_factor(pricing *c, int n, int *vars, mo_error *err)
{
    size_t size = 1;
    int64_t *table;

    for (int i = 0; i < n; i++)
        size *= (size_t) c->p->x->n_devices;
    table = calloc(size, sizeof *table);
    if (!table)
        return mo_fail_memory(err);
    c->tables[c->n_factors] = table;
    c->factors[c->n_factors++] = (mo_labelling_factor){ n, vars, table };
    return MO_OK;
}

static mo_status add_item(pricing *c, int item, bool is_reversed, int share,
                          mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(c->items, c->n_items, c->item_room, err);

    if (status == MO_OK)
        c->items[c->n_items++] =
            (item_cost){ item, c->n_factors - 1, is_reversed, share };
    return status;
}

static unit_pair make_pair(const pricing *c, int q, int item, int share)
{
    const int *unit = c->p->units->of_op;
    int a = unit[c->p->x->flows[q].from], b = unit[c->p->x->flows[q].to];

    return (unit_pair){ mo_min_int(a, b), mo_max_int(a, b), item, a > b,
                        share };
}

/* Distinct units that read the tensor, without its producer's; their number.
 * vars has room for all and begins with the producer's. */
static int list_readers(const pricing *c, int t, int *vars)
{
    const mo_instance *x = c->p->x;
    const int *unit = c->p->units->of_op;
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
static mo_status add_tensor(pricing *c, int t, unit_pair *pairs, int *n_pairs,
                            mo_error *err)
{
    const mo_instance *x = c->p->x;
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

static mo_status add_pairs(pricing *c, unit_pair *pairs, int n, mo_error *err)
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

static mo_status make_factors(pricing *c, mo_error *err)
{
    const mo_instance *x = c->p->x;
    bool once = c->p->regime.tensors == MO_TENSORS_ONCE;
    size_t n_most = (size_t) x->n_flows + 1;
    unit_pair *pairs = calloc(n_most, sizeof *pairs);
    int n = 0;
    mo_status status = MO_OK;

    c->factors = calloc(n_most, sizeof *c->factors);
    c->tables = calloc(n_most, sizeof *c->tables);
    c->pairs = calloc(n_most, sizeof *c->pairs);
    if (!pairs || !c->factors || !c->tables || !c->pairs)
        status = mo_fail_memory(err);
    if (c->p->regime.congestion == MO_CONGESTION_NONE) {
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

/* -------------------------------------------------------------------- costs */

static int64_t item_ns(const pricing *c, int item, int a, int b)
{
    return c->p->regime.tensors == MO_TENSORS_ONCE
               ? mo_instance_tensor_ns(c->p->x, item, a, b)
               : mo_instance_flow_ns(c->p->x, item, a, b);
}

/* Cost of a tensor by the device of its producer, the first digit, and those
 * of its readers: each device once. */
static void fill_tensor_table(pricing *c, const item_cost *i)
{
    int K = c->p->x->n_devices, n = c->factors[i->factor].n;
    int64_t *table = c->tables[i->factor];
    int digit[16] = { 0 };

    for (size_t at = 0;; at++) {
        int64_t sum = 0;

        for (int j = 1; j < n; j++) {
            bool again = digit[j] == digit[0];

            for (int k = 1; k < j && !again; k++)
                again = digit[k] == digit[j];
            if (!again)
                sum += item_ns(c, i->item, digit[0], digit[j]) *
                       c->pair_cost[digit[0] * K + digit[j]];
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

static void fill_tables(pricing *c)
{
    int K = c->p->x->n_devices;

    for (size_t i = 0; i < c->n_items; i++) {
        const item_cost *at = &c->items[i];
        int64_t *table = c->tables[at->factor];
        bool first = i == 0 || c->items[i - 1].factor != at->factor;

        if (c->factors[at->factor].n > 2) {
            fill_tensor_table(c, at);
            continue;
        }
        if (first)
            memset(table, 0, (size_t) (K * K) * sizeof *table);
        for (int a = 0; a < K; a++)
            for (int b = 0; b < K; b++)
                if (a != b)
                    table[at->is_reversed ? b * K + a : a * K + b] +=
                        item_ns(c, at->item, a, b) * c->pair_cost[a * K + b] /
                        at->share;
    }
}

/* The price of a memory, in 2^-MEMORY_SHIFT cost units for a byte. */
static int64_t memory_price(const pricing *c, const double *point, int l)
{
    double price = point[c->p->n_resources + l] *
                   c->memory_unit[c->limited[l]] * c->scale *
                   ldexp(1, MEMORY_SHIFT);

    return price > 0 && price < 9e17 ? (int64_t) price : 0;
}

static void fill_unary(pricing *c)
{
    const mo_instance *x = c->p->x;
    const mo_placement_units *units = c->p->units;
    int K = x->n_devices;

    for (int u = 0; u < units->n; u++)
        for (int k = 0; k < K; k++) {
            int64_t *cost = &c->unary[(int64_t) u * K + k];
            int first = units->ops[units->start[u]];

            *cost = 0;
            if (!mo_allowed_devices_has(&c->p->domains, first, k)) {
                *cost = MO_LABELLING_EXCLUDED;
                continue;
            }
            for (int i = units->start[u]; i < units->start[u + 1]; i++)
                *cost += mo_instance_p_ns(x, units->ops[i], k) * c->price[k];
        }
}

/* Adds the prices of memory; returns the sum of price times capacity, rounded
 * up, or -1 where it is too large. */
static int64_t add_memory(pricing *c, const double *point)
{
    const mo_placement_units *units = c->p->units;
    int K = c->p->x->n_devices;
    int64_t total = 0;

    for (int l = 0; l < c->n_limited; l++) {
        int k = c->limited[l];
        int64_t price = memory_price(c, point, l);
        wide room = (wide) c->p->x->capacity_bytes[k] * price;

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

static void set_prices(pricing *c, const double *point, int64_t *sum)
{
    const mo_instance *x = c->p->x;
    int K = x->n_devices;

    *sum = 0;
    for (int r = 0; r < c->p->n_resources; r++) {
        c->price[r] = (int64_t) (point[r] * c->scale);
        *sum += c->price[r];
    }
    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) {
            int pair[2];
            const int *ids;
            int n = a == b ? 0
                           : mo_resource_list(x, c->p->regime.congestion, a, b,
                                              pair, &ids);

            c->pair_cost[a * K + b] = 0;
            for (int i = 0; i < n; i++)
                c->pair_cost[a * K + b] += c->price[K + ids[i]];
        }
}

/* ------------------------------------------------------------- maximization */

/* ceil(value / divisor), of a positive divisor. */
static int64_t divide_up(int64_t value, int64_t divisor)
{
    return value / divisor + (value % divisor > 0);
}

static double sum_point(const pricing *c, const double *point)
{
    double sum = 0;

    for (int r = 0; r < c->p->n_resources; r++)
        sum += point[r];
    return sum;
}

static void offer_placement(pricing *c)
{
    const mo_placement_units *units = c->p->units;

    for (int u = 0; u < units->n; u++)
        for (int i = units->start[u]; i < units->start[u + 1]; i++)
            c->device[units->ops[i]] = c->label[u];
    mo_period_state_set(&c->state, c->device);
    c->offer(c->context, c->device);
}

/*
 * The function that is maximised has T in [0, upper] and no condition on the
 * sum of the prices,
 *
 *     g(u, v) = min_x { u load(x) + v (used(x) - capacity) }
 *               + min(0, upper (1 - sum u))
 */
static void evaluate_prices(void *context, const double *point, double *value,
                            double *gradient)
{
    pricing *c = context;
    double sum_u = sum_point(c, point);
    double clip = sum_u > 1 ? (double) c->upper_ns : 0;
    int64_t sum, room, least;

    set_prices(c, point, &sum);
    fill_unary(c);
    room = sum_u <= MAX_SUM ? add_memory(c, point) : -1;
    if (room < 0 || sum <= 0) { /* prices beyond any use */
        *value = room < 0 ? -1e300 : 0;
        for (int r = 0; r < c->p->n_resources + c->n_limited; r++)
            gradient[r] = room < 0 ? -1 : 1;
        return;
    }
    fill_tables(c);
    least = mo_labelling_minimize(c->labelling, c->unary, c->label);
    if (least > INT64_MIN / 2 && divide_up(least - room, sum) > c->best_ns) {
        c->best_ns = divide_up(least - room, sum);
        for (int r = 0; r < c->p->n_resources + c->n_limited; r++)
            c->best_point[r] = point[r] / sum_u;
    }
    offer_placement(c);
    *value = ((double) least - (double) room) / c->scale + clip * (1 - sum_u);
    for (int r = 0; r < c->p->n_resources; r++)
        gradient[r] = (double) c->state.load_ns[r] - clip;
    for (int l = 0; l < c->n_limited; l++) {
        int k = c->limited[l];

        gradient[c->p->n_resources + l] =
            ((double) c->state.used_bytes[k] -
             (double) c->p->x->capacity_bytes[k]) *
            c->memory_unit[k];
    }
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
    }
    return fmin(ldexp(1, 40), ldexp(1, 60) / MAX_SUM / worst / 2);
}

static void free_pricing(pricing *c)
{
    for (int f = 0; f < c->n_factors; f++) {
        if (c->factors[f].n > 2)
            free((void *) (uintptr_t) c->factors[f].vars);
        free(c->tables[f]);
    }
    mo_labelling_free(c->labelling);
    mo_period_state_clear(&c->state);
    free(c->factors);
    free(c->tables);
    free(c->pairs);
    free(c->items);
    free(c->unary);
    free(c->price);
    free(c->pair_cost);
    free(c->label);
    free(c->device);
    free(c->best_point);
    free(c->memory_unit);
    free(c->limited);
}

/* Devices whose memory may bind. */
static void find_limited(pricing *c)
{
    const mo_period_problem *p = c->p;
    int64_t total = 0;

    if (p->regime.memory == MO_MEMORY_NONE)
        return;
    for (int u = 0; u < p->units->n; u++)
        if (!mo_int64_add(total, p->units->bytes[u], &total))
            total = INT64_MAX;
    c->total_bytes = total;
    for (int k = 0; k < p->x->n_devices; k++) {
        int64_t room = p->x->capacity_bytes[k];

        c->memory_unit[k] = (double) c->upper_ns / (double) mo_max_i64(room, 1);
        if (room < total)
            c->limited[c->n_limited++] = k;
    }
}

static mo_status init_pricing(pricing *c, mo_error *err)
{
    const mo_instance *x = c->p->x;
    size_t K = (size_t) x->n_devices, n = (size_t) c->p->units->n;
    mo_status status;

    c->scale = choose_scale(c->p);
    c->unary = calloc(n * K + 1, sizeof *c->unary);
    c->price = calloc((size_t) c->p->n_resources + 1, sizeof *c->price);
    c->pair_cost = calloc(K * K + 1, sizeof *c->pair_cost);
    c->label = calloc(n + 1, sizeof *c->label);
    c->device = calloc((size_t) x->n + 1, sizeof *c->device);
    c->memory_unit = calloc(K + 1, sizeof *c->memory_unit);
    c->limited = calloc(K + 1, sizeof *c->limited);
    status = c->unary && c->price && c->pair_cost && c->label && c->device &&
                     c->memory_unit && c->limited
                 ? mo_period_state_init(&c->state, c->p, err)
                 : mo_fail_memory(err);
    if (status != MO_OK)
        return status;
    find_limited(c);
    c->best_point = calloc((size_t) (c->p->n_resources + c->n_limited) + 1,
                           sizeof *c->best_point);
    if (!c->best_point)
        return mo_fail_memory(err);
    status = make_factors(c, err);
    if (status == MO_OK)
        status = mo_labelling_new(c->p->units->n, x->n_devices, c->n_factors,
                                  c->factors, MAX_WORK, &c->labelling, err);
    return status;
}

mo_status mo_period_price_bound(const mo_period_problem *p, int64_t upper_ns,
                                const mo_stop *stop, mo_period_offer *offer,
                                void *context, int64_t *lower_ns,
                                double *prices, mo_error *err)
{
    pricing c = { .p = p,
                  .upper_ns = mo_max_i64(upper_ns, 1),
                  .offer = offer,
                  .context = context };
    mo_status status = init_pricing(&c, err);
    int n = p->n_resources + c.n_limited;
    double *point = calloc((size_t) n + 1, sizeof *point), value;
    const mo_bundle_problem problem = { .n = n,
                                        .evaluate = evaluate_prices,
                                        .context = &c,
                                        .max_evaluations = MAX_EVALUATIONS,
                                        .tolerance = TOLERANCE,
                                        .stop = stop };

    if (status == MO_OK && !point)
        status = mo_fail_memory(err);
    for (int k = 0; k < p->x->n_devices && status == MO_OK; k++)
        c.best_point[k] = point[k] = 1.0 / p->x->n_devices;
    for (int idle = 0; status == MO_OK && idle < MAX_IDLE &&
                       c.best_ns < c.upper_ns && !mo_stop_reached(stop);) {
        int64_t before_ns = c.best_ns;

        status = mo_bundle_maximize(&problem, point, &value, err);
        memcpy(point, c.best_point, (size_t) n * sizeof *point);
        idle = c.best_ns - before_ns > before_ns / MIN_GAIN ? 0 : idle + 1;
    }
    *lower_ns = mo_max_i64(c.best_ns, 0);
    for (int r = 0; r < p->n_resources && status == MO_OK; r++)
        prices[r] = c.best_point[r];
    free(point);
    free_pricing(&c);
    return status;
}
