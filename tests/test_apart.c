/* Claims of exec/run.h for devices with memory of their own: they compute what
 * CPUs do, to the last bit, whatever runs side by side. */
#include "exec/run.h"

#include "base/random.h"
#include "exec/links.h"
#include "tests/apart.h"
#include "tests/random_plan.h"
#include "tests/suite.h"

enum { MAX_INPUTS = 2, LANES = 4, RUNS = 3 };

static const int lanes[RANDOM_PLAN_DEVICES] = { LANES, LANES, LANES, LANES };

typedef struct running {
    random_plan made;
    mo_world *world;
    mo_dense inputs[MAX_INPUTS];
    const mo_backend *backends[RANDOM_PLAN_DEVICES];
    mo_unit_options units[RANDOM_PLAN_DEVICES];
    int rank_of[RANDOM_PLAN_DEVICES];
    mo_run_options options;
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

/* apart: bit d says whether device d is. */
static void set_up(running *r, unsigned seed, int n_devices, unsigned apart)
{
    memset(r, 0, sizeof *r);
    if (seed % 2)
        random_plan_of(&r->made, random_picture(seed), random_picture(seed),
                       NULL, seed, n_devices);
    else
        random_plan_make(&r->made, seed, n_devices);
    mo_plan_free(r->made.plan);
    r->made.plan = NULL;
    r->made.source.lanes = apart ? lanes : NULL;
    r->made.source.layout = seed % 4 > 1;
    r->made.source.fuse = seed % 3 == 0;
    MUST(mo_plan_make(&r->made.source, &r->made.plan, &err));
    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++) {
        r->backends[d] = apart >> d & 1 ? &apart_backend : &mo_backend_cpu;
        r->units[d] = (mo_unit_options){ .threads = 1 };
    }
    make_inputs(r, seed);
    MUST(mo_transport_local.open(&(mo_world_options){ 0 }, &r->world, &err));
    r->options = (mo_run_options){ .transport = &mo_transport_local,
                                   .world = r->world,
                                   .backends = r->backends,
                                   .units = r->units,
                                   .rank_of = r->rank_of,
                                   .inputs = r->inputs,
                                   .warm_ups = 1,
                                   .runs = RUNS,
                                   .trace = true };
}

static void run(running *r)
{
    MUST(mo_run_plan(r->made.plan, &r->options, &r->result, &err));
}

static void tear_down(running *r)
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

static void check_same(const running *a, const running *b, int seed)
{
    ck_assert_int_eq(a->result.n_outputs, b->result.n_outputs);
    for (int i = 0; i < a->result.n_outputs; i++)
        ck_assert_msg(is_same(&a->result.outputs[i], &b->result.outputs[i]),
                      "seed %d: output %d differs", seed, i);
}

/* ---- claims */

START_TEST(results_are_the_cpus)
{
    int n_devices = 1 + _i % 3;
    unsigned apart = 1 + (unsigned) _i % ((1u << n_devices) - 1);
    running cpu, mixed;

    set_up(&cpu, (unsigned) _i, n_devices, 0);
    set_up(&mixed, (unsigned) _i, n_devices, apart);
    run(&cpu);
    run(&mixed);
    check_same(&cpu, &mixed, _i);
    tear_down(&mixed);
    tear_down(&cpu);
}
END_TEST

START_TEST(call_by_call_and_cold_they_are_the_same)
{
    running recorded, eager, cold;

    set_up(&recorded, (unsigned) _i, 2, 3);
    set_up(&eager, (unsigned) _i, 2, 3);
    set_up(&cold, (unsigned) _i, 2, 3);
    eager.options.eager = true;
    cold.options.warm_ups = 0;
    cold.options.runs = 1;
    run(&recorded);
    run(&eager);
    run(&cold);
    check_same(&recorded, &eager, _i);
    check_same(&recorded, &cold, _i);
    tear_down(&recorded);
    tear_down(&eager);
    tear_down(&cold);
}
END_TEST

START_TEST(calls_are_timed_by_themselves)
{
    running r;

    set_up(&r, (unsigned) _i, 2, 3);
    run(&r);
    for (int d = 0; d < 2; d++) {
        const mo_plan_device *on = &r.made.plan->devices[d];
        int64_t wanted = 0, busy = 0, end = 0;

        for (int s = 0; s < on->n_steps; s++) {
            const mo_run_step *step = &r.result.steps[d][s];

            wanted = on->steps[s].kind == MO_STEP_COMPUTE
                         ? wanted + APART_CALL_NS
                         : 0;
            ck_assert_int_ge(step->begin_ns, 0);
            ck_assert_int_ge(step->end_ns, step->begin_ns);
            end = step->end_ns > end ? step->end_ns : end;
            if (on->steps[s].kind != MO_STEP_COMPUTE)
                continue;
            ck_assert_int_eq(r.result.call_ns[on->steps[s].what], wanted);
            busy += wanted;
        }
        ck_assert_int_eq(r.result.busy_ns[d], busy);
        ck_assert_int_le(end, r.result.median_ns);
    }
    tear_down(&r);
}
END_TEST

/* Nothing but what was planned, what kernels still read, and what they work
 * in. */
START_TEST(what_is_allocated_is_what_was_planned)
{
    running r;

    set_up(&r, (unsigned) _i, 2, 3);
    run(&r);
    for (int d = 0; d < 2; d++) {
        const mo_plan_device *on = &r.made.plan->devices[d];
        int64_t known = on->arena_bytes + r.result.workspace_bytes[d];

        ck_assert_int_ge(r.result.allocated_bytes[d], known);
        /* Each weight begins at a multiple of 256. */
        ck_assert_int_le(r.result.allocated_bytes[d],
                         known + on->weight_bytes +
                             (int64_t) 256 * r.made.plan->n_values);
    }
    tear_down(&r);
}
END_TEST

START_TEST(a_device_that_is_too_small_says_what_it_needs_and_has)
{
    mo_error err = { 0 };
    running r;

    set_up(&r, 5, 1, 1);
    apart_free_bytes = 100;
    ck_assert_int_eq(mo_run_plan(r.made.plan, &r.options, &r.result, &err),
                     MO_E_MEMORY);
    ck_assert_ptr_nonnull(strstr(err.text, "device 'A' needs "));
    ck_assert_ptr_nonnull(strstr(err.text, " 100 are free; place less there"));
    tear_down(&r);
}
END_TEST

/* Through memory of the process, there and back. */
START_TEST(messages_are_timed)
{
    static const char *const ids[] = { "A", "B" };
    mo_links_row *rows = NULL;
    int n = 0;
    running r;

    set_up(&r, 2, 2, 3);
    MUST(mo_links_measure(
        &(mo_links_options){
            .n_devices = 2, .ids = ids, .run = &r.options, .repeats = 3 },
        &rows, &n, &err));
    ck_assert_int_gt(n, 0);
    ck_assert_int_eq(n % 2, 0);
    for (int i = 0; i < n; i++)
        ck_assert_int_gt(rows[i].median_ns, 0);
    free(rows);
    tear_down(&r);
}
END_TEST

SUITE(apart)
{
    SOME(results_are_the_cpus, 300, 12);
    SOME(call_by_call_and_cold_they_are_the_same, 60, 6);
    SOME(calls_are_timed_by_themselves, 40, 4);
    SOME(what_is_allocated_is_what_was_planned, 40, 4);
    TEST(a_device_that_is_too_small_says_what_it_needs_and_has);
    TEST(messages_are_timed);
}
