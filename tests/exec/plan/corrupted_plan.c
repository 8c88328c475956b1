/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/plan/corrupted_plan.h"

#include "exec/plan/verify/verify.h"

#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

int corrupted_plan_below(corrupted_plan *v, int bound)
{
    return random_below(&v->random, bound);
}

bool corrupted_plan_find(corrupted_plan *v, mo_plan_step_kind kind, int *device,
                         int *step)
{
    int seen = 0;

    for (int d = 0; d < v->plan->n_devices; d++)
        for (int s = 0; s < v->plan->devices[d].n_steps; s++)
            if (v->plan->devices[d].steps[s].kind == kind &&
                corrupted_plan_below(v, ++seen) == 0) {
                *device = d;
                *step = s;
            }
    return seen > 0;
}

mo_plan_step *victim_step(corrupted_plan *v, int device, int step)
{
    return &v->plan->devices[device].steps[step];
}

mo_plan_step *corrupted_plan_any(corrupted_plan *v, mo_plan_step_kind kind)
{
    int device, step;

    return corrupted_plan_find(v, kind, &device, &step)
               ? victim_step(v, device, step)
               : NULL;
}

/* The number of plans each corruption is applied to, and of seeds tried. */
enum { WANTED = 8, MAX_SEEDS = 200 };

void corrupted_plan_check(const plan_mutation *breach)
{
    int wanted = is_watched() ? 1 : WANTED, n = 0;

    for (unsigned seed = 0; seed < MAX_SEEDS && n < wanted; seed++) {
        random_plan r;
        corrupted_plan v;
        mo_error err = { 0 };

        random_plan_make(&r, seed, VICTIM_DEVICES);
        v = (corrupted_plan){ r.plan, { seed } };
        if (r.plan->n_calls > 0 && breach->breaks(&v)) {
            ck_assert_msg(mo_verify_plan(r.plan, &err) == MO_E_INPUT,
                          "seed %u: a plan that %s is not refused", seed,
                          breach->what);
            ck_assert_msg(strlen(err.text) > 10, "%s", breach->what);
            n++;
        }
        random_plan_clear(&r);
    }
    ck_assert_msg(n == wanted, "%s: broke only %d plans", breach->what, n);
}
