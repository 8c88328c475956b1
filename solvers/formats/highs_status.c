/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/formats/highs_status.h"

/* All other texts are a limit, an interrupt or a failure. */
mo_solution_status mo_highs_solution_status(const mo_solfmt_token *status,
                                            bool has_solution)
{
    if (mo_solfmt_token_is(status, "Infeasible"))
        return MO_SOLUTION_STATUS_INFEASIBLE;
    if (mo_solfmt_token_is(status, "Unbounded") ||
        mo_solfmt_token_is(status, "Primal infeasible or unbounded"))
        return MO_SOLUTION_STATUS_UNBOUNDED;
    if (mo_solfmt_token_is(status, "Optimal") && has_solution)
        return MO_SOLUTION_STATUS_OPTIMAL;
    return mo_solution_status_at_limit(has_solution);
}
