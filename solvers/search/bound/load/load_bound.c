/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/load/load_bound.h"

#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/bound/load/load_bound_internal.h"

/*
 * Where ports are a bottleneck, u's shared tensor reaches one device after the
 * other, and which come first matters.  Orders are looked at by what they begin
 * with, the one with the least bound first:
 *
 *                 (open)
 *            /     |     \
 *           B..    C..    nobody
 *         /  |  \
 *      B C.. ...  B alone
 *
 * The least bound of those that are left is a bound for all: when it is that of
 * an order that is not open there is nothing more to be had, and before that,
 * too, work may end.
 */

enum {
    MAX_ORDERS = 96,
    CLOSE = 4096,       /* one part of so many is no matter, here */
    CLOSE_ENOUGH = 256, /* and here */
    MAX_LIMITS = 10
};

typedef struct place_in_tree {
    mo_load_arrival_order order;
    int64_t bound_ns;
} node;

typedef struct tree {
    mo_load_problem *f;
    mo_load_master *master;
    bool ordered; /* whether orders matter */
    node *nodes;  /* leaves of the tree */
    size_t n, room;
    int looked_at;
    int64_t closed_ns; /* the least bound of an order that is not open, or the
                          limit */
} tree;

/* floor_ns: a bound that is known already. */
static mo_status add(tree *t, const mo_load_arrival_order *order,
                     int64_t floor_ns, mo_error *err)
{
    node fresh = { .order = *order };
    mo_status status = MO_ARRAY_GROW(t->nodes, t->n, t->room, err);

    if (status == MO_OK)
        status = mo_load_master_bound(t->master, order, t->closed_ns,
                                      &fresh.bound_ns, err);
    if (status != MO_OK)
        return status;
    t->looked_at++;
    if (fresh.bound_ns < floor_ns)
        fresh.bound_ns = floor_ns;
    if (!order->open && fresh.bound_ns < t->closed_ns)
        t->closed_ns = fresh.bound_ns;
    t->nodes[t->n++] = fresh;
    return MO_OK;
}

/* Replaces a node by what may come next.  That nothing does comes first: what
 * is dearer than an order that is not open need not be looked at closely. */
static mo_status expand(tree *t, size_t at, mo_error *err)
{
    node parent = t->nodes[at];
    mo_load_arrival_order order = parent.order;
    mo_status status;

    t->nodes[at] = t->nodes[--t->n];
    order.open = false;
    status = add(t, &order, parent.bound_ns, err);
    order.n++;
    order.open = order.n < t->f->n_devices - 1;
    for (int k = 0; k < t->f->n_devices && status == MO_OK; k++) {
        bool there = k == t->f->a;

        for (int j = 0; j < parent.order.n; j++)
            there = there || parent.order.device[j] == k;
        if (there)
            continue;
        order.device[order.n - 1] = k;
        status = add(t, &order, parent.bound_ns, err);
    }
    return status;
}

static size_t find_least(const tree *t)
{
    size_t least = 0;

    for (size_t i = 1; i < t->n; i++)
        if (t->nodes[i].bound_ns < t->nodes[least].bound_ns)
            least = i;
    return least;
}

/* With less work than that, nothing would be gained by looking closer. */
static bool is_enough(const tree *t, const node *least)
{
    return !least->order.open || least->order.n == MO_LOAD_MAX_ARRIVALS ||
           least->bound_ns >= t->closed_ns - t->closed_ns / CLOSE ||
           t->looked_at + t->f->n_devices > MAX_ORDERS;
}

/* A bound for schedules within the limit, or else the limit. */
static mo_status search(tree *t, int64_t limit_ns, int64_t *bound_ns,
                        mo_error *err)
{
    mo_load_arrival_order none = { .open = true };
    mo_status status;

    t->f->limit_ns = t->closed_ns = limit_ns;
    t->n = 0;
    t->looked_at = 0;
    status = add(t, &none, 0, err);
    while (status == MO_OK) {
        size_t least = find_least(t);

        *bound_ns = t->nodes[least].bound_ns;
        if (*bound_ns > limit_ns)
            *bound_ns = limit_ns;
        if (!t->ordered || is_enough(t, &t->nodes[least]))
            break;
        status = expand(t, least, err);
    }
    return status;
}

/* Whether a limit takes a device from any op. */
static bool matters(tree *t, int64_t limit_ns)
{
    mo_load_arrival_order none = { .open = true };

    t->f->limit_ns = limit_ns;
    mo_load_set_arrival_order(t->f, &none);
    return t->f->denies;
}

/*
 * What takes too long on a device for a J within some limit is not there in any
 * such schedule.  A bound for those which is not below the limit says that
 * there are none of them, and the limit is a bound itself.
 */
static mo_status tighten(tree *t, int64_t *bound_ns, mo_error *err)
{
    int64_t step_ns = *bound_ns / 32;
    mo_status status = MO_OK;
    bool grows = true;

    for (int i = 0; i < MAX_LIMITS && step_ns > *bound_ns / CLOSE_ENOUGH &&
                    status == MO_OK && matters(t, *bound_ns + step_ns);
         i++) {
        int64_t limit_ns = *bound_ns + step_ns, found_ns = 0;

        status = search(t, limit_ns, &found_ns, err);
        if (status == MO_OK && found_ns > *bound_ns)
            *bound_ns = found_ns;
        grows = grows && found_ns == limit_ns;
        step_ns = grows ? 2 * step_ns : step_ns / 2;
    }
    return status;
}

mo_status mo_load_bound(const mo_forkjoin *fork, const mo_regime *regime, int a,
                        int b, int64_t *bound_ns, mo_error *err)
{
    mo_load_problem f;
    tree t = { .f = &f };
    int64_t found_ns = 0;
    mo_status status = mo_load_problem_init(&f, fork, regime, a, b, err);

    if (status != MO_OK)
        return status;
    t.ordered = f.shared_row >= 0 && regime->congestion == MO_CONGESTION_PORT;
    status = mo_load_master_new(&f, &t.master, err);
    if (status == MO_OK)
        status = search(&t, MO_LOAD_INFINITY, &found_ns, err);
    if (status == MO_OK)
        status = tighten(&t, &found_ns, err);
    if (status == MO_OK)
        *bound_ns = found_ns;
    mo_load_master_free(t.master);
    free(t.nodes);
    mo_load_problem_clear(&f);
    return status;
}
