/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "solvers/search/bound/load/load_bound_internal.h"
#include "solvers/search/lp/simplex.h"

/*
 * The best weights z, one for each row, and the price theta of each group, with
 * times as parts of the path's:
 *
 *     maximise  sum of base z + sum of theta
 *     with      sum of z that end at J <= 1,
 *               sum of z that end <= sum of those that begin, at each moment,
 *               theta <= sum of load z, for each pattern of the group.
 *
 * Patterns are added when they are found to be cheaper than theta says, rows
 * when the mix of patterns breaks them.  All weights that are tried give a
 * bound; those half way between the best ones and the program's own give
 * better ones sooner.
 */

enum {
    MAX_NEW_ROWS = 120, /* behind those that an order begins with */
    MAX_CUTS = 12,      /* how often there are new ones */
    MAX_PATTERNS = 400, /* of a program */
    MAX_CARRIED = 64,   /* from one to the next */
    FEWEST_WEIGHTS = 1 << 12
};

#define MAX_WORK (INT64_C(1) << 24) /* stages and pairs of devices of ops */

static const double precision = 1e-4;

struct mo_load_master {
    mo_load_problem *f;
    mo_load_pricer *pricer;
    int64_t work;
    int64_t *price;        /* by group */
    mo_load_pattern found; /* of all groups, by op */
    mo_load_pattern_pool pool;

    /* Of the order: */
    mo_load_rows rows;
    size_t most_rows;
    mo_load_row_index all, weighted;
    int64_t *weight, *load_ns; /* by row */
    double *best, *tried;      /* by row */
    double *entries;           /* of the program's row or column */
    mo_lp_simplex *lp;
    size_t n_columns;       /* rows of ours that it has */
    mo_load_pattern *mixed; /* those that it has, with the pool's arrays */
    size_t n_mixed;
    double scale_ns;
    int64_t bound_ns;
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
    m->found.device = calloc(n, sizeof *m->found.device);
    m->found.stage = calloc(n, sizeof *m->found.stage);
    m->mixed = calloc(MAX_PATTERNS, sizeof *m->mixed);
    if (!m->price || !m->found.device || !m->found.stage || !m->mixed ||
        mo_load_pricer_new(f, &m->pricer, err) != MO_OK) {
        mo_load_master_free(m);
        return mo_fail_memory(err);
    }
    *master = m;
    return MO_OK;
}

static void end_order(mo_load_master *m)
{
    mo_lp_simplex_free(m->lp);
    mo_load_row_index_free(&m->all);
    mo_load_row_index_free(&m->weighted);
    free(m->weight);
    free(m->best);
    m->lp = NULL;
    m->weight = NULL;
    m->best = NULL;
}

void mo_load_master_free(mo_load_master *m)
{
    if (!m)
        return;
    end_order(m);
    mo_load_pricer_free(m->pricer);
    free(m->rows.rows);
    free(m->price);
    free(m->found.device);
    free(m->found.stage);
    mo_load_pattern_pool_trim(&m->pool, 0);
    free(m->pool.patterns);
    free(m->mixed);
    free(m);
}

/* Into load_ns, by row. */
static void find_load(mo_load_master *m, const mo_load_pattern *pattern)
{
    memset(m->load_ns, 0, m->rows.n * sizeof *m->load_ns);
    mo_load_pattern_add_load(m->f, &m->rows, &m->all, pattern, m->load_ns);
}

/* Adds the pool's pattern to the program; its load has been found. */
static mo_status mix_pattern(mo_load_master *m, const mo_load_pattern *pattern,
                             mo_error *err)
{
    int n_groups = m->f->n_groups;

    for (int g = 0; g < n_groups; g++)
        m->entries[g] = g == pattern->group;
    for (size_t i = 0; i < m->n_columns; i++)
        m->entries[(size_t) n_groups + i] =
            -(double) m->load_ns[i] / m->scale_ns;
    m->mixed[m->n_mixed++] = *pattern;
    return mo_lp_simplex_add_row(m->lp, m->entries, 0, err);
}

/* What other orders have taught. */
static mo_status mix_pool(mo_load_master *m, mo_error *err)
{
    mo_status status = MO_OK;

    mo_load_pattern_pool_trim(&m->pool, MAX_CARRIED);
    for (size_t i = 0; i < m->pool.n && status == MO_OK; i++) {
        if (!mo_load_pattern_is_feasible(m->f, &m->pool.patterns[i]))
            continue;
        find_load(m, &m->pool.patterns[i]);
        status = mix_pattern(m, &m->pool.patterns[i], err);
    }
    return status;
}

/* A row of ours in the program's first rows: that for J, and for each moment.
 */
static double balance(const mo_load_master *m, size_t row, int moment)
{
    const mo_load_row *r = &m->rows.rows[row];

    if (moment == mo_load_last_event(m->f))
        return r->until == moment;
    return (r->until == moment) - (r->from == moment);
}

static mo_status make_program(mo_load_master *m, mo_error *err)
{
    size_t n_groups = (size_t) m->f->n_groups, n = n_groups + m->rows.n;
    mo_status status;

    for (size_t i = 0; i < n_groups; i++)
        m->entries[i] = 1;
    for (size_t i = 0; i < m->rows.n; i++)
        m->entries[n_groups + i] =
            (double) m->rows.rows[i].base_ns / m->scale_ns;
    status = mo_lp_simplex_new((int) n, m->entries, &m->lp, err);
    memset(m->entries, 0, n_groups * sizeof *m->entries);
    for (int t = 1; t <= mo_load_last_event(m->f) && status == MO_OK; t++) {
        for (size_t i = 0; i < m->rows.n; i++)
            m->entries[n_groups + i] = balance(m, i, t);
        status = mo_lp_simplex_add_row(m->lp, m->entries,
                                       t == mo_load_last_event(m->f), err);
    }
    m->n_columns = m->rows.n;
    return status;
}

static mo_status begin_order(mo_load_master *m, mo_error *err)
{
    mo_load_problem *f = m->f;
    mo_status status = mo_load_rows_init(f, &m->rows, err);
    size_t n;

    if (status != MO_OK)
        return status;
    n = m->most_rows = m->rows.n + MAX_NEW_ROWS;
    m->weight = calloc(n, 2 * sizeof *m->weight);
    m->best = calloc(3 * n + MAX_PATTERNS + (size_t) f->n_groups +
                         MO_LOAD_MAX_ARRIVALS + 1,
                     sizeof *m->best);
    if (!m->weight || !m->best)
        return mo_fail_memory(err);
    m->load_ns = m->weight + n;
    m->tried = m->best + n;
    m->entries = m->tried + n;
    m->n_mixed = 0;
    m->bound_ns = f->path_ns;
    m->scale_ns = f->path_ns > 0 ? (double) f->path_ns : 1;
    status = mo_load_row_index_new(f, n, &m->all, err);
    if (status == MO_OK)
        status = mo_load_row_index_new(f, n, &m->weighted, err);
    if (status != MO_OK)
        return status;
    mo_load_row_index_fill(f, &m->all, &m->rows, NULL);
    status = make_program(m, err);
    return status == MO_OK ? mix_pool(m, err) : status;
}

/* Takes weights away from rows that end at a moment until no more end there
 * than begin; those that begin earlier come later. */
static void balance_weights(mo_load_master *m)
{
    for (int t = m->f->order.n; t > 0; t--) {
        int64_t excess = 0;

        for (size_t i = 0; i < m->rows.n; i++)
            excess += (int64_t) balance(m, i, t) * m->weight[i];
        for (size_t i = 0; i < m->rows.n && excess > 0; i++)
            if (m->rows.rows[i].until == t) {
                int64_t less = excess < m->weight[i] ? excess : m->weight[i];
                m->weight[i] -= less;
                excess -= less;
            }
    }
}

/* Whole weights from those that are tried; how many of them end at J. */
static int64_t round_weights(mo_load_master *m)
{
    int last = mo_load_last_event(m->f);
    double sum = 0, most = (double) (m->f->weights - (int64_t) m->rows.n);
    int64_t whole = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        if (m->tried[i] > 0 && m->rows.rows[i].until == last)
            sum += m->tried[i];
    for (size_t i = 0; i < m->rows.n; i++) {
        double share = m->tried[i] > 0 && sum > 0 ? m->tried[i] / sum : 0;
        m->weight[i] = (int64_t) ((share < 1 ? share : 1) * most);
    }
    balance_weights(m);
    for (size_t i = 0; i < m->rows.n; i++)
        if (m->rows.rows[i].until == last)
            whole += m->weight[i];
    return whole;
}

/* Raises the bound to what the tried weights prove, if that is more, and finds
 * their patterns. */
static void try_weights(mo_load_master *m)
{
    int64_t whole = round_weights(m), sum = 0;

    m->work += (int64_t) m->f->n * m->f->n_devices * m->f->n_devices *
               mo_load_last_event(m->f);
    mo_load_row_index_fill(m->f, &m->weighted, &m->rows, m->weight);
    mo_load_price_patterns(m->pricer, &m->rows, &m->weighted, m->weight,
                           m->price, &m->found);
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
    memcpy(m->best, m->tried, m->rows.n * sizeof *m->best);
}

/* Adds those of the patterns found that theta says are dearer. */
static mo_status mix_found(mo_load_master *m, const double *z, int *added,
                           mo_error *err)
{
    int n_groups = m->f->n_groups;
    mo_status status = MO_OK;

    for (int g = 0; g < n_groups && status == MO_OK; g++) {
        int first = m->f->group_start[g];
        mo_load_pattern part = { g, m->found.device + first,
                                 m->found.stage + first };
        double price = 0;

        find_load(m, &part);
        for (size_t i = 0; z && i < m->n_columns; i++)
            price +=
                (double) m->load_ns[i] / m->scale_ns * z[n_groups + (int) i];
        if ((z && price > z[g] - precision / 100) || m->n_mixed == MAX_PATTERNS)
            continue;
        status = mo_load_pattern_pool_add(m->f, &m->pool, &part, err);
        if (status == MO_OK)
            status = mix_pattern(m, &m->pool.patterns[m->pool.n - 1], err);
        ++*added;
    }
    return status;
}

/* Weights to begin with: all devices alike. */
static mo_status try_first(mo_load_master *m, mo_error *err)
{
    int added = 0;

    for (size_t i = 0; i < m->rows.n; i++)
        m->tried[i] = m->rows.rows[i].resource < m->f->n_devices &&
                      m->rows.rows[i].from == 0;
    try_weights(m);
    return m->bound_ns < MO_LOAD_INFINITY ? mix_found(m, NULL, &added, err)
                                          : MO_OK;
}

static mo_status price_program(mo_load_master *m, int *added, mo_error *err)
{
    const double *z = mo_lp_simplex_primal(m->lp);
    const double *own = z + m->f->n_groups;
    mo_status status;

    for (size_t i = 0; i < m->rows.n; i++)
        m->tried[i] = (m->best[i] + own[i]) / 2;
    try_weights(m);
    status = mix_found(m, z, added, err);
    if (status != MO_OK || *added > 0)
        return status;
    memcpy(m->tried, own, m->rows.n * sizeof *own);
    try_weights(m);
    return mix_found(m, z, added, err);
}

/* Fills columns, one behind the other, for the rows that the program lacks. */
static void fill_columns(mo_load_master *m, double *columns, size_t length)
{
    size_t n = m->rows.n - m->n_columns,
           last = (size_t) mo_load_last_event(m->f);

    for (size_t c = 0; c < n; c++)
        for (size_t t = 1; t <= last; t++)
            columns[c * length + t - 1] = balance(m, m->n_columns + c, (int) t);
    for (size_t i = 0; i < m->n_mixed; i++) {
        find_load(m, &m->mixed[i]);
        for (size_t c = 0; c < n; c++)
            columns[c * length + last + i] =
                -(double) m->load_ns[m->n_columns + c] / m->scale_ns;
    }
}

static mo_status add_columns(mo_load_master *m, mo_error *err)
{
    size_t n = m->rows.n - m->n_columns;
    size_t length = (size_t) mo_load_last_event(m->f) + m->n_mixed;
    double *columns = calloc(n * length + 1, sizeof *columns);
    mo_status status = columns ? MO_OK : mo_fail_memory(err);

    mo_load_row_index_fill(m->f, &m->all, &m->rows, NULL);
    if (status == MO_OK)
        fill_columns(m, columns, length);
    for (size_t c = 0; c < n && status == MO_OK; c++) {
        size_t row = m->n_columns++;

        m->best[row] = 0;
        status = mo_lp_simplex_add_column(
            m->lp, (double) m->rows.rows[row].base_ns / m->scale_ns,
            columns + c * length, err);
    }
    free(columns);
    return status;
}

/* The program's prices are a solution of the other side: of the first rows, the
 * moments, and of the others, how often patterns are followed. */
static mo_status cut(mo_load_master *m, int *added, mo_error *err)
{
    int last = mo_load_last_event(m->f);
    const double *prices = mo_lp_simplex_duals(m->lp);
    double moment_ns[MO_LOAD_MAX_ARRIVALS + 2] = { 0 };
    mo_load_lp_solution mix = { m->mixed, prices + last, m->n_mixed,
                                moment_ns };
    mo_status status;

    *added = 0;
    if (m->rows.n + (size_t) mo_load_n_resources(m->f) > m->most_rows)
        return MO_OK;
    for (int t = 1; t <= last; t++)
        moment_ns[t] = prices[t - 1] * m->scale_ns;
    status = mo_load_separate_rows(m->f, &mix, 2 * precision * moment_ns[last],
                                   &m->rows, added, err);
    return status == MO_OK ? add_columns(m, err) : status;
}

/* Better weights, until the program has none, or enough is proven. */
static mo_status improve(mo_load_master *m, int64_t enough_ns, mo_error *err)
{
    mo_status status = try_first(m, err);
    int cuts = 0;

    while (status == MO_OK && m->bound_ns < enough_ns && m->work < MAX_WORK &&
           m->n_mixed < MAX_PATTERNS && mo_lp_simplex_solve(m->lp)) {
        double value_ns = mo_lp_simplex_objective(m->lp) * m->scale_ns;
        int added = 0;

        if (value_ns > (double) m->bound_ns * (1 + precision))
            status = price_program(m, &added, err);
        if (status != MO_OK || added > 0)
            continue;
        if (cuts++ == MAX_CUTS)
            break;
        status = cut(m, &added, err);
        if (added == 0)
            break;
    }
    return status;
}

mo_status mo_load_master_bound(mo_load_master *m,
                               const mo_load_arrival_order *order,
                               int64_t enough_ns, int64_t *bound_ns,
                               mo_error *err)
{
    mo_status status = MO_OK;

    mo_load_set_arrival_order(m->f, order);
    m->bound_ns = m->f->path_ns;
    if (m->bound_ns < enough_ns && m->f->weights > FEWEST_WEIGHTS) {
        status = begin_order(m, err);
        if (status == MO_OK)
            status = improve(m, enough_ns, err);
        end_order(m);
    }
    *bound_ns = m->bound_ns;
    return status;
}
