/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/support/random_plan.h"

#include "coarsen/coarsen.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

/* Heterogeneous devices and links, one of which is a route over another
 * device. */
#define TWO   "A model=t4; B model=v100; A-B gbps=8"
#define THREE TWO "; C model=t4; B-C gbps=16"
#define FOUR  THREE "; D model=a100; C-D gbps=100; D-A gbps=8; A-C gbps=50"

static const char *const clusters[] = { "A model=t4", TWO, THREE, FOUR };

static mo_graph *coarsen(random_plan *r)
{
    mo_fusion_rules *rules = NULL;
    mo_coarsen_options options = { .clean = MO_CLEAN_ALL };
    mo_coarsen_report report;
    mo_graph *coarse = NULL;

    MUST(mo_fusion_rules_load("default", &rules, &err));
    options.rules = rules;
    MUST(mo_coarsen(r->fine, &options, &coarse, &r->map, &report, &err));
    mo_fusion_rules_free(rules);
    return coarse;
}

static void make_schedule(random_plan *r, test_random *random)
{
    const mo_instance *x = r->problem.x;
    mo_regime regime = { .memory = MO_MEMORY_NONE };
    int *device = calloc((size_t) x->n + 1, sizeof *device);

    ck_assert_ptr_nonnull(device);
    regime.congestion = (mo_congestion) random_below(random, 4);
    regime.tensors = (mo_tensors) random_below(random, 2);
    for (int i = 0; i < x->n; i++)
        device[i] = random_below(random, x->n_devices);
    MUST(mo_schedule_new(x, &regime, device, &r->schedule, &err));
    MUST(mo_schedule_left_shift(x, r->schedule, &err));
    free(device);
}

void random_plan_of(random_plan *r, mo_graph *fine, mo_graph *same,
                    const char *folder, unsigned seed, int n_devices)
{
    const mo_weights_options options = { .folder = folder,
                                         .random = true,
                                         .seed = seed };
    test_random random = { seed + 1000003u * (unsigned) n_devices };
    mo_graph *placed = same;

    ck_assert_int_le(n_devices, RANDOM_PLAN_DEVICES);
    memset(r, 0, sizeof *r);
    r->fine = fine;
    if (seed % 2) {
        placed = coarsen(r);
        mo_graph_free(same);
    }
    if (problem_try_graph(&r->problem, placed, clusters[n_devices - 1], NULL) !=
        MO_OK)
        ck_abort_msg("seed %u: %s", seed, r->problem.err.text);
    make_schedule(r, &random);
    MUST(mo_weights_new(r->fine, &options, &r->constants, &err));
    r->source = (mo_plan_source){ .fine = r->fine,
                                  .placed = placed,
                                  .map = r->map,
                                  .instance = r->problem.x,
                                  .schedule = r->schedule,
                                  .constants = r->constants };
    MUST(mo_plan_build(&r->source, &r->plan, &err));
}

void random_plan_make(random_plan *r, unsigned seed, int n_devices)
{
    random_plan_of(r, random_network(seed), random_network(seed), NULL, seed,
                   n_devices);
}

void random_plan_clear(random_plan *r)
{
    mo_plan_free(r->plan);
    mo_weights_free(r->constants);
    mo_schedule_free(r->schedule);
    problem_clear(&r->problem);
    mo_coarsen_map_free(r->map);
    mo_graph_free(r->fine);
}
