/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/interval_load.h"

#include <stdlib.h>

#include "base/ablation.h"
#include "base/array.h"
#include "schedule/resource.h"

/*
 * Energetic reasoning with Lagrange multipliers. Resources are devices and
 * those on which transfers exclude each other. The load of an op on a device
 * is known: the device for its own time, and for each flow to or from an op
 * with a single possible device, the resources between the two for the time of
 * the flow. The uses of a resource with a head of at least h and a tail of at
 * least t have T - h - t for all of them:
 *
 *     sum of uses of r with h and t  <=  T - h - t
 *
 * For any weights y >= 0 of such rows, no placement exists if
 *
 *     sum_i min_k (sum over uses u of i on k: time of u * y[rows of u])
 *                                     >  sum over rows of y * right-hand side
 *
 * Both sides are computed exactly in integers, so the way of finding the
 * weights does not matter: those of overloaded rows grow (multiplicative
 * weights). Groups and memory are relaxed.
 *
 * A flow is counted with its reader where the producer's device is known, else
 * with its producer where the reader's is: never twice. Where a tensor is sent
 * once for several readers each has its share of it; the tail of one reader is
 * valid for the transfer, too, so that the shares that count in a row are not
 * more than its load.
 */

enum {
    GRID = 6, /* thresholds for h, and for t */
    CELLS = GRID * GRID,
    FULL_WEIGHT = 1 << 20,
    WEIGHT_BITS = 36, /* fraction bits of weight / capacity */
    MAX_ITERATIONS = 800,
    FIRST_STEPS = 128, /* iterations with large steps */
    MEAN_WINDOW = 4    /* of the exponential mean of loads */
};

__extension__ typedef __int128 wide;

typedef struct use {
    int cell; /* resource * CELLS + h * GRID + t */
    int64_t ns;
} use;

typedef struct row {
    int64_t capacity_ns, load_ns, weight;
    int64_t mean_ns; /* exponential mean of its loads */
} row;

struct mo_chain_interval_load {
    const mo_chain_windows *w;
    int n_resources; /* devices, then those of transfers */

    /* Of one call: */
    int64_t head_ns[GRID], tail_ns[GRID];
    use *uses;
    size_t n_uses, uses_room;
    size_t *use_start; /* by op and device */
    int *fixed_device; /* by op: mo_chain_windows_fixed_device() */
    row *rows;         /* by resource and cell */
    int64_t *price;    /* the same: sum over all rows that count the cell */
};

static const mo_instance *instance_of(const mo_chain_interval_load *l)
{
    return l->w->places.x;
}

mo_status mo_chain_interval_load_new(const mo_chain_windows *windows,
                                     mo_chain_interval_load **loads,
                                     mo_error *err)
{
    mo_chain_interval_load *l = calloc(1, sizeof *l);
    mo_status status;

    if (!l)
        return mo_fail_memory(err);
    l->w = windows;
    l->n_resources =
        windows->places.x->n_devices +
        mo_resource_count(windows->places.x, windows->places.regime.congestion);

    const mo_instance *x = instance_of(l);
    size_t n = (size_t) x->n, at, cells;

    if (!mo_size_mul(n, (size_t) x->n_devices, &at) ||
        !mo_size_mul((size_t) l->n_resources, CELLS, &cells) ||
        at == SIZE_MAX) {
        status = mo_fail_memory(err);
    } else {
        l->use_start = calloc(at + 1, sizeof *l->use_start);
        l->fixed_device = calloc(n, sizeof *l->fixed_device);
        l->rows = calloc(cells, sizeof *l->rows);
        l->price = calloc(cells, sizeof *l->price);
        status = l->use_start && l->fixed_device && l->rows && l->price
                     ? MO_OK
                     : mo_fail_memory(err);
    }
    if (status == MO_OK)
        *loads = l;
    else
        mo_chain_interval_load_free(l);
    return status;
}

void mo_chain_interval_load_free(mo_chain_interval_load *l)
{
    if (!l)
        return;
    free(l->uses);
    free(l->use_start);
    free(l->fixed_device);
    free(l->rows);
    free(l->price);
    free(l);
}

/* Returns the last threshold that is not above ns. */
static int grid_line(const int64_t *thresholds, int64_t ns)
{
    int line = 0;

    while (line + 1 < GRID && thresholds[line + 1] <= ns)
        line++;
    return line;
}

static mo_status add_use(mo_chain_interval_load *l, int resource, int64_t ns,
                         int64_t head_ns, int64_t tail_ns, mo_error *err)
{
    mo_status status;

    if (ns == 0)
        return MO_OK;
    status = MO_ARRAY_GROW(l->uses, l->n_uses, l->uses_room, err);
    if (status == MO_OK)
        l->uses[l->n_uses++] =
            (use){ resource * CELLS + grid_line(l->head_ns, head_ns) * GRID +
                       grid_line(l->tail_ns, tail_ns),
                   ns };
    return status;
}

/* Returns the time of the flow between two devices, or its share. */
static int64_t flow_share_ns(const mo_chain_interval_load *l, int flow, int a,
                             int b)
{
    const mo_instance *x = instance_of(l);
    int tensor = x->flows[flow].tensor;

    if (l->w->places.regime.tensors == MO_TENSORS_PER_EDGE)
        return mo_instance_flow_ns(x, flow, a, b);
    return mo_instance_tensor_ns(x, tensor, a, b) /
           (x->tensor_start[tensor + 1] - x->tensor_start[tensor]);
}

/* Adds a flow with its producer on a and its reader on b. */
static mo_status add_flow_use(mo_chain_interval_load *l, int flow, int a, int b,
                              mo_error *err)
{
    const mo_instance *x = instance_of(l);
    int64_t from =
        mo_allowed_devices_index(&l->w->places, x->flows[flow].from, a);
    int64_t to = mo_allowed_devices_index(&l->w->places, x->flows[flow].to, b);
    int64_t ns = flow_share_ns(l, flow, a, b);
    int boundary[2], n = 0;
    const int *ids;
    mo_status status = MO_OK;

    if (a != b)
        n = mo_resource_list(x, l->w->places.regime.congestion, a, b, boundary,
                             &ids);
    for (int i = 0; i < n && status == MO_OK; i++)
        status = add_use(l, x->n_devices + ids[i], ns,
                         l->w->head_ns[from] + x->p_ns[from],
                         l->w->tail_ns[to] + x->p_ns[to], err);
    return status;
}

/* Adds all uses of op on device k. */
static mo_status add_op_uses(mo_chain_interval_load *l, int op, int k,
                             mo_error *err)
{
    const mo_instance *x = instance_of(l);
    int64_t at = mo_allowed_devices_index(&l->w->places, op, k);
    mo_status status =
        add_use(l, k, x->p_ns[at], l->w->head_ns[at], l->w->tail_ns[at], err);

    for (int e = x->in_start[op]; e < x->in_start[op + 1] && status == MO_OK;
         e++) {
        int flow = x->in_flows[e], a = l->fixed_device[x->flows[flow].from];

        if (a >= 0)
            status = add_flow_use(l, flow, a, k, err);
    }
    for (int q = x->out_start[op];
         l->fixed_device[op] < 0 && q < x->out_start[op + 1] && status == MO_OK;
         q++)
        if (l->fixed_device[x->flows[q].to] >= 0)
            status =
                add_flow_use(l, q, k, l->fixed_device[x->flows[q].to], err);
    return status;
}

/* Returns the priced capacity of all rows; the price of a cell is the sum over
 * all rows with no larger thresholds (two-dimensional prefix sums). */
static wide compute_prices(mo_chain_interval_load *l)
{
    wide sum = 0;

    for (int i = 0; i < (int64_t) l->n_resources * CELLS; i++) {
        int h = i % CELLS / GRID, t = i % GRID;
        /* The price of a unit of load in the row. */
        int64_t own = (l->rows[i].weight << WEIGHT_BITS) /
                      (l->rows[i].capacity_ns > 0 ? l->rows[i].capacity_ns : 1);

        sum += (wide) own * l->rows[i].capacity_ns;
        l->price[i] = own + (h > 0 ? l->price[i - GRID] : 0) +
                      (t > 0 ? l->price[i - 1] : 0) -
                      (h > 0 && t > 0 ? l->price[i - GRID - 1] : 0);
    }
    return sum;
}

/* Lagrangian subproblem: puts each op on its cheapest device; returns the sum
 * of their costs. */
static wide choose_devices(mo_chain_interval_load *l)
{
    const mo_allowed_devices *p = &l->w->places;
    wide sum = 0;

    for (int i = 0; i < (int64_t) l->n_resources * CELLS; i++)
        l->rows[i].load_ns = 0;
    for (int i = 0; i < p->x->n; i++) {
        int best = -1;
        wide least = 0;

        for (int k = 0; k < p->x->n_devices; k++) {
            wide here;

            if (!mo_allowed_devices_has(p, i, k))
                continue;
            int64_t at = mo_allowed_devices_index(p, i, k);
            here = 0;
            for (size_t u = l->use_start[at]; u < l->use_start[at + 1]; u++)
                here += (wide) l->price[l->uses[u].cell] * l->uses[u].ns;
            if (best < 0 || here < least) {
                best = k;
                least = here;
            }
        }
        sum += least;
        int64_t at = mo_allowed_devices_index(p, i, best);

        for (size_t u = l->use_start[at]; u < l->use_start[at + 1]; u++)
            l->rows[l->uses[u].cell].load_ns += l->uses[u].ns;
    }
    return sum;
}

/* Returns whether the loads fit all rows, so that nothing can be refuted. */
static bool update_weights(mo_chain_interval_load *l, int step)
{
    int64_t largest = 1;
    bool fits = true;
    int64_t ratio;

    for (int i = 0; i < (int64_t) l->n_resources * CELLS; i++) {
        fits &= l->rows[i].load_ns <= l->rows[i].capacity_ns;
        /* Multiplicative update by the ratio of load to capacity, clamped.
         * Equal ops change devices together, so the mean load is used. */
        ratio = 4000;
        if (step == 0)
            l->rows[i].mean_ns = l->rows[i].load_ns;
        l->rows[i].mean_ns +=
            (l->rows[i].load_ns - l->rows[i].mean_ns) / MEAN_WINDOW;
        if (l->rows[i].mean_ns / 4 < l->rows[i].capacity_ns)
            ratio = (int64_t) ((wide) 1000 * l->rows[i].mean_ns /
                               l->rows[i].capacity_ns);
        if (ratio < 250)
            ratio = 250;
        l->rows[i].weight += l->rows[i].weight * (ratio - 1000) * FIRST_STEPS /
                             ((int64_t) 2000 * (FIRST_STEPS + step));
        if (l->rows[i].weight > largest)
            largest = l->rows[i].weight;
    }
    for (int i = 0; i < (int64_t) l->n_resources * CELLS; i++)
        l->rows[i].weight = l->rows[i].weight * FULL_WEIGHT / largest;
    return fits;
}

mo_status mo_chain_interval_load_refute(mo_chain_interval_load *l,
                                        int64_t time_ns, int64_t from_ns,
                                        int64_t *steps, bool *refuted,
                                        mo_error *err)
{
    const mo_allowed_devices *p = &l->w->places;
    int64_t span_ns = from_ns < time_ns ? time_ns - from_ns : 0;
    mo_status status = MO_OK;

    *refuted = false;
    if (mo_ablated(MO_ABLATION_interval_load))
        return MO_OK;
    /* Thresholds: 0, the given time, and evenly from there on. */
    for (int i = 0; i < GRID; i++) {
        l->head_ns[i] = i == 0 ? 0 : from_ns + span_ns / (GRID - 1) * (i - 1);
        l->tail_ns[i] = span_ns / GRID * i;
    }
    for (int i = 0; i < (int64_t) l->n_resources * CELLS; i++) {
        int64_t capacity_ns =
            time_ns - l->head_ns[i % CELLS / GRID] - l->tail_ns[i % GRID];

        /* Rows without capacity are ignored. */
        l->rows[i] = capacity_ns > 0 ? (row){ capacity_ns, 0, FULL_WEIGHT, 0 }
                                     : (row){ 0, 0, 0, 0 };
    }
    l->n_uses = 0;
    for (int i = 0; i < p->x->n; i++)
        l->fixed_device[i] = mo_chain_windows_fixed_device(l->w, i);
    for (int i = 0; i < p->x->n; i++)
        for (int k = 0; k < p->x->n_devices && status == MO_OK; k++) {
            if (mo_allowed_devices_has(p, i, k))
                status = add_op_uses(l, i, k, err);
            l->use_start[mo_allowed_devices_index(p, i, k) + 1] = l->n_uses;
        }
    for (int i = 0; i < MAX_ITERATIONS && status == MO_OK; i++) {
        wide room = compute_prices(l);

        *steps += (int64_t) l->n_uses + (int64_t) l->n_resources * CELLS;
        if (choose_devices(l) > room) {
            *refuted = true;
            break;
        }

        /* Rows count the load of their cell and of those with larger
         * thresholds. */
        for (int64_t at = (int64_t) l->n_resources * CELLS - 1; at >= 0; at--)
            if (at % GRID + 1 < GRID)
                l->rows[at].load_ns += l->rows[at + 1].load_ns;
        for (int64_t at = (int64_t) l->n_resources * CELLS - 1; at >= 0; at--)
            if (at % CELLS / GRID + 1 < GRID)
                l->rows[at].load_ns += l->rows[at + GRID].load_ns;
        if (update_weights(l, i))
            break;
    }
    return status;
}
