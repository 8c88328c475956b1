/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>

#include "exec/plan/verify/verify_internal.h"

/* The places of a transfer's ends: both begin at one, and every await of it is
 * behind. */
static mo_status check_place(const mo_exec_plan *plan, int device, int step,
                             int *begun, mo_error *err)
{
    const mo_plan_step *it = &plan->devices[device].steps[step];
    int *place;

    if (step > 0 && it->order <= it[-1].order)
        return mo_verify_fail(plan, device, step, err,
                              "is not in the total order");
    if (it->kind == MO_PLAN_STEP_COMPUTE)
        return MO_OK;
    place = &begun[it->what];
    if (it->kind == MO_PLAN_STEP_AWAIT)
        return it->order > *place
                   ? MO_OK
                   : mo_verify_fail(plan, device, step, err,
                                    "is before its transfer in the total "
                                    "order");
    if (*place != INT_MIN && *place != it->order)
        return mo_verify_fail(plan, device, step, err,
                              "has another place in the total order than its "
                              "other end");
    *place = it->order;
    return MO_OK;
}

/* Nothing but the two ends of a transfer shares a place. */
static int compare_places(const void *a, const void *b)
{
    const mo_plan_step *x = *(const mo_plan_step *const *) a;
    const mo_plan_step *y = *(const mo_plan_step *const *) b;

    return (x->order > y->order) - (x->order < y->order);
}

static bool are_ends(const mo_plan_step *a, const mo_plan_step *b)
{
    return a->what == b->what && a->kind != b->kind &&
           (a->kind == MO_PLAN_STEP_SEND || a->kind == MO_PLAN_STEP_RECEIVE) &&
           (b->kind == MO_PLAN_STEP_SEND || b->kind == MO_PLAN_STEP_RECEIVE);
}

static mo_status check_sorted(const mo_plan_step *const *steps, size_t n,
                              mo_error *err)
{
    int call = -1;

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && steps[i]->order == steps[i - 1]->order &&
            !are_ends(steps[i], steps[i - 1]))
            return mo_fail(err, MO_E_INPUT,
                           "plan: two steps share place %d of the total order",
                           steps[i]->order);
        if (steps[i]->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        if (steps[i]->what <= call)
            return mo_fail(err, MO_E_INPUT,
                           "plan: call %d is not in the total order",
                           steps[i]->what);
        call = steps[i]->what;
    }
    return MO_OK;
}

static mo_status check_together(const mo_exec_plan *plan, mo_error *err)
{
    const mo_plan_step **steps;
    size_t n = 0;
    mo_status status;

    for (int d = 0; d < plan->n_devices; d++)
        n += (size_t) plan->devices[d].n_steps;
    steps = calloc(n + 1, sizeof *steps);
    if (!steps)
        return mo_fail_memory(err);
    n = 0;
    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps; i++)
            steps[n++] = &plan->devices[d].steps[i];
    qsort(steps, n, sizeof *steps, compare_places);
    status = check_sorted(steps, n, err);
    free(steps);
    return status;
}

mo_status mo_verify_total_order(const mo_exec_plan *plan, mo_error *err)
{
    size_t n = (size_t) plan->n_transfers;
    int *begun = malloc((n + 1) * sizeof *begun);
    mo_status status = begun ? MO_OK : mo_fail_memory(err);

    for (size_t t = 0; t < n && status == MO_OK; t++)
        begun[t] = INT_MIN;
    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps && status == MO_OK; i++)
            status = check_place(plan, d, i, begun, err);
    free(begun);
    return status == MO_OK ? check_together(plan, err) : status;
}
