#include "solvers/search/fork_fast.h"

#include <stdlib.h>

#include "base/array.h"
#include "solvers/search/fork_fast_parts.h"

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

enum { MAX_ORDERS = 96, CLOSE = 4096 }; /* one part of so many is no matter */

typedef struct place_in_tree {
    mo_fast_order order;
    int64_t bound_ns;
} node;

typedef struct tree {
    const mo_fast *f;
    mo_fast_master *master;
    node *nodes; /* leaves of the tree */
    size_t n, room;
    int looked_at;
    int64_t closed_ns; /* the least bound of an order that is not open */
} tree;

/* floor_ns: a bound that is known already. */
static mo_status add(tree *t, const mo_fast_order *order, int64_t floor_ns,
                     mo_error *err)
{
    node fresh = { .order = *order };
    mo_status status = MO_PUSH(t->nodes, t->n, t->room, err);

    if (status == MO_OK)
        status =
            mo_fast_bound(t->master, order, t->closed_ns, &fresh.bound_ns, err);
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

/* Replaces a node by what may come next. */
static mo_status expand(tree *t, size_t at, mo_error *err)
{
    node parent = t->nodes[at];
    mo_fast_order order = parent.order;
    mo_status status;

    t->nodes[at] = t->nodes[--t->n];
    order.n++;
    for (int k = 0; k < t->f->n_devices; k++) {
        bool there = k == t->f->a;

        for (int j = 0; j < parent.order.n; j++)
            there = there || parent.order.device[j] == k;
        if (there)
            continue;
        order.device[order.n - 1] = k;
        order.open = order.n < t->f->n_devices - 1;
        status = add(t, &order, parent.bound_ns, err);
        if (status != MO_OK)
            return status;
    }
    order = parent.order;
    order.open = false;
    return add(t, &order, parent.bound_ns, err);
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
    return !least->order.open || least->order.n == MO_FAST_ORDERED ||
           least->bound_ns >= t->closed_ns - t->closed_ns / CLOSE ||
           t->looked_at + t->f->n_devices > MAX_ORDERS;
}

static mo_status search(tree *t, bool ordered, int64_t *bound_ns, mo_error *err)
{
    mo_fast_order none = { .open = true };
    mo_status status = add(t, &none, 0, err);

    while (status == MO_OK) {
        size_t least = find_least(t);

        *bound_ns = t->nodes[least].bound_ns;
        if (!ordered || is_enough(t, &t->nodes[least]))
            break;
        status = expand(t, least, err);
    }
    return status;
}

mo_status mo_fork_fast(const mo_fork *fork, const mo_regime *regime, int a,
                       int b, int64_t *bound_ns, mo_error *err)
{
    mo_fast f;
    tree t = { .f = &f, .closed_ns = MO_FAST_NEVER };
    int64_t found_ns = 0;
    mo_status status = mo_fast_begin(&f, fork, regime, a, b, err);

    if (status != MO_OK)
        return status;
    status = mo_fast_master_new(&f, &t.master, err);
    if (status == MO_OK)
        status = search(
            &t, f.shared_row >= 0 && regime->congestion == MO_CONGESTION_PORT,
            &found_ns, err);
    if (status == MO_OK)
        *bound_ns = found_ns;
    mo_fast_master_free(t.master);
    free(t.nodes);
    mo_fast_end(&f);
    return status;
}
