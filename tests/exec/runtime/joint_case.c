/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/runtime/joint_case.h"

#include "tests/support/suite.h"

enum { LANES = 4, RUNS = 4 };

static const int lanes[RANDOM_PLAN_DEVICES] = { LANES, LANES, LANES, LANES };

/* Without memory to spare a sender awaits as soon as the receiver does, and
 * its bytes are soon reused. Only the plan is built so: there is enough. */
static void make_plan(random_plan *r, bool spare)
{
    int64_t *capacity_bytes = r->problem.x->capacity_bytes;

    for (int d = 0; d < r->problem.x->n_devices && !spare; d++)
        capacity_bytes[d] = 1;
    MUST(mo_plan_build(&r->source, &r->plan, &err));
    for (int d = 0; d < r->plan->n_devices; d++)
        r->plan->devices[d].capacity_bytes = INT64_MAX;
}

void joint_case_make(joint_case *c, unsigned seed, int n_devices)
{
    if (seed % 2)
        random_plan_of(&c->made, random_picture(seed), random_picture(seed),
                       NULL, seed, n_devices);
    else
        random_plan_make(&c->made, seed, n_devices);
    mo_plan_free(c->made.plan);
    c->made.plan = NULL;
    c->made.source.max_streams = seed % 5 ? lanes : NULL;
    c->made.source.layout = seed % 4 > 1;
    c->made.source.fuse = seed % 3 == 0;
    make_plan(&c->made, seed % 11 < 6);
    plan_runner_begin(&c->runner, c->made.plan, seed);
    c->runner.options.warm_ups = 1;
    c->runner.options.runs = RUNS;
    c->runner.options.trace = true;
}

void joint_case_clear(joint_case *c)
{
    plan_runner_end(&c->runner);
    random_plan_clear(&c->made);
}

void joint_case_place(joint_case *c, const mo_backend *backend, unsigned mask)
{
    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++)
        if (mask >> d & 1) {
            c->runner.backends[d] = backend;
            c->runner.units[d] = (mo_backend_unit_options){ .threads = 1,
                                                            .gpu = d,
                                                            .cache = "" };
        }
}
