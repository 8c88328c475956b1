/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/load/load_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/minmax.h"
#include "solvers/search/bound/load/load_bound_internal.h"

/*
 * Best-first branch and bound over orders of arrival, and then over numbers of
 * equal branches (cases.c). Where ports are a bottleneck, the broadcast tensor
 * reaches one device after the other, and the order matters. Nodes are prefixes
 * of orders, with limits:
 *
 *                 (open)
 *            /     |     \
 *           B..    C..    none
 *         /  |  \         /    \
 *      B C.. ...  B alone  at most / at least so many with an op on a device
 *
 * The least bound of the leaves is a lower bound for all schedules at any time;
 * when it is that of a node that cannot be divided, no more can be gained.
 */

enum {
    PAIR_WORK = 4000, /* of two ops of branches in a bound (mo_stop_spend) */
    MAX_ORDERS = 96,
    GAP = 4096,        /* relative gap 1 / 4096: not worth branching */
    TRIAL_PART = 4,    /* a quarter of the cases is evaluated first */
    TRIAL_GAIN = 1024, /* the others run only if the bound rose by 1/1024 */
    LIMIT_GAP = 256,   /* relative gap of the limits */
    MAX_LIMITS = 10
};

typedef struct case_node {
    mo_load_arrival_order order;
    int n_limits;
    mo_load_limit limits[MO_LOAD_MAX_LIMITS];
    mo_load_fractions fractions; /* to branch on */
    int64_t bound_ns;
} case_node;

typedef struct case_search {
    mo_load_problem *f;
    mo_load_master *master;
    bool is_ordered;  /* the order of arrivals matters */
    case_node *nodes; /* leaves */
    size_t n, room;
    int n_evaluated;
    int max_cases;         /* nodes with limits, at most */
    int64_t trial_goal_ns; /* bound that the first cases have to reach */
    int64_t closed_ns; /* least bound of a node that cannot be divided, or the
                          limit */
} case_search;

/* Stores in *bound_ns a bound for a node, at most enough_ns. */
static mo_status evaluate_node(case_search *t, const case_node *node,
                               int64_t enough_ns, int64_t *bound_ns,
                               mo_error *err)
{
    mo_status status;

    t->f->cases.limits = node->limits;
    t->f->cases.n_limits = node->n_limits;
    status =
        mo_load_master_bound(t->master, &node->order, enough_ns, bound_ns, err);
    t->f->cases.n_limits = 0;
    t->f->cases.limits = NULL;
    return status;
}

/* Evaluates a node; its bound_ns is one already known, that of its parent. */
static mo_status complete_node(case_search *t, case_node *node, mo_error *err)
{
    int64_t bound_ns = 0;
    mo_status status = evaluate_node(t, node, t->closed_ns, &bound_ns, err);

    t->n_evaluated++;
    node->fractions = *mo_load_master_fractions(t->master);
    if (bound_ns > node->bound_ns)
        node->bound_ns = bound_ns;
    return status;
}

/* Adds a node that has been evaluated. */
static mo_status keep_node(case_search *t, const case_node *node, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(t->nodes, t->n, t->room, err);

    if (status != MO_OK)
        return status;
    if ((!t->is_ordered || !node->order.open) && node->fractions.n == 0 &&
        node->bound_ns < t->closed_ns)
        t->closed_ns = node->bound_ns;
    t->nodes[t->n++] = *node;
    return MO_OK;
}

static mo_status add_node(case_search *t, const case_node *node, mo_error *err)
{
    case_node fresh = *node;
    mo_status status = complete_node(t, &fresh, err);

    return status == MO_OK ? keep_node(t, &fresh, err) : status;
}

static void remove_node(case_search *t, size_t at)
{
    t->n--;
    if (at < t->n)
        t->nodes[at] = t->nodes[t->n];
}

/* Replaces a node by its children. The closed order comes first: its bound
 * cuts off the evaluation of the others. */
static mo_status branch_order(case_search *t, size_t at, mo_error *err)
{
    case_node parent = t->nodes[at], node = parent;
    mo_status status;

    remove_node(t, at);
    node.order.open = false;
    status = add_node(t, &node, err);
    node.order.n++;
    node.order.open = node.order.n < t->f->n_devices - 1;
    for (int k = 0; k < t->f->n_devices && status == MO_OK; k++) {
        bool there = k == t->f->u_device;

        for (int j = 0; j < parent.order.n; j++)
            there = there || parent.order.device[j] == k;
        if (there)
            continue;
        node.order.device[node.order.n - 1] = k;
        status = add_node(t, &node, err);
    }
    return status;
}

/* Replaces a node by the two cases of one of its fractions: the one whose
 * bounds gain most (strong branching: Applegate et al., 1995). */
static mo_status branch_number(case_search *t, size_t at, mo_error *err)
{
    case_node node = t->nodes[at], pair[2], best[2];
    double most = -1;
    mo_status status = MO_OK;

    for (int i = 0; i < node.fractions.n && status == MO_OK; i++) {
        double gain;

        /* The two cases of a fraction. */
        const mo_load_fraction *x = &node.fractions.items[i];
        int n = t->f->ops[x->where.op].count;

        pair[0] = pair[1] = node;
        if (!(mo_load_limits_add(
                  pair[0].limits, &pair[0].n_limits,
                  (mo_load_limit){ x->where, false, x->floor }) &&
              mo_load_limits_add(
                  pair[1].limits, &pair[1].n_limits,
                  (mo_load_limit){ x->where, true, n - x->floor - 1 })))
            continue;
        for (int j = 0; j < 2 && status == MO_OK; j++)
            status = complete_node(t, &pair[j], err);
        gain = ((double) (pair[0].bound_ns - node.bound_ns) + 1) *
               ((double) (pair[1].bound_ns - node.bound_ns) + 1);
        if (gain <= most)
            continue;
        most = gain;
        memcpy(best, pair, sizeof best);
    }
    if (status == MO_OK && most < 0) {
        t->nodes[at].fractions.n = 0;
        return MO_OK;
    }
    remove_node(t, at);
    for (int j = 0; j < 2 && status == MO_OK; j++)
        status = keep_node(t, &best[j], err);
    return status;
}

static size_t least_node(const case_search *t)
{
    size_t least = 0;

    for (size_t i = 1; i < t->n; i++)
        if (t->nodes[i].bound_ns < t->nodes[least].bound_ns)
            least = i;
    return least;
}

/* Stores a lower bound for schedules within the limit, at most the limit; with
 * prices, at most the limit and the least prices. */
static mo_status branch_and_bound(case_search *t, int64_t limit_ns,
                                  int64_t *bound_ns, mo_error *err)
{
    case_node root = { .order = { .open = true } };
    /* The sum of a time and the least prices. */
    int64_t most_ns = limit_ns < MO_LOAD_INFINITY
                          ? limit_ns + t->f->least_price_ns
                          : limit_ns;
    mo_status status;

    t->f->limit_ns = limit_ns;
    t->closed_ns = most_ns;
    t->n = 0;
    t->n_evaluated = 0;
    status = add_node(t, &root, err);
    while (status == MO_OK) {
        size_t least = least_node(t);
        const case_node *node = &t->nodes[least];
        int most_cases = node->bound_ns < t->trial_goal_ns
                             ? t->max_cases / TRIAL_PART
                             : t->max_cases;

        *bound_ns = node->bound_ns < most_ns ? node->bound_ns : most_ns;
        if (node->bound_ns >= t->closed_ns - t->closed_ns / GAP)
            break;
        if (t->is_ordered && node->order.open &&
            node->order.n < MO_LOAD_MAX_ARRIVALS &&
            t->n_evaluated + t->f->n_devices <= MAX_ORDERS)
            status = branch_order(t, least, err);
        else if (node->fractions.n > 0 && t->n_evaluated < most_cases)
            status = branch_number(t, least, err);
        else
            break;
    }
    return status;
}

/* Returns whether a limit excludes a device for any op. */
static bool limit_excludes(case_search *t, int64_t limit_ns)
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
static mo_status tighten_by_limit(case_search *t, int64_t *bound_ns,
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

/* Raises *bound_ns by cases of integers; used_bytes becomes that of the case
 * that has the bound. */
static mo_status tighten_by_cases(case_search *t, int max_cases,
                                  int64_t *bound_ns, double *used_bytes,
                                  mo_error *err)
{
    int64_t found_ns = 0, ignored;
    mo_status status;

    mo_load_problem_set_cases(t->f);
    t->max_cases = max_cases;
    t->trial_goal_ns = *bound_ns + *bound_ns / TRIAL_GAIN;
    status = branch_and_bound(t, MO_LOAD_INFINITY, &found_ns, err);
    if (status != MO_OK || found_ns <= *bound_ns)
        return status;
    *bound_ns = found_ns;
    if (used_bytes) {
        status = evaluate_node(t, &t->nodes[least_node(t)], MO_LOAD_INFINITY,
                               &ignored, err);
        memcpy(used_bytes, mo_load_master_used_bytes(t->master),
               (size_t) t->f->n_devices * sizeof *used_bytes);
    }
    return status;
}

/* Sets up the search and runs it without a limit. The caller closes it,
 * whatever the result. */
static mo_status open_search(const mo_forkjoin_case *at,
                             const int64_t *price_ns, mo_load_problem *f,
                             case_search *t, int64_t *bound_ns, mo_error *err)
{
    mo_status status = mo_load_problem_init(f, at, err);

    *t = (case_search){ .f = f };
    if (status != MO_OK)
        return status;
    if (price_ns)
        mo_load_problem_set_prices(f, at->fork, price_ns);
    t->is_ordered = f->broadcast_row >= 0 &&
                    f->congestion == MO_CONGESTION_PORT &&
                    !mo_ablated(MO_ABLATION_load_orders);
    status = mo_load_master_new(f, &t->master, err);
    return status == MO_OK
               ? branch_and_bound(t, MO_LOAD_INFINITY, bound_ns, err)
               : status;
}

static void close_search(case_search *t)
{
    mo_load_master_free(t->master);
    free(t->nodes);
    mo_load_problem_clear(t->f);
}

static mo_status bound_fork(const mo_forkjoin_case *at, const int64_t *price_ns,
                            int max_cases, int64_t *bound_ns,
                            double *used_bytes, mo_error *err)
{
    size_t n_devices = (size_t) at->fork->places->x->n_devices;
    mo_load_problem f;
    case_search t;
    int64_t found_ns = 0;
    mo_status status;

    if (mo_ablated(price_ns ? MO_ABLATION_load_bound_priced
                            : MO_ABLATION_load_bound) ||
        (at->fork->relaxed && mo_ablated(MO_ABLATION_in_forest))) {
        *bound_ns = 0;
        if (used_bytes)
            memset(used_bytes, 0, n_devices * sizeof *used_bytes);
        return MO_OK;
    }
    status = open_search(at, price_ns, &f, &t, &found_ns, err);
    if (status == MO_OK && used_bytes)
        memcpy(used_bytes, mo_load_master_used_bytes(t.master),
               n_devices * sizeof *used_bytes);
    if (status == MO_OK && !mo_ablated(MO_ABLATION_load_limits))
        status = tighten_by_limit(&t, &found_ns, err);
    if (status == MO_OK && max_cases > 0 && !mo_ablated(MO_ABLATION_load_cases))
        status = tighten_by_cases(&t, max_cases, &found_ns, used_bytes, err);
    if (status == MO_OK)
        *bound_ns = found_ns;
    close_search(&t);
    return status;
}

mo_status mo_load_bound(const mo_forkjoin_case *c, int64_t *bound_ns,
                        mo_error *err)
{
    return bound_fork(c, NULL, 0, bound_ns, NULL, err);
}

mo_status mo_load_bound_priced(const mo_forkjoin_case *c,
                               const int64_t *price_ns, int max_cases,
                               int64_t *bound_ns, double *used_bytes,
                               mo_error *err)
{
    return bound_fork(c, price_ns, max_cases, bound_ns, used_bytes, err);
}

mo_status mo_load_round(const mo_forkjoin_case *c, const int64_t *price_ns,
                        int *device, bool *found, mo_error *err)
{
    mo_load_problem f;
    case_search t;
    int64_t ignored = 0;
    mo_status status;

    *found = false;
    if (mo_ablated(MO_ABLATION_load_rounding))
        return MO_OK;
    status = open_search(c, price_ns, &f, &t, &ignored, err);
    if (status == MO_OK) {
        f.fork = c->fork;
        f.rounded = device;
        status = evaluate_node(&t, &t.nodes[least_node(&t)], MO_LOAD_INFINITY,
                               &ignored, err);
        *found = status == MO_OK && mo_load_master_is_rounded(t.master);
    }
    close_search(&t);
    return status;
}

int64_t mo_load_bound_work(const mo_forkjoin *fork)
{
    int64_t n = 1;

    for (int c = 0; fork && c < fork->n_classes; c++)
        n += fork->classes[c].n;
    return PAIR_WORK * n * n;
}
