/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/root_lp.h"

#include <math.h>

#include "solvers/root_bound.h"

/* Coefficients for each second: solvers need a second for half as many; a
 * relaxation that cannot be solved in time is not even built. */
#define TERMS_PER_S 40000

mo_status mo_root_lp_raise(const mo_instance *x, const mo_regime *regime,
                           int64_t upper_ns, double seconds,
                           const mo_driver_log *logger, int64_t *bound_ns,
                           const char **bound_by, mo_error *err)
{
    const mo_root_bound_options options = { .time_s = seconds,
                                            .max_terms = (size_t) fmin(
                                                TERMS_PER_S * seconds + 1,
                                                MO_ROOT_BOUND_MAX_TERMS) };
    mo_root_bound bound;
    double begin = mo_driver_clock_s();
    mo_status status;

    if (seconds <= 0 || *bound_ns >= upper_ns)
        return MO_OK;
    status = mo_root_bound_compute(x, regime, upper_ns, &options, &bound, err);
    if (status != MO_OK)
        return status;
    if (!bound.found) {
        mo_driver_log_info(logger, "no bound by the root LP: %s", bound.why);
        return MO_OK;
    }
    mo_driver_log_info(logger,
                       "root LP of %zu rows, %zu columns, %zu coefficients: "
                       "%.3f us by dual values of %s, which reports %.3f us, "
                       "in %.2f s",
                       bound.n_rows, bound.n_columns, bound.n_terms,
                       (double) bound.bound_ns / 1000, bound.solver,
                       bound.objective_ns / 1000, mo_driver_clock_s() - begin);
    if (bound.bound_ns > *bound_ns) {
        *bound_ns = bound.bound_ns;
        *bound_by = MO_ROOT_LP_NAME;
    }
    return MO_OK;
}
