/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/branch_and_price.h"

#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "solvers/search/bound/colgen/branching.h"
#include "solvers/search/bound/colgen/column_pool.h"
#include "solvers/search/bound/colgen/master.h"

/*
 * Depth-first branch and bound: a node that the master does not refute is
 * divided into two children, until all nodes are refuted, or one is left that
 * cannot be divided, or a limit is reached.
 */

enum {
    MIN_CELLS = 100,
    MAX_CELLS = 700,
    PRICING_WORK = 600000, /* table entries that one pricing fills */
    MAX_WORK = 8000000,    /* with the fewest cells: beyond it, not worth it */
    MAX_DEVICES = 16,
    MAX_CLASSES = 128, /* each is a variable of a dense LP, with rows */
    MAX_DEPTH = 64,
    MAX_NODES = 24, /* at effort 1 */
    MAX_EFFORT = 16
};

/* Iterations and rounds of separation.  At a node branching early is quicker;
 * leaves are nodes without arrivals to branch on.  The rounding heuristic does
 * not branch: the fractional solution of its root should be close to
 * feasible. */
static const mo_cg_effort node_effort = { 60, 2 }, leaf_effort = { 240, 16 },
                          root_effort = { 120, 8 };

#define MIDDLE 0.5

/*
 * Rounding: the columns of a class, one after the other, divide its branches
 * by their weights; a branch follows the column that a point of it, such as
 * its middle, falls into:
 *
 * column  |---- 1 ----|-- 2 --|------- 3 -------|
 * branch  |  0  |  1  |  2  |  3  |  4  |  5  |
 *
 * Equals within a branch are divided the same way, each for itself, so that
 * branches of many equal parts do not all follow one column.
 */

/* Returns the column at this part of the total weight, NULL if none has
 * weight. */
static const mo_cg_column *column_at(const mo_cg_column_pool *pool, int class,
                                     double part)
{
    const mo_cg_column *last = NULL;
    double total = 0, sum = 0;

    for (size_t i = 0; i < pool->n; i++)
        if (pool->columns[i]->class == class)
            total += pool->columns[i]->weight;
    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->columns[i];

        if (p->class != class || p->weight <= 0)
            continue;
        last = p;
        sum += p->weight;
        if (sum >= part * total)
            break;
    }
    return last;
}

typedef struct rounding {
    const mo_cg_problem *c;
    double point;         /* of a branch, from 0 to 1 */
    int first_op, *place; /* position in the segment: place[op - first_op] */
    int *device;
    int64_t *start_ns;
} rounding;

/* Rounds op j of a branch; seen counts the equal ops before it in the branch.
 * Returns false if its class has no column. */
static bool round_op(const rounding *s, const mo_cg_column_pool *pool,
                     int class, int branch, int j, int seen)
{
    const mo_cg_tree *tree = s->c->tree;
    const mo_forkjoin_class *of = &s->c->fork->classes[class];
    int node = tree->node_of[tree->start[class] + j];
    int at = s->place[of->members[branch * of->n + j] - s->first_op];
    double equals = (double) of->count * tree->nodes[node].total;
    double number = (double) branch * tree->nodes[node].total + seen;
    const mo_cg_column *p =
        column_at(pool, class, (number + s->point) / equals);

    if (!p)
        return false;
    s->device[at] = p->device[node - tree->root[class]];
    s->start_ns[at] = p->start[node - tree->root[class]] / s->c->cells;
    return true;
}

static bool round_class(const rounding *s, const mo_cg_column_pool *pool,
                        int class, int *seen)
{
    const mo_cg_tree *tree = s->c->tree;
    const mo_forkjoin_class *of = &s->c->fork->classes[class];

    for (int branch = 0; branch < of->count; branch++) {
        for (int i = 0; i < tree->n; i++)
            seen[i] = 0;
        for (int j = 0; j < of->n; j++)
            if (!round_op(s, pool, class, branch, j,
                          seen[tree->node_of[tree->start[class] + j]]++))
                return false;
    }
    return true;
}

static mo_status round_columns(const mo_cg_problem *c,
                               const mo_cg_column_pool *pool, double point,
                               int *device, int64_t *start_ns, bool *suggested,
                               mo_error *err)
{
    const mo_bound_segment *segment = &c->fork->segment;
    rounding s = {
        .c = c, .point = point, .device = device, .start_ns = start_ns
    };
    int last, *seen = calloc((size_t) c->n_nodes + 1, sizeof *seen);

    s.first_op = last = segment->ops[0];
    for (int i = 1; i < segment->n; i++) {
        s.first_op = mo_min_int(s.first_op, segment->ops[i]);
        last = mo_max_int(last, segment->ops[i]);
    }
    s.place = calloc((size_t) (last - s.first_op) + 1, sizeof *s.place);
    if (!seen || !s.place) {
        free(seen);
        free(s.place);
        return mo_fail_memory(err);
    }
    for (int i = 0; i < segment->n; i++)
        s.place[segment->ops[i] - s.first_op] = i;
    *suggested = true;
    for (int i = 0; i < c->fork->n_classes && *suggested; i++)
        *suggested = round_class(&s, pool, i, seen);
    free(seen);
    free(s.place);
    return MO_OK;
}

typedef struct tree_search {
    const mo_cg_problem *c;
    mo_cg_master *master;
    const mo_stop *stop;
    mo_cg_node *stack[MAX_DEPTH + MO_CG_MAX_CHILDREN];
    int n;          /* on the stack */
    int nodes_left; /* limit of nodes to process */
    bool branches_on_arrivals;
} tree_search;

static bool may_continue(const tree_search *s)
{
    return s->nodes_left > 0 && s->n < MAX_DEPTH && !mo_stop_reached(s->stop);
}

/* Pops the last node: prunes it, or pushes its children. *unresolved is set
 * where neither was possible. */
static mo_status process_node(tree_search *s, bool *unresolved, mo_error *err)
{
    mo_cg_node *state = s->stack[--s->n];
    mo_cg_node *children[MO_CG_MAX_CHILDREN];
    int n = 0;
    bool refuted = !mo_cg_node_propagate(s->c, state);
    mo_status status = MO_OK;

    s->nodes_left--;
    if (!refuted) {
        /* Solves the master with little effort and branches on arrivals; where
         * those are decided, solves it with more effort. */
        const mo_cg_column_pool *pool = mo_cg_master_columns(s->master);
        status = mo_cg_master_solve(s->master, state, &node_effort, s->stop,
                                    &refuted, err);

        if (status == MO_OK && !refuted && may_continue(s) &&
            s->branches_on_arrivals)
            status =
                mo_cg_branch_on_arrival(s->c, state, pool, children, &n, err);
        if (!(status != MO_OK || refuted || n > 0 || !may_continue(s)))
            status = mo_cg_master_solve(s->master, state, &leaf_effort, s->stop,
                                        &refuted, err);
    }
    for (int i = 0; i < n; i++)
        s->stack[s->n++] = children[i];
    *unresolved = !refuted && n == 0;
    mo_cg_node_free(state);
    return status;
}

/* Prepares the search; the stack stays empty where propagation of the root
 * proves infeasibility already. */
static mo_status search_init(tree_search *s, const mo_cg_problem *c, int effort,
                             mo_error *err)
{
    mo_status status;

    *s = (tree_search){ .c = c,
                        .nodes_left = MAX_NODES << (effort - 1),
                        .branches_on_arrivals =
                            !mo_ablated(MO_ABLATION_colgen_arrival_branching) };
    status = mo_cg_node_new(c, &s->stack[0], err);
    if (status != MO_OK)
        return status;
    s->n = 1;
    if (mo_cg_node_propagate(c, s->stack[0]))
        return mo_cg_master_new(c, s->stack[0], &s->master, err);
    mo_cg_node_free(s->stack[--s->n]);
    return MO_OK;
}

/* Returns the number of cells: the larger the problem, the coarser the grid;
 * 0: too large. */
static int choose_cells(const mo_forkjoin *fork, const mo_cg_tree *tree)
{
    int64_t n_devices = fork->places->x->n_devices;
    int64_t work = tree->n * n_devices * n_devices; /* for each cell */
    int64_t cells = PRICING_WORK / work;

    if (work * MIN_CELLS > MAX_WORK)
        return 0;
    if (cells < MIN_CELLS)
        return MIN_CELLS;
    return cells < MAX_CELLS ? (int) cells : MAX_CELLS;
}

/* The data of a search. c is NULL where the problem is too large or empty. */
typedef struct subproblem {
    mo_cg_tree *tree;
    mo_cg_problem *c;
} subproblem;

static mo_status subproblem_init(const mo_forkjoin_case *at, int64_t time_ns,
                                 const mo_cg_budget *budget, subproblem *q,
                                 mo_error *err)
{
    const mo_forkjoin *fork = at->fork;
    int cells;
    mo_status status;

    *q = (subproblem){ NULL, NULL };
    if ((fork->relaxed && mo_ablated(MO_ABLATION_in_forest)) ||
        fork->n_classes == 0 || fork->n_classes > MAX_CLASSES ||
        fork->places->x->n_devices > MAX_DEVICES)
        return MO_OK;
    status = mo_cg_tree_new(fork, &q->tree, err);
    if (status != MO_OK)
        return status;
    cells = choose_cells(fork, q->tree);
    if (cells > 0)
        status = mo_cg_problem_new(at, q->tree, time_ns, cells, &q->c, err);
    if (status == MO_OK && q->c && budget)
        status = mo_cg_problem_set_budget(q->c, budget, err);
    return status;
}

static void subproblem_clear(subproblem *q)
{
    mo_cg_problem_free(q->c);
    mo_cg_tree_free(q->tree);
}

struct mo_cg_search {
    subproblem subproblem;
    tree_search tree_search;
};

static mo_status open_search(const mo_forkjoin_case *at, int64_t time_ns,
                             int effort, const mo_cg_budget *budget,
                             mo_cg_search **search, mo_error *err)
{
    mo_cg_search *q = calloc(1, sizeof *q);
    mo_status status = q ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK && !mo_ablated(MO_ABLATION_colgen_refutation))
        status = subproblem_init(at, time_ns, budget, &q->subproblem, err);
    if (status == MO_OK && q->subproblem.c)
        status =
            search_init(&q->tree_search, q->subproblem.c,
                        mo_max_int(1, mo_min_int(effort, MAX_EFFORT)), err);
    if (status == MO_OK)
        *search = q;
    else
        mo_cg_search_free(q);
    return status;
}

mo_status mo_cg_search_new(const mo_forkjoin_case *c, int64_t time_ns,
                           int effort, mo_cg_search **search, mo_error *err)
{
    return open_search(c, time_ns, effort, NULL, search, err);
}

void mo_cg_search_free(mo_cg_search *q)
{
    if (!q)
        return;
    while (q->tree_search.n > 0)
        mo_cg_node_free(q->tree_search.stack[--q->tree_search.n]);
    mo_cg_master_free(q->tree_search.master);
    subproblem_clear(&q->subproblem);
    free(q);
}

mo_status mo_cg_search_run(mo_cg_search *q, int64_t steps,
                           const mo_cg_options *options, bool *done,
                           bool *refuted, mo_error *err)
{
    tree_search *s = &q->tree_search;

    *done = true;
    *refuted = q->subproblem.c && s->n == 0;
    if (options->suggested)
        *options->suggested = false;
    if (s->n == 0)
        return MO_OK;
    s->stop = options->stop;

    /* Runs until all nodes are pruned, or one stays unresolved, or the
     * iterations of this slice are done. */
    int64_t before = mo_cg_master_iterations(s->master);
    bool unresolved = false;
    mo_status status = MO_OK;

    while (s->n > 0 && !unresolved && status == MO_OK &&
           mo_cg_master_iterations(s->master) - before <= steps)
        status = process_node(s, &unresolved, err);
    *done = status != MO_OK || unresolved || s->n == 0;
    *refuted = status == MO_OK && !unresolved && s->n == 0;
    if (unresolved && options->device)
        status = round_columns(s->c, mo_cg_master_columns(s->master), MIDDLE,
                               options->device, options->start_ns,
                               options->suggested, err);
    return status;
}

mo_status mo_cg_refute(const mo_forkjoin_case *c, int64_t time_ns,
                       const mo_cg_options *options, bool *refuted,
                       mo_error *err)
{
    mo_cg_search *q = NULL;
    bool done;
    mo_status status =
        open_search(c, time_ns, options->effort, options->budget, &q, err);

    *refuted = false;
    if (status == MO_OK)
        status =
            mo_cg_search_run(q, options->steps > 0 ? options->steps : INT64_MAX,
                             options, &done, refuted, err);
    mo_cg_search_free(q);
    return status;
}

/*
 * A schedule whose time t and prices are together less than the target has
 *
 *     least time <= t <= target - 1 - least prices.
 *
 * These times are divided into intervals.  If t is in [from, to], the prices
 * are at most target - 1 - from: no such schedule exists if none within the
 * horizon `to` has prices within that budget (branch_and_price.h), or if its
 * prices and any resource's load exceed the target together: that does not
 * depend on t, so that intervals are wide.  One that is not refuted is halved.
 */

enum {
    FIRST_INTERVALS = 2, /* at first the times are divided by this */
    LEAST_WIDTH = 400,   /* an interval is no less than target / 400 */
    MAX_FAILURES = 4,    /* intervals that are not refuted, in all */
    INTERVAL_STEPS = 300 /* iterations of the master for an interval */
};

/* The least prices of all branches together. */
static int64_t least_prices_ns(const mo_cg_priced_task *t)
{
    const mo_allowed_devices *places = t->at.fork->places;
    int n_devices = places->x->n_devices;
    int64_t sum = 0;

    for (int c = 0; c < t->at.fork->n_classes; c++) {
        const mo_forkjoin_class *class = &t->at.fork->classes[c];

        for (int i = 0; i < class->count * class->n; i++) {
            int64_t least = INT64_MAX;

            for (int k = 0; k < n_devices; k++)
                least = mo_min_i64(
                    least,
                    t->price_ns[(int64_t) class->members[i] * n_devices + k]);
            sum += least;
        }
    }
    return sum;
}

mo_status mo_cg_priced_refute(const mo_cg_priced_task *t, int64_t target_ns,
                              bool *refuted, int *n_calls, mo_error *err)
{
    int64_t from_ns = mo_max_i64(t->least_ns, 1);
    int64_t last_ns = target_ns - 1 - least_prices_ns(t);
    int64_t least_width = target_ns / LEAST_WIDTH + 1;
    int64_t width =
        mo_max_i64((last_ns - from_ns) / FIRST_INTERVALS + 1, least_width);
    mo_status status = MO_OK;
    int failures = 0;

    *refuted = false;
    if (mo_ablated(MO_ABLATION_colgen_priced_refutation))
        return MO_OK;
    while (from_ns <= last_ns) {
        int64_t to_ns = mo_min_i64(from_ns + width - 1, last_ns);
        bool done = false;

        if (mo_stop_reached(t->stop))
            return MO_OK;
        ++*n_calls;

        /* Refutes times within an interval. */
        /* A nanosecond more than the budget: far above what division rounds. */
        mo_cg_budget budget = { .ns = (double) (target_ns - from_ns),
                                .op_price_ns = t->price_ns,
                                .sum_ns = (double) target_ns,
                                .from_ns = from_ns };
        mo_cg_options options = { .effort = 1,
                                  .stop = t->stop,
                                  .budget = &budget,
                                  .steps = INTERVAL_STEPS };

        status = mo_cg_refute(&t->at, to_ns, &options, &done, err);
        failures += !done;
        if (status != MO_OK || failures == MAX_FAILURES ||
            (!done && width <= least_width))
            return status;
        if (done) {
            from_ns = to_ns + 1;
            width += width / 2;
        } else {
            width = mo_max_i64(width / 2, least_width);
        }
    }
    *refuted = true;
    return MO_OK;
}

struct mo_cg_relaxation {
    subproblem subproblem;
    mo_cg_node *root;
    mo_cg_master *master;
};

static mo_status solve_root(mo_cg_relaxation *r, const bool *receives,
                            const mo_stop *stop, bool *refuted, mo_error *err)
{
    const mo_cg_problem *c = r->subproblem.c;
    mo_status status = mo_cg_node_new(c, &r->root, err);

    /* Requires the broadcast tensor on these devices and forbids it on the
     * others. */
    for (int k = 0; k < c->n_devices && receives && status == MO_OK; k++)
        if (r->root->arrival[k] == MO_CG_ARRIVAL_UNDECIDED)
            r->root->arrival[k] =
                receives[k] ? MO_CG_ARRIVAL_REQUIRED : MO_CG_ARRIVAL_FORBIDDEN;
    *refuted = status == MO_OK && !mo_cg_node_propagate(c, r->root);
    if (status != MO_OK || *refuted)
        return status;
    status = mo_cg_master_new(c, r->root, &r->master, err);
    return status == MO_OK
               ? mo_cg_master_solve(r->master, r->root, &root_effort, stop,
                                    refuted, err)
               : status;
}

mo_status mo_cg_relaxation_new(const mo_forkjoin_case *c, int64_t time_ns,
                               const bool *receives, const mo_cg_budget *budget,
                               const mo_stop *stop,
                               mo_cg_relaxation **relaxation, mo_error *err)
{
    mo_cg_relaxation *r;
    bool refuted = true;
    mo_status status;

    *relaxation = NULL;
    if (mo_ablated(MO_ABLATION_colgen_relaxation))
        return MO_OK;
    r = calloc(1, sizeof *r);
    if (!r)
        return mo_fail_memory(err);
    status = subproblem_init(c, time_ns, budget, &r->subproblem, err);
    if (status == MO_OK && r->subproblem.c)
        status = solve_root(r, receives, stop, &refuted, err);
    if (status == MO_OK && !refuted)
        *relaxation = r;
    else
        mo_cg_relaxation_free(r);
    return status;
}

void mo_cg_relaxation_free(mo_cg_relaxation *r)
{
    if (!r)
        return;
    mo_cg_master_free(r->master);
    mo_cg_node_free(r->root);
    subproblem_clear(&r->subproblem);
    free(r);
}

mo_status mo_cg_relaxation_round(const mo_cg_relaxation *r, double point,
                                 mo_decomp_solution_hint *hint, bool *suggested,
                                 mo_error *err)
{
    return round_columns(r->subproblem.c, mo_cg_master_columns(r->master),
                         point, hint->device, hint->start_ns, suggested, err);
}
