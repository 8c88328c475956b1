/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/bound_steps.h"

#include <math.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "solvers/search/period/packing_bound.h"

/* Table entries visited by a bundle, and effort of the bound by sets. */
#define BUNDLE_WORK 4e8
#define SUBSET_WORK 3e8

enum {
    MIN_EVALUATIONS = 40, /* of a bundle */
    LARGE_GAP = 32,       /* a part in it of the period */
    SMALL_GAIN = 1000     /* a part in it of the bound */
};

mo_status mo_period_bound_steps_init(mo_period_bound_steps *b,
                                     const mo_period_problem *problem,
                                     int64_t period_ns, mo_error *err)
{
    mo_status status;

    b->problem = problem;
    b->unit_ns = period_ns;
    status = mo_priced_labelling_init(&b->labelling, problem, period_ns, err);
    if (status == MO_OK)
        status = mo_subset_bound_init(&b->subsets, problem, err);
    if (status != MO_OK)
        return status;
    b->prices = calloc((size_t) b->labelling.n_prices + 1, sizeof *b->prices);
    return b->prices ? MO_OK : mo_fail_memory(err);
}

void mo_period_bound_steps_clear(mo_period_bound_steps *b)
{
    mo_period_branching_free(b->branching);
    b->branching = NULL;
    mo_subset_bound_clear(&b->subsets);
    mo_priced_labelling_clear(&b->labelling);
    free(b->prices);
    b->prices = NULL;
}

static mo_status run_bundle(mo_period_bound_steps *b,
                            const mo_period_bound_step *step, mo_error *err)
{
    double work =
        mo_labelling_work(b->labelling.labelling) + b->problem->x->n_flows;
    int n = (int) fmin(MO_PERIOD_PRICE_EVALUATIONS, BUNDLE_WORK / (work + 1));
    int64_t upper_ns = step->common.upper_ns, before_ns = b->priced_ns;
    int K = b->problem->x->n_devices;
    mo_status status;

    if (mo_ablated(MO_ABLATION_period_price)) {
        for (int k = 0; k < K; k++)
            b->prices[k] = 1.0 / K;
        b->n_idle = MO_PERIOD_PRICE_IDLE;
        return MO_OK;
    }
    status = mo_period_price_ascend(&b->labelling, &step->common,
                                    mo_max_int(n, MIN_EVALUATIONS),
                                    &b->priced_ns, b->prices, err);

    b->n_idle =
        mo_period_price_gained(before_ns, b->priced_ns) ? 0 : b->n_idle + 1;
    /* Better prices will not close a large gap. */
    if (upper_ns - b->priced_ns > upper_ns / LARGE_GAP &&
        b->priced_ns - before_ns < before_ns / SMALL_GAIN)
        b->n_idle = MO_PERIOD_PRICE_IDLE;
    b->lower_ns = mo_max_i64(b->lower_ns, b->priced_ns);
    return status;
}

mo_status mo_period_bound_steps_raise(mo_period_bound_steps *b,
                                      const mo_period_bound_step *step,
                                      const char **name, mo_error *err)
{
    int64_t upper_ns = step->common.upper_ns;
    mo_status status = MO_OK;

    if (b->n_idle < MO_PERIOD_PRICE_IDLE) {
        *name = "Lagrangian bound";
        status = run_bundle(b, step, err);
    } else if (step->fits && b->n_steps++ % 2 == 0 &&
               !mo_ablated(MO_ABLATION_period_subset) &&
               mo_subset_bound_is_open(&b->subsets, upper_ns, b->lower_ns)) {
        *name = "bound by subsets";
        status = mo_subset_bound_raise(&b->subsets, upper_ns, SUBSET_WORK,
                                       step->common.stop, &b->lower_ns, err);
    } else {
        *name = "branch and bound";
        if (!mo_ablated(MO_ABLATION_period_branch) && !b->branching)
            status = mo_period_branching_new(b->problem, upper_ns, b->priced_ns,
                                             b->prices, step->threads,
                                             &b->branching, err);
        b->branch_work += step->branch_work;
        if (status == MO_OK && b->branching)
            status =
                mo_period_branching_run(b->branching, &step->common,
                                        step->branch_work, &b->lower_ns, err);
    }
    if (status == MO_OK && b->packed_ns != upper_ns &&
        !mo_ablated(MO_ABLATION_period_packing)) {
        b->packed_ns = upper_ns;
        status =
            mo_period_packing_bound(b->problem, upper_ns, &b->lower_ns, err);
    }
    return status;
}
