/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/master_lp.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_ROWS = 250,
    KEPT_ROWS = 150,
    MAX_PATTERNS = 2000,
    FEW_PATTERNS = 400, /* where they are large: */
    ALL_NODES = 400000, /* of so many nodes together */
    REMEMBERED = 2,     /* rounds for which a good is kept without a price */
    INHERITED = 100     /* rows that it begins with */
};

#define ROOF       4    /* of any value */
#define NEGLIGIBLE 1e-6 /* a price */
#define CUT        1e-7 /* so much above a row is cut off by it */

static int n_values(const mo_cg_master_lp *p)
{
    return p->c->fork->n_classes + p->c->n_devices;
}

static int n_columns(const mo_cg_master_lp *p)
{
    return n_values(p) + p->n_goods;
}

/* The most rows that may come between two solutions: of each class for each
 * device, twice. */
static size_t max_offers(const mo_cg_problem *c)
{
    return 2 * ((size_t) c->fork->n_classes + 1) * (size_t) c->n_devices;
}

mo_status mo_cg_master_lp_new(const mo_cg_problem *c, mo_cg_master_lp **program,
                              mo_error *err)
{
    mo_cg_master_lp *p = calloc(1, sizeof *p);
    size_t goods =
        MO_CG_MAX_ROWS + MO_CG_MAX_CARDINALITIES + (size_t) c->n_resources;
    size_t rows;

    if (!p)
        return mo_fail_memory(err);
    p->c = p->pool.c = c;
    p->max_goods = (int) goods;
    rows = (size_t) n_values(p) + goods + MAX_ROWS + 2 * max_offers(c);
    p->goods = calloc(goods, sizeof *p->goods);
    p->used = calloc(goods, sizeof *p->used);
    p->best = calloc(goods, sizeof *p->best);
    p->rows = calloc(rows, sizeof *p->rows);
    p->kept = calloc(rows, sizeof *p->kept);
    p->entries = calloc(rows, sizeof *p->entries);
    if (!p->goods || !p->used || !p->best || !p->rows || !p->kept ||
        !p->entries) {
        mo_cg_master_lp_free(p);
        return mo_fail_memory(err);
    }
    *program = p;
    return MO_OK;
}

void mo_cg_master_lp_free(mo_cg_master_lp *p)
{
    if (!p)
        return;
    mo_cg_column_pool_clear(&p->pool);
    mo_lp_simplex_free(p->lp);
    free(p->goods);
    free(p->used);
    free(p->best);
    free(p->rows);
    free(p->kept);
    free(p->entries);
    free(p);
}

static bool is_whole(const mo_cg_master_lp *p, const mo_cg_row *good)
{
    return good->kind == MO_CG_CAPACITY &&
           good->last - good->first == p->c->cells;
}

/* counts: of the same state, which keeps its counts. */
static bool is_kept(const mo_cg_master_lp *p, int i, bool counts)
{
    if (p->goods[i].kind == MO_CG_CARDINALITY)
        return counts;
    return p->used[i] + REMEMBERED >= p->n_rounds || is_whole(p, &p->goods[i]);
}

/* Those that have not been of use for some rounds are none any more. */
static void forget_goods(mo_cg_master_lp *p, bool counts)
{
    int n = 0;

    p->n_rounds++;
    for (int i = 0; i < p->n_goods; i++) {
        if (!is_kept(p, i, counts))
            continue;
        p->goods[n] = p->goods[i];
        p->used[n] = p->used[i];
        p->best[n++] = p->best[i];
    }
    p->n_goods = n;
}

void mo_cg_master_lp_set_node(mo_cg_master_lp *p, const mo_cg_node *state)
{
    p->state = state;
    forget_goods(p, false);
    for (int i = 0; i < state->n_limits; i++)
        if (state->limits[i].most > 0) {
            mo_cg_row good = mo_cg_row_cardinality(&state->limits[i]);
            mo_cg_master_lp_add_row(p, &good);
        }
}

bool mo_cg_master_lp_add_row(mo_cg_master_lp *p, const mo_cg_row *good)
{
    for (int i = 0; i < p->n_goods; i++)
        if (mo_cg_row_equal(&p->goods[i], good))
            return false;
    if (p->n_goods == p->max_goods)
        return false;
    p->best[p->n_goods] = 0;
    p->used[p->n_goods] = p->n_rounds;
    p->goods[p->n_goods++] = *good;
    return true;
}

/* Values have a roof until there are rows for them, so that the program begins
 * with an optimum and only ever needs to mend it. */
static mo_status add_roofs(mo_cg_master_lp *p, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n_columns(p); i++)
        p->entries[i] = 0;
    for (int i = 0; i < n_values(p) && status == MO_OK; i++) {
        p->entries[i] = 1;
        status = mo_lp_simplex_add_row(p->lp, p->entries, ROOF, err);
        p->entries[i] = 0;
    }
    if (status == MO_OK)
        mo_lp_simplex_solve(p->lp);
    return status;
}

static bool has_value(const mo_cg_master_lp *p, int i)
{
    int n_classes = p->c->fork->n_classes;

    return i < n_classes || (i < n_values(p) && p->state->fate[i - n_classes] !=
                                                    MO_CG_ARRIVAL_FORBIDDEN);
}

static mo_status begin_empty(mo_cg_master_lp *p, mo_error *err)
{
    mo_status status;

    mo_lp_simplex_free(p->lp);
    p->lp = NULL;
    p->n_rows = 1 + n_values(p);
    memset(p->rows, 0, (size_t) p->n_rows * sizeof(mo_cg_column *));
    for (int i = 0; i < n_columns(p); i++)
        p->entries[i] = has_value(p, i);
    status = mo_lp_simplex_new(n_columns(p), p->entries, &p->lp, err);
    for (int i = 0; i < n_columns(p); i++)
        p->entries[i] = i >= n_values(p);
    if (status == MO_OK)
        status = mo_lp_simplex_add_row(p->lp, p->entries, 1, err);
    return status == MO_OK ? add_roofs(p, err) : status;
}

/* Into entries. */
static void fill_row(mo_cg_master_lp *p, const mo_cg_column *way)
{
    int value =
        way->class == MO_FREE ? p->c->fork->n_classes + way->to : way->class;

    for (int i = 0; i < n_values(p); i++)
        p->entries[i] = i == value;
    for (int i = 0; i < p->n_goods; i++)
        p->entries[n_values(p) + i] =
            -mo_cg_row_coefficient(p->c, &p->goods[i], way);
}

static mo_status add_row(mo_cg_master_lp *p, mo_cg_column *way, mo_error *err)
{
    mo_status status = mo_lp_simplex_add_row(p->lp, p->entries, 0, err);

    if (status == MO_OK)
        p->rows[p->n_rows++] = way;
    return status;
}

mo_status mo_cg_master_lp_rebuild(mo_cg_master_lp *p, mo_error *err)
{
    mo_status status;

    forget_goods(p, true);
    p->solved = false;
    status = begin_empty(p, err);
    for (size_t i = p->pool.n;
         i-- > 0 && p->n_rows < INHERITED && status == MO_OK;)
        if (mo_cg_column_is_feasible(&p->pool, p->pool.patterns[i], p->state)) {
            fill_row(p, p->pool.patterns[i]);
            status = add_row(p, p->pool.patterns[i], err);
        }
    return status;
}

/* Whether the row in entries cuts the last solution off. */
static bool cuts(const mo_cg_master_lp *p)
{
    const double *z = mo_lp_simplex_primal(p->lp);
    double sum = 0;

    for (int i = 0; i < n_columns(p); i++)
        sum += p->entries[i] * z[i];
    return sum > CUT;
}

mo_status mo_cg_master_lp_add_column(mo_cg_master_lp *p,
                                     const mo_cg_column *way, bool must,
                                     bool *cut, mo_error *err)
{
    mo_cg_column *copy;
    mo_status status;

    fill_row(p, way);
    if (cuts(p))
        *cut = true;
    else if (!must)
        return MO_OK;
    status = mo_cg_column_pool_add(&p->pool, way, &copy, err);
    return status == MO_OK ? add_row(p, copy, err) : status;
}

static void trim(mo_cg_master_lp *p)
{
    int n = 0;

    mo_lp_simplex_purge_slack_rows(p->lp, KEPT_ROWS, p->kept);
    for (int i = 0; i < p->n_rows; i++)
        if (p->kept[i] >= 0)
            p->rows[n++] = p->rows[i];
    p->n_rows = n;
}

bool mo_cg_master_lp_solve(mo_cg_master_lp *p)
{
    if (p->n_rows >= MAX_ROWS)
        trim(p);
    p->solved = mo_lp_simplex_solve(p->lp);
    return p->solved;
}

const double *mo_cg_master_lp_duals(const mo_cg_master_lp *p)
{
    return mo_lp_simplex_primal(p->lp) + n_values(p);
}

static size_t max_patterns(const mo_cg_problem *c)
{
    int most = ALL_NODES / (c->n_nodes + 1);

    if (most < FEW_PATTERNS)
        return FEW_PATTERNS;
    return most < MAX_PATTERNS ? (size_t) most : MAX_PATTERNS;
}

void mo_cg_master_lp_weigh_columns(mo_cg_master_lp *p)
{
    const double *weight = mo_lp_simplex_duals(p->lp);
    const double *price = mo_cg_master_lp_duals(p);

    if (!p->solved)
        return;
    for (size_t i = 0; i < p->pool.n; i++)
        p->pool.patterns[i]->weight = 0;
    for (int i = 0; i < p->n_rows; i++)
        if (p->rows[i])
            p->rows[i]->weight += weight[i];
    for (int i = 0; i < p->n_goods; i++)
        if (price[i] > NEGLIGIBLE || p->best[i] > NEGLIGIBLE)
            p->used[i] = p->n_rounds;
    mo_cg_column_pool_trim(&p->pool, max_patterns(p->c));
    p->solved = false; /* rows may be of ways that are forgotten now */
}
