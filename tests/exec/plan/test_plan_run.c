/* SPDX-License-Identifier: Apache-2.0 */
/* tags: threads */
/* Tests of exec/runtime/run.h on plans of random networks: outputs do not
 * depend on the placement, bit by bit. */
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

typedef struct running {
    random_plan made;
    plan_runner runner;
} running;

/* Twice, so that the second run cannot rely on values of the first. */
static void run(running *r, unsigned seed, int n_devices)
{
    random_plan_make(&r->made, seed, n_devices);
    plan_runner_begin(&r->runner, r->made.plan, seed);
    r->runner.options.warm_ups = 1;
    plan_runner_go(&r->runner);
}

static void clear(running *r)
{
    plan_runner_end(&r->runner);
    random_plan_clear(&r->made);
}

START_TEST(results_do_not_depend_on_the_placement)
{
    running one, several;
    int n_devices = 2 + _i % (RANDOM_PLAN_DEVICES - 1);

    run(&one, (unsigned) _i, 1);
    run(&several, (unsigned) _i, n_devices);
    check_outputs_equal(&one.runner.result, &several.runner.result, _i);
    clear(&several);
    clear(&one);
}
END_TEST

SUITE(plan_run)
{
    SOME(results_do_not_depend_on_the_placement, 1000, 20);
}
