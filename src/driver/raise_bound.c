/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/raise_bound.h"

#include <math.h>

#include "driver/search_progress.h"
#include "schedule/bound/priced_chain.h"
#include "solvers/root_bound.h"
#include "solvers/search/method.h"

enum { MAX_PAIRS = 200000 }; /* ops times devices */

/* Coefficients for each second: solvers need a second for half as many; a
 * relaxation that cannot be solved in time is not even built. */
#define TERMS_PER_S 40000

mo_status mo_block_bound_raise(const mo_instance *x, const mo_regime *regime,
                               int64_t upper_ns, const mo_driver_log *logger,
                               mo_lower_bound *lower, mo_error *err)
{
    mo_search_progress progress;
    const mo_method_task task = { .x = x,
                                  .regime = *regime,
                                  .seed = 1,
                                  .rounds = -1,
                                  .on_progress = mo_search_progress_report,
                                  .context = &progress };
    mo_method_result placed = { 0 };
    double begin = mo_driver_clock_s();
    mo_status status;

    if (lower->bound_ns >= upper_ns ||
        (int64_t) x->n * x->n_devices > MAX_PAIRS ||
        !mo_priced_chain_pays(&(mo_allowed_devices){ x, *regime, NULL }))
        return MO_OK;
    mo_search_progress_begin(&progress, logger, "bounding");
    status = mo_method_moirai.place(&task, &placed, err);
    mo_search_progress_end(&progress);
    if (status == MO_OK) {
        mo_driver_log_info(logger, "bound by blocks: %.3f us, in %.2f s",
                           (double) placed.lower_ns / 1000,
                           mo_driver_clock_s() - begin);
        if (placed.lower_ns > lower->bound_ns && placed.lower_ns <= upper_ns) {
            lower->bound_ns = placed.lower_ns;
            lower->which = MO_BLOCK_BOUND_NAME;
        }
    }
    mo_method_result_clear(&placed);
    return status;
}

mo_status mo_root_lp_raise(const mo_instance *x, const mo_regime *regime,
                           int64_t upper_ns, double seconds,
                           const mo_driver_log *logger, mo_lower_bound *lower,
                           mo_error *err)
{
    const mo_root_bound_options options = { .time_s = seconds,
                                            .max_terms = (size_t) fmin(
                                                TERMS_PER_S * seconds + 1,
                                                MO_ROOT_BOUND_MAX_TERMS) };
    mo_root_bound bound;
    mo_progress step;
    double begin = mo_driver_clock_s();
    mo_status status;

    if (seconds <= 0 || lower->bound_ns >= upper_ns)
        return MO_OK;
    mo_driver_log_step(logger, &step, "solving the LP relaxation");
    status = mo_root_bound_compute(x, regime, upper_ns, &options, &bound, err);
    mo_progress_end(&step);
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
    if (bound.bound_ns > lower->bound_ns) {
        lower->bound_ns = bound.bound_ns;
        lower->which = MO_ROOT_LP_NAME;
    }
    return MO_OK;
}
