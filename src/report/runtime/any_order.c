/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/any_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

enum { MIN_STEPS = 400, MAX_STEPS = 6000, WORK = 50000000, PATIENCE = 200 };

typedef struct relaxation {
    const mo_chain *c;
    const bool *allowed;
    int64_t block_bytes;                /* sizes are rounded down to blocks */
    double price[MO_CHAIN_MAX_DEVICES]; /* of a block, ns */
    double used[MO_CHAIN_MAX_DEVICES];  /* blocks on the shortest path */
    double *reach_ns;                   /* by unit and device */
    int *from;                          /* device of the unit before */
} relaxation;

static double blocks_of(const relaxation *r, int unit)
{
    const mo_chain *c = r->c;

    return (double) ((c->memory_bytes[unit] + c->expert_bytes[unit]) /
                     r->block_bytes);
}

static double capacity_of(const relaxation *r, int device)
{
    return (double) (r->c->capacity_bytes[device] / r->block_bytes);
}

static double unit_ns(const relaxation *r, int unit, int device)
{
    const mo_chain *c = r->c;
    double ns = r->price[device] * blocks_of(r, unit);

    for (int i = 0; i < c->n_phases; i++)
        ns += c->phases[i].weight *
              ((double) c->phases[i].time_ns[unit * c->n_devices + device] +
               (double) c->phases[i].expert_ns[unit * c->n_devices + device]);
    return ns;
}

static double hop_ns(const mo_chain *c, int unit, int a, int b)
{
    double ns = 0;

    for (int i = 0; i < c->n_phases; i++)
        ns += c->phases[i].weight *
              (double) c->phases[i]
                  .transfer_ns[(unit * c->n_devices + a) * c->n_devices + b];
    return ns;
}

/* Returns L of the prices, and sets what its placement uses. */
static double shortest_path(relaxation *r)
{
    const mo_chain *c = r->c;
    int n = c->n_devices, last = 0;
    double best = INFINITY;

    for (int u = 0; u < c->n_units; u++)
        for (int k = 0; k < n; k++) {
            double *reach = &r->reach_ns[u * n + k];

            *reach = INFINITY;
            for (int d = 0; d < n && r->allowed[k] && u > 0; d++) {
                double ns = r->reach_ns[(u - 1) * n + d];

                if (isinf(ns) || ns + hop_ns(c, u - 1, d, k) >= *reach)
                    continue;
                *reach = ns + hop_ns(c, u - 1, d, k);
                r->from[u * n + k] = d;
            }
            if (u == 0 && r->allowed[k])
                *reach = 0;
            *reach += unit_ns(r, u, k);
            if (u == c->n_units - 1 && *reach < best) {
                best = *reach;
                last = k;
            }
        }
    for (int k = 0; k < n; k++) {
        r->used[k] = 0;
        if (c->capacity_bytes[k] != INT64_MAX)
            best -= r->price[k] * capacity_of(r, k);
    }
    for (int u = c->n_units - 1; u >= 0; u--) {
        r->used[last] += blocks_of(r, u);
        last = r->from[u * n + last];
    }
    return best;
}

/* Raises prices of full devices and lowers others, by Polyak's step. */
static void change_prices(relaxation *r, double gap, double scale)
{
    const mo_chain *c = r->c;
    double norm = 0;

    for (int k = 0; k < c->n_devices; k++) {
        double over = r->used[k] - capacity_of(r, k);

        if (c->capacity_bytes[k] != INT64_MAX && (over > 0 || r->price[k] > 0))
            norm += over * over;
    }
    for (int k = 0; k < c->n_devices && norm > 0; k++)
        if (c->capacity_bytes[k] != INT64_MAX)
            r->price[k] = mo_max_double(
                0, r->price[k] +
                       scale * gap / norm * (r->used[k] - capacity_of(r, k)));
}

/* Returns the best L of the subgradient method, at least `best`. */
static double raise_bound(relaxation *r, int64_t block_bytes, double upper_ns,
                          double best)
{
    int64_t pairs = (int64_t) r->c->n_devices * r->c->n_devices;
    int64_t steps = mo_max_i64(
        MIN_STEPS, mo_min_i64(MAX_STEPS, WORK / (r->c->n_units * pairs)));
    double reached = 0, scale = 1;
    int waited = 0;

    r->block_bytes = block_bytes;
    memset(r->price, 0, sizeof r->price);
    for (int i = 0; i < steps && reached < upper_ns; i++) {
        double ns = shortest_path(r);

        if (ns > reached) {
            reached = ns;
            waited = 0;
        } else if (++waited == PATIENCE) {
            scale /= 2;
            waited = 0;
        }
        change_prices(r, upper_ns - ns, scale);
    }
    return mo_max_double(best, reached);
}

/* Returns the size of the smallest layer. */
static int64_t layer_bytes(const mo_chain *c)
{
    int64_t least = INT64_MAX;

    for (int u = 1; u <= c->n_layers; u++)
        least = mo_min_i64(least, c->memory_bytes[u] + c->expert_bytes[u]);
    return least;
}

mo_status mo_chain_any_order_bound(const mo_chain *c, const bool *allowed,
                                   double upper_ns, double *bound_ns,
                                   mo_error *err)
{
    relaxation r = { .c = c, .allowed = allowed };
    size_t n = (size_t) c->n_units * (size_t) c->n_devices;
    double best;

    r.reach_ns = calloc(n, sizeof *r.reach_ns);
    r.from = calloc(n, sizeof *r.from);
    if (!r.reach_ns || !r.from) {
        free(r.reach_ns);
        free(r.from);
        return mo_fail_memory(err);
    }
    best = raise_bound(&r, 1, upper_ns, 0);
    if (layer_bytes(c) > 1)
        best = raise_bound(&r, layer_bytes(c), upper_ns, best);
    *bound_ns = mo_min_double(best, upper_ns);
    free(r.reach_ns);
    free(r.from);
    return MO_OK;
}
