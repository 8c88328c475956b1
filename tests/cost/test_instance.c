/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/instance.h: the numbers of an instance and their sources. */
#include "cost/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fp_emulated.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { A, B, C };

static int64_t time_of(const problem *p, const char *op, int device)
{
    return mo_instance_p_ns(p->x, problem_op(p, op), device);
}

/* A profile with one time for op 0 of g; free() it. */
static char *profile_of(const mo_graph *g, const char *device, int us)
{
    mo_out *out;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    mo_out_printf(out, "<profile><op device='%s' median_us='%d' signature='",
                  device, us);
    mo_profile_signature(g, 0, out);
    mo_out_text(out, "'/></profile>");
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    return text;
}

/* Every subset of the sources of a time, by decreasing priority. */
enum { BY_ID = 1, BY_MODEL = 2, BY_PROFILE = 4, BY_PREDICTION = 8 };

static mo_graph *op_known_by(int places)
{
    char text[256];

    snprintf(text, sizeof text, "a op=Strange %s %s %s",
             places & BY_ID ? "t.B=1" : "", places & BY_MODEL ? "t.t4=2" : "",
             places & BY_PREDICTION ? "flops=1e9 bytes=1e6" : "");
    return problem_graph(text);
}

static double trusted_us(int places, const problem *p)
{
    mo_predictor roofline = { 0 };

    if (places & BY_ID)
        return 1;
    if (places & BY_MODEL)
        return 2;
    if (places & BY_PROFILE)
        return 4;
    return mo_predictor_us(&roofline, p->g, 0, p->cluster->devices);
}

START_TEST(the_most_trusted_time_counts)
{
    mo_graph *g = op_known_by(_i);
    char *profile = _i & BY_PROFILE ? profile_of(g, "t4", 4) : NULL;
    problem p = { 0 };
    mo_status status = problem_try_graph(&p, g, "B model=Tesla_T4", profile);

    ck_assert_int_eq(status, _i == 0 ? MO_E_INPUT : MO_OK);
    if (status == MO_OK)
        ck_assert_double_eq_tol((double) time_of(&p, "a", 0),
                                1000 * trusted_us(_i, &p), 0.5);
    free(profile);
    problem_clear(&p);
}
END_TEST

START_TEST(parts_of_a_gpu_slow_each_other_down)
{
    mo_graph *g = op_known_by(BY_PREDICTION);
    char *rows = profile_of(g, "B", 4), slowed[512];
    problem p = { 0 };

    snprintf(slowed, sizeof slowed,
             "<profile parts_slowdown='1.25' parts_overhead_us='2.5'%s",
             rows + strlen("<profile"));
    MUST(problem_try_graph(&p, g, "B", slowed));
    ck_assert_int_eq(time_of(&p, "a", 0), 5000);
    ck_assert_int_eq(p.x->load.overhead_ns[0], 2500);
    free(rows);
    problem_clear(&p);
}
END_TEST

START_TEST(overheads_of_cpus_add_up)
{
    mo_graph *g = op_known_by(BY_PREDICTION);
    char *rows = profile_of(g, "B", 4), with[512];
    problem p = { 0 };

    snprintf(with, sizeof with,
             "<profile overhead_us='2' parts_overhead_us='0.5'%s",
             rows + strlen("<profile"));
    MUST(problem_try_graph(&p, g, "B kind=cpu", with));
    ck_assert_int_eq(p.x->load.overhead_ns[0], 2500);
    free(rows);
    problem_clear(&p);
}
END_TEST

static const struct {
    const char *us;
    int64_t ns;
} rounded[] = {
    { "0", 0 },
    { "0.00049", 0 },
    { "0.0005", 1 },
    { "0.0014", 1 },
    { "0.0015", 2 },
    { "12.3456", 12346 },
    { "7", 7000 },
    { "1e-300", 0 },
    { "1.5e3", 1500000 },
    { "9007199254.740993", 9007199254741 },
    { "99999999999.999", 99999999999999 },
    { "100000000000", MO_MAX_TIME_NS },
};

START_TEST(times_are_rounded_to_the_nearest_nanosecond)
{
    const char *us = rounded[_i].us;
    char text[256];
    problem p = { 0 };

    snprintf(text, sizeof text,
             "a t.A=%s t.B=0; b t.A=0 t.B=%s; a>b c.A.B=%s c.B.A=0", us, us,
             us);
    problem_make(&p, text, "A; B", NULL);
    if (!is_miscalculated()) {
        ck_assert_int_eq(time_of(&p, "a", A), rounded[_i].ns);
        ck_assert_int_eq(time_of(&p, "b", B), rounded[_i].ns);
        ck_assert_int_eq(problem_flow_ns(&p, "a", "b", A, B), rounded[_i].ns);
    }
    ck_assert_int_eq(time_of(&p, "b", A), 0);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", B, A), 0);
    problem_clear(&p);
}
END_TEST

/* A column may have a time for the ops that have none. */
START_TEST(defaults_of_columns_are_times)
{
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=3; *>* c.A.B=5 c.B.A=6;"
                 "a t.A=1; b; c; a>b c.A.B=2; a>c",
                 "A; B model=A", NULL);
    ck_assert_int_eq(time_of(&p, "a", A), 1000);
    ck_assert_int_eq(time_of(&p, "b", A), 3000);
    ck_assert_int_eq(time_of(&p, "b", B), 3000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", A, B), 2000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", B, A), 6000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "c", A, B), 5000);
    problem_clear(&p);
}
END_TEST

/* A model is found by the name it goes by here, the file's own, or another. */
START_TEST(a_model_may_be_spelled_in_any_way)
{
    problem p = { 0 };

    problem_make(&p, "a t.RTX_2080_Ti=1 t.homemade=2 t.v100=3",
                 "A model=rtx2080ti; B model=homemade; C model=Tesla-V100",
                 NULL);
    ck_assert_int_eq(time_of(&p, "a", A), 1000);
    ck_assert_int_eq(time_of(&p, "a", B), 2000);
    ck_assert_int_eq(time_of(&p, "a", C), 3000);
    problem_clear(&p);
}
END_TEST

START_TEST(wave_scaling_starts_from_times_on_another_device)
{
    problem p = { .cost = "wave:t4" };
    mo_predictor wave;
    double us;

    problem_make(&p, "a op=ReLU flops=1e6 bytes=8e6 t.t4=50", "A model=v100",
                 NULL);
    MUST(mo_predictor_parse("wave:t4", NULL, NULL, &wave, &err));
    us = mo_predictor_us(&wave, p.g, 0, p.cluster->devices);
    ck_assert_double_eq_tol((double) time_of(&p, "a", A), 1000 * us, 0.5);
    ck_assert_int_lt(time_of(&p, "a", A), 50000);
    problem_clear(&p);
}
END_TEST

/* An op needs no time on a device it is not placed on. */
START_TEST(a_pinned_op_needs_a_time_only_where_it_is)
{
    problem p = { 0 };

    problem_make(&p,
                 "a t.B=7 pin=B colocate=x; b t.B=8 colocate=x;"
                 "c t.A=1 t.B=2 pin=B",
                 "A; B", NULL);
    ck_assert_int_eq(time_of(&p, "a", A), 7000);
    ck_assert_int_eq(time_of(&p, "a", B), 7000);
    ck_assert_int_eq(time_of(&p, "b", A), 8000);
    ck_assert_int_eq(time_of(&p, "c", A), 1000);
    ck_assert_int_eq(time_of(&p, "c", B), 2000);
    problem_clear(&p);
}
END_TEST

/* Ops that take no time, where only transfers matter. */
#define NO_TIME "* t.A=0 t.B=0 t.C=0;"

START_TEST(memory_is_what_ops_need_and_devices_have)
{
    static const struct {
        const char *op;
        int64_t memory, weights;
    } needs[] = { { "a", 100, 60 }, { "b", 12, 7 }, { "c", 50, 50 } };
    problem p = { 0 };

    problem_make(&p,
                 NO_TIME "a memory=100 weight_bytes=60;"
                         "b weight_bytes=7 workspace_bytes=5; c memory=50",
                 "A memory_bytes=150 reserve_bytes=50; B", NULL);
    for (int i = 0; i < COUNT(needs); i++) {
        int op = problem_op(&p, needs[i].op);

        ck_assert_int_eq(p.x->memory_bytes[op], needs[i].memory);
        ck_assert_int_eq(p.x->weight_bytes[op], needs[i].weights);
    }
    ck_assert_int_eq(p.x->capacity_bytes[A], 100);
    ck_assert(p.x->capacity_bytes[B] == INT64_MAX);
    problem_clear(&p);
}
END_TEST

/* The pinned member may be the last. */
START_TEST(a_pin_holds_for_its_whole_group)
{
    static const struct {
        const char *op;
        int pin;
    } pins[] = { { "a", B },       { "b", MO_FREE }, { "c", A },
                 { "d", MO_FREE }, { "e", B },       { "f", B } };
    problem p = { 0 };

    problem_make(&p,
                 NO_TIME "a colocate=x; b colocate=y; c pin=A; d;"
                         "e colocate=x pin=B; f colocate=x pin=B",
                 "A; B", NULL);
    for (int i = 0; i < COUNT(pins); i++)
        ck_assert_int_eq(p.x->pin[problem_op(&p, pins[i].op)], pins[i].pin);
    ck_assert_int_eq(p.x->n_groups, 2);
    ck_assert_int_eq(p.x->group[problem_op(&p, "a")],
                     p.x->group[problem_op(&p, "e")]);
    ck_assert_int_ne(p.x->group[problem_op(&p, "a")],
                     p.x->group[problem_op(&p, "b")]);
    ck_assert_int_eq(p.x->group[problem_op(&p, "d")], MO_FREE);
    problem_clear(&p);
}
END_TEST

/* A transfer to another device of the same name pattern is not mistaken for a
 * local one. */
START_TEST(ids_may_be_those_of_models)
{
    problem p = { 0 };

    problem_make(&p, "* t.p4=0 t.t4=0; a; b; a>b c.p4.t4=5 c.t4.p4=6",
                 "p4 model=p4; t4 model=t4", NULL);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", 0, 1), 5000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", 1, 0), 6000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", 0, 0), 0);
    problem_clear(&p);
}
END_TEST

START_TEST(nothing_is_an_instance_too)
{
    problem p = { 0 };

    problem_make(&p, "", "A; B", NULL);
    ck_assert_int_eq(p.x->n, 0);
    ck_assert_int_eq(p.x->n_devices, 2);
    ck_assert_int_eq(p.x->n_flows, 0);
    ck_assert_int_eq(p.x->out_start[0], 0);
    ck_assert_int_eq(p.x->tensor_start[0], 0);
    ck_assert_int_eq(p.x->comm.n_rows, 0);
    problem_clear(&p);
}
END_TEST

START_TEST(freeing_nothing_is_fine)
{
    mo_instance_free(NULL);
}
END_TEST

SUITE(instance)
{
    EACH(the_most_trusted_time_counts, 16);
    TEST(parts_of_a_gpu_slow_each_other_down);
    TEST(overheads_of_cpus_add_up);
    EACH(times_are_rounded_to_the_nearest_nanosecond, COUNT(rounded));
    TEST(defaults_of_columns_are_times);
    TEST(a_model_may_be_spelled_in_any_way);
    TEST(wave_scaling_starts_from_times_on_another_device);
    TEST(a_pinned_op_needs_a_time_only_where_it_is);
    TEST(memory_is_what_ops_need_and_devices_have);
    TEST(a_pin_holds_for_its_whole_group);
    TEST(ids_may_be_those_of_models);
    TEST(nothing_is_an_instance_too);
    TEST(freeing_nothing_is_fine);
}
