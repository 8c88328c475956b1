/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/strengthen.h"

mo_status mo_search_strengthen(const mo_instance *x, const mo_regime *regime,
                               const mo_search_strengthen_options *options,
                               mo_proven_bounds **strength, mo_schedule **start,
                               mo_error *err)
{
    mo_method_task task = { .x = x,
                            .regime = *regime,
                            .objective = options->objective,
                            .in_flight = options->in_flight,
                            .seed = options->seed,
                            .threads = options->threads,
                            .rounds = options->rounds,
                            .max_work = options->max_work,
                            .stop = options->stop,
                            .on_progress = options->on_progress,
                            .context = options->context };
    mo_method_result placed = { 0 };
    mo_proven_bounds *proven = NULL;
    mo_status status = mo_proven_bounds_new(x->n_devices, &proven, err);

    task.proven = proven;
    task.patterns = options->patterns;
    task.certify = options->objective == MO_OBJECTIVE_LATENCY;
    if (status == MO_OK)
        status = mo_method_moirai.place(&task, &placed, err);
    if (status == MO_OK && placed.infeasible)
        status = mo_fail(err, MO_E_INFEASIBLE, "%s", placed.why);
    if (status != MO_OK) {
        mo_method_result_clear(&placed);
        mo_proven_bounds_free(proven);
        return status;
    }
    proven->lower_ns = placed.lower_ns;
    proven->proof = placed.proof;
    placed.proof = NULL;
    *strength = proven;
    *start = NULL;
    if (placed.fits) {
        *start = placed.schedule;
        placed.schedule = NULL;
    }
    mo_method_result_clear(&placed);
    return MO_OK;
}
