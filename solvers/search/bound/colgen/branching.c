/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/branching.h"

#include <math.h>

#include "solvers/search/bound/colgen/left_shift.h"

#define NEGLIGIBLE  1e-4 /* of one branch, of an arrival */
#define UNDECIDED   0.02 /* of an arrival */
#define FINEST      0.01 /* of the horizon: arrivals are not split further */
#define LEAST_DOUBT 1e-9
#define WHOLE       0.08 /* so close to a whole number, a count is one */

/* How the shared tensor comes to a device, and is read there. */
typedef struct reading {
    double never;  /* part of it that does not come */
    double mean;   /* tick at which the rest has come, on average */
    double spread; /* distance from that, on average */
    double mass;   /* readers */
    double early;  /* readers times how much before the mean they start */
    int64_t first; /* start of a reader */
} reading;

static bool is_arrival(const mo_cg_column *p, int device)
{
    return p->class == MO_FREE && p->to == device && p->weight > NEGLIGIBLE;
}

static void find_arrival(const mo_cg_problem *c, const mo_cg_column_pool *pool,
                         int device, reading *r)
{
    double weight = 0;

    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->patterns[i];

        if (!is_arrival(p, device))
            continue;
        if (p->start[0] > c->horizon) {
            r->never += p->weight;
        } else {
            r->mean += p->weight * (double) p->start[0];
            weight += p->weight;
        }
    }
    r->mean = weight > 0 ? r->mean / weight : 0;
    for (size_t i = 0; i < pool->n && weight > 0; i++) {
        const mo_cg_column *p = pool->patterns[i];

        if (is_arrival(p, device) && p->start[0] <= c->horizon)
            r->spread +=
                p->weight / weight * fabs((double) p->start[0] - r->mean);
    }
}

static void add_reader(const mo_cg_problem *c, const mo_cg_column *p, int node,
                       reading *r)
{
    int64_t start = p->start[node - c->tree->root[p->class]];

    if (r->mass == 0 || start < r->first)
        r->first = start;
    r->mass += p->weight;
    r->early += p->weight * fmax(0, r->mean - (double) start);
}

static reading read_on(const mo_cg_problem *c, const mo_cg_column_pool *pool,
                       int device)
{
    reading r = { 0 };

    find_arrival(c, pool, device, &r);
    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->patterns[i];

        if (p->class == MO_FREE || p->weight <= NEGLIGIBLE)
            continue;
        for (int node = c->tree->root[p->class];
             node < c->n_nodes && c->tree->nodes[node].class == p->class;
             node++)
            if (c->from_u[node] == MO_CG_INPUT_BROADCAST &&
                p->device[node - c->tree->root[p->class]] == device)
                add_reader(c, p, node, &r);
    }
    return r;
}

static mo_status copy_two(const mo_cg_problem *c, const mo_cg_node *state,
                          mo_cg_node **parts, int *n, mo_error *err)
{
    mo_status status = mo_cg_node_copy(c, state, &parts[0], err);

    *n = 0;
    if (status != MO_OK)
        return status;
    status = mo_cg_node_copy(c, state, &parts[1], err);
    if (status == MO_OK)
        *n = 2;
    else
        mo_cg_node_free(parts[0]);
    return status;
}

static mo_status split_fate(const mo_cg_problem *c, const mo_cg_node *state,
                            int device, mo_cg_node **parts, int *n,
                            mo_error *err)
{
    mo_status status = copy_two(c, state, parts, n, err);

    if (status == MO_OK) {
        parts[0]->fate[device] = MO_CG_ARRIVAL_FORBIDDEN;
        parts[1]->fate[device] = MO_CG_ARRIVAL_REQUIRED;
    }
    return status;
}

/* At the mean, where arrivals lie on both sides of it; else between the first
 * reader and it. */
static int64_t middle_of(const mo_cg_node *state, int device, const reading *r)
{
    int64_t lo = state->lo[device], hi = state->hi[device];
    int64_t middle = (int64_t) r->mean;

    if (r->spread < UNDECIDED * (double) (hi - lo))
        middle = (r->first + middle) / 2;
    if (middle < lo + (hi - lo) / 4)
        middle = lo + (hi - lo) / 4;
    if (middle > lo + (hi - lo) / 2)
        middle = lo + (hi - lo) / 2;
    return middle;
}

/* Behind its first moment, where it cannot come for some time after that; else
 * in the middle. */
static mo_status split_arrival(const mo_cg_problem *c, const mo_cg_node *state,
                               int device, const reading *r, mo_cg_node **parts,
                               int *n, mo_error *err)
{
    int64_t lo = state->lo[device], last = lo;
    int64_t next = mo_cg_left_shift_next(c, state, device, lo + 1);
    mo_status status = copy_two(c, state, parts, n, err);

    if (next > state->hi[device])
        next = state->hi[device] + 1;
    if ((double) (next - lo) < FINEST * (double) c->horizon) {
        last = middle_of(state, device, r);
        next = last + 1;
    }
    if (status == MO_OK) {
        parts[0]->hi[device] = last;
        parts[1]->lo[device] = next;
    }
    return status;
}

/* What there is to decide about a device; 0: nothing.  Where ways agree on
 * whether it comes, that is still to be assumed: much follows from it. */
static double doubt(const mo_cg_problem *c, const mo_cg_node *state, int device,
                    const reading *r)
{
    double unsure = fmin(r->never, 1 - r->never);
    double when = (r->spread + r->early) / (double) c->horizon;
    int64_t width = state->hi[device] - state->lo[device];

    switch (state->fate[device]) {
    case MO_CG_ARRIVAL_UNDECIDED:
        return unsure < UNDECIDED && (r->mass < NEGLIGIBLE || when < NEGLIGIBLE)
                   ? LEAST_DOUBT
                   : 1 + unsure + when;
    case MO_CG_ARRIVAL_REQUIRED:
        return (double) width < FINEST * (double) c->horizon ||
                       when < NEGLIGIBLE
                   ? 0
                   : when;
    case MO_CG_ARRIVAL_FORBIDDEN:
        break;
    }
    return 0;
}

static int doubtful_device(const mo_cg_problem *c, const mo_cg_node *state,
                           const mo_cg_column_pool *pool, reading *worst)
{
    double most = 0;
    int best = MO_FREE;

    for (int k = 0; k < c->n_devices; k++) {
        reading r = read_on(c, pool, k);
        double now = doubt(c, state, k, &r);

        if (now > most) {
            most = now;
            best = k;
            *worst = r;
        }
    }
    return best;
}

mo_status mo_cg_branch_on_arrival(const mo_cg_problem *c,
                                  const mo_cg_node *state,
                                  const mo_cg_column_pool *pool,
                                  mo_cg_node *parts[MO_CG_MAX_CHILDREN], int *n,
                                  mo_error *err)
{
    reading r = { 0 };
    int device = doubtful_device(c, state, pool, &r);

    *n = 0;
    if (device == MO_FREE)
        return MO_OK;
    return state->fate[device] == MO_CG_ARRIVAL_UNDECIDED
               ? split_fate(c, state, device, parts, n, err)
               : split_arrival(c, state, device, &r, parts, n, err);
}

/* How many of a node's equals run on a device. */
static double count_on(const mo_cg_problem *c, const mo_cg_column_pool *pool,
                       int node, int device)
{
    int class = c->tree->nodes[node].class, root = c->tree->root[class];
    double sum = 0;

    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->patterns[i];

        if (p->class == class && p->device[node - root] == device)
            sum += p->weight;
    }
    return sum * c->fork->classes[class].count * c->tree->nodes[node].total;
}

static double distance(double count)
{
    return fabs(count - floor(count + 0.5));
}

/* The root, or else another node, with a count that is farthest from whole. */
static double broken_count(const mo_cg_problem *c,
                           const mo_cg_column_pool *pool, bool roots, int *node,
                           int *device)
{
    double count = 0;

    *node = MO_FREE;
    for (int i = 0; i < c->n_nodes; i++) {
        if ((c->tree->nodes[i].reader == MO_FREE) != roots)
            continue;
        for (int k = 0; k < c->n_devices; k++) {
            double on = count_on(c, pool, i, k);

            if (distance(on) > WHOLE &&
                (*node == MO_FREE || distance(on) > distance(count))) {
                count = on;
                *node = i;
                *device = k;
            }
        }
    }
    return count;
}

static mo_status split_count(const mo_cg_problem *c, const mo_cg_node *state,
                             int node, int device, double count,
                             mo_cg_node **parts, int *n, mo_error *err)
{
    const mo_cg_tree_node *of = &c->tree->nodes[node];
    int all = c->fork->classes[of->class].count * of->total;
    int most = (int) floor(count);
    mo_cg_cardinality few = { node, device, false, most };
    mo_cg_cardinality many = { node, device, true, all - most - 1 };
    mo_status status = copy_two(c, state, parts, n, err);
    int at = count - most < 0.5; /* few is the nearer one */

    if (status == MO_OK) {
        parts[at]->limits[parts[at]->n_limits++] = few;
        parts[!at]->limits[parts[!at]->n_limits++] = many;
    }
    return status;
}

mo_status mo_cg_branch_on_cardinality(const mo_cg_problem *c,
                                      const mo_cg_node *state,
                                      const mo_cg_column_pool *pool,
                                      mo_cg_node *parts[MO_CG_MAX_CHILDREN],
                                      int *n, mo_error *err)
{
    int node, device = 0;
    double count;

    *n = 0;
    if (state->n_limits == MO_CG_MAX_CARDINALITIES)
        return MO_OK;
    count = broken_count(c, pool, true, &node, &device);
    if (node == MO_FREE)
        count = broken_count(c, pool, false, &node, &device);
    return node == MO_FREE
               ? MO_OK
               : split_count(c, state, node, device, count, parts, n, err);
}
