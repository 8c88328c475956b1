/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/search/exact/exact_case.h"

#include "schedule/validate/validate.h"
#include "tests/support/exhaustive.h"
#include "tests/support/suite.h"

mo_exact_result exact_solve(const mo_instance *x, const mo_regime *regime,
                            const mo_exact_options *options)
{
    mo_exact_result result = { 0 };
    mo_verdict *verdict = NULL;

    MUST(mo_exact_solve(x, regime, options, &result, &err));
    if (result.best) {
        MUST(mo_validate(x, result.best, 1, &verdict, &err));
        ck_assert_msg(verdict->n == 0, "%s", verdict->violations[0].text);
        mo_verdict_free(verdict);
        ck_assert_int_lt(result.best->makespan_ns, options->below_ns);
        ck_assert_int_le(result.lower_ns, result.best->makespan_ns);
    }
    return result;
}

mo_exact_result exact_solve_below(const mo_instance *x, const mo_regime *regime,
                                  int64_t below_ns)
{
    return exact_solve(x, regime, &(mo_exact_options){ .below_ns = below_ns });
}

int64_t exact_optimum(const mo_instance *x, const mo_regime *regime)
{
    mo_exact_result r = exact_solve_below(x, regime, INT64_MAX);
    int64_t ns = r.best ? r.best->makespan_ns : EXHAUSTIVE_NONE;

    ck_assert(r.finished);
    if (r.best)
        ck_assert_int_eq(r.lower_ns, ns);
    mo_schedule_free(r.best);
    return ns;
}
