/* Plans of random networks run, and what comes out does not depend on where
 * anything was placed: it is the same to the last bit. */
#include "exec/run.h"

#include "base/random.h"
#include "tests/random_plan.h"
#include "tests/suite.h"

enum { MAX_INPUTS = 2 };

typedef struct running {
    random_plan made;
    mo_world *world;
    mo_dense inputs[MAX_INPUTS];
    mo_run_result result;
} running;

static void make_inputs(running *r, unsigned seed)
{
    const mo_plan *plan = r->made.plan;

    ck_assert_int_le(plan->n_inputs, MAX_INPUTS);
    for (int i = 0; i < plan->n_inputs; i++) {
        MUST(mo_dense_new(&plan->inputs[i].desc, &r->inputs[i], &err));
        mo_dense_random(&r->inputs[i], mo_random_seed(seed, (uint64_t) i), 1,
                        2);
    }
}

/* Twice, so that nothing of the first run may be needed by the second. */
static void run(running *r, unsigned seed, int n_devices)
{
    const mo_backend *backends[RANDOM_PLAN_DEVICES];
    mo_unit_options units[RANDOM_PLAN_DEVICES];
    int rank_of[RANDOM_PLAN_DEVICES] = { 0 };
    mo_run_options options = { .transport = &mo_transport_local,
                               .backends = backends,
                               .units = units,
                               .rank_of = rank_of,
                               .inputs = r->inputs,
                               .warm_ups = 1,
                               .runs = 1 };

    memset(r, 0, sizeof *r);
    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++) {
        backends[d] = &mo_backend_cpu;
        units[d] = (mo_unit_options){ .threads = 1 };
    }
    random_plan_make(&r->made, seed, n_devices);
    make_inputs(r, seed);
    MUST(mo_transport_local.open(&(mo_world_options){ 0 }, &r->world, &err));
    options.world = r->world;
    MUST(mo_run_plan(r->made.plan, &options, &r->result, &err));
}

static void clear(running *r)
{
    mo_run_result_clear(&r->result);
    mo_transport_local.close(r->world);
    for (int i = 0; i < MAX_INPUTS; i++)
        mo_dense_clear(&r->inputs[i]);
    random_plan_clear(&r->made);
}

static bool is_same(const mo_dense *a, const mo_dense *b)
{
    return mo_desc_equal(&a->desc, &b->desc) &&
           memcmp(a->data, b->data, (size_t) mo_desc_bytes(&a->desc)) == 0;
}

START_TEST(results_do_not_depend_on_the_placement)
{
    running one, several;
    int n_devices = 2 + _i % (RANDOM_PLAN_DEVICES - 1);

    run(&one, (unsigned) _i, 1);
    run(&several, (unsigned) _i, n_devices);
    ck_assert_int_eq(one.result.n_outputs, several.result.n_outputs);
    for (int i = 0; i < one.result.n_outputs; i++)
        ck_assert_msg(
            is_same(&one.result.outputs[i], &several.result.outputs[i]),
            "seed %d: output %d differs on %d devices", _i, i, n_devices);
    clear(&several);
    clear(&one);
}
END_TEST

SUITE(plan_run)
{
    SOME(results_do_not_depend_on_the_placement, 1000, 20);
}
