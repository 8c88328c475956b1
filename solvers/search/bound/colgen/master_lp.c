/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/master_lp.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"

enum {
    MAX_LP_ROWS = 250,
    KEPT_LP_ROWS = 150,
    MAX_COLUMNS = 2000,
    MIN_COLUMNS = 400,         /* where columns are large: ... */
    MAX_COLUMN_NODES = 400000, /* ... nodes of all columns together */
    ROW_LIFETIME = 2,          /* rounds a row is kept without a dual */
    MAX_INHERITED = 100        /* LP rows of a rebuilt LP, from the pool */
};

#define VALUE_BOUND   4    /* of any v */
#define NEGLIGIBLE    1e-6 /* a dual */
#define MIN_VIOLATION 1e-7 /* least violation of a new LP row */

static int n_values(const mo_cg_master_lp *p)
{
    return p->c->fork->n_classes + p->c->n_devices;
}

static int n_variables(const mo_cg_master_lp *p)
{
    return n_values(p) + p->n_rows;
}

mo_status mo_cg_master_lp_new(const mo_cg_problem *c, mo_cg_master_lp **lp,
                              mo_error *err)
{
    mo_cg_master_lp *p = calloc(1, sizeof *p);
    size_t rows = MO_CG_MAX_ROWS + (size_t) c->n_resources;
    size_t lp_rows;

    if (!p)
        return mo_fail_memory(err);
    p->c = p->pool.c = c;
    p->max_rows = (int) rows;
    /* Between two solutions at most two are added for each class and device. */
    lp_rows = (size_t) n_values(p) + rows + MAX_LP_ROWS +
              4 * ((size_t) c->fork->n_classes + 1) * (size_t) c->n_devices;
    p->rows = calloc(rows, sizeof *p->rows);
    p->last_used = calloc(rows, sizeof *p->last_used);
    p->best_duals = calloc(rows, sizeof *p->best_duals);
    p->lp_rows = calloc(lp_rows, sizeof *p->lp_rows);
    p->kept = calloc(lp_rows, sizeof *p->kept);
    p->entries = calloc(lp_rows, sizeof *p->entries);
    if (!p->rows || !p->last_used || !p->best_duals || !p->lp_rows ||
        !p->kept || !p->entries) {
        mo_cg_master_lp_free(p);
        return mo_fail_memory(err);
    }
    *lp = p;
    return MO_OK;
}

void mo_cg_master_lp_free(mo_cg_master_lp *p)
{
    if (!p)
        return;
    mo_cg_column_pool_clear(&p->pool);
    mo_lp_simplex_free(p->simplex);
    free(p->rows);
    free(p->last_used);
    free(p->best_duals);
    free(p->lp_rows);
    free(p->kept);
    free(p->entries);
    free(p);
}

/* Rows over the whole horizon are always kept. */
static bool is_row_kept(const mo_cg_master_lp *p, int i)
{
    const mo_cg_row *row = &p->rows[i];

    return row->kind == MO_CG_BUDGET ||
           p->last_used[i] + ROW_LIFETIME >= p->n_rounds ||
           ((row->kind == MO_CG_CAPACITY || row->kind == MO_CG_SUM) &&
            row->last - row->first == p->c->cells);
}

/* Drops rows without a positive dual in the last rounds. */
static void purge_rows(mo_cg_master_lp *p)
{
    int n = 0;

    p->n_rounds++;
    for (int i = 0; i < p->n_rows; i++) {
        if (!is_row_kept(p, i))
            continue;
        p->rows[n] = p->rows[i];
        p->last_used[n] = p->last_used[i];
        p->best_duals[n++] = p->best_duals[i];
    }
    p->n_rows = n;
}

void mo_cg_master_lp_set_node(mo_cg_master_lp *p, const mo_cg_node *state)
{
    p->state = state;
    purge_rows(p);
}

bool mo_cg_master_lp_add_row(mo_cg_master_lp *p, const mo_cg_row *row)
{
    for (int i = 0; i < p->n_rows; i++)
        if (mo_cg_row_equal(&p->rows[i], row))
            return false;
    if (p->n_rows == p->max_rows)
        return false;
    p->best_duals[p->n_rows] = 0;
    p->last_used[p->n_rows] = p->n_rounds;
    p->rows[p->n_rows++] = *row;
    return true;
}

/* Each v has an upper bound until it has constraints, so that the LP is
 * bounded from the start and the dual simplex method always applies. */
static mo_status bound_values(mo_cg_master_lp *p, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n_variables(p); i++)
        p->entries[i] = 0;
    for (int i = 0; i < n_values(p) && status == MO_OK; i++) {
        p->entries[i] = 1;
        status =
            mo_lp_simplex_add_row(p->simplex, p->entries, VALUE_BOUND, err);
        p->entries[i] = 0;
    }
    if (status == MO_OK)
        mo_lp_simplex_solve(p->simplex);
    return status;
}

static mo_status reset_simplex(mo_cg_master_lp *p, mo_error *err)
{
    mo_status status;

    mo_lp_simplex_free(p->simplex);
    p->simplex = NULL;
    p->n_lp_rows = 1 + n_values(p);
    memset(p->lp_rows, 0, (size_t) p->n_lp_rows * sizeof(mo_cg_column *));
    for (int i = 0; i < n_variables(p); i++) {
        int n_classes = p->c->fork->n_classes;

        p->entries[i] = i < n_classes ||
                        (i < n_values(p) && p->state->arrival[i - n_classes] !=
                                                MO_CG_ARRIVAL_FORBIDDEN);
    }
    status = mo_lp_simplex_new(n_variables(p), p->entries, &p->simplex, err);
    for (int i = 0; i < n_variables(p); i++)
        p->entries[i] = i >= n_values(p);
    if (status == MO_OK)
        status = mo_lp_simplex_add_row(p->simplex, p->entries, 1, err);
    return status == MO_OK ? bound_values(p, err) : status;
}

/* Stores the LP row of a column in the buffer entries. */
static void fill_entries(mo_cg_master_lp *p, const mo_cg_column *column)
{
    int value = column->class == MO_FREE ? p->c->fork->n_classes + column->to
                                         : column->class;

    for (int i = 0; i < n_values(p); i++)
        p->entries[i] = i == value;
    for (int i = 0; i < p->n_rows; i++)
        p->entries[n_values(p) + i] =
            -mo_cg_row_coefficient(p->c, &p->rows[i], column);
}

static mo_status append_lp_row(mo_cg_master_lp *p, mo_cg_column *column,
                               mo_error *err)
{
    mo_status status = mo_lp_simplex_add_row(p->simplex, p->entries, 0, err);

    if (status == MO_OK)
        p->lp_rows[p->n_lp_rows++] = column;
    return status;
}

mo_status mo_cg_master_lp_rebuild(mo_cg_master_lp *p, mo_error *err)
{
    mo_status status;

    purge_rows(p);
    p->solved = false;
    status = reset_simplex(p, err);
    for (size_t i = p->pool.n;
         i-- > 0 && p->n_lp_rows < MAX_INHERITED && status == MO_OK;)
        if (mo_cg_column_is_feasible(&p->pool, p->pool.columns[i], p->state)) {
            fill_entries(p, p->pool.columns[i]);
            status = append_lp_row(p, p->pool.columns[i], err);
        }
    return status;
}

mo_status mo_cg_master_lp_add_column(mo_cg_master_lp *p,
                                     const mo_cg_column *column, bool must,
                                     bool *cut, mo_error *err)
{
    mo_cg_column *copy;
    mo_status status;

    fill_entries(p, column);
    /* Whether the last solution violates the LP row in entries. */
    const double *z = mo_lp_simplex_primal(p->simplex);
    double sum = 0;

    for (int i = 0; i < n_variables(p); i++)
        sum += p->entries[i] * z[i];
    if (sum > MIN_VIOLATION)
        *cut = true;
    else if (!must)
        return MO_OK;
    status = mo_cg_column_pool_add(&p->pool, column, &copy, err);
    return status == MO_OK ? append_lp_row(p, copy, err) : status;
}

bool mo_cg_master_lp_solve(mo_cg_master_lp *p)
{
    if (p->n_lp_rows >= MAX_LP_ROWS) {
        int n = 0;

        mo_lp_simplex_purge_slack_rows(p->simplex, KEPT_LP_ROWS, p->kept);
        for (int i = 0; i < p->n_lp_rows; i++)
            if (p->kept[i] >= 0)
                p->lp_rows[n++] = p->lp_rows[i];
        p->n_lp_rows = n;
    }
    p->solved = mo_lp_simplex_solve(p->simplex);
    return p->solved;
}

const double *mo_cg_master_lp_duals(const mo_cg_master_lp *p)
{
    return mo_lp_simplex_primal(p->simplex) + n_values(p);
}

void mo_cg_master_lp_weigh_columns(mo_cg_master_lp *p)
{
    const double *weight = mo_lp_simplex_duals(p->simplex);
    const double *price = mo_cg_master_lp_duals(p);
    int most;

    if (!p->solved)
        return;
    for (size_t i = 0; i < p->pool.n; i++)
        p->pool.columns[i]->weight = 0;
    for (int i = 0; i < p->n_lp_rows; i++)
        if (p->lp_rows[i])
            p->lp_rows[i]->weight += weight[i];
    for (int i = 0; i < p->n_rows; i++)
        if (price[i] > NEGLIGIBLE || p->best_duals[i] > NEGLIGIBLE)
            p->last_used[i] = p->n_rounds;
    most = mo_min_int(MAX_COLUMN_NODES / (p->c->n_nodes + 1), MAX_COLUMNS);
    mo_cg_column_pool_trim(&p->pool, (size_t) mo_max_int(most, MIN_COLUMNS));
    p->solved = false; /* lp_rows may point to trimmed columns now */
}
