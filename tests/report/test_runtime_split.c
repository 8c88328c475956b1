/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of report/runtime/split.h, knapsack.h and any_order.h: all placements
 * of small chains are enumerated. */
#include "report/runtime/split.h"

#include <math.h>

#include "base/random.h"
#include "report/runtime/any_order.h"
#include "report/runtime/knapsack.h"
#include "tests/support/suite.h"

enum { MAX_DEVICES = 4, CASES = 3000, FEW_CASES = 60 };

typedef struct net {
    mo_chain *c;
    mo_cluster cluster;
    mo_device devices[MAX_DEVICES];
    bool has_limited_host;
} net;

/* Some times and sizes are equal, so that devices are interchangeable. */
static int64_t draw(mo_random *r, int bound)
{
    return 1 + mo_random_below(r, mo_random_below(r, 3) == 0 ? 2 : bound);
}

static int64_t *new_numbers(int n)
{
    int64_t *numbers = calloc((size_t) n, sizeof *numbers);

    ck_assert_ptr_nonnull(numbers);
    return numbers;
}

static void draw_phase(mo_random *r, mo_chain *c, mo_chain_phase *phase,
                       const int *like)
{
    int n = c->n_devices, units = c->n_units;

    phase->weight = (double) draw(r, 9);
    phase->time_ns = new_numbers(units * n);
    phase->expert_ns = new_numbers(units * n);
    phase->alone_ns = new_numbers(units);
    phase->transfer_ns = new_numbers(units * n * n);
    phase->expert_transfer_ns = new_numbers(n * n);
    for (int u = 0; u < units; u++)
        for (int k = 0; k < n; k++) {
            bool is_equal = like[k] != k;

            phase->time_ns[u * n + k] =
                is_equal ? phase->time_ns[u * n + like[k]] : draw(r, 50);
            if (c->expert_bytes[u] > 0)
                phase->expert_ns[u * n + k] =
                    is_equal ? phase->expert_ns[u * n + like[k]] : draw(r, 50);
        }
    for (int u = 0; u < units; u++)
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                if (a != b)
                    phase->transfer_ns[(u * n + a) * n + b] =
                        like[MAX_DEVICES - 1] == 0 ? 5 : draw(r, 20);
    for (int e = 0; e < n * n; e++)
        if (e / n != e % n)
            phase->expert_transfer_ns[e] =
                like[MAX_DEVICES - 1] == 0 ? 3 : draw(r, 9);
}

static void draw_net(uint64_t seed, net *it)
{
    mo_random r = { seed };
    mo_chain *c = calloc(1, sizeof *c);
    int like[MAX_DEVICES], n = 1 + mo_random_below(&r, MAX_DEVICES);
    bool has_experts = mo_random_below(&r, 2) == 0;
    bool is_symmetric = mo_random_below(&r, 3) == 0;
    int64_t all = 0;

    ck_assert_ptr_nonnull(c);
    *it = (net){ .c = c, .cluster = { .devices = it->devices } };
    it->cluster.n_devices = c->n_devices = n;
    c->cluster = &it->cluster;
    c->n_layers = 1 + mo_random_below(&r, 4);
    c->n_units = c->n_layers + 2;
    c->n_phases = 2;
    c->rules.embeds_on_host = mo_random_below(&r, 2) == 0;
    c->rules.uses_cpu = c->rules.embeds_on_host || mo_random_below(&r, 2) == 0;
    c->rules.moves_experts = c->rules.embeds_on_host;
    c->host = MO_CHAIN_NONE;
    c->memory_bytes = new_numbers(c->n_units);
    c->expert_bytes = new_numbers(c->n_units);
    c->capacity_bytes = new_numbers(n);
    c->tied_bytes = mo_random_below(&r, 2) * draw(&r, 4);
    for (int u = 0; u < c->n_units; u++) {
        c->memory_bytes[u] = draw(&r, 9);
        if (has_experts && u > 0 && u <= c->n_layers)
            c->expert_bytes[u] = mo_random_below(&r, 2) ? 6 : draw(&r, 9);
        all += c->memory_bytes[u] + c->expert_bytes[u];
    }
    for (int k = 0; k < MAX_DEVICES; k++)
        like[k] = is_symmetric ? 0 : k;
    if (mo_random_below(&r, 4) > 0) {
        c->host = mo_random_below(&r, n);
        it->devices[c->host].is_cpu = true;
    }
    for (int k = 0; k < n; k++) {
        bool no_limit = mo_random_below(&r, 3) == 0;

        c->capacity_bytes[k] =
            no_limit ? INT64_MAX : mo_random_below(&r, (int) all + 9);
        if (is_symmetric)
            c->capacity_bytes[k] = c->capacity_bytes[0];
    }
    it->has_limited_host =
        c->host != MO_CHAIN_NONE && c->capacity_bytes[c->host] != INT64_MAX;
    for (int i = 0; i < c->n_phases; i++)
        draw_phase(&r, c, &c->phases[i], like);
}

/* Where weights in main memory are copied to a GPU, the host alone takes other
 * times. */
static void draw_copies(uint64_t seed, mo_chain *c)
{
    mo_random r = { seed };

    if (!c->rules.embeds_on_host || mo_random_below(&r, 2) == 0)
        return;
    c->rules.copies_from_tokens = 32;
    for (int i = 0; i < c->n_phases; i++)
        for (int u = 0; u < c->n_units; u++)
            c->phases[i].alone_ns[u] = draw(&r, 80);
}

/* Experts of three equal parts. */
static void draw_parts(mo_chain *c)
{
    c->part_bytes = calloc((size_t) c->n_units, sizeof *c->part_bytes);
    ck_assert_ptr_nonnull(c->part_bytes);
    for (int u = 0; u < c->n_units; u++)
        for (int i = 0; i < MO_CHAIN_PARTS; i++)
            c->part_bytes[u][i] = c->expert_bytes[u] / MO_CHAIN_PARTS;
}

/* By definition: no device is left and used again, and the host is first where
 * it has the embedding. */
static bool is_allowed(const mo_chain *c, const int *device)
{
    bool left[MAX_DEVICES] = { false };

    for (int u = 2; u < c->n_units; u++) {
        if (device[u] == device[u - 1])
            continue;
        left[device[u - 1]] = true;
        if (left[device[u]] ||
            (device[u] == c->host && c->rules.embeds_on_host))
            return false;
    }
    for (int u = 1; u < c->n_units; u++)
        if (!c->rules.uses_cpu && c->cluster->devices[device[u]].is_cpu)
            return false;
    return c->rules.embeds_on_host ||
           (device[0] == device[1] &&
            device[c->n_units - 1] == device[c->n_layers]);
}

/* Sets the layers whose experts are on the host in all ways. */
static double best_experts(const mo_chain *c, mo_chain_placement *p)
{
    double best = INFINITY;
    bool may = c->rules.moves_experts && c->host != MO_CHAIN_NONE;

    for (int set = 0; set < 1 << c->n_units; set++) {
        mo_chain_figures figures;
        bool is_valid = true;

        for (int u = 0; u < c->n_units; u++) {
            p->experts_on_host[u] = set >> u & 1;
            is_valid =
                is_valid &&
                (!p->experts_on_host[u] ||
                 (may && c->expert_bytes[u] > 0 && p->device[u] != c->host));
        }
        if (!is_valid)
            continue;
        mo_chain_evaluate(c, p, &figures);
        if (figures.fits)
            best = fmin(best, figures.request_ns);
    }
    return best;
}

static double enumerate(const mo_chain *c)
{
    mo_chain_placement p;
    double best = INFINITY;
    int total = 1;

    ck_assert_int_eq(mo_chain_placement_new(c, &p, NULL), MO_OK);
    for (int u = 1; u < c->n_units; u++)
        total *= c->n_devices;
    for (int i = 0; i < total; i++) {
        int rest = i;

        for (int u = 1; u < c->n_units; u++, rest /= c->n_devices)
            p.device[u] = rest % c->n_devices;
        p.device[0] = c->rules.embeds_on_host ? c->host : p.device[1];
        if (is_allowed(c, p.device))
            best = fmin(best, best_experts(c, &p));
    }
    mo_chain_placement_clear(&p);
    return best;
}

/* Main memory that several devices share is the exception: its limit is met,
 * and the bound holds. */
static void compare_with_enumeration(uint64_t seed, int i)
{
    bool allowed[MAX_DEVICES] = { true, true, true, true };
    net it;
    mo_split split;
    mo_error err = { 0 };
    double best;
    mo_status status;

    draw_net(mo_random_seed(seed, (uint64_t) i), &it);
    draw_copies(mo_random_seed(seed + 2, (uint64_t) i), it.c);
    best = enumerate(it.c);
    status = mo_split_find(it.c, allowed, &split, &err);
    if (isinf(best)) {
        ck_assert_msg(status == MO_E_INFEASIBLE, "case %d: %s", i, err.text);
        mo_chain_free(it.c);
        return;
    }
    ck_assert_msg(status == MO_OK, "case %d: %s", i, err.text);
    ck_assert_msg(split.figures.fits, "case %d", i);
    ck_assert_msg(split.bound_ns <= best + 1e-6, "case %d: bound %g best %g", i,
                  split.bound_ns, best);
    ck_assert_msg(split.figures.request_ns >= best - 1e-6, "case %d", i);
    if (!it.has_limited_host)
        ck_assert_msg(fabs(split.figures.request_ns - best) < 1e-6 &&
                          fabs(split.bound_ns - best) < 1e-6,
                      "case %d: %g, bound %g, best %g", i,
                      split.figures.request_ns, split.bound_ns, best);
    mo_split_clear(&split);
    mo_chain_free(it.c);
}

START_TEST(splits_equal_enumeration)
{
    compare_with_enumeration(1, _i);
}
END_TEST

/* Layers on the host and experts of other devices compete for main memory:
 * only some of the choices that fit each device fit together. */
START_TEST(a_split_that_fits_shared_main_memory_is_found)
{
    static const int cases[][2] = {
        { 2, 357 },   { 2, 2695 },  { 3, 2756 },  { 4, 887 },   { 7, 617 },
        { 7, 2076 },  { 10, 1020 }, { 10, 2439 }, { 11, 1537 }, { 11, 2024 },
        { 11, 2995 }, { 13, 2103 }, { 14, 991 },  { 15, 467 },  { 17, 2333 },
        { 17, 2443 }, { 17, 2672 }, { 19, 181 },  { 20, 2840 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_with_enumeration((uint64_t) cases[i][0], cases[i][1]);
}
END_TEST

START_TEST(knapsacks_equal_enumeration)
{
    static mo_knapsack k;
    mo_random r = { mo_random_seed(4, (uint64_t) _i) };
    mo_knapsack_item items[10];
    int n = mo_random_below(&r, 11), most = 1 + mo_random_below(&r, 40);
    int64_t need = mo_random_below(&r, 120), bytes = 0;
    double best = INFINITY, cost = 0;
    bool chosen[10] = { false };

    for (int i = 0; i < n; i++)
        items[i] = (mo_knapsack_item){ i, mo_random_below(&r, most + 4) - 4,
                                       1 + mo_random_below(&r, most) };
    for (int set = 0; set < 1 << n; set++) {
        double sum = 0;
        int64_t size = 0;

        for (int i = 0; i < n; i++) {
            sum += set >> i & 1 ? items[i].cost : 0;
            size += set >> i & 1 ? items[i].bytes : 0;
        }
        best = size >= need ? fmin(best, sum) : best;
    }
    k.n_items = n;
    for (int i = 0; i < n; i++)
        k.items[i] = items[i];
    ck_assert(mo_knapsack_solve(&k, need, chosen) == best);
    for (int i = 0; i < n; i++) {
        cost += chosen[i] ? items[i].cost : 0;
        bytes += chosen[i] ? items[i].bytes : 0;
    }
    ck_assert(isinf(best) || (cost == best && bytes >= need));
    ck_assert(!k.gave_up);
}
END_TEST

/* With parts a split is no slower than without, and the bound holds. */
START_TEST(parts_of_experts_do_no_harm)
{
    bool allowed[MAX_DEVICES] = { true, true, true, true };
    net it;
    mo_split whole, parts;

    draw_net(mo_random_seed(1, (uint64_t) _i), &it);
    if (mo_split_find(it.c, allowed, &whole, NULL) == MO_OK) {
        mo_chain_figures figures;

        draw_parts(it.c);
        ck_assert_int_eq(mo_split_find(it.c, allowed, &parts, NULL), MO_OK);
        mo_chain_evaluate(it.c, &parts.placement, &figures);
        ck_assert(figures.fits);
        ck_assert(figures.request_ns == parts.figures.request_ns);
        ck_assert(parts.figures.request_ns <= whole.figures.request_ns);
        ck_assert(parts.bound_ns <= parts.figures.request_ns);
        if (parts.figures.request_ns < whole.figures.request_ns)
            ck_assert(parts.bound_ns <= whole.bound_ns);
        mo_split_clear(&whole);
        mo_split_clear(&parts);
    }
    mo_chain_free(it.c);
}
END_TEST

/* All placements, which may return to a device. */
static double enumerate_any_order(const mo_chain *c)
{
    mo_chain_placement p;
    double best = INFINITY;
    int total = 1;

    ck_assert_int_eq(mo_chain_placement_new(c, &p, NULL), MO_OK);
    for (int u = 0; u < c->n_units; u++)
        total *= c->n_devices;
    for (int i = 0; i < total; i++) {
        mo_chain_figures figures;
        int rest = i;

        for (int u = 0; u < c->n_units; u++, rest /= c->n_devices)
            p.device[u] = rest % c->n_devices;
        mo_chain_evaluate(c, &p, &figures);
        if (figures.fits)
            best = fmin(best, figures.request_ns);
    }
    mo_chain_placement_clear(&p);
    return best;
}

/* Without limits of memory it is the least time. */
START_TEST(the_bound_of_any_order_holds)
{
    bool allowed[MAX_DEVICES] = { true, true, true, true };
    net it;
    double best, bound, free_bound;

    draw_net(mo_random_seed(2, (uint64_t) _i), &it);
    it.c->rules = (mo_chain_rules){ .in_any_order = true };
    best = enumerate_any_order(it.c);
    if (!isinf(best)) {
        ck_assert_int_eq(
            mo_chain_any_order_bound(it.c, allowed, best + 10, &bound, NULL),
            MO_OK);
        ck_assert_msg(bound <= best + 1e-6, "case %d: %g, best %g", _i, bound,
                      best);
    }
    for (int k = 0; k < it.c->n_devices; k++)
        it.c->capacity_bytes[k] = INT64_MAX;
    best = enumerate_any_order(it.c);
    ck_assert_int_eq(
        mo_chain_any_order_bound(it.c, allowed, best + 10, &free_bound, NULL),
        MO_OK);
    ck_assert_msg(fabs(free_bound - best) < 1e-6, "case %d: %g, best %g", _i,
                  free_bound, best);
    mo_chain_free(it.c);
}
END_TEST

static bool has_contiguous_layers(const mo_chain *c, const int *device)
{
    bool left[MAX_DEVICES] = { false };

    for (int u = 2; u <= c->n_layers; u++) {
        left[device[u - 1]] |= device[u] != device[u - 1];
        if (left[device[u]])
            return false;
    }
    return true;
}

/* Embedding and head on one device, layers contiguous. */
static double enumerate_tied(const mo_chain *c)
{
    mo_chain_placement p;
    double best = INFINITY;
    int total = 1;

    ck_assert_int_eq(mo_chain_placement_new(c, &p, NULL), MO_OK);
    for (int u = 1; u < c->n_units; u++)
        total *= c->n_devices;
    for (int i = 0; i < total; i++) {
        mo_chain_figures figures;
        int rest = i;

        for (int u = 1; u < c->n_units; u++, rest /= c->n_devices)
            p.device[u] = rest % c->n_devices;
        p.device[0] = p.device[c->n_units - 1];
        mo_chain_evaluate(c, &p, &figures);
        if (figures.fits && has_contiguous_layers(c, p.device))
            best = fmin(best, figures.request_ns);
    }
    mo_chain_placement_clear(&p);
    return best;
}

START_TEST(tied_ends_equal_enumeration)
{
    bool allowed[MAX_DEVICES] = { true, true, true, true };
    net it;
    mo_split split;
    mo_error err = { 0 };
    double best;
    mo_status status;

    draw_net(mo_random_seed(3, (uint64_t) _i), &it);
    it.c->rules = (mo_chain_rules){ .uses_cpu = true, .ties_ends = true };
    it.c->tied_bytes = 2;
    best = enumerate_tied(it.c);
    status = mo_split_find(it.c, allowed, &split, &err);
    if (isinf(best)) {
        ck_assert_msg(status == MO_E_INFEASIBLE, "case %d: %s", _i, err.text);
        ck_assert(err.text[0] != '\0');
    } else {
        ck_assert_msg(status == MO_OK, "case %d: %s", _i, err.text);
        ck_assert_msg(split.figures.fits &&
                          fabs(split.figures.request_ns - best) < 1e-6 &&
                          fabs(split.bound_ns - best) < 1e-6,
                      "case %d: %g, bound %g, best %g", _i,
                      split.figures.request_ns, split.bound_ns, best);
        mo_split_clear(&split);
    }
    mo_chain_free(it.c);
}
END_TEST

SUITE(runtime_split)
{
    SOME(tied_ends_equal_enumeration, CASES / 3, FEW_CASES);
    SOME(the_bound_of_any_order_holds, CASES / 3, FEW_CASES);
    SOME(splits_equal_enumeration, CASES, FEW_CASES);
    TEST(a_split_that_fits_shared_main_memory_is_found);
    SOME(knapsacks_equal_enumeration, CASES / 3, FEW_CASES);
    SOME(parts_of_experts_do_no_harm, CASES / 3, FEW_CASES);
}
