/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dual values of a linear program by the LP solver that SCIP was built with,
 * through SCIP's interface to it (its lpi/lpi.h).
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/plugins/scip_api.h"

/* Infinity is a finite number of the LP solver: columns, then rows, lower
 * sides, then upper ones; NULL when memory cannot be allocated. */
static double *finite_sides(const mo_linear_program *lp, double infinity)
{
    size_t n = (size_t) lp->n_columns, m = (size_t) lp->n_rows;
    double *sides = malloc((2 * (n + m) + 1) * sizeof *sides);

    if (!sides)
        return NULL;
    memcpy(sides, lp->lower, n * sizeof *sides);
    memcpy(sides + n, lp->upper, n * sizeof *sides);
    memcpy(sides + 2 * n, lp->row_lower, m * sizeof *sides);
    memcpy(sides + 2 * n + m, lp->row_upper, m * sizeof *sides);
    for (size_t i = 0; i < 2 * (n + m); i++)
        if (isinf(sides[i]))
            sides[i] = sides[i] > 0 ? infinity : -infinity;
    return sides;
}

static mo_status run_lp(const mo_scip_api *api, void *lpi,
                        const mo_linear_program *lp,
                        mo_linear_program_answer *answer, mo_error *err)
{
    double *sides = finite_sides(lp, api->lp_infinity(lpi));
    int n = lp->n_columns, m = lp->n_rows, code;
    double *row_sides;

    if (!sides)
        return mo_fail_memory(err);
    row_sides = sides + (size_t) 2 * n;
    code = api->lp_load(lpi, MO_SCIP_MINIMIZE, n, lp->cost, sides, sides + n,
                        NULL, m, row_sides, row_sides + m, NULL, lp->n_terms,
                        lp->start, lp->index, lp->coef);
    if (code == MO_SCIP_OKAY)
        code = api->lp_solve(lpi);
    if (code == MO_SCIP_OKAY)
        code = api->lp_solution(lpi, &answer->objective, NULL, answer->duals,
                                NULL, NULL);
    free(sides);
    return code == MO_SCIP_OKAY
               ? MO_OK
               : mo_fail(err, MO_E_SUPPORT,
                         "SCIP solves no linear program (error %d)", code);
}

/* The time limit is that of the child. */
mo_status mo_scip_solve_lp(const mo_solver_install *found,
                           const mo_linear_program *lp, double time_s,
                           mo_linear_program_answer *answer, mo_error *err)
{
    mo_scip_api api;
    void *lpi = NULL;
    mo_status status = mo_scip_open(found->library, &api, err);

    (void) time_s;
    if (status != MO_OK)
        return status;
    if (!api.lp_create || !api.lp_free || !api.lp_infinity || !api.lp_load ||
        !api.lp_solve || !api.lp_solution)
        return mo_fail(err, MO_E_SUPPORT,
                       "this SCIP has no interface to its LP solver");
    if (api.lp_create(&lpi, NULL, "relaxation", MO_SCIP_MINIMIZE) !=
        MO_SCIP_OKAY)
        return mo_fail_memory(err);
    status = run_lp(&api, lpi, lp, answer, err);
    api.lp_free(&lpi);
    return status;
}
