/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "driver/place/method_run.h"
#include "schedule/bound/lower_bound.h"

/* Returns the shortest known makespan; INT64_MAX: none. */
static int64_t least_known(const mo_place_result *const *ranked, int n)
{
    return n > 0 && !ranked[0]->row.why && ranked[0]->row.fits
               ? ranked[0]->row.makespan_ns
               : INT64_MAX;
}

static void log_contradiction(const mo_driver_log *logger, const char *source,
                              int64_t bound_ns, int64_t known_ns)
{
    fprintf(stderr,
            "%s: %s says that %.3f us is the least, but %.3f us is known; its "
            "bound is not taken\n",
            logger->command, source, (double) bound_ns / 1000,
            (double) known_ns / 1000);
}

mo_status mo_place_best_bound(const mo_place_context *setting,
                              const mo_instance *x,
                              const mo_place_result *const *ranked, int n,
                              int64_t *bound_ns, const char **bound_by,
                              mo_error *err)
{
    int64_t known_ns = least_known(ranked, n);
    mo_lower_bound lower;
    mo_status status;

    *bound_ns = 0;
    *bound_by = NULL;
    for (int i = 0; i < n; i++) {
        int64_t ns = ranked[i]->row.lower_ns;

        if (ns > known_ns) {
            log_contradiction(setting->logger, ranked[i]->method->name, ns,
                              known_ns);
        } else if (ns > *bound_ns) {
            *bound_ns = ns;
            *bound_by = ranked[i]->method->name;
        }
    }
    /* Methods that prove a bound have computed this one already where it
     * pays. */
    if (*bound_ns > 0)
        return MO_OK;
    status = mo_bound_lower(x, &setting->regime, &lower, err);
    if (status == MO_OK && lower.bound_ns > 0) {
        *bound_ns = lower.bound_ns;
        *bound_by = lower.which;
    }
    return status;
}
