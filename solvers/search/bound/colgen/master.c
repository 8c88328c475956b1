/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/master.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "solvers/search/bound/colgen/dual_profile.h"
#include "solvers/search/bound/colgen/master_lp.h"
#include "solvers/search/bound/colgen/price_branch.h"

/*
 * Column generation with dual smoothing (Wentges 1997): each iteration solves
 * the LP, prices columns at duals between the best so far (the stability
 * center) and those of the LP, and adds the columns found. The cost of the
 * cheapest columns is a valid bound at any duals. When the LP proves that no
 * duals exceed 1 for the present rows, rows that its solution violates are
 * separated.
 */

enum {
    INITIAL_INTERVALS = 2,   /* capacity rows per resource at first, ... */
    FEW_RESOURCES = 24,      /* ... if there are no more resources than this */
    INTERVALS_PER_ROUND = 2, /* per resource in one round of separation */
    MAX_RELEASE_ROWS = 64,
    ITERATION_WORK = 2500000 /* of an iteration (mo_stop_spend) */
};

/* Least excess of a separated row: of a capacity row in parts of all cells, of
 * a release row in parts of all equals; both times FINE_FACTOR where no other
 * row is violated. */
#define MIN_CAPACITY_EXCESS 0.002
#define MIN_RELEASE_EXCESS  0.05
#define FINE_FACTOR         0.125

/* Above 1 by this, the LP may still prove infeasibility. */
#define OBJECTIVE_TOLERANCE 1e-7

/* Positions between the stability center (0) and the duals of the LP (1) at
 * which columns are priced: pricing twice is quicker than another LP. */
static const double smoothing[] = { 0.5, 1 };

enum { N_SMOOTHING = sizeof smoothing / sizeof *smoothing };

struct mo_cg_master {
    const mo_cg_problem *c;
    const mo_cg_node *state;
    mo_cg_pricer *pricer;
    mo_cg_dual_profile *profile;
    mo_cg_usage *usage;
    mo_cg_master_lp *lp;
    mo_cg_column column;
    double *duals;      /* by row: smoothed duals, a buffer */
    double best_bound;  /* dual bound at lp->best_duals */
    double max_terms;   /* upper limit of the terms that add up to a bound */
    int64_t iterations; /* so far */
    bool has_smoothing, has_release_rows, has_separation; /* not switched off */
};

/*
 * Pricing problem of the broadcast tensor: release rows divide the arrival
 * window into intervals; behind each tick the dual of one more is paid.
 */

static double price_broadcast(const mo_cg_problem *c,
                              const mo_cg_dual_profile *prices,
                              const mo_cg_node *state, int device,
                              int64_t *tick)
{
    const mo_cg_cost_curve *curve =
        &prices->pairs[mo_cg_pair(c, c->u_device, device)];
    int64_t from = state->arrival_min[device], to = state->arrival_max[device];
    int64_t length = mo_cg_broadcast_ticks(c, device);
    double release_cost = 0, all = 0, least;

    for (int i = 0; i < prices->n_releases; i++)
        if (prices->releases[i].row.device == device)
            all += prices->releases[i].price;
    /* Not arriving costs all duals; it is infeasible where arrival is
     * required. */
    *tick = c->horizon + 1;
    least = state->arrival[device] == MO_CG_ARRIVAL_UNDECIDED ? all : INFINITY;
    /* The last interval ends with the window. */
    for (int i = 0; i <= prices->n_releases; i++) {
        const mo_cg_release_dual *release =
            i < prices->n_releases ? &prices->releases[i] : NULL;
        int64_t last = to, start;

        if (release && release->row.device != device)
            continue;
        if (release && release->row.tick - 1 < to)
            last = release->row.tick - 1;
        if (from <= last) {
            double price = release_cost +
                           mo_cg_cheapest_start(c, curve, length, from - length,
                                                last - length, &start);

            if (price < least) {
                least = price;
                *tick = start + length;
            }
        }
        if (release && release->row.tick > from)
            from = release->row.tick;
        release_cost += release ? release->price : 0;
    }
    return least;
}

static void add_initial_rows(mo_cg_master *m)
{
    const mo_cg_problem *c = m->c;
    mo_cg_master_lp *p = m->lp;
    int intervals = c->n_resources <= FEW_RESOURCES ? INITIAL_INTERVALS : 0;
    mo_cg_row sum;

    for (int r = 0; r < c->n_resources; r++) {
        mo_cg_row row = mo_cg_row_capacity(r, 0, c->cells);

        mo_cg_master_lp_add_row(p, &row);
        sum = mo_cg_row_sum(c, r, 0);
        if (c->sum_ns > 0)
            mo_cg_master_lp_add_row(p, &sum);
        for (int i = 0; i < intervals; i++) {
            row = mo_cg_row_capacity(r, i * c->cells / intervals,
                                     (i + 1) * c->cells / intervals);
            if (row.first < row.last)
                mo_cg_master_lp_add_row(p, &row);
        }
    }
    if (c->budget_part) {
        mo_cg_row row = mo_cg_row_budget();

        mo_cg_master_lp_add_row(p, &row);
    }
    for (int i = 0; i < p->n_rows; i++)
        p->best_duals[i] = 1.0 / p->n_rows;
}

mo_status mo_cg_master_new(const mo_cg_problem *c, const mo_cg_node *state,
                           mo_cg_master **master, mo_error *err)
{
    mo_cg_master *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->c = c;
    m->has_smoothing = !mo_ablated(MO_ABLATION_colgen_smoothing);
    m->has_release_rows = !mo_ablated(MO_ABLATION_colgen_release_rows);
    m->has_separation = !mo_ablated(MO_ABLATION_colgen_separation);
    m->max_terms = c->n_devices;
    for (int i = 0; i < c->fork->n_classes; i++)
        m->max_terms +=
            (double) c->fork->classes[i].count * c->fork->classes[i].n;
    m->max_terms = 4 * m->max_terms + 16;
    status = mo_cg_pricer_new(c, state, &m->pricer, err);
    if (status == MO_OK)
        status = mo_cg_dual_profile_new(c, MAX_RELEASE_ROWS, &m->profile, err);
    if (status == MO_OK)
        status = mo_cg_usage_new(c, &m->usage, err);
    if (status == MO_OK)
        status = mo_cg_master_lp_new(c, &m->lp, err);
    if (status == MO_OK) {
        size_t jobs = (size_t) mo_cg_pricer_max_jobs(m->pricer) + 1;
        size_t nodes = (size_t) m->c->n_nodes + 1;

        m->column.device = calloc(nodes, sizeof *m->column.device);
        m->column.start = calloc(nodes, sizeof *m->column.start);
        m->column.jobs = calloc(jobs, sizeof *m->column.jobs);
        m->duals = calloc((size_t) m->lp->max_rows, sizeof *m->duals);
        if (!m->column.device || !m->column.start || !m->column.jobs ||
            !m->duals)
            status = mo_fail_memory(err);
    }
    if (status != MO_OK) {
        mo_cg_master_free(m);
        return status;
    }
    add_initial_rows(m);
    *master = m;
    return MO_OK;
}

void mo_cg_master_free(mo_cg_master *m)
{
    if (!m)
        return;
    mo_cg_pricer_free(m->pricer);
    mo_cg_dual_profile_free(m->profile);
    mo_cg_usage_free(m->usage);
    mo_cg_master_lp_free(m->lp);
    free(m->column.device);
    free(m->column.start);
    free(m->column.jobs);
    free(m->duals);
    free(m);
}

/* Prices a class: adds the cheapest column for every device of its root and
 * stores the least cost. */
static mo_status price_class(mo_cg_master *m, int class, bool must,
                             double *least, bool *cut, mo_error *err)
{
    mo_status status = MO_OK;

    *least = INFINITY;
    m->column.class = class;
    for (int k = 0; k < m->c->n_devices && status == MO_OK; k++) {
        double price = mo_cg_pricer_min_cost(m->pricer, class, k);

        if (isinf(price))
            continue;
        *least = price < *least ? price : *least;
        mo_cg_pricer_extract_column(m->pricer, class, k, &m->column);
        status = mo_cg_master_lp_add_column(m->lp, &m->column, must, cut, err);
    }
    return status;
}

/* Computes the Lagrangian bound at given duals: the cost of the cheapest
 * columns of all branches and arrivals. Adds these columns to the LP. */
static mo_status compute_dual_bound(mo_cg_master *m, const double *price,
                                    bool must, double *value, bool *cut,
                                    mo_error *err)
{
    const mo_cg_problem *c = m->c;
    mo_status status = MO_OK;
    double least;

    *value = 0;
    mo_cg_dual_profile_set(m->profile, m->lp->rows, m->lp->n_rows, price);
    mo_cg_price_branches(m->pricer, m->profile, m->state);
    for (int i = 0; i < c->fork->n_classes && status == MO_OK; i++) {
        status = price_class(m, i, must, &least, cut, err);
        *value += c->fork->classes[i].count * least;
    }
    for (int k = 0; k < c->n_devices && status == MO_OK; k++)
        if (m->state->arrival[k] != MO_CG_ARRIVAL_FORBIDDEN) {
            int64_t tick, length = mo_cg_broadcast_ticks(m->c, k);
            int pair = mo_cg_pair(m->c, m->c->u_device, k);

            least = price_broadcast(m->c, m->profile, m->state, k, &tick);
            m->column.class = MO_FREE;
            m->column.to = k;
            m->column.start[0] = tick;
            m->column.n_jobs = 0;
            for (int i = m->c->pair_start[pair];
                 i < m->c->pair_start[pair + 1] && tick <= m->c->horizon; i++)
                m->column.jobs[m->column.n_jobs++] =
                    (mo_cg_job){ m->c->pair_resource[i], 1, tick - length,
                                 length };
            status =
                mo_cg_master_lp_add_column(m->lp, &m->column, must, cut, err);
            *value += least;
        }
    return status;
}

static mo_status try_duals(mo_cg_master *m, const double *price, bool must,
                           bool *cut, bool *refuted, mo_error *err)
{
    double value;
    mo_status status = compute_dual_bound(m, price, must, &value, cut, err);

    if (status != MO_OK)
        return status;

    /*
     * Whether a bound proves infeasibility in spite of rounding errors.
     *
     * Duals are taken as the doubles they are, so only sums of them are
     * rounded. The cost of an interval of a resource is a difference of two
     * sums of at most `cells` slopes, each of at most as many duals as there
     * are rows, and none is larger than the sum of all, which is about 1; a
     * bound adds up at most `max_terms` of these and of the costs of release
     * rows, times whole numbers. So it is off by less than the margin below, as
     * is the sum of all duals.
     */
    double margin = 8 * DBL_EPSILON * m->max_terms *
                    (m->c->cells + m->lp->n_rows + m->max_terms);

    *refuted = value > (m->profile->total + margin) * (1 + margin);
    if (value > m->best_bound) {
        m->best_bound = value;
        memmove(m->lp->best_duals, price,
                (size_t) m->lp->n_rows * sizeof *price);
    }
    return MO_OK;
}

static bool separate_capacity_rows(mo_cg_master *m, double factor)
{
    double least = factor * MIN_CAPACITY_EXCESS * m->c->cells;
    bool added = false;

    mo_cg_usage_load(m->usage, &m->lp->pool);
    for (int r = 0; r < m->c->n_resources && m->c->sum_ns > 0; r++) {
        mo_cg_row worst;

        if (mo_cg_separate_sum(m->usage, r, &worst) >= least)
            added |= mo_cg_master_lp_add_row(m->lp, &worst);
    }
    for (int r = 0; r < m->c->n_resources; r++)
        for (int i = 0; i < INTERVALS_PER_ROUND; i++) {
            mo_cg_row worst;
            double excess = mo_cg_separate_capacity(m->usage, r, &worst);

            if (excess < least)
                break;
            added |= mo_cg_master_lp_add_row(m->lp, &worst);
        }
    return added;
}

static bool separate_release_rows(mo_cg_master *m, double factor)
{
    const mo_cg_problem *c = m->c;
    bool added = false;

    for (int i = 0; i < c->n_nodes && m->has_release_rows; i++)
        for (int k = 0; k < c->n_devices; k++) {
            mo_cg_row worst;

            if (c->u_input[i] != MO_CG_INPUT_BROADCAST || k == c->u_device ||
                mo_cg_separate_release(
                    c, &m->lp->pool, i, k,
                    mo_cg_pricer_cell_offset(m->pricer, i, k),
                    &worst) < factor * MIN_RELEASE_EXCESS)
                continue;
            added |= mo_cg_master_lp_add_row(m->lp, &worst);
        }
    return added;
}

/* Separates rows that the LP solution violates; returns whether any was
 * added. */
static bool separate_rows(mo_cg_master *m)
{
    bool added;

    if (!m->has_separation)
        return false;
    mo_cg_master_lp_weigh_columns(m->lp);
    added = separate_release_rows(m, 1);
    added |= separate_capacity_rows(m, 1);
    if (!added)
        added = separate_release_rows(m, FINE_FACTOR);
    return added || separate_capacity_rows(m, FINE_FACTOR);
}

/* One iteration: columns at new duals, or new rows. *on is set to whether
 * another iteration may help. */
static mo_status run_iteration(mo_cg_master *m, int *rounds, bool *on,
                               bool *refuted, mo_error *err)
{
    bool cut = false;
    mo_status status = MO_OK;

    m->iterations++;
    if (!mo_cg_master_lp_solve(m->lp)) {
        *on = (*rounds)-- > 0;
        return *on ? mo_cg_master_lp_rebuild(m->lp, err) : MO_OK;
    }
    if (mo_lp_simplex_objective(m->lp->simplex) <= 1 + OBJECTIVE_TOLERANCE) {
        *on = (*rounds)-- > 0 && separate_rows(m);
        return *on ? mo_cg_master_lp_rebuild(m->lp, err) : MO_OK;
    }
    for (int i = m->has_smoothing ? 0 : N_SMOOTHING - 1;
         i < N_SMOOTHING && status == MO_OK && !*refuted; i++) {
        /* duals = best + factor * (duals of the LP - best) */
        double factor = smoothing[i];
        const double *price = mo_cg_master_lp_duals(m->lp);
        const double *best = m->lp->best_duals;

        for (int j = 0; j < m->lp->n_rows; j++)
            m->duals[j] = best[j] + factor * (price[j] - best[j]);
        status = try_duals(m, m->duals, false, &cut, refuted, err);
    }
    *on = cut;
    return status;
}

mo_status mo_cg_master_solve(mo_cg_master *m, const mo_cg_node *state,
                             const mo_cg_effort *effort, const mo_stop *stop,
                             bool *refuted, mo_error *err)
{
    bool on = true, cut = false;
    int rounds = effort->rounds;
    mo_status status;

    *refuted = false;
    m->state = state;
    m->best_bound = 0;
    mo_cg_master_lp_set_node(m->lp, state);
    status = mo_cg_master_lp_rebuild(m->lp, err);
    if (status == MO_OK)
        status = try_duals(m, m->lp->best_duals, true, &cut, refuted, err);
    for (int i = 0; i < effort->steps && on && status == MO_OK && !*refuted &&
                    !mo_stop_spend(stop, ITERATION_WORK);
         i++)
        status = run_iteration(m, &rounds, &on, refuted, err);
    if (status == MO_OK)
        mo_cg_master_lp_weigh_columns(m->lp);
    return status;
}

int64_t mo_cg_master_iterations(const mo_cg_master *m)
{
    return m->iterations;
}

const mo_cg_column_pool *mo_cg_master_columns(const mo_cg_master *m)
{
    return &m->lp->pool;
}
