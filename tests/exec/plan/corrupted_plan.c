/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/plan/corrupted_plan.h"

#include "exec/plan/verify/verify.h"

#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

int victim_below(victim *v, int bound)
{
    return random_below(&v->random, bound);
}

bool victim_find(victim *v, mo_plan_step_kind kind, int *device, int *step)
{
    int seen = 0;

    for (int d = 0; d < v->plan->n_devices; d++)
        for (int s = 0; s < v->plan->devices[d].n_steps; s++)
            if (v->plan->devices[d].steps[s].kind == kind &&
                victim_below(v, ++seen) == 0) {
                *device = d;
                *step = s;
            }
    return seen > 0;
}

mo_plan_step *victim_step(victim *v, int device, int step)
{
    return &v->plan->devices[device].steps[step];
}

mo_plan_step *victim_any(victim *v, mo_plan_step_kind kind)
{
    int device, step;

    return victim_find(v, kind, &device, &step) ? victim_step(v, device, step)
                                                : NULL;
}

/* The number of plans each corruption is applied to, and of seeds tried. */
enum { WANTED = 8, MAX_SEEDS = 200 };

void victim_check(const plan_breach *breach)
{
    int wanted = is_watched() ? 1 : WANTED, n = 0;

    for (unsigned seed = 0; seed < MAX_SEEDS && n < wanted; seed++) {
        random_plan r;
        victim v;
        mo_error err = { 0 };

        random_plan_make(&r, seed, VICTIM_DEVICES);
        v = (victim){ r.plan, { seed } };
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
