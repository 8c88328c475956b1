/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/any_order.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"

enum { STEPS = 400, PATIENCE = 15 };

typedef struct relaxation {
    const mo_chain *c;
    const bool *allowed;
    double price[MO_CHAIN_MAX_DEVICES]; /* of a byte, ns */
    double used[MO_CHAIN_MAX_DEVICES];  /* bytes on the shortest path */
    double *reach_ns;                   /* by unit and device */
    int *from;                          /* device of the unit before */
} relaxation;

static double bytes_of(const mo_chain *c, int unit)
{
    return (double) c->memory_bytes[unit] + (double) c->expert_bytes[unit];
}

static double unit_ns(const relaxation *r, int unit, int device)
{
    const mo_chain *c = r->c;
    double ns = r->price[device] * bytes_of(c, unit);

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
            best -= r->price[k] * (double) c->capacity_bytes[k];
    }
    for (int u = c->n_units - 1; u >= 0; u--) {
        r->used[last] += bytes_of(c, u);
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
        double over = r->used[k] - (double) c->capacity_bytes[k];

        if (c->capacity_bytes[k] != INT64_MAX && (over > 0 || r->price[k] > 0))
            norm += over * over;
    }
    for (int k = 0; k < c->n_devices && norm > 0; k++)
        if (c->capacity_bytes[k] != INT64_MAX)
            r->price[k] = mo_max_double(
                0,
                r->price[k] + scale * gap / norm *
                                  (r->used[k] - (double) c->capacity_bytes[k]));
}

mo_status mo_chain_any_order_bound(const mo_chain *c, const bool *allowed,
                                   double upper_ns, double *bound_ns,
                                   mo_error *err)
{
    relaxation r = { .c = c, .allowed = allowed };
    size_t n = (size_t) c->n_units * (size_t) c->n_devices;
    double best = 0, scale = 1;
    int waited = 0;

    r.reach_ns = calloc(n, sizeof *r.reach_ns);
    r.from = calloc(n, sizeof *r.from);
    if (!r.reach_ns || !r.from) {
        free(r.reach_ns);
        free(r.from);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < STEPS && best < upper_ns; i++) {
        double ns = shortest_path(&r);

        if (ns > best) {
            best = ns;
            waited = 0;
        } else if (++waited == PATIENCE) {
            scale /= 2;
            waited = 0;
        }
        change_prices(&r, upper_ns - ns, scale);
    }
    *bound_ns = mo_min_double(best, upper_ns);
    free(r.reach_ns);
    free(r.from);
    return MO_OK;
}
