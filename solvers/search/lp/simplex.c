/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/lp/simplex_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Grows *items to room entries; on failure *items stays valid and owned by lp.
 * */
static mo_status reserve(void **items, size_t item_size, size_t room,
                         mo_error *err)
{
    void *more = NULL;
    size_t size;

    if (mo_size_mul(room, item_size, &size))
        more = realloc(*items, size);
    if (!more)
        return mo_fail_memory(err);
    *items = more;
    return MO_OK;
}

static mo_status reserve_doubles(double **items, size_t room, mo_error *err)
{
    return reserve((void **) items, sizeof **items, room, err);
}

static mo_status reserve_ints(int **items, size_t room, mo_error *err)
{
    return reserve((void **) items, sizeof **items, room, err);
}

static mo_status reserve_rows(mo_lp_simplex *lp, size_t room, mo_error *err)
{
    double **by_row[] = { &lp->b, &lp->rhs, &lp->norm, &lp->dual_value };
    size_t size;
    mo_status status =
        mo_size_mul(room, lp->n_room, &size) ? MO_OK : mo_fail_memory(err);

    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++)
        if (status == MO_OK)
            status = reserve_doubles(by_row[i], room, err);
    if (status == MO_OK)
        status = reserve_doubles(&lp->a, size, err);
    if (status == MO_OK)
        status = reserve_doubles(&lp->t, size, err);
    if (status == MO_OK)
        status = reserve_ints(&lp->basic, room, err);
    if (status == MO_OK)
        status = reserve_ints(&lp->age, room, err);
    if (status == MO_OK)
        status = reserve_ints(&lp->tight, room, err);
    if (status == MO_OK)
        lp->m_room = room;
    return status;
}

/* Copies the rows to a new array with n_room entries per row; NULL: no
 * memory. */
static double *copy_rows_wider(const mo_lp_simplex *lp, double *rows,
                               size_t n_room)
{
    double *wide = malloc(lp->m_room * n_room * sizeof *wide);

    for (int i = 0; i < lp->m && wide; i++)
        memcpy(wide + (size_t) i * n_room, row_of(lp, rows, i),
               (size_t) lp->n * sizeof *wide);
    return wide;
}

static mo_status reserve_columns(mo_lp_simplex *lp, size_t room, mo_error *err)
{
    double **by_column[] = { &lp->c, &lp->d, &lp->z, &lp->scratch };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof by_column / sizeof *by_column; i++)
        if (status == MO_OK)
            status = reserve_doubles(by_column[i], room, err);
    if (status == MO_OK)
        status = reserve_ints(&lp->nonbasic, room, err);
    if (status == MO_OK) {
        size_t size;
        double *a = NULL, *t = NULL;

        if (mo_size_mul(lp->m_room, room, &size) &&
            mo_size_mul(size, sizeof *a, &size)) {
            a = copy_rows_wider(lp, lp->a, room);
            t = copy_rows_wider(lp, lp->t, room);
        }
        if (!a || !t) {
            free(a);
            free(t);
            return mo_fail_memory(err);
        }
        free(lp->a);
        free(lp->t);
        lp->a = a;
        lp->t = t;
        lp->n_room = room;
        return MO_OK;
    }
    return status;
}

mo_status mo_lp_simplex_new(int n, const double *c, mo_lp_simplex **simplex,
                            mo_error *err)
{
    mo_lp_simplex *lp = calloc(1, sizeof *lp);
    mo_status status;

    if (!lp)
        return mo_fail_memory(err);
    lp->n_room = 1;
    status = reserve_rows(lp, 16, err);
    if (status == MO_OK)
        status = reserve_columns(lp, (size_t) n + 16, err);
    if (status != MO_OK) {
        mo_lp_simplex_free(lp);
        return status;
    }
    lp->n = n;
    for (int j = 0; j < n; j++) {
        lp->c[j] = lp->d[j] = c[j];
        lp->z[j] = 0;
        lp->nonbasic[j] = j;
    }
    *simplex = lp;
    return MO_OK;
}

void mo_lp_simplex_free(mo_lp_simplex *lp)
{
    if (!lp)
        return;
    free(lp->c);
    free(lp->a);
    free(lp->b);
    free(lp->t);
    free(lp->rhs);
    free(lp->d);
    free(lp->norm);
    free(lp->basic);
    free(lp->nonbasic);
    free(lp->age);
    free(lp->tight);
    free(lp->z);
    free(lp->dual_value);
    free(lp->scratch);
    free(lp);
}

void mo_lp_simplex_express_row_in_basis(mo_lp_simplex *lp, int i)
{
    const double *a = row_of(lp, lp->a, i);
    double *t = row_of(lp, lp->t, i);

    for (int j = 0; j < lp->n; j++)
        t[j] = is_slack(lp->nonbasic[j]) ? 0 : a[lp->nonbasic[j]];
    lp->rhs[i] = lp->b[i];
    for (int r = 0; r < i; r++) {
        double factor = is_slack(lp->basic[r]) ? 0 : a[lp->basic[r]];

        if (factor == 0)
            continue;
        subtract_scaled(t, factor, row_of(lp, lp->t, r), lp->n);
        lp->rhs[i] -= factor * lp->rhs[r];
    }
    lp->norm[i] = square_sum(t, lp->n);
    lp->basic[i] = ~i;
}

mo_status mo_lp_simplex_add_row(mo_lp_simplex *lp, const double *a, double b,
                                mo_error *err)
{
    mo_status status = MO_OK;

    if ((size_t) lp->m == lp->m_room)
        status = reserve_rows(lp, 2 * lp->m_room, err);
    if (status != MO_OK)
        return status;
    memcpy(row_of(lp, lp->a, lp->m), a, (size_t) lp->n * sizeof *a);
    lp->b[lp->m] = b;
    lp->age[lp->m] = 0;
    lp->dual_value[lp->m] = 0;
    mo_lp_simplex_express_row_in_basis(lp, lp->m);
    lp->m++;
    return MO_OK;
}

mo_status mo_lp_simplex_add_column(mo_lp_simplex *lp, double c,
                                   const double *entries, mo_error *err)
{
    int at = lp->n;
    mo_status status = MO_OK;

    if ((size_t) at == lp->n_room)
        status = reserve_columns(lp, 2 * lp->n_room, err);
    if (status != MO_OK)
        return status;
    lp->c[at] = c;
    for (int i = 0; i < lp->m; i++)
        row_of(lp, lp->a, i)[at] = entries[i];
    /* Computes the dictionary's entries and reduced cost of a new nonbasic
     * column from its entries in the original rows and the columns of the
     * slacks. */
    double cost = c;

    for (int r = 0; r < lp->m; r++) {
        double *t = row_of(lp, lp->t, r), sum = 0;

        for (int j = 0; j < at; j++)
            if (is_slack(lp->nonbasic[j]))
                sum += entries[~lp->nonbasic[j]] * t[j];
        if (is_slack(lp->basic[r]))
            sum += entries[~lp->basic[r]];
        t[at] = sum;
        lp->norm[r] += sum * sum;
    }
    for (int j = 0; j < at; j++)
        if (is_slack(lp->nonbasic[j]))
            cost += entries[~lp->nonbasic[j]] * lp->d[j];
    lp->d[at] = cost;
    lp->nonbasic[at] = at;
    lp->z[at] = 0;
    lp->n++;
    return MO_OK;
}

double mo_lp_simplex_objective(const mo_lp_simplex *lp)
{
    return lp->value;
}

const double *mo_lp_simplex_primal(const mo_lp_simplex *lp)
{
    return lp->z;
}

const double *mo_lp_simplex_duals(const mo_lp_simplex *lp)
{
    return lp->dual_value;
}

static void move_row(mo_lp_simplex *lp, double *rows, int from, int to)
{
    if (from != to)
        memcpy(row_of(lp, rows, to), row_of(lp, rows, from),
               (size_t) lp->n * sizeof *rows);
}

void mo_lp_simplex_purge_slack_rows(mo_lp_simplex *lp, int most, int *kept)
{
    int to = 0;

    /* Marks the oldest rows with a basic slack in kept. */
    int surplus = lp->m > most ? lp->m - most : 0;

    /* The age that at most `surplus` rows with a basic slack exceed. */
    int oldest = 0, older = lp->m;

    while (older > surplus) {
        older = 0;
        oldest++;
        for (int r = 0; r < lp->m; r++)
            older += is_slack(lp->basic[r]) && lp->age[~lp->basic[r]] > oldest;
    }

    for (int j = 0; j < lp->m; j++)
        kept[j] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < lp->m && surplus > 0; r++) {
            int j = is_slack(lp->basic[r]) ? ~lp->basic[r] : -1;

            if (j >= 0 && kept[j] == 0 && lp->age[j] >= oldest + (pass == 0)) {
                kept[j] = -1;
                surplus--;
            }
        }
    for (int i = 0; i < lp->m; i++)
        if (kept[i] == 0) {
            move_row(lp, lp->a, i, to);
            lp->b[to] = lp->b[i];
            lp->age[to] = lp->age[i];
            lp->dual_value[to] = lp->dual_value[i];
            kept[i] = to++;
        }

    /* Rows of the dictionary, and the numbers of their slacks. */
    int kept_rows = 0;

    for (int r = 0; r < lp->m; r++) {
        int variable = lp->basic[r];

        if (is_slack(variable) && kept[~variable] < 0)
            continue;
        move_row(lp, lp->t, r, kept_rows);
        lp->rhs[kept_rows] = lp->rhs[r];
        lp->norm[kept_rows] = lp->norm[r];
        lp->basic[kept_rows++] =
            is_slack(variable) ? ~kept[~variable] : variable;
    }
    for (int j = 0; j < lp->n; j++)
        if (is_slack(lp->nonbasic[j]))
            lp->nonbasic[j] = ~kept[~lp->nonbasic[j]];
    lp->m = to;
}
