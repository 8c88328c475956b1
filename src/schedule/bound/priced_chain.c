/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/priced_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "schedule/bound/bundle_method.h"
#include "schedule/bound/memory_charges.h"

enum {
    PRICE_BITS = 32,
    MAX_EVALUATIONS = 400,
    MIN_EVALUATIONS = 30,
    MAX_WORK = 1 << 29 /* table entries and thresholds of all evaluations */
};

#define TOLERANCE 2e-6

__extension__ typedef unsigned __int128 uint128;

struct mo_priced_chain {
    const mo_allowed_devices *domains;
    const mo_priced_chain_tables *tables;
    int n_devices;
    bool *is_beside; /* by op: in no segment, and not of the chain */
    mo_priced_entries *entries;
    int64_t *charges;      /* bytes by op and device (memory_charges.h) */
    int64_t *start, *next; /* by device */
    unsigned char *from;   /* by segment and device: predecessor */

    uint64_t *price;         /* by device, in units of 2^-PRICE_BITS ns */
    int64_t *price_ns;       /* by op and device */
    double *used_bytes;      /* by device */
    double *best;            /* prices by device */
    uint64_t max_price;      /* so that no sum overflows */
    int *limited, n_limited; /* devices whose capacity is less than all */
    int64_t best_ns, work;   /* work: of an evaluation, in table entries */
};

/* The resident bytes of all ops, at most INT64_MAX. */
static int64_t total_bytes(const mo_allowed_devices *p)
{
    int64_t sum = 0;

    for (int i = 0; i < p->x->n; i++)
        if (!mo_int64_add(
                sum, mo_max_i64(mo_allowed_devices_resident_bytes(p, i), 0),
                &sum))
            return INT64_MAX;
    return sum;
}

static bool is_limited(const mo_allowed_devices *p, int device, int64_t total)
{
    return p->regime.memory != MO_MEMORY_NONE &&
           p->x->capacity_bytes[device] < total;
}

bool mo_priced_chain_pays(const mo_allowed_devices *p)
{
    int64_t total = total_bytes(p);

    if (mo_ablated(MO_ABLATION_priced_chain))
        return false;
    for (int k = 0; k < p->x->n_devices && total < INT64_MAX; k++)
        if (is_limited(p, k, total))
            return true;
    return false;
}

static mo_status allocate_chain(mo_priced_chain *c, mo_error *err)
{
    size_t n = (size_t) c->domains->x->n + 1, k = (size_t) c->n_devices + 1;

    c->is_beside = calloc(n, sizeof *c->is_beside);
    c->start = calloc(k, sizeof *c->start);
    c->next = calloc(k, sizeof *c->next);
    c->from = calloc((size_t) c->tables->n + 1, k);
    c->price = calloc(k, sizeof *c->price);
    c->price_ns = calloc(n, k * sizeof *c->price_ns);
    c->used_bytes = calloc(k, sizeof *c->used_bytes);
    c->best = calloc(k, sizeof *c->best);
    c->limited = calloc(k, sizeof *c->limited);
    return c->is_beside && c->start && c->next && c->from && c->price &&
                   c->price_ns && c->used_bytes && c->best && c->limited
               ? MO_OK
               : mo_fail_memory(err);
}

mo_status mo_priced_chain_new(const mo_allowed_devices *domains,
                              const mo_priced_chain_tables *tables,
                              mo_priced_chain **chain, mo_error *err)
{
    mo_priced_chain *c = calloc(1, sizeof *c);
    int64_t total = total_bytes(domains);
    mo_status status;

    if (!c)
        return mo_fail_memory(err);
    c->domains = domains;
    c->tables = tables;
    c->n_devices = domains->x->n_devices;
    c->work = (int64_t) tables->n * c->n_devices * c->n_devices +
              (int64_t) domains->x->n * c->n_devices;
    /* Prices of all bytes, on any devices, together stay below the longest
     * time. */
    c->max_price = (uint64_t) fmin(ldexp((double) MO_MAX_TOTAL_NS, PRICE_BITS) /
                                       fmax((double) total, 1) / c->n_devices,
                                   0x1p62);
    status = allocate_chain(c, err);
    if (status == MO_OK) {
        for (int k = 0; k < c->n_devices; k++)
            if (is_limited(domains, k, total))
                c->limited[c->n_limited++] = k;
        memset(c->is_beside, true, (size_t) c->domains->x->n);
        for (int s = 0; s < tables->n; s++) {
            if (tables->segments[s].u != MO_FREE)
                c->is_beside[tables->segments[s].u] = false;
            if (tables->segments[s].v != MO_FREE)
                c->is_beside[tables->segments[s].v] = false;
            for (int i = 0; i < tables->segments[s].n; i++)
                c->is_beside[tables->segments[s].ops[i]] = false;
        }
        status =
            mo_memory_charges_make(domains, c->is_beside, &c->charges, err);
    }
    if (status == MO_OK)
        status = mo_priced_entries_new(domains, tables, c->price_ns, c->charges,
                                       &c->entries, err);
    if (status == MO_OK)
        c->work += mo_priced_entries_work(c->entries);
    if (status == MO_OK)
        *chain = c;
    else
        mo_priced_chain_free(c);
    return status;
}

void mo_priced_chain_free(mo_priced_chain *c)
{
    if (!c)
        return;
    mo_priced_entries_free(c->entries);
    free(c->is_beside);
    free(c->charges);
    free(c->start);
    free(c->next);
    free(c->from);
    free(c->price);
    free(c->price_ns);
    free(c->used_bytes);
    free(c->best);
    free(c->limited);
    free(c);
}

static int64_t op_price_ns(const mo_priced_chain *c, int op, int device)
{
    return c->price_ns[mo_allowed_devices_index(c->domains, op, device)];
}

/* Sets prices by device and by op; returns the price of the capacities,
 * rounded up. */
static int64_t set_prices(mo_priced_chain *c, const double *prices)
{
    const mo_instance *x = c->domains->x;
    uint128 sum = 0;

    memset(c->price, 0, (size_t) c->n_devices * sizeof *c->price);
    for (int i = 0; i < c->n_limited; i++) {
        int k = c->limited[i];
        double price = ldexp(prices[k], PRICE_BITS);

        if (price > 0)
            c->price[k] =
                price < (double) c->max_price ? (uint64_t) price : c->max_price;
        sum += (uint128) c->price[k] * (uint64_t) x->capacity_bytes[k];
    }
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < c->n_devices; k++) {
            int64_t at = mo_allowed_devices_index(c->domains, i, k);

            c->price_ns[at] = (int64_t) (((uint128) c->price[k] *
                                          (uint64_t) c->charges[at]) >>
                                         PRICE_BITS);
        }
    sum = (sum >> PRICE_BITS) + 1;
    return sum < (uint128) (INT64_MAX / 2) ? (int64_t) sum : INT64_MAX / 2;
}

/* Shortest-path step over a segment: start[b] becomes the least cost up to v on
 * b, without v itself. */
static void advance_segment(mo_priced_chain *c, int segment)
{
    const mo_bound_segment *s = &c->tables->segments[segment];
    int n_devices = c->n_devices;
    const int64_t *entries =
        mo_priced_entries_of(c->entries, c->tables->cls[segment]);
    unsigned char *from = c->from + (size_t) segment * (size_t) (n_devices + 1);

    for (int b = 0; b < n_devices; b++)
        c->next[b] = INT64_MAX;
    for (int a = 0; a < n_devices; a++) {
        int64_t cost = c->start[a];

        if (cost == INT64_MAX)
            continue;
        if (s->u != MO_FREE)
            cost += mo_instance_p_ns(c->domains->x, s->u, a) +
                    op_price_ns(c, s->u, a);
        for (int b = 0; b < n_devices; b++) {
            int64_t entry = entries[a * n_devices + b];

            if (entry != INT64_MAX && cost + entry < c->next[b]) {
                c->next[b] = cost + entry;
                from[b] = (unsigned char) a;
            }
        }
    }
    memcpy(c->start, c->next, (size_t) n_devices * sizeof *c->start);
}

static void add_used(const mo_priced_chain *c, int op, int device,
                     double *used_bytes)
{
    used_bytes[device] +=
        (double) c->charges[mo_allowed_devices_index(c->domains, op, device)];
}

void mo_priced_chain_path(const mo_priced_chain *c, int *boundary)
{
    int b = 0;

    for (int s = c->tables->n - 1; s >= 0; s--) {
        int a = c->from[(size_t) s * (size_t) (c->n_devices + 1) + (size_t) b];

        boundary[s] = a * c->n_devices + b;
        b = a;
    }
}

static void find_shortest_path(mo_priced_chain *c)
{
    c->start[0] = 0;
    for (int k = 1; k < c->n_devices; k++)
        c->start[k] = INT64_MAX;
    for (int s = 0; s < c->tables->n; s++)
        advance_segment(c, s);
}

/* Refines the entries of the shortest path; returns whether one was raised. */
static bool refine_path(mo_priced_chain *c)
{
    bool raised = false;
    int b = 0;

    for (int s = c->tables->n - 1; s >= 0; s--) {
        int a = c->from[(size_t) s * (size_t) (c->n_devices + 1) + (size_t) b];

        if (c->tables->segments[s].n > 0)
            raised |= mo_priced_entries_refine(c->entries, c->tables->cls[s],
                                               a * c->n_devices + b);
        b = a;
    }
    return raised;
}

int64_t mo_priced_chain_evaluate(mo_priced_chain *c, const double *prices,
                                 double *used_bytes)
{
    int64_t capacity_ns = set_prices(c, prices), beside_ns = 0;

    mo_priced_entries_evaluate(c->entries);
    find_shortest_path(c);
    while (c->start[0] != INT64_MAX && refine_path(c))
        find_shortest_path(c);
    if (c->start[0] == INT64_MAX)
        return INT64_MAX;
    for (int i = 0; i < c->domains->x->n; i++)
        if (c->is_beside[i])
            beside_ns +=
                op_price_ns(c, i, mo_priced_entries_cheapest(c->entries, i));
    if (used_bytes) {
        /* Walks back along the shortest path. */
        int b = 0;

        memset(used_bytes, 0, (size_t) c->n_devices * sizeof *used_bytes);
        for (int i = 0; i < c->domains->x->n; i++)
            if (c->is_beside[i])
                add_used(c, i, mo_priced_entries_cheapest(c->entries, i),
                         used_bytes);
        for (int s = c->tables->n - 1; s >= 0; s--) {
            int a =
                c->from[(size_t) s * (size_t) (c->n_devices + 1) + (size_t) b];

            if (c->tables->segments[s].n > 0)
                mo_priced_entries_add_used(c->entries, c->tables->cls[s],
                                           a * c->n_devices + b, used_bytes);
            if (c->tables->segments[s].u != MO_FREE)
                add_used(c, c->tables->segments[s].u, a, used_bytes);
            b = a;
        }
    }
    return c->start[0] + beside_ns - capacity_ns;
}

/* Variables are the prices of whole capacities, in ns. */
static double capacity_of(const mo_priced_chain *c, int i)
{
    return fmax((double) c->domains->x->capacity_bytes[c->limited[i]], 1);
}

const int64_t *mo_priced_chain_entries(const mo_priced_chain *c, int cls)
{
    return mo_priced_entries_of(c->entries, cls);
}

void mo_priced_chain_best_prices(const mo_priced_chain *c, double *prices)
{
    for (int k = 0; k < c->n_devices; k++)
        prices[k] = 0;
    for (int i = 0; i < c->n_limited; i++)
        prices[c->limited[i]] = c->best[i] / capacity_of(c, i);
}

const int64_t *mo_priced_chain_evaluate_best(mo_priced_chain *c)
{
    double prices[64];

    mo_priced_chain_best_prices(c, prices);
    set_prices(c, prices);
    mo_priced_entries_evaluate(c->entries);
    for (int cls = 0; cls < c->tables->n_classes; cls++)
        for (int i = 0; i < c->n_devices * c->n_devices; i++)
            if (mo_priced_entries_of(c->entries, cls)[i] != INT64_MAX &&
                c->tables->segments[c->tables->first[cls]].n > 0)
                mo_priced_entries_refine(c->entries, cls, i);
    return c->price_ns;
}

static void evaluate_scaled(void *context, const double *point, double *value,
                            double *gradient)
{
    mo_priced_chain *c = context;
    double prices[64] = { 0 };
    int64_t bound_ns;

    for (int i = 0; i < c->n_limited; i++)
        prices[c->limited[i]] = point[i] / capacity_of(c, i);
    bound_ns = mo_priced_chain_evaluate(c, prices, c->used_bytes);
    *value = (double) bound_ns;
    for (int i = 0; i < c->n_limited; i++)
        gradient[i] =
            bound_ns == INT64_MAX
                ? 0
                : (c->used_bytes[c->limited[i]] -
                   (double) c->domains->x->capacity_bytes[c->limited[i]]) /
                      capacity_of(c, i);
    if (bound_ns != INT64_MAX && bound_ns > c->best_ns) {
        c->best_ns = bound_ns;
        memcpy(c->best, point, (size_t) c->n_limited * sizeof *point);
    }
}

mo_status mo_priced_chain_raise(mo_priced_chain *c, int max_evaluations,
                                const mo_stop *stop, int64_t *bound_ns,
                                mo_error *err)
{
    mo_bundle_problem problem = { .n = c->n_limited,
                                  .evaluate = evaluate_scaled,
                                  .context = c,
                                  .tolerance = TOLERANCE,
                                  .stop = stop,
                                  .work = c->work };
    double point[64], value;
    mo_status status;

    if (c->n_limited == 0)
        return MO_OK;
    problem.max_evaluations =
        max_evaluations > 0
            ? max_evaluations
            : (int) mo_max_i64(MIN_EVALUATIONS,
                               mo_min_i64(MAX_EVALUATIONS, MAX_WORK / c->work));
    memcpy(point, c->best, (size_t) c->n_limited * sizeof *point);
    status = mo_bundle_maximize(&problem, point, &value, err);
    if (status == MO_OK && c->best_ns > *bound_ns)
        *bound_ns = c->best_ns;
    return status;
}
