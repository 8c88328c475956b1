/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/branching.h"

#include <math.h>

#include "base/minmax.h"
#include "solvers/search/bound/colgen/node.h"

#define NEGLIGIBLE 1e-4 /* of one branch, of an arrival */
#define UNDECIDED  0.02 /* of an arrival */
#define MIN_SPLIT  0.01 /* of the horizon: shorter windows are not divided */
#define MIN_SCORE  1e-9

/* Arrival of the broadcast tensor at a device in a fractional solution, and
 * the starts of its readers there. */
typedef struct arrival_stats {
    double never;     /* weight of columns without an arrival */
    double mean;      /* weighted mean tick of the other arrivals */
    double deviation; /* their mean absolute deviation */
    double mass;      /* weight of the readers */
    double early;     /* readers times how much before the mean they start */
    int64_t first;    /* earliest start of a reader */
} arrival_stats;

static bool is_arrival(const mo_cg_column *p, int device)
{
    return p->class == MO_FREE && p->to == device && p->weight > NEGLIGIBLE;
}

static arrival_stats collect_stats(const mo_cg_problem *c,
                                   const mo_cg_column_pool *pool, int device)
{
    arrival_stats r = { 0 };
    double weight = 0;

    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *column = pool->columns[i];

        if (!is_arrival(column, device))
            continue;
        if (column->start[0] > c->horizon) {
            r.never += column->weight;
        } else {
            r.mean += column->weight * (double) column->start[0];
            weight += column->weight;
        }
    }
    r.mean = weight > 0 ? r.mean / weight : 0;
    for (size_t i = 0; i < pool->n && weight > 0; i++) {
        const mo_cg_column *column = pool->columns[i];

        if (is_arrival(column, device) && column->start[0] <= c->horizon)
            r.deviation += column->weight / weight *
                           fabs((double) column->start[0] - r.mean);
    }
    for (size_t i = 0; i < pool->n; i++) {
        const mo_cg_column *p = pool->columns[i];

        if (p->class == MO_FREE || p->weight <= NEGLIGIBLE)
            continue;
        for (int node = c->tree->root[p->class];
             node < c->n_nodes && c->tree->nodes[node].class == p->class;
             node++)
            if (c->u_input[node] == MO_CG_INPUT_BROADCAST &&
                p->device[node - c->tree->root[p->class]] == device) {
                int64_t start = p->start[node - c->tree->root[p->class]];

                if (r.mass == 0 || start < r.first)
                    r.first = start;
                r.mass += p->weight;
                r.early += p->weight * fmax(0, r.mean - (double) start);
            }
    }
    return r;
}

static mo_status copy_twice(const mo_cg_problem *c, const mo_cg_node *state,
                            mo_cg_node **children, int *n, mo_error *err)
{
    mo_status status = mo_cg_node_copy(c, state, &children[0], err);

    *n = 0;
    if (status != MO_OK)
        return status;
    status = mo_cg_node_copy(c, state, &children[1], err);
    if (status == MO_OK)
        *n = 2;
    else
        mo_cg_node_free(children[0]);
    return status;
}

/* Returns the branching score of a device; 0: nothing to branch on. Where all
 * columns agree on whether the tensor arrives the score is small but positive:
 * fixing it propagates a lot. */
static double branching_score(const mo_cg_problem *c, const mo_cg_node *state,
                              int device, const arrival_stats *r)
{
    double unsure = fmin(r->never, 1 - r->never);
    double when = (r->deviation + r->early) / (double) c->horizon;
    int64_t width = state->arrival_max[device] - state->arrival_min[device];

    switch (state->arrival[device]) {
    case MO_CG_ARRIVAL_UNDECIDED:
        return unsure < UNDECIDED && (r->mass < NEGLIGIBLE || when < NEGLIGIBLE)
                   ? MIN_SCORE
                   : 1 + unsure + when;
    case MO_CG_ARRIVAL_REQUIRED:
        return (double) width < MIN_SPLIT * (double) c->horizon ||
                       when < NEGLIGIBLE
                   ? 0
                   : when;
    case MO_CG_ARRIVAL_FORBIDDEN:
        break;
    }
    return 0;
}

static int select_device(const mo_cg_problem *c, const mo_cg_node *state,
                         const mo_cg_column_pool *pool, arrival_stats *worst)
{
    double most = 0;
    int best = MO_FREE;

    for (int k = 0; k < c->n_devices; k++) {
        arrival_stats r = collect_stats(c, pool, k);
        double now = branching_score(c, state, k, &r);

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
                                  mo_cg_node *children[MO_CG_MAX_CHILDREN],
                                  int *n, mo_error *err)
{
    arrival_stats r = { 0 };
    int device = select_device(c, state, pool, &r);

    *n = 0;
    if (device == MO_FREE)
        return MO_OK;
    if (state->arrival[device] == MO_CG_ARRIVAL_UNDECIDED) {
        mo_status status = copy_twice(c, state, children, n, err);

        if (status == MO_OK) {
            children[0]->arrival[device] = MO_CG_ARRIVAL_FORBIDDEN;
            children[1]->arrival[device] = MO_CG_ARRIVAL_REQUIRED;
        }
        return status;
    }

    /* At the mean, where arrivals lie on both sides of it; otherwise between
     * the first reader and the mean; within the second quarter of the window.
     */
    int64_t lo = state->arrival_min[device], hi = state->arrival_max[device];
    int64_t last = (int64_t) r.mean;
    mo_status status = copy_twice(c, state, children, n, err);

    if (r.deviation < UNDECIDED * (double) (hi - lo))
        last = (r.first + last) / 2;
    last = mo_min_i64(mo_max_i64(last, lo + (hi - lo) / 4), lo + (hi - lo) / 2);
    if (status == MO_OK) {
        children[0]->arrival_max[device] = last;
        children[1]->arrival_min[device] = last + 1;
    }
    return status;
}
