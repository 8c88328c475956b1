#include "solvers/formats/highs_status.h"

/* All other words are some limit, an interrupt or a failure. */
mo_claim mo_highs_claim(const mo_word *status, bool has_solution)
{
    if (mo_word_is(status, "Infeasible"))
        return MO_CLAIM_INFEASIBLE;
    if (mo_word_is(status, "Unbounded") ||
        mo_word_is(status, "Primal infeasible or unbounded"))
        return MO_CLAIM_UNBOUNDED;
    if (mo_word_is(status, "Optimal") && has_solution)
        return MO_CLAIM_OPTIMAL;
    return mo_claim_at_limit(has_solution);
}
