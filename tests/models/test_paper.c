/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/paper/paper.c: families of rows and their terms. */
#include <stdio.h>
#include <string.h>

#include "models/paper/paper.h"
#include "models/sink/scale.h"
#include "tests/support/model_case.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

static const mo_regime port = { .congestion = MO_CONGESTION_PORT };

#define TWO_DEVICES "A memory_bytes=100; B memory_bytes=100; A-B gbps=8"

/* In the text of rows, M is the horizon and 2M, 3M, ... are multiples of
 * it. */
static const char *with_m(const model_case *c, const char *rows)
{
    static char text[8192];
    double m = ((const mo_paper *) c->model.state)->big_m;
    size_t n = 0;

    for (; *rows; rows++) {
        int times =
            *rows >= '2' && *rows <= '9' && rows[1] == 'M' ? *rows++ - '0' : 1;

        ck_assert_uint_lt(n, sizeof text - 32);
        if (*rows == 'M')
            n += (size_t) sprintf(text + n, "%g", times * m);
        else
            text[n++] = *rows;
    }
    text[n] = '\0';
    return text;
}

/* Two ops one after the other, two devices. */
static const struct {
    const char *family, *rows;
} chain[] = {
    { "makespan", "w - c_0 >= 0\nw - c_1 >= 0\n" },
    { "precedence", "t_0 - c_0 >= 0\ns_1 - d_0 >= 0\n" },
    { "completion", "c_0 - s_0 - 100 x_0_0 - 200 x_0_1 = 0\n"
                    "c_1 - s_1 - 300 x_1_0 - 150 x_1_1 = 0\n" },
    { "assignment", "x_0_0 + x_0_1 = 1\nx_1_0 + x_1_1 = 1\n" },
    { "memory", "" },
    { "cross", "z_0 + x_0_0 + x_1_0 <= 2\n"
               "z_0 - x_0_0 + x_1_0 >= 0\n"
               "z_0 - x_1_0 + x_0_0 >= 0\n"
               "z_0 + x_0_1 + x_1_1 <= 2\n"
               "z_0 - x_0_1 + x_1_1 >= 0\n"
               "z_0 - x_1_1 + x_0_1 >= 0\n" },
    { "sent", "y_0_0_1 + y_0_1_0 - z_0 = 0\n" },
    { "channel", "y_0_0_1 - x_0_0 - x_1_1 >= -1\n"
                 "y_0_1_0 - x_0_1 - x_1_0 >= -1\n" },
    { "arrival", "d_0 - t_0 - 7 y_0_0_1 - 9 y_0_1_0 = 0\n" },
    { "overlap", "" },
    { "congestion", "" },
    { "pin", "" },
    { "group", "" },
};

START_TEST(a_chain_has_the_rows_of_the_paper)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p,
                 "a t.A=100 t.B=200; b t.A=300 t.B=150; "
                 "a>b c.A.B=7 c.B.A=9",
                 TWO_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &port, false);
    ck_assert_str_eq(model_case_rows(&c, chain[_i].family), chain[_i].rows);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(the_makespan_is_the_first_column)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, "a t.A=100; b t.A=100; a>b c.A.A=0", "A", NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &port, false);
    ck_assert_str_eq(model_case_columns(&c),
                     with_m(&c, "w 0 .. M\nx_0_0 binary\nx_1_0 binary\n"
                                "s_0 0 .. M\ns_1 0 .. M\n"
                                "c_0 0 .. M\nc_1 0 .. M\n"
                                "t_0 0 .. M\nd_0 0 .. M\nz_0 binary\n"));
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* o_0_1 = 1: the first comes first. */
START_TEST(ops_that_may_run_in_any_order_have_one_order)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, "a t.A=100 t.B=200; b t.A=300 t.B=150", TWO_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &port, false);
    ck_assert_str_eq(
        model_case_rows(&c, "overlap"),
        with_m(&c, "s_0 - c_1 + M o_0_1 - M x_0_0 - M x_1_0 >= -2M\n"
                   "s_1 - c_0 - M o_0_1 - M x_0_0 - M x_1_0 >= -3M\n"
                   "s_0 - c_1 + M o_0_1 - M x_0_1 - M x_1_1 >= -2M\n"
                   "s_1 - c_0 - M o_0_1 - M x_0_1 - M x_1_1 >= -3M\n"));
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* One producer: its column would be there twice. */
START_TEST(flows_that_share_an_end_have_it_once_in_a_row)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p, "* t.A=100; *>* c.A.A=0 bytes=8; a; b; d; a>b; a>d",
                 "A; B model=A; A-B gbps=8", NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &port, false);
    ck_assert_ptr_nonnull(strstr(
        model_case_rows(&c, "congestion"),
        with_m(&c, "t_0 - d_1 + M h_0_1 - M z_0 - M z_1 - 2M x_0_0 + M x_1_0 "
                   "+ M x_2_0 >= -4M\n"
                   "t_1 - d_0 - M h_0_1 - M z_0 - M z_1 - 2M x_0_0 + M x_1_0 "
                   "+ M x_2_0 >= -5M\n"
                   "t_0 - d_1 + M h_0_1 - M z_0 - M z_1 - M x_1_0 - M x_2_0 "
                   "+ 2M x_0_0 >= -4M\n"
                   "t_1 - d_0 - M h_0_1 - M z_0 - M z_1 - M x_1_0 - M x_2_0 "
                   "+ 2M x_0_0 >= -5M\n")));
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* The counts of the formulas, by definition. */
typedef struct counts {
    int op_pairs, flow_pairs; /* neither precedes the other */
    int successions;          /* in the augmented DAG, all of them */
    int links;                /* on some route */
} counts;

enum { MOST_OPS = 8, MOST_LINKS = 64 };

static void close_over(const mo_instance *x, bool path[MOST_OPS][MOST_OPS])
{
    ck_assert_int_le(x->n, MOST_OPS);
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++)
            path[i][j] = i == j;
    for (int q = 0; q < x->n_flows; q++)
        path[x->flows[q].from][x->flows[q].to] = true;
    for (int v = 0; v < x->n; v++)
        for (int i = 0; i < x->n; i++)
            for (int j = 0; j < x->n; j++)
                path[i][j] |= path[i][v] && path[v][j];
}

static void count_ops(const mo_instance *x, bool path[MOST_OPS][MOST_OPS],
                      counts *n)
{
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++) {
            n->op_pairs += i < j && !path[i][j] && !path[j][i];
            n->successions += i != j && path[i][j];
        }
}

static void count_flows(const mo_instance *x, bool path[MOST_OPS][MOST_OPS],
                        counts *n)
{
    for (int q = 0; q < x->n_flows; q++) {
        const mo_flow *f = &x->flows[q];

        for (int i = 0; i < x->n; i++)
            n->successions += path[i][f->from] + path[f->to][i];
        for (int r = 0; r < x->n_flows; r++) {
            const mo_flow *g = &x->flows[r];

            n->successions += path[f->to][g->from];
            n->flow_pairs +=
                q < r && !path[f->to][g->from] && !path[g->to][f->from];
        }
    }
}

static int count_links(const mo_instance *x)
{
    bool used[MOST_LINKS] = { false };
    int n = 0;

    ck_assert_int_le(x->routing.n_links, MOST_LINKS);
    for (int pair = 0; pair < x->n_devices * x->n_devices; pair++)
        for (int at = 0; at < x->routing.routes[pair].n; at++) {
            int link =
                x->routing.route_link[x->routing.routes[pair].first + at];

            n += !used[link];
            used[link] = true;
        }
    return n;
}

static counts count_all(const mo_instance *x)
{
    bool path[MOST_OPS][MOST_OPS];
    counts n = { .links = count_links(x) };

    close_over(x, path);
    count_ops(x, path, &n);
    count_flows(x, path, &n);
    return n;
}

static int rows_per_flow_pair(const mo_instance *x, mo_congestion congestion,
                              int n_links)
{
    int n_devices = x->n_devices;

    switch (congestion) {
    case MO_CONGESTION_PORT:
        return 4 * n_devices;
    case MO_CONGESTION_CHANNEL:
        return 2 * n_devices * (n_devices - 1);
    case MO_CONGESTION_LINK:
        return 2 * n_links;
    case MO_CONGESTION_NONE:
        break;
    }
    return 0;
}

START_TEST(families_have_as_many_rows_as_their_formulas_say)
{
    mo_regime regime = { .congestion = (mo_congestion) (_i % 4),
                         .memory = MO_MEMORY_NONE };
    bool closure = _i / 4 % 2;
    random_problem text;
    problem p = { 0 };
    model_case c;
    counts n;
    int n_devices, n_flows;

    random_problem_make(&text, (unsigned) _i);
    problem_make(&p, text.graph, text.cluster, NULL);
    n = count_all(p.x);
    n_devices = p.x->n_devices;
    n_flows = p.x->n_flows;
    model_case_open(&c, &p, &mo_formulation_paper, &regime, closure);

#define HAS(family, count)                                                     \
    ck_assert_msg(model_case_count(&c, family) == (count),                     \
                  "seed %d: %d rows of %s, not %d", _i,                        \
                  model_case_count(&c, family), family, (count))
    HAS("makespan", p.x->n);
    HAS("precedence", closure ? n.successions : 2 * n_flows);
    HAS("completion", p.x->n);
    HAS("assignment", p.x->n);
    HAS("cross", 3 * n_devices * n_flows);
    HAS("sent", n_flows);
    HAS("channel", n_devices * (n_devices - 1) * n_flows);
    HAS("arrival", n_flows);
    HAS("overlap", 2 * n_devices * n.op_pairs);
    HAS("congestion",
        rows_per_flow_pair(p.x, regime.congestion, n.links) * n.flow_pairs);
    HAS("memory", 0);
#undef HAS

    model_case_close(&c);
    problem_clear(&p);
    random_problem_clear(&text);
}
END_TEST

START_TEST(channels_and_links_are_named_by_the_transfers_on_them)
{
    static const char *const rows[] = {
        [MO_CONGESTION_CHANNEL] =
            "t_0 - d_1 + M h_0_1 - M y_0_0_1 - M y_1_0_1 >= -2M\n"
            "t_1 - d_0 - M h_0_1 - M y_0_0_1 - M y_1_0_1 >= -3M\n",
        /* All that leaves A goes over its only link. */
        [MO_CONGESTION_LINK] =
            "t_0 - d_1 + M h_0_1 - M y_0_0_1 - M y_1_0_1 - M y_0_0_2 "
            "- M y_1_0_2 >= -2M\n"
            "t_1 - d_0 - M h_0_1 - M y_0_0_1 - M y_1_0_1 - M y_0_0_2 "
            "- M y_1_0_2 >= -3M\n",
    };
    mo_congestion congestion = _i ? MO_CONGESTION_LINK : MO_CONGESTION_CHANNEL;
    mo_regime regime = { .congestion = congestion };
    problem p = { 0 };
    model_case c;

    problem_make(&p, "* t.A=100; *>* bytes=8; a; b; d; a>b; a>d",
                 "A; B model=A; C model=A; A-B gbps=8; B-C gbps=8", NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &regime, false);
    ck_assert_ptr_nonnull(strstr(model_case_rows(&c, "congestion"),
                                 with_m(&c, rows[congestion])));
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(pins_and_groups_are_rows)
{
    problem p = { 0 };
    model_case c;

    problem_make(&p,
                 "* t.A=100 t.B=100; a pin=B; b colocate=g; d; e colocate=g",
                 TWO_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &port, false);
    ck_assert_str_eq(model_case_rows(&c, "pin"), "x_0_1 = 1\n");
    ck_assert_str_eq(model_case_rows(&c, "group"),
                     "x_3_0 - x_1_0 = 0\nx_3_1 - x_1_1 = 0\n");
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* A device a million times slower than another would make badly scaled
 * coefficients; its times are infeasible anyway. */
START_TEST(what_takes_longer_than_the_horizon_has_small_numbers)
{
    problem p = { 0 };
    model_case c;
    const mo_paper *paper;

    problem_make(&p,
                 "a t.A=1 t.B=90000000; b t.A=1 t.B=1; "
                 "a>b c.A.B=80000000 c.B.A=1",
                 TWO_DEVICES, NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &port, false);
    paper = c.model.state;
    ck_assert_double_eq(model_case_largest(&c), 2 * paper->big_m);
    ck_assert_double_le(paper->big_m, 1e6);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* Not less than the horizon, and little more: it is in nearly every row. */
START_TEST(big_m_is_a_short_number_behind_the_horizon)
{
    problem p = { 0 };
    model_case c;
    double horizon, big_m;

    problem_make(&p, "a t.A=1234.567", "A", NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &port, false);
    horizon = mo_scale_time(c.frame->unit_ns, c.frame->horizon_ns);
    big_m = ((const mo_paper *) c.model.state)->big_m;
    ck_assert_double_ge(big_m, horizon);
    ck_assert_double_le(big_m, 1.0001 * horizon);
    ck_assert_double_eq(big_m, 1234.7);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(the_start_is_a_solution)
{
    mo_regime regime = { .congestion = (mo_congestion) (_i % 4),
                         .memory = (mo_memory) (_i / 4 % 3) };
    random_problem text;
    problem p = { 0 };
    model_case c;

    random_problem_make(&text, (unsigned) _i);
    problem_make(&p, text.graph, text.cluster, NULL);
    model_case_open(&c, &p, &mo_formulation_paper, &regime, _i % 2);
    if (mo_model_has_start(&c.model))
        ck_assert_msg(model_case_violation(&c) < 1e-6, "seed %d", _i);
    model_case_close(&c);
    problem_clear(&p);
    random_problem_clear(&text);
}
END_TEST

START_TEST(a_tensor_is_never_sent_once)
{
    mo_regime once = { .tensors = MO_TENSORS_ONCE };
    problem p = { 0 };
    mo_frame *frame = NULL;
    void *state = NULL;
    mo_error refusal = { 0 };

    problem_make(&p, "a t.A=1", "A", NULL);
    MUST(mo_frame_make(p.x, &once, false, &frame, &err));
    ck_assert_int_eq(mo_formulation_paper.prepare(frame, &state, &refusal),
                     MO_E_SUPPORT);
    ck_assert_ptr_nonnull(strstr(refusal.text, "--tensors per-edge"));
    mo_frame_free(frame);
    problem_clear(&p);
}
END_TEST

SUITE(paper)
{
    EACH(a_chain_has_the_rows_of_the_paper, COUNT(chain));
    TEST(the_makespan_is_the_first_column);
    TEST(ops_that_may_run_in_any_order_have_one_order);
    TEST(flows_that_share_an_end_have_it_once_in_a_row);
    SOME(families_have_as_many_rows_as_their_formulas_say, 300, 15);
    EACH(channels_and_links_are_named_by_the_transfers_on_them, 2);
    TEST(pins_and_groups_are_rows);
    TEST(what_takes_longer_than_the_horizon_has_small_numbers);
    TEST(big_m_is_a_short_number_behind_the_horizon);
    SOME(the_start_is_a_solution, 300, 15);
    TEST(a_tensor_is_never_sent_once);
}
