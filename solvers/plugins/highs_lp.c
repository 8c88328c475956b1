/* SPDX-License-Identifier: Apache-2.0 */
/* Dual values of a linear program by HiGHS. */
#include <config.h>

#include "solvers/plugins/highs_api.h"

static mo_status run_lp(const mo_highs_api *api, void *highs,
                        const mo_linear_program *lp, double time_s,
                        mo_linear_program_answer *answer, mo_error *err)
{
    int given;

    api->set_bool(highs, "output_flag", 0);
    api->set_int(highs, "threads", 1);
    if (time_s > 0)
        api->set_double(highs, "time_limit", time_s);
    given = api->pass_lp(highs, lp->n_columns, lp->n_rows, lp->n_terms,
                         MO_HIGHS_BY_COLUMN, MO_HIGHS_MINIMIZE, 0, lp->cost,
                         lp->lower, lp->upper, lp->row_lower, lp->row_upper,
                         lp->start, lp->index, lp->coef);
    if (given == MO_HIGHS_ERROR || api->run(highs) == MO_HIGHS_ERROR ||
        api->solution(highs, NULL, NULL, NULL, answer->duals) ==
            MO_HIGHS_ERROR ||
        api->double_info(highs, "objective_function_value",
                         &answer->objective) != MO_HIGHS_OK)
        return mo_fail(err, MO_E_SUPPORT,
                       "HiGHS solves no linear program (its model status is "
                       "%d)",
                       api->model_status(highs));
    return MO_OK;
}

mo_status mo_highs_solve_lp(const mo_solver_install *found,
                            const mo_linear_program *lp, double time_s,
                            mo_linear_program_answer *answer, mo_error *err)
{
    mo_highs_api api;
    void *highs;
    mo_status status = mo_highs_open(found->library, &api, err);

    if (status != MO_OK)
        return status;
    highs = api.create();
    if (!highs)
        return mo_fail_memory(err);
    status = run_lp(&api, highs, lp, time_s, answer, err);
    api.destroy(highs);
    return status;
}
