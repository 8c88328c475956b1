/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/priced_refutation.h"

#include "base/minmax.h"
#include "solvers/search/bound/colgen/branch_and_price.h"

/*
 * A schedule whose time t and prices are together less than the target has
 *
 *     least time <= t <= target - 1 - least prices.
 *
 * These times are divided into intervals.  If t is in [from, to], the prices
 * are at most target - 1 - from: no such schedule exists if none within the
 * horizon `to` has prices within that budget (branch_and_price.h), or if its
 * prices and any resource's load exceed the target together: that does not
 * depend on t, so that intervals are wide.  One that is not refuted is halved.
 */

enum {
    FIRST_INTERVALS = 2, /* at first the times are divided by this */
    LEAST_WIDTH = 400,   /* an interval is no less than target / 400 */
    MAX_FAILURES = 4,    /* intervals that are not refuted, in all */
    STEPS = 300          /* iterations of the master for an interval */
};

/* The least prices of all branches together. */
static int64_t least_prices_ns(const mo_cg_priced_task *t)
{
    const mo_allowed_devices *places = t->fork->places;
    int n_devices = places->x->n_devices;
    int64_t sum = 0;

    for (int c = 0; c < t->fork->n_classes; c++) {
        const mo_forkjoin_class *class = &t->fork->classes[c];

        for (int i = 0; i < class->count * class->n; i++) {
            int64_t least = INT64_MAX;

            for (int k = 0; k < n_devices; k++)
                least = mo_min_i64(
                    least,
                    t->price_ns[(int64_t) class->members[i] * n_devices + k]);
            sum += least;
        }
    }
    return sum;
}

/* Refutes times within an interval. */
static mo_status refute_interval(const mo_cg_priced_task *t, int64_t target_ns,
                                 int64_t from_ns, int64_t to_ns, bool *refuted,
                                 mo_error *err)
{
    /* A nanosecond more than the budget: far above what division rounds. */
    mo_cg_budget budget = { .ns = (double) (target_ns - from_ns),
                            .op_price_ns = t->price_ns,
                            .sum_ns = (double) target_ns,
                            .from_ns = from_ns };
    mo_cg_options options = {
        .effort = 1, .stop = t->stop, .budget = &budget, .steps = STEPS
    };

    return mo_cg_refute(t->fork, t->regime, t->a, t->b, to_ns, &options,
                        refuted, err);
}

mo_status mo_cg_priced_refute(const mo_cg_priced_task *t, int64_t target_ns,
                              bool *refuted, int *n_calls, mo_error *err)
{
    int64_t from_ns = mo_max_i64(t->least_ns, 1);
    int64_t last_ns = target_ns - 1 - least_prices_ns(t);
    int64_t least_width = target_ns / LEAST_WIDTH + 1;
    int64_t width =
        mo_max_i64((last_ns - from_ns) / FIRST_INTERVALS + 1, least_width);
    mo_status status = MO_OK;
    int failures = 0;

    *refuted = false;
    while (from_ns <= last_ns) {
        int64_t to_ns = mo_min_i64(from_ns + width - 1, last_ns);
        bool done = false;

        if (mo_stop_reached(t->stop))
            return MO_OK;
        ++*n_calls;
        status = refute_interval(t, target_ns, from_ns, to_ns, &done, err);
        failures += !done;
        if (status != MO_OK || failures == MAX_FAILURES ||
            (!done && width <= least_width))
            return status;
        if (done) {
            from_ns = to_ns + 1;
            width += width / 2;
        } else {
            width = mo_max_i64(width / 2, least_width);
        }
    }
    *refuted = true;
    return MO_OK;
}
