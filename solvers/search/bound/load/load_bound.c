/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/load/load_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "solvers/search/bound/load/load_bound_internal.h"

/*
 * Best-first branch and bound over orders of arrival. Where ports are a
 * bottleneck, the broadcast tensor reaches one device after the other, and the
 * order matters. Nodes are prefixes of orders:
 *
 *                 (open)
 *            /     |     \
 *           B..    C..    none
 *         /  |  \
 *      B C.. ...  B alone
 *
 * The least bound of the leaves is a lower bound for all orders at any time;
 * when it is that of an order that is not open, no more can be gained.
 */

enum {
    MAX_ORDERS = 96,
    GAP = 4096,      /* relative gap 1 / 4096: not worth branching */
    LIMIT_GAP = 256, /* relative gap of the limits */
    MAX_LIMITS = 10
};

typedef struct order_node {
    mo_load_arrival_order order;
    int64_t bound_ns;
} order_node;

/* The sum of a time and the least prices. */
static int64_t with_prices(const mo_load_problem *f, int64_t time_ns)
{
    return time_ns < MO_LOAD_INFINITY ? time_ns + f->least_price_ns : time_ns;
}

typedef struct order_search {
    mo_load_problem *f;
    mo_load_master *master;
    bool is_ordered;   /* the order of arrivals matters */
    order_node *nodes; /* leaves */
    size_t n, room;
    int n_evaluated;
    int64_t
        closed_ns; /* least bound of an order that is not open, or the limit */
} order_search;

/* Evaluates a node; floor_ns is a bound already known (that of its parent). */
static mo_status add_order_node(order_search *t,
                                const mo_load_arrival_order *order,
                                int64_t floor_ns, mo_error *err)
{
    order_node fresh = { .order = *order };
    mo_status status = MO_ARRAY_GROW(t->nodes, t->n, t->room, err);

    if (status == MO_OK)
        status = mo_load_master_bound(t->master, order, t->closed_ns,
                                      &fresh.bound_ns, err);
    if (status != MO_OK)
        return status;
    t->n_evaluated++;
    if (fresh.bound_ns < floor_ns)
        fresh.bound_ns = floor_ns;
    if (!order->open && fresh.bound_ns < t->closed_ns)
        t->closed_ns = fresh.bound_ns;
    t->nodes[t->n++] = fresh;
    return MO_OK;
}

/* Replaces a node by its children. The closed order comes first: its bound
 * cuts off the evaluation of the others. */
static mo_status branch_order(order_search *t, size_t at, mo_error *err)
{
    order_node parent = t->nodes[at];
    mo_load_arrival_order order = parent.order;
    mo_status status;

    t->nodes[at] = t->nodes[--t->n];
    order.open = false;
    status = add_order_node(t, &order, parent.bound_ns, err);
    order.n++;
    order.open = order.n < t->f->n_devices - 1;
    for (int k = 0; k < t->f->n_devices && status == MO_OK; k++) {
        bool there = k == t->f->u_device;

        for (int j = 0; j < parent.order.n; j++)
            there = there || parent.order.device[j] == k;
        if (there)
            continue;
        order.device[order.n - 1] = k;
        status = add_order_node(t, &order, parent.bound_ns, err);
    }
    return status;
}

/* Returns whether branching on the least node gains nothing, or a limit is
 * reached. */
static bool is_done(const order_search *t, const order_node *least)
{
    return !least->order.open || least->order.n == MO_LOAD_MAX_ARRIVALS ||
           least->bound_ns >= t->closed_ns - t->closed_ns / GAP ||
           t->n_evaluated + t->f->n_devices > MAX_ORDERS;
}

/* Stores a lower bound for schedules within the limit, at most the limit; with
 * prices, at most the limit and the least prices. */
static mo_status branch_and_bound(order_search *t, int64_t limit_ns,
                                  int64_t *bound_ns, mo_error *err)
{
    mo_load_arrival_order none = { .open = true };
    mo_status status;

    int64_t most_ns = with_prices(t->f, limit_ns);

    t->f->limit_ns = limit_ns;
    t->closed_ns = most_ns;
    t->n = 0;
    t->n_evaluated = 0;
    status = add_order_node(t, &none, 0, err);
    while (status == MO_OK) {
        size_t least = 0;

        for (size_t i = 1; i < t->n; i++)
            if (t->nodes[i].bound_ns < t->nodes[least].bound_ns)
                least = i;
        *bound_ns = t->nodes[least].bound_ns;
        if (*bound_ns > most_ns)
            *bound_ns = most_ns;
        if (!t->is_ordered || is_done(t, &t->nodes[least]))
            break;
        status = branch_order(t, least, err);
    }
    return status;
}

/* Returns whether a limit excludes a device for any op. */
static bool limit_excludes(order_search *t, int64_t limit_ns)
{
    mo_load_arrival_order none = { .open = true };

    t->f->limit_ns = limit_ns;
    mo_load_set_arrival_order(t->f, &none);
    return t->f->has_exclusions;
}

/*
 * Destructive improvement: an op whose head and tail on a device exceed a
 * limit does not run there in any schedule within it. If the bound for those
 * schedules reaches the limit, there are none, and the limit itself is a lower
 * bound.
 */
static mo_status tighten_by_limit(order_search *t, int64_t *bound_ns,
                                  mo_error *err)
{
    int64_t price_ns = t->f->least_price_ns, step_ns = *bound_ns / 32;
    mo_status status = MO_OK;
    bool grows = true;

    for (int i = 0;
         i < MAX_LIMITS && step_ns > *bound_ns / LIMIT_GAP && status == MO_OK &&
         limit_excludes(t, *bound_ns - price_ns + step_ns);
         i++) {
        int64_t limit_ns = *bound_ns - price_ns + step_ns, found_ns = 0;

        status = branch_and_bound(t, limit_ns, &found_ns, err);
        if (status == MO_OK && found_ns > *bound_ns)
            *bound_ns = found_ns;
        grows = grows && found_ns == limit_ns + price_ns;
        step_ns = grows ? 2 * step_ns : step_ns / 2;
    }
    return status;
}

static mo_status bound_fork(const mo_forkjoin *fork, const mo_regime *regime,
                            int a, int b, const int64_t *price_ns,
                            int64_t *bound_ns, double *used_bytes,
                            mo_error *err)
{
    mo_load_problem f;
    order_search t = { .f = &f };
    int64_t found_ns = 0;
    mo_status status = mo_load_problem_init(&f, fork, regime, a, b, err);

    if (status != MO_OK)
        return status;
    if (price_ns)
        mo_load_problem_set_prices(&f, fork, price_ns);
    t.is_ordered =
        f.broadcast_row >= 0 && regime->congestion == MO_CONGESTION_PORT;
    status = mo_load_master_new(&f, &t.master, err);
    if (status == MO_OK)
        status = branch_and_bound(&t, MO_LOAD_INFINITY, &found_ns, err);
    if (status == MO_OK && used_bytes)
        memcpy(used_bytes, mo_load_master_used_bytes(t.master),
               (size_t) f.n_devices * sizeof *used_bytes);
    if (status == MO_OK)
        status = tighten_by_limit(&t, &found_ns, err);
    if (status == MO_OK)
        *bound_ns = found_ns;
    mo_load_master_free(t.master);
    free(t.nodes);
    mo_load_problem_clear(&f);
    return status;
}

mo_status mo_load_bound(const mo_forkjoin *fork, const mo_regime *regime, int a,
                        int b, int64_t *bound_ns, mo_error *err)
{
    return bound_fork(fork, regime, a, b, NULL, bound_ns, NULL, err);
}

mo_status mo_load_bound_priced(const mo_forkjoin *fork, const mo_regime *regime,
                               int a, int b, const int64_t *price_ns,
                               int64_t *bound_ns, double *used_bytes,
                               mo_error *err)
{
    return bound_fork(fork, regime, a, b, price_ns, bound_ns, used_bytes, err);
}
