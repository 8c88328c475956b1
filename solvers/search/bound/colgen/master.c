/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/master.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/search/bound/colgen/price_branch.h"
#include "solvers/search/bound/colgen/separate.h"
#include "solvers/search/bound/colgen/master_lp.h"
#include "solvers/search/bound/colgen/price_broadcast.h"

/*
 * Prices are found step by step.  Halfway between the best so far and those
 * that the program finds best for the ways that are known, the cheapest ways
 * are looked for; what they cost is a value that holds, and they become rows of
 * the program.  When the program shows that no prices will do, goods are added
 * that the ways, by their weights, use more of than there is.
 */

enum {
    BINS = 2,           /* stretches that a resource begins with, ... */
    FEW_RESOURCES = 24, /* ... if there are no more than these */
    RANGES = 2,         /* of a resource are added in one round */
    MAX_GATES = 64
};

#define CROWDED 0.002 /* of all cells: so much too much is worth a stretch */
#define EARLY   0.05  /* of all equals: so many too early are worth a gate */
#define FINER   0.125 /* so much of either, where there is nothing else */
#define ENOUGH  1e-7  /* more than 1, it may still be worth looking */

/* From the best prices to the program's, it is looked at these: looking is
 * quicker than solving. */
static const double parts[] = { 0.5, 1 };

enum { N_PARTS = sizeof parts / sizeof *parts };

struct mo_cg_master {
    const mo_cg_problem *c;
    const mo_cg_node *state;
    mo_cg_branch_pricer *branch;
    mo_cg_dual_profile *prices;
    mo_cg_usage *crowd;
    mo_cg_master_lp *program;
    mo_cg_column way;
    double *point;     /* by good: prices to look at */
    double best_value; /* of the program's best prices */
    double items;      /* an upper limit of what is added up for a value */
    int64_t steps;     /* so far */
};

static void begin_goods(mo_cg_master *m)
{
    const mo_cg_problem *c = m->c;
    mo_cg_master_lp *p = m->program;
    int bins = c->n_resources <= FEW_RESOURCES ? BINS : 0;

    for (int r = 0; r < c->n_resources; r++) {
        mo_cg_row good = mo_cg_row_capacity(r, 0, c->cells);

        mo_cg_master_lp_add_row(p, &good);
        for (int i = 0; i < bins; i++) {
            good = mo_cg_row_capacity(r, i * c->cells / bins,
                                      (i + 1) * c->cells / bins);
            if (good.first < good.last)
                mo_cg_master_lp_add_row(p, &good);
        }
    }
    for (int i = 0; i < p->n_goods; i++)
        p->best[i] = 1.0 / p->n_goods;
}

static mo_status reserve(mo_cg_master *m, mo_error *err)
{
    size_t jobs = (size_t) mo_cg_branch_pricer_max_jobs(m->branch) + 1;
    size_t nodes = (size_t) m->c->n_nodes + 1;

    m->way.device = calloc(nodes, sizeof *m->way.device);
    m->way.start = calloc(nodes, sizeof *m->way.start);
    m->way.jobs = calloc(jobs, sizeof *m->way.jobs);
    m->point = calloc((size_t) m->program->max_goods, sizeof *m->point);
    if (!m->way.device || !m->way.start || !m->way.jobs || !m->point)
        return mo_fail_memory(err);
    return MO_OK;
}

static double count_items(const mo_cg_problem *c)
{
    double items = c->n_devices;

    for (int i = 0; i < c->fork->n_classes; i++)
        items += (double) c->fork->classes[i].count * c->fork->classes[i].n;
    return 4 * items + 16;
}

mo_status mo_cg_master_new(const mo_cg_problem *c, const mo_cg_node *state,
                           mo_cg_master **master, mo_error *err)
{
    mo_cg_master *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->c = c;
    m->items = count_items(c);
    status = mo_cg_branch_pricer_new(c, state, &m->branch, err);
    if (status == MO_OK)
        status = mo_cg_dual_profile_new(c, MAX_GATES, &m->prices, err);
    if (status == MO_OK)
        status = mo_cg_usage_new(c, &m->crowd, err);
    if (status == MO_OK)
        status = mo_cg_master_lp_new(c, &m->program, err);
    if (status == MO_OK)
        status = reserve(m, err);
    if (status != MO_OK) {
        mo_cg_master_free(m);
        return status;
    }
    begin_goods(m);
    *master = m;
    return MO_OK;
}

void mo_cg_master_free(mo_cg_master *m)
{
    if (!m)
        return;
    mo_cg_branch_pricer_free(m->branch);
    mo_cg_dual_profile_free(m->prices);
    mo_cg_usage_free(m->crowd);
    mo_cg_master_lp_free(m->program);
    free(m->way.device);
    free(m->way.start);
    free(m->way.jobs);
    free(m->point);
    free(m);
}

/* The cheapest ways of a class, with its root on each of the devices. */
static mo_status offer_class(mo_cg_master *m, int class, bool must,
                             double *least, bool *cut, mo_error *err)
{
    mo_status status = MO_OK;

    *least = INFINITY;
    m->way.class = class;
    for (int k = 0; k < m->c->n_devices && status == MO_OK; k++) {
        double price = mo_cg_branch_pricer_min_cost(m->branch, class, k);

        if (isinf(price))
            continue;
        *least = price < *least ? price : *least;
        mo_cg_branch_pricer_extract_column(m->branch, class, k, &m->way);
        status =
            mo_cg_master_lp_add_column(m->program, &m->way, must, cut, err);
    }
    return status;
}

static mo_status offer_shared(mo_cg_master *m, int device, bool must,
                              double *least, bool *cut, mo_error *err)
{
    int64_t tick;

    *least = mo_cg_price_broadcast(m->c, m->prices, m->state, device, &tick);
    mo_cg_broadcast_column(m->c, device, tick, &m->way);
    return mo_cg_master_lp_add_column(m->program, &m->way, must, cut, err);
}

/* What all branches and arrivals cost at these prices; each way that is
 * cheapest is offered. */
static mo_status evaluate(mo_cg_master *m, const double *price, bool must,
                          double *value, bool *cut, mo_error *err)
{
    const mo_cg_problem *c = m->c;
    mo_status status = MO_OK;
    double least;

    *value = 0;
    mo_cg_dual_profile_set(m->prices, m->program->goods, m->program->n_goods,
                           price);
    mo_cg_price_branches(m->branch, m->prices, m->state);
    for (int i = 0; i < c->fork->n_classes && status == MO_OK; i++) {
        status = offer_class(m, i, must, &least, cut, err);
        *value += c->fork->classes[i].count * least;
    }
    for (int k = 0; k < c->n_devices && status == MO_OK; k++)
        if (m->state->fate[k] != MO_CG_ARRIVAL_FORBIDDEN) {
            status = offer_shared(m, k, must, &least, cut, err);
            *value += least;
        }
    return status;
}

/*
 * Prices are taken as the doubles they are, so only sums of them are rounded.
 * What a stretch of a resource's time costs is a difference of two sums of at
 * most `cells` slopes, each of at most as many prices as there are goods, and
 * none is larger than the sum of all, which is about 1; a value adds up at most
 * `items` of these and of what gates and counts cost, times whole numbers.  So
 * it is off by less than the margin below, as is the sum of all prices.
 */
static bool is_proof(const mo_cg_master *m, double value)
{
    double margin = 8 * DBL_EPSILON * m->items *
                    (m->c->cells + m->program->n_goods + m->items);

    return value > (m->prices->total + margin) * (1 + margin);
}

static mo_status look_at(mo_cg_master *m, const double *price, bool must,
                         bool *cut, bool *refuted, mo_error *err)
{
    double value;
    mo_status status = evaluate(m, price, must, &value, cut, err);

    if (status != MO_OK)
        return status;
    *refuted = is_proof(m, value);
    if (value > m->best_value) {
        m->best_value = value;
        memmove(m->program->best, price,
                (size_t) m->program->n_goods * sizeof *price);
    }
    return MO_OK;
}

static bool add_stretches(mo_cg_master *m, double part)
{
    bool added = false;

    mo_cg_usage_load(m->crowd, &m->program->pool);
    for (int r = 0; r < m->c->n_resources; r++)
        for (int i = 0; i < RANGES; i++) {
            mo_cg_row worst;
            double excess = mo_cg_separate_capacity(m->crowd, r, &worst);

            if (excess < part * CROWDED * m->c->cells)
                break;
            added |= mo_cg_master_lp_add_row(m->program, &worst);
        }
    return added;
}

static bool add_gates(mo_cg_master *m, double part)
{
    const mo_cg_problem *c = m->c;
    bool added = false;

    for (int i = 0; i < c->n_nodes; i++)
        for (int k = 0; k < c->n_devices; k++) {
            mo_cg_row worst;

            if (c->from_u[i] != MO_CG_INPUT_BROADCAST || k == c->a ||
                mo_cg_separate_release(
                    c, &m->program->pool, i, k,
                    mo_cg_branch_pricer_cell_offset(m->branch, i, k),
                    &worst) < part * EARLY)
                continue;
            added |= mo_cg_master_lp_add_row(m->program, &worst);
        }
    return added;
}

/* Whether there is a good that is used too much. */
static bool add_goods(mo_cg_master *m)
{
    bool added;

    mo_cg_master_lp_weigh_columns(m->program);
    added = add_gates(m, 1);
    added |= add_stretches(m, 1);
    if (!added)
        added = add_gates(m, FINER);
    return added || add_stretches(m, FINER);
}

/* So far from the best prices so far to those of the program. */
static void find_point(mo_cg_master *m, double part)
{
    const double *price = mo_cg_master_lp_duals(m->program);
    const double *best = m->program->best;

    for (int i = 0; i < m->program->n_goods; i++)
        m->point[i] = best[i] + part * (price[i] - best[i]);
}

/* One step: other prices, or other goods.  *on: there may be more. */
static mo_status step(mo_cg_master *m, int *rounds, bool *on, bool *refuted,
                      mo_error *err)
{
    bool cut = false;
    mo_status status = MO_OK;

    m->steps++;
    if (!mo_cg_master_lp_solve(m->program)) {
        *on = (*rounds)-- > 0;
        return *on ? mo_cg_master_lp_rebuild(m->program, err) : MO_OK;
    }
    if (mo_lp_simplex_objective(m->program->lp) <= 1 + ENOUGH) {
        *on = (*rounds)-- > 0 && add_goods(m);
        return *on ? mo_cg_master_lp_rebuild(m->program, err) : MO_OK;
    }
    for (int i = 0; i < N_PARTS && status == MO_OK && !*refuted; i++) {
        find_point(m, parts[i]);
        status = look_at(m, m->point, false, &cut, refuted, err);
    }
    *on = cut;
    return status;
}

mo_status mo_cg_master_solve(mo_cg_master *m, const mo_cg_node *state,
                             const mo_cg_effort *effort, bool *refuted,
                             mo_error *err)
{
    bool on = true, cut = false;
    int rounds = effort->rounds;
    mo_status status;

    *refuted = false;
    m->state = state;
    m->best_value = 0;
    mo_cg_master_lp_set_node(m->program, state);
    status = mo_cg_master_lp_rebuild(m->program, err);
    if (status == MO_OK)
        status = look_at(m, m->program->best, true, &cut, refuted, err);
    for (int i = 0; i < effort->steps && on && status == MO_OK && !*refuted &&
                    !mo_stop_reached(effort->stop);
         i++)
        status = step(m, &rounds, &on, refuted, err);
    if (status == MO_OK)
        mo_cg_master_lp_weigh_columns(m->program);
    return status;
}

int64_t mo_cg_master_iterations(const mo_cg_master *m)
{
    return m->steps;
}

const mo_cg_column_pool *mo_cg_master_columns(const mo_cg_master *m)
{
    return &m->program->pool;
}
