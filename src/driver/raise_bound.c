/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/raise_bound.h"

#include <math.h>
#include <stdio.h>

#include "driver/search_progress.h"
#include "schedule/bound/priced_chain.h"
#include "schedule/period/loads.h"
#include "solvers/root_bound.h"
#include "solvers/search/driver/certificate.h"
#include "solvers/search/method.h"
#include "solvers/search/period/price_bound.h"

enum { MAX_PAIRS = 200000 }; /* ops times devices */

/* Most work of the verification of a certificate, about a minute, and of the
 * bound that is computed beside one that holds. */
#define VERIFY_WORK INT64_C(60000000000)
#define BESIDE_WORK INT64_C(50000000)

/* Coefficients for each second: solvers need a second for half as many; a
 * relaxation that cannot be solved in time is not even built. */
#define TERMS_PER_S 40000

mo_status mo_certificate_verify(const mo_proof_scope *scope, int64_t upper_ns,
                                const mo_proof *proof,
                                const mo_driver_log *logger,
                                mo_report_proof *proven, mo_error *err)
{
    _Atomic int64_t work = 0;
    const mo_stop stop = { .deadline_ns = INT64_MAX,
                           .work = &work,
                           .max_work = VERIFY_WORK };
    double begin = mo_driver_clock_s();
    mo_proof_result result;
    mo_status status = mo_proof_verify(scope, proof, &mo_search_proof_rules,
                                       &stop, NULL, &result, err);

    if (status != MO_OK)
        return status;
    proven->bound_ns = result.bound_ns;
    proven->n_entries = proof->n;
    snprintf(proven->why, sizeof proven->why, "%s", result.why);
    mo_driver_log_info(logger, "certificate of %zu entries: %.3f us, in %.2f s",
                       proof->n, (double) result.bound_ns / 1000,
                       mo_driver_clock_s() - begin);
    if (proven->bound_ns <= upper_ns)
        return MO_OK;
    proven->bound_ns = 0;
    snprintf(proven->why, sizeof proven->why,
             "the certificate proves more than the %s",
             scope->objective == MO_OBJECTIVE_PERIOD ? "period" : "makespan");
    return MO_OK;
}

mo_report_proof mo_certificate_trust(const mo_proof *proof)
{
    return proof ? (mo_report_proof){ .bound_ns = proof->bound_ns,
                                      .n_entries = proof->n }
                 : (mo_report_proof){ 0 };
}

static void take_bound(mo_lower_bound *lower, int64_t upper_ns,
                       int64_t bound_ns, const char *which)
{
    if (bound_ns > lower->bound_ns && bound_ns <= upper_ns)
        *lower = (mo_lower_bound){ bound_ns, which };
}

/* The bound of the search before its first round, where memory binds: a second
 * or two. */
static mo_status raise_by_blocks(const mo_proof_scope *scope, int64_t upper_ns,
                                 const mo_stop *stop,
                                 const mo_driver_log *logger,
                                 mo_lower_bound *lower, mo_error *err)
{
    const mo_instance *x = scope->x;
    mo_search_progress progress;
    const mo_method_task task = { .x = x,
                                  .regime = scope->regime,
                                  .seed = 1,
                                  .rounds = -1,
                                  .stop = stop,
                                  .on_progress = mo_search_progress_report,
                                  .context = &progress };
    mo_method_result placed = { 0 };
    double begin = mo_driver_clock_s();
    mo_status status;

    if (lower->bound_ns >= upper_ns || mo_stop_reached(stop) ||
        (int64_t) x->n * x->n_devices > MAX_PAIRS ||
        !mo_priced_chain_pays(&(mo_allowed_devices){ x, scope->regime, NULL }))
        return MO_OK;
    mo_search_progress_begin(&progress, logger, "bounding");
    status = mo_method_moirai.place(&task, &placed, err);
    mo_search_progress_end(&progress);
    if (status == MO_OK) {
        mo_driver_log_info(logger, "bound by blocks: %.3f us, in %.2f s",
                           (double) placed.lower_ns / 1000,
                           mo_driver_clock_s() - begin);
        take_bound(lower, upper_ns, placed.lower_ns, MO_BLOCK_BOUND_NAME);
    }
    mo_method_result_clear(&placed);
    return status;
}

static mo_status bound_makespan(const mo_proof_scope *scope, int64_t upper_ns,
                                bool is_proven, const mo_stop *stop,
                                const mo_driver_log *logger,
                                mo_lower_bound *lower, mo_error *err)
{
    _Atomic int64_t work = 0;
    const mo_stop limit = { .deadline_ns = INT64_MAX,
                            .work = &work,
                            .max_work = BESIDE_WORK };
    mo_status status = mo_bound_lower_until(
        scope->x, &scope->regime, is_proven ? &limit : stop, lower, err);

    return status == MO_OK && !is_proven
               ? raise_by_blocks(scope, upper_ns, stop, logger, lower, err)
               : status;
}

static mo_status bound_period(const mo_proof_scope *scope, int64_t upper_ns,
                              bool is_proven, const mo_stop *stop,
                              mo_lower_bound *lower, mo_error *err)
{
    mo_period_problem p = { 0 };
    int64_t priced_ns = 0;
    mo_status status = MO_OK;

    *lower = (mo_lower_bound){ mo_period_least_ns(scope->x), "mean load" };
    if (is_proven || lower->bound_ns >= upper_ns || mo_stop_reached(stop))
        return MO_OK;
    status = mo_period_problem_init(&p, scope->x, &scope->regime, err);
    if (status == MO_OK)
        status = mo_period_price_bound(&p, upper_ns, stop, &priced_ns, err);
    mo_period_problem_clear(&p);
    take_bound(lower, upper_ns, priced_ns, "Lagrangian bound of the loads");
    return status;
}

mo_status mo_reported_bound_find(const mo_proof_scope *scope, int64_t upper_ns,
                                 const mo_report_proof *proven,
                                 const mo_stop *stop,
                                 const mo_driver_log *logger,
                                 mo_lower_bound *lower, mo_error *err)
{
    bool is_proven = proven->bound_ns > 0 && !proven->why[0];
    mo_status status = MO_OK;

    *lower = (mo_lower_bound){ 0, "none" };
    if (!is_proven || proven->bound_ns < upper_ns)
        status =
            scope->objective == MO_OBJECTIVE_PERIOD
                ? bound_period(scope, upper_ns, is_proven, stop, lower, err)
                : bound_makespan(scope, upper_ns, is_proven, stop, logger,
                                 lower, err);
    if (proven->bound_ns > 0 && proven->bound_ns >= lower->bound_ns)
        *lower = (mo_lower_bound){ proven->bound_ns, MO_REPORT_PROOF_NAME };
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
