/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/any_order.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"

enum { STEPS = 400, PATIENCE = 15, MAX_SIZES = 8, MAX_TRIED = 100000 };

typedef struct relaxation {
    const mo_chain *c;
    const bool *allowed;
    double price[MO_CHAIN_MAX_DEVICES]; /* of a byte, ns */
    double used[MO_CHAIN_MAX_DEVICES];  /* bytes on the shortest path */
    int64_t room[MO_CHAIN_MAX_DEVICES]; /* that units can fill */
    double *reach_ns;                   /* by unit and device */
    int *from;                          /* device of the unit before */
} relaxation;

static int64_t bytes_of(const mo_chain *c, int unit)
{
    return c->memory_bytes[unit] + c->expert_bytes[unit];
}

/* Sizes of units, and how many units have them. */
typedef struct size_counts {
    int64_t bytes[MAX_SIZES];
    int count[MAX_SIZES], n;
} size_counts;

/* Returns the combinations of the sizes, but those of the most frequent one,
 * which becomes the last; 0: there are too many. */
static int64_t count_sizes(const mo_chain *c, size_counts *sizes)
{
    size_counts swap;
    int64_t tried = 1;
    int last = 0;

    sizes->n = 0;
    for (int u = 0; u < c->n_units; u++) {
        int64_t bytes = bytes_of(c, u);
        int i = 0;

        while (i < sizes->n && sizes->bytes[i] != bytes)
            i++;
        if (i == MAX_SIZES)
            return 0;
        if (i == sizes->n) {
            sizes->bytes[i] = bytes;
            sizes->count[sizes->n++] = 0;
        }
        if (++sizes->count[i] > sizes->count[last])
            last = i;
    }
    sizes->n--;
    for (int i = 0; i <= sizes->n; i++)
        if (i != last && (tried *= sizes->count[i] + 1) > MAX_TRIED)
            return 0;
    swap = *sizes;
    sizes->bytes[last] = swap.bytes[sizes->n];
    sizes->count[last] = swap.count[sizes->n];
    sizes->bytes[sizes->n] = swap.bytes[last];
    sizes->count[sizes->n] = swap.count[last];
    return tried;
}

/* Returns the most bytes of whole units that fit (subset sum): a device cannot
 * use what is left of its memory. */
static int64_t usable_bytes(const size_counts *sizes, int64_t tried,
                            int64_t capacity)
{
    int64_t best = 0;

    if (capacity == INT64_MAX || tried == 0)
        return capacity;
    for (int64_t t = 0; t < tried; t++) {
        int64_t sum = 0, rest = t, n = 0;

        for (int i = 0; i < sizes->n; i++) {
            sum += rest % (sizes->count[i] + 1) * sizes->bytes[i];
            rest /= sizes->count[i] + 1;
        }
        if (sum > capacity)
            continue;
        if (sizes->bytes[sizes->n] > 0)
            n = mo_min_i64(sizes->count[sizes->n],
                           (capacity - sum) / sizes->bytes[sizes->n]);
        best = mo_max_i64(best, sum + n * sizes->bytes[sizes->n]);
    }
    return best;
}

static double unit_ns(const relaxation *r, int unit, int device)
{
    const mo_chain *c = r->c;
    double ns = r->price[device] * (double) bytes_of(c, unit);

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
            best -= r->price[k] * (double) r->room[k];
    }
    for (int u = c->n_units - 1; u >= 0; u--) {
        r->used[last] += (double) bytes_of(c, u);
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
        double over = r->used[k] - (double) r->room[k];

        if (c->capacity_bytes[k] != INT64_MAX && (over > 0 || r->price[k] > 0))
            norm += over * over;
    }
    for (int k = 0; k < c->n_devices && norm > 0; k++)
        if (c->capacity_bytes[k] != INT64_MAX)
            r->price[k] = mo_max_double(
                0, r->price[k] +
                       scale * gap / norm * (r->used[k] - (double) r->room[k]));
}

mo_status mo_chain_any_order_bound(const mo_chain *c, const bool *allowed,
                                   double upper_ns, double *bound_ns,
                                   mo_error *err)
{
    relaxation r = { .c = c, .allowed = allowed };
    size_t n = (size_t) c->n_units * (size_t) c->n_devices;
    double best = 0, scale = 1;
    size_counts sizes;
    int64_t tried = count_sizes(c, &sizes);
    int waited = 0;

    for (int k = 0; k < c->n_devices; k++)
        r.room[k] = usable_bytes(&sizes, tried, c->capacity_bytes[k]);

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
