/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restricted master problem by column and row generation: multipliers z, one
 * for each row, and the cost theta of each group, with times relative to the
 * longest path:
 *
 *     maximise  sum of base z + sum of theta
 *     with      sum of z that end at J <= 1,
 *               sum of z that end <= sum of those that begin, at each event,
 *               theta <= price + sum of load z, for each pattern of the group,
 *               sum of z of limits <= 1, whatever patterns there are so far.
 *
 * Patterns are added when pricing finds them cheaper than theta, rows when the
 * LP solution violates them. All multipliers that are tried give a bound;
 * those half way between the best ones and those of the LP (dual smoothing,
 * Wentges 1997) improve it sooner.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "solvers/search/bound/load/load_bound_internal.h"
#include "solvers/search/lp/simplex.h"

enum {
    MAX_NEW_ROWS = 120,   /* beyond the initial rows of an order */
    MAX_SEPARATIONS = 12, /* rounds of separation */
    MAX_PATTERNS = 400,   /* of one LP */
    MAX_CARRIED = 64,     /* from one order to the next */
    MIN_WEIGHT = 1 << 12
};

#define MAX_WORK (INT64_C(1) << 24) /* stages and pairs of devices of ops */

static const double precision = 1e-4;

struct mo_load_master {
    mo_load_problem *f;
    mo_load_pricer *pricer;
    int64_t work;
    int64_t *price;         /* by group */
    mo_load_pattern priced; /* pricing result: all groups, by op */
    mo_load_pattern_pool pool;

    /* Of the present order: */
    mo_load_rows rows;
    size_t most_rows;
    mo_load_row_index index_all, index_weighted;
    int64_t *weight, *load_ns;            /* by row */
    double *best_weights, *trial_weights; /* by row */
    double *entries; /* buffer for a row or column of the LP */
    mo_lp_simplex *simplex;
    size_t n_lp_columns; /* rows that are variables of the LP */
    size_t n_first_rows; /* of the LP, before those of patterns */
    mo_load_pattern
        *lp_patterns; /* constraints of the LP; arrays are the pool's */
    size_t n_lp_patterns;
    double scale_ns;
    int64_t bound_ns;
    double *used_bytes; /* by device, of the last solution */
    mo_load_fractions fractions;
    bool is_rounded;
};

mo_status mo_load_master_new(mo_load_problem *f, mo_load_master **master,
                             mo_error *err)
{
    mo_load_master *m = calloc(1, sizeof *m);
    size_t n = (size_t) f->n + 1;

    if (!m)
        return mo_fail_memory(err);
    m->f = f;
    m->price = calloc((size_t) f->n_groups + 1, sizeof *m->price);
    m->priced.device = calloc(n, sizeof *m->priced.device);
    m->priced.stage = calloc(n, sizeof *m->priced.stage);
    m->lp_patterns = calloc(MAX_PATTERNS, sizeof *m->lp_patterns);
    m->used_bytes = calloc((size_t) f->n_devices + 1, sizeof *m->used_bytes);
    if (!m->price || !m->priced.device || !m->priced.stage || !m->lp_patterns ||
        !m->used_bytes || mo_load_pricer_new(f, &m->pricer, err) != MO_OK) {
        mo_load_master_free(m);
        return mo_fail_memory(err);
    }
    *master = m;
    return MO_OK;
}

static void clear_order(mo_load_master *m)
{
    mo_lp_simplex_free(m->simplex);
    mo_load_row_index_free(&m->index_all);
    mo_load_row_index_free(&m->index_weighted);
    free(m->weight);
    free(m->best_weights);
    m->simplex = NULL;
    m->weight = NULL;
    m->best_weights = NULL;
}

void mo_load_master_free(mo_load_master *m)
{
    if (!m)
        return;
    clear_order(m);
    mo_load_pricer_free(m->pricer);
    free(m->rows.rows);
    free(m->price);
    free(m->priced.device);
    free(m->priced.stage);
    mo_load_pattern_pool_trim(&m->pool, 0);
    free(m->pool.patterns);
    free(m->lp_patterns);
    free(m->used_bytes);
    free(m);
}

/* Stores the load of a pattern in load_ns, by row. */
static void compute_load(mo_load_master *m, const mo_load_pattern *pattern)
{
    memset(m->load_ns, 0, m->rows.n * sizeof *m->load_ns);
    mo_load_pattern_add_load(m->f, &m->rows, &m->index_all, pattern,
                             m->load_ns);
}

/* Adds a pattern of the pool to the LP; its load has been computed. */
static mo_status add_pattern_row(mo_load_master *m,
                                 const mo_load_pattern *pattern, mo_error *err)
{
    int n_groups = m->f->n_groups;

    for (int g = 0; g < n_groups; g++)
        m->entries[g] = g == pattern->group;
    for (size_t i = 0; i < m->n_lp_columns; i++)
        m->entries[(size_t) n_groups + i] =
            -(double) m->load_ns[i] / m->scale_ns;
    m->lp_patterns[m->n_lp_patterns++] = *pattern;
    return mo_lp_simplex_add_row(
        m->simplex, m->entries,
        (double) mo_load_pattern_price_ns(m->f, pattern) / m->scale_ns, err);
}

/* Adds the feasible columns of earlier orders. */
static mo_status add_pool_patterns(mo_load_master *m, mo_error *err)
{
    mo_status status = MO_OK;

    mo_load_pattern_pool_trim(&m->pool, MAX_CARRIED);
    for (size_t i = 0; i < m->pool.n && status == MO_OK; i++) {
        if (!mo_load_pattern_is_feasible(m->f, &m->pool.patterns[i]))
            continue;
        compute_load(m, &m->pool.patterns[i]);
        status = add_pattern_row(m, &m->pool.patterns[i], err);
    }
    return status;
}

/* Returns the coefficient of a row in the constraint of an event (flow
 * conservation), or of J. */
static double flow_coefficient(const mo_load_master *m, size_t row, int event)
{
    const mo_load_row *r = &m->rows.rows[row];

    if (event == mo_load_last_event(m->f))
        return r->until == event;
    return (r->until == event) - (r->from == event);
}

static mo_status init_order(mo_load_master *m, mo_error *err)
{
    mo_load_problem *f = m->f;
    mo_status status = mo_load_rows_init(f, &m->rows, err);
    size_t n;

    if (status != MO_OK)
        return status;
    n = m->most_rows = m->rows.n + MAX_NEW_ROWS;
    m->weight = calloc(n, 2 * sizeof *m->weight);
    m->best_weights = calloc(3 * n + MAX_PATTERNS + (size_t) f->n_groups +
                                 MO_LOAD_MAX_ARRIVALS + 1,
                             sizeof *m->best_weights);
    if (!m->weight || !m->best_weights)
        return mo_fail_memory(err);
    m->load_ns = m->weight + n;
    m->trial_weights = m->best_weights + n;
    m->entries = m->trial_weights + n;
    m->n_lp_patterns = 0;
    m->scale_ns = f->path_ns > 0 ? (double) f->path_ns : 1;
    status = mo_load_row_index_new(f, n, &m->index_all, err);
    if (status == MO_OK)
        status = mo_load_row_index_new(f, n, &m->index_weighted, err);
    if (status != MO_OK)
        return status;
    mo_load_row_index_fill(f, &m->index_all, &m->rows, NULL);

    size_t n_groups = (size_t) m->f->n_groups, count = n_groups + m->rows.n;

    for (size_t i = 0; i < n_groups; i++)
        m->entries[i] = 1;
    for (size_t i = 0; i < m->rows.n; i++)
        m->entries[n_groups + i] =
            (double) m->rows.rows[i].base_ns / m->scale_ns;
    status = mo_lp_simplex_new((int) count, m->entries, &m->simplex, err);
    memset(m->entries, 0, n_groups * sizeof *m->entries);
    for (int t = 1; t <= mo_load_last_event(m->f) && status == MO_OK; t++) {
        for (size_t i = 0; i < m->rows.n; i++)
            m->entries[n_groups + i] = flow_coefficient(m, i, t);
        status = mo_lp_simplex_add_row(m->simplex, m->entries,
                                       t == mo_load_last_event(m->f), err);
    }
    m->n_first_rows = (size_t) mo_load_last_event(m->f);
    if (m->f->cases.n_limits > 0 && status == MO_OK) {
        for (size_t i = 0; i < m->rows.n; i++)
            m->entries[n_groups + i] = m->rows.rows[i].resource < 0;
        status = mo_lp_simplex_add_row(m->simplex, m->entries, 1, err);
        m->n_first_rows++;
    }
    m->n_lp_columns = m->rows.n;
    return status == MO_OK ? add_pool_patterns(m, err) : status;
}

/* Rounds the trial multipliers to integers; returns how many end at J. */
static int64_t round_weights(mo_load_master *m)
{
    int last = mo_load_last_event(m->f);
    double sum = 0, most = (double) (m->f->max_weight - (int64_t) m->rows.n);
    int64_t whole = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        if (m->trial_weights[i] > 0 && m->rows.rows[i].until == last)
            sum += m->trial_weights[i];
    for (size_t i = 0; i < m->rows.n; i++) {
        double share =
            m->trial_weights[i] > 0 && sum > 0 ? m->trial_weights[i] / sum : 0;
        m->weight[i] = (int64_t) ((share < 1 ? share : 1) * most);
    }
    /* Reduces weights of rows that end at an event until no more end there than
     * begin; earlier events follow. */
    for (int t = m->f->order.n; t > 0; t--) {
        int64_t excess = 0;

        for (size_t i = 0; i < m->rows.n; i++)
            excess += (int64_t) flow_coefficient(m, i, t) * m->weight[i];
        for (size_t i = 0; i < m->rows.n && excess > 0; i++)
            if (m->rows.rows[i].until == t) {
                int64_t less = excess < m->weight[i] ? excess : m->weight[i];
                m->weight[i] -= less;
                excess -= less;
            }
    }
    for (size_t i = 0; i < m->rows.n; i++)
        if (m->rows.rows[i].until == last)
            whole += m->weight[i];
    return whole;
}

/* Prices the trial multipliers and raises the bound to what they prove. */
static void evaluate_weights(mo_load_master *m)
{
    int64_t whole = round_weights(m), sum = 0;

    m->work += (int64_t) m->f->n * m->f->n_devices * m->f->n_devices *
               mo_load_last_event(m->f);
    mo_load_row_index_fill(m->f, &m->index_weighted, &m->rows, m->weight);
    mo_load_price_patterns(m->pricer, &m->rows, &m->index_weighted, m->weight,
                           whole, m->price, &m->priced);
    for (int g = 0; g < m->f->n_groups; g++) {
        if (m->price[g] >= MO_LOAD_INFINITY)
            m->bound_ns = MO_LOAD_INFINITY;
        sum += m->price[g] < MO_LOAD_INFINITY ? m->price[g] : 0;
    }
    if (whole <= 0 || m->bound_ns >= MO_LOAD_INFINITY)
        return;
    for (size_t i = 0; i < m->rows.n; i++)
        sum += m->weight[i] * m->rows.rows[i].base_ns;
    if (sum / whole <= m->bound_ns)
        return;
    m->bound_ns = sum / whole;
    memcpy(m->best_weights, m->trial_weights,
           m->rows.n * sizeof *m->best_weights);
}

/* Adds the priced patterns that are cheaper than theta. */
static mo_status add_priced_patterns(mo_load_master *m, const double *z,
                                     int *added, mo_error *err)
{
    int n_groups = m->f->n_groups;
    mo_status status = MO_OK;

    for (int g = 0; g < n_groups && status == MO_OK; g++) {
        int first = m->f->group_start[g];
        mo_load_pattern part = { g, m->priced.device + first,
                                 m->priced.stage + first };
        double price =
            (double) mo_load_pattern_price_ns(m->f, &part) / m->scale_ns;

        compute_load(m, &part);
        for (size_t i = 0; z && i < m->n_lp_columns; i++)
            price +=
                (double) m->load_ns[i] / m->scale_ns * z[n_groups + (int) i];
        if ((z && price > z[g] - precision / 100) ||
            m->n_lp_patterns == MAX_PATTERNS)
            continue;
        status = mo_load_pattern_pool_add(m->f, &m->pool, &part, err);
        if (status == MO_OK)
            status = add_pattern_row(m, &m->pool.patterns[m->pool.n - 1], err);
        ++*added;
    }
    return status;
}

/* Initial multipliers: all devices equal. */
static mo_status evaluate_initial_weights(mo_load_master *m, mo_error *err)
{
    int added = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        m->trial_weights[i] = m->rows.rows[i].resource >= 0 &&
                              m->rows.rows[i].resource < m->f->n_devices &&
                              m->rows.rows[i].from == 0;
    evaluate_weights(m);
    return m->bound_ns < MO_LOAD_INFINITY
               ? add_priced_patterns(m, NULL, &added, err)
               : MO_OK;
}

static mo_status price_lp_weights(mo_load_master *m, int *added, mo_error *err)
{
    const double *z = mo_lp_simplex_primal(m->simplex);
    const double *own = z + m->f->n_groups;
    mo_status status;

    for (size_t i = 0; i < m->rows.n; i++)
        m->trial_weights[i] = (m->best_weights[i] + own[i]) / 2;
    evaluate_weights(m);
    status = add_priced_patterns(m, z, added, err);
    if (status != MO_OK || *added > 0)
        return status;
    memcpy(m->trial_weights, own, m->rows.n * sizeof *own);
    evaluate_weights(m);
    return add_priced_patterns(m, z, added, err);
}

static mo_status add_lp_columns(mo_load_master *m, mo_error *err)
{
    size_t n = m->rows.n - m->n_lp_columns;
    size_t length = m->n_first_rows + m->n_lp_patterns;
    double *columns = calloc(n * length + 1, sizeof *columns);
    mo_status status = columns ? MO_OK : mo_fail_memory(err);

    mo_load_row_index_fill(m->f, &m->index_all, &m->rows, NULL);
    if (status == MO_OK) {
        /* Fills the LP columns of new rows, one after the other. */
        size_t last = (size_t) mo_load_last_event(m->f);

        for (size_t c = 0; c < n; c++)
            for (size_t t = 1; t <= last; t++)
                columns[c * length + t - 1] =
                    flow_coefficient(m, m->n_lp_columns + c, (int) t);
        for (size_t i = 0; i < m->n_lp_patterns; i++) {
            compute_load(m, &m->lp_patterns[i]);
            for (size_t c = 0; c < n; c++)
                columns[c * length + m->n_first_rows + i] =
                    -(double) m->load_ns[m->n_lp_columns + c] / m->scale_ns;
        }
    }
    for (size_t c = 0; c < n && status == MO_OK; c++) {
        size_t row = m->n_lp_columns++;

        m->best_weights[row] = 0;
        status = mo_lp_simplex_add_column(
            m->simplex, (double) m->rows.rows[row].base_ns / m->scale_ns,
            columns + c * length, err);
    }
    free(columns);
    return status;
}

/* The duals of the LP are a primal solution: the times of the events, then the
 * weights of the patterns. Rows that it violates are separated. */
static mo_status separate_violated_rows(mo_load_master *m, int *added,
                                        mo_error *err)
{
    int last = mo_load_last_event(m->f);
    const double *prices = mo_lp_simplex_duals(m->simplex);
    double event_ns[MO_LOAD_MAX_ARRIVALS + 2] = { 0 };
    mo_load_lp_solution solution = { m->lp_patterns, prices + m->n_first_rows,
                                     m->n_lp_patterns, event_ns };
    mo_status status;

    *added = 0;
    if (m->rows.n + (size_t) mo_load_n_resources(m->f) > m->most_rows)
        return MO_OK;
    for (int t = 1; t <= last; t++)
        event_ns[t] = prices[t - 1] * m->scale_ns;
    status = mo_load_separate_rows(
        m->f, &solution, 2 * precision * event_ns[last], &m->rows, added, err);
    return status == MO_OK ? add_lp_columns(m, err) : status;
}

const double *mo_load_master_used_bytes(const mo_load_master *m)
{
    return m->used_bytes;
}

const mo_load_fractions *mo_load_master_fractions(const mo_load_master *m)
{
    return &m->fractions;
}

bool mo_load_master_is_rounded(const mo_load_master *m)
{
    return m->is_rounded;
}

mo_status mo_load_master_bound(mo_load_master *m,
                               const mo_load_arrival_order *order,
                               int64_t enough_ns, int64_t *bound_ns,
                               mo_error *err)
{
    mo_status status = MO_OK;

    mo_load_set_arrival_order(m->f, order);
    m->fractions.n = 0;
    m->is_rounded = false;
    m->bound_ns = m->f->path_ns;
    if (m->bound_ns < MO_LOAD_INFINITY)
        m->bound_ns += m->f->least_price_ns;
    if (m->bound_ns < enough_ns && m->f->max_weight > MIN_WEIGHT) {
        status = init_order(m, err);
        if (status == MO_OK) {
            /* Generates columns and rows until the LP cannot improve the bound,
             * or it reaches enough_ns. */
            status = evaluate_initial_weights(m, err);
            int cuts =
                mo_ablated(MO_ABLATION_load_separation) ? MAX_SEPARATIONS : 0;

            while (status == MO_OK && m->bound_ns < enough_ns &&
                   m->work < MAX_WORK && m->n_lp_patterns < MAX_PATTERNS &&
                   mo_lp_simplex_solve(m->simplex)) {
                double value_ns =
                    mo_lp_simplex_objective(m->simplex) * m->scale_ns;
                int added = 0;

                if (value_ns > (double) m->bound_ns * (1 + precision))
                    status = price_lp_weights(m, &added, err);
                if (status != MO_OK || added > 0)
                    continue;
                if (cuts++ == MAX_SEPARATIONS)
                    break;
                status = separate_violated_rows(m, &added, err);
                if (added == 0)
                    break;
            }
        }
        if (status == MO_OK) {
            /* Evaluates the last solution: bytes, branching candidates, and
             * rounding. */
            const mo_load_lp_solution solution = {
                m->lp_patterns,
                mo_lp_simplex_duals(m->simplex) + m->n_first_rows,
                m->n_lp_patterns, NULL
            };
            if (m->f->is_priced)
                mo_load_solution_bytes(m->f, &solution, &m->priced,
                                       m->used_bytes);
            if (m->f->cases.is_used && solution.n > 0)
                status =
                    mo_load_find_fractions(m->f, &solution, &m->fractions, err);
            m->is_rounded = status == MO_OK && m->f->fork && solution.n > 0 &&
                            mo_load_round_solution(m->f, solution);
        }
        clear_order(m);
    }
    *bound_ns = m->bound_ns;
    return status;
}
