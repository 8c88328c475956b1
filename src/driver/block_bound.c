/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/block_bound.h"

#include "schedule/bound/priced_chain.h"
#include "solvers/search/method.h"

enum { MAX_PAIRS = 200000 }; /* ops times devices */

mo_status mo_block_bound_raise(const mo_instance *x, const mo_regime *regime,
                               int64_t upper_ns, const mo_driver_log *logger,
                               int64_t *bound_ns, const char **bound_by,
                               mo_error *err)
{
    const mo_method_task task = {
        .x = x, .regime = *regime, .seed = 1, .rounds = -1
    };
    mo_method_result placed = { 0 };
    double begin = mo_driver_clock_s();
    mo_status status;

    if (*bound_ns >= upper_ns || (int64_t) x->n * x->n_devices > MAX_PAIRS ||
        !mo_priced_chain_pays(&(mo_allowed_devices){ x, *regime, NULL }))
        return MO_OK;
    status = mo_method_moirai.place(&task, &placed, err);
    if (status == MO_OK) {
        mo_driver_log_info(logger, "bound by blocks: %.3f us, in %.2f s",
                           (double) placed.lower_ns / 1000,
                           mo_driver_clock_s() - begin);
        if (placed.lower_ns > *bound_ns && placed.lower_ns <= upper_ns) {
            *bound_ns = placed.lower_ns;
            *bound_by = MO_BLOCK_BOUND_NAME;
        }
    }
    mo_method_result_clear(&placed);
    return status;
}
