/* Claims of cost/instance.h: which numbers an instance has, and where they come
 * from. */
#include "cost/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/emulated.h"
#include "tests/problem.h"
#include "tests/suite.h"

enum { A, B, C };

static int64_t time_of(const problem *p, const char *op, int device)
{
    return mo_instance_p_ns(p->x, problem_op(p, op), device);
}

static int64_t flow_of(const problem *p, const char *from, const char *to,
                       int a, int b)
{
    return mo_instance_flow_ns(p->x, problem_flow(p, from, to), a, b);
}

static int64_t tensor_of(const problem *p, const char *from, const char *to,
                         int a, int b)
{
    int q = problem_flow(p, from, to);

    return mo_instance_tensor_ns(p->x, p->x->flows[q].tensor, a, b);
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

/* Every subset of the places a time can come from, by decreasing trust. */
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
        ck_assert_int_eq(flow_of(&p, "a", "b", A, B), rounded[_i].ns);
    }
    ck_assert_int_eq(time_of(&p, "b", A), 0);
    ck_assert_int_eq(flow_of(&p, "a", "b", B, A), 0);
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
    ck_assert_int_eq(flow_of(&p, "a", "b", A, B), 2000);
    ck_assert_int_eq(flow_of(&p, "a", "b", B, A), 6000);
    ck_assert_int_eq(flow_of(&p, "a", "c", A, B), 5000);
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

/* Nobody measures or predicts an op where it will never be. */
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

/* The paper: A-B 10 MB/s, B-D 5 MB/s; 100 MB from A to D take 20 s.  Latencies
 * add up on the way. */
START_TEST(a_transfer_takes_its_route)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "* t.D=0; a; b; a>b bytes=100000000",
                 "A; B; D;"
                 "A>B gbps=0.08 latency_us=3; B>D gbps=0.04 latency_us=4.5;"
                 "B>A gbps=800; D>B gbps=0.3 latency_us=1",
                 NULL);
    ck_assert_int_eq(flow_of(&p, "a", "b", 0, 1), 10000003000);
    ck_assert_int_eq(flow_of(&p, "a", "b", 0, 2), 20000007500);
    ck_assert_int_eq(flow_of(&p, "a", "b", 1, 0), 1000000);
    ck_assert_int_eq(flow_of(&p, "a", "b", 2, 0), 2666667667);
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(flow_of(&p, "a", "b", k, k), 0);
    problem_clear(&p);
}
END_TEST

/* Links are numbered as in the cluster: sorted by from, to. */
START_TEST(routes_name_the_links_on_the_way)
{
    static const struct {
        int from, to, n, links[2];
    } ways[] = {
        { A, B, 1, { 0 } }, { A, C, 2, { 0, 2 } }, { B, A, 1, { 1 } },
        { B, C, 1, { 2 } }, { C, B, 1, { 3 } },    { C, A, 2, { 3, 1 } },
        { B, B, 0, { 0 } },
    };
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b bytes=8",
                 "A; B; C; A-B gbps=8; B-C gbps=8", NULL);
    ck_assert_int_eq(p.x->n_links, 4);
    for (int i = 0; i < COUNT(ways); i++) {
        const int *start =
            p.x->route_start + ways[i].from * p.x->n_devices + ways[i].to;

        ck_assert_int_eq(start[1] - start[0], ways[i].n);
        for (int h = 0; h < ways[i].n; h++)
            ck_assert_int_eq(p.x->route_link[start[0] + h], ways[i].links[h]);
    }
    problem_clear(&p);
}
END_TEST

static int64_t trusted_comm_ns(int places)
{
    if (places & BY_ID)
        return 1000;
    if (places & BY_MODEL)
        return 2000;
    return places & BY_PROFILE ? 4000 : 8000;
}

START_TEST(the_most_trusted_transfer_counts)
{
    const char *profile =
        "<profile><link from='A' to='B' gbps='8' latency_us='3'/></profile>";
    char graph[256];
    problem p = { 0 };

    snprintf(graph, sizeof graph, NO_TIME "a; b; a>b bytes=1000 %s %s",
             _i & BY_ID ? "c.A.B=1" : "", _i & BY_MODEL ? "c.t4.v100=2" : "");
    problem_make(&p, graph,
                 "A model=Tesla_T4; B model=v100; C model=T4;"
                 "A-B gbps=1; B-C gbps=1",
                 _i & BY_PROFILE ? profile : NULL);
    ck_assert_int_eq(flow_of(&p, "a", "b", A, B), trusted_comm_ns(_i));
    /* Nobody said anything of the way back; C is of the same model as A. */
    ck_assert_int_eq(flow_of(&p, "a", "b", B, A), 8000);
    ck_assert_int_eq(flow_of(&p, "a", "b", C, B),
                     trusted_comm_ns(_i & BY_MODEL));
    problem_clear(&p);
}
END_TEST

/* A message smaller than where the next row starts goes by the one before. */
START_TEST(links_are_piecewise_where_the_profile_says_so)
{
    static const char profile[] =
        "<profile>"
        "<link from='A' to='B' gbps='8' latency_us='1'/>"
        "<link from='A' to='B' gbps='80' latency_us='2' from_bytes='1000'/>"
        "<link from='B' to='A' gbps='8' latency_us='0'/>"
        "</profile>";
    problem p = { 0 };

    problem_make(&p,
                 NO_TIME "a; w; x; y; z; a>w bytes=0; w>x bytes=999;"
                         "x>y bytes=1000; y>z bytes=10000",
                 "A; B", profile);
    ck_assert_int_eq(flow_of(&p, "a", "w", A, B), 1000);
    ck_assert_int_eq(flow_of(&p, "w", "x", A, B), 1999);
    ck_assert_int_eq(flow_of(&p, "x", "y", A, B), 2100);
    ck_assert_int_eq(flow_of(&p, "y", "z", A, B), 3000);
    ck_assert_int_eq(flow_of(&p, "y", "z", B, A), 10000);
    problem_clear(&p);
}
END_TEST

/* Half a nanosecond is rounded up, two quarters together are one half. */
START_TEST(a_modelled_transfer_is_rounded_once)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b bytes=1", "A; B; A-B gbps=32",
                 "<profile><link from='A' to='B' gbps='32' "
                 "latency_us='0.00025'/></profile>");
    if (!is_miscalculated())
        ck_assert_int_eq(flow_of(&p, "a", "b", A, B), 1);
    ck_assert_int_eq(flow_of(&p, "a", "b", B, A), 0);
    problem_clear(&p);
}
END_TEST

/* Edges of one tensor: every reader pays for its own, all together for the
 * dearest, device by device. */
START_TEST(a_tensor_takes_the_longest_of_its_flows)
{
    problem p = { 0 };

    problem_make(&p,
                 NO_TIME "a; x; y; z; a>x c.A.B=5 c.B.A=1; a>y c.A.B=2 c.B.A=9;"
                         "a>z bytes=4000",
                 "A; B; A-B gbps=8", NULL);
    ck_assert_int_eq(p.x->n_tensors, 1);
    ck_assert_int_eq(flow_of(&p, "a", "x", A, B), 5000);
    ck_assert_int_eq(flow_of(&p, "a", "x", B, A), 1000);
    ck_assert_int_eq(flow_of(&p, "a", "y", A, B), 2000);
    ck_assert_int_eq(flow_of(&p, "a", "y", B, A), 9000);
    ck_assert_int_eq(flow_of(&p, "a", "z", A, B), 4000);
    ck_assert_int_eq(tensor_of(&p, "a", "x", A, B), 5000);
    ck_assert_int_eq(tensor_of(&p, "a", "x", B, A), 9000);
    ck_assert_int_eq(p.x->tensor_bytes[0], 4000);
    problem_clear(&p);
}
END_TEST

/* The second output stays a tensor of its own. */
START_TEST(parallel_edges_of_one_tensor_are_one_flow)
{
    problem p = { 0 };
    int q;

    problem_make(&p,
                 NO_TIME "a; x; y; a>x src_port=0 dst_port=0 bytes=1000;"
                         "a>x src_port=0 dst_port=1 c.A.B=7;"
                         "a>x src_port=1 dst_port=2 bytes=500;"
                         "a>y src_port=0 bytes=1000",
                 "A; B; A-B gbps=8", NULL);
    ck_assert_int_eq(p.g->n_edges, 4);
    ck_assert_int_eq(p.x->n_flows, 3);
    ck_assert_int_eq(p.x->n_tensors, 2);
    q = problem_flow(&p, "a", "x");
    ck_assert_int_eq(mo_instance_flow_ns(p.x, q, A, B), 7000);
    ck_assert_int_eq(mo_instance_flow_ns(p.x, q, B, A), 1000);
    ck_assert_int_eq(flow_of(&p, "a", "y", A, B), 1000);
    ck_assert_int_eq(tensor_of(&p, "a", "y", A, B), 7000);
    ck_assert_int_eq(mo_instance_tensor_ns(p.x, 1, A, B), 500);
    problem_clear(&p);
}
END_TEST

/* One reader's edge tells the size for all that read the same. */
START_TEST(a_tensor_has_one_size)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; x; y; a>x bytes=3000; a>y", "A; B; A-B gbps=8",
                 NULL);
    ck_assert_int_eq(flow_of(&p, "a", "x", A, B), 3000);
    ck_assert_int_eq(flow_of(&p, "a", "y", A, B), 3000);
    problem_clear(&p);
}
END_TEST

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

START_TEST(a_cluster_in_parts_is_fine_where_edges_have_their_times)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b bytes=8 c.A.B=5", "A; B; B>A gbps=8",
                 NULL);
    ck_assert_int_eq(flow_of(&p, "a", "b", A, B), 5000);
    ck_assert_int_eq(flow_of(&p, "a", "b", B, A), 8);
    ck_assert_int_eq(p.x->route_start[1], p.x->route_start[2]);
    problem_clear(&p);
}
END_TEST

/* What is sent to another device is not mistaken for what stays. */
START_TEST(ids_may_be_those_of_models)
{
    problem p = { 0 };

    problem_make(&p, "* t.p4=0 t.t4=0; a; b; a>b c.p4.t4=5 c.t4.p4=6",
                 "p4 model=p4; t4 model=t4", NULL);
    ck_assert_int_eq(flow_of(&p, "a", "b", 0, 1), 5000);
    ck_assert_int_eq(flow_of(&p, "a", "b", 1, 0), 6000);
    ck_assert_int_eq(flow_of(&p, "a", "b", 0, 0), 0);
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
    ck_assert_int_eq(p.x->n_comm_rows, 0);
    problem_clear(&p);
}
END_TEST

/* Sizes do not matter where nothing is sent. */
START_TEST(one_device_needs_no_transfers)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b", "A", NULL);
    ck_assert_int_eq(p.x->n_devices, 1);
    ck_assert_int_eq(p.x->n_flows, 1);
    ck_assert_int_eq(flow_of(&p, "a", "b", A, A), 0);
    ck_assert_int_eq(tensor_of(&p, "a", "b", A, A), 0);
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
    EACH(times_are_rounded_to_the_nearest_nanosecond, COUNT(rounded));
    TEST(defaults_of_columns_are_times);
    TEST(a_model_may_be_spelled_in_any_way);
    TEST(wave_scaling_starts_from_times_on_another_device);
    TEST(a_pinned_op_needs_a_time_only_where_it_is);
    TEST(a_transfer_takes_its_route);
    TEST(routes_name_the_links_on_the_way);
    EACH(the_most_trusted_transfer_counts, 8);
    TEST(links_are_piecewise_where_the_profile_says_so);
    TEST(a_modelled_transfer_is_rounded_once);
    TEST(a_tensor_takes_the_longest_of_its_flows);
    TEST(parallel_edges_of_one_tensor_are_one_flow);
    TEST(a_tensor_has_one_size);
    TEST(memory_is_what_ops_need_and_devices_have);
    TEST(a_pin_holds_for_its_whole_group);
    TEST(a_cluster_in_parts_is_fine_where_edges_have_their_times);
    TEST(ids_may_be_those_of_models);
    TEST(nothing_is_an_instance_too);
    TEST(one_device_needs_no_transfers);
    TEST(freeing_nothing_is_fine);
}
