/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/compact/compact.c: families of rows and their terms.  The
 * optimum is tested in tests/models/test_compact_optimum.c. */
#include <stdio.h>
#include <string.h>

#include "models/formulation.h"
#include "models/sink/scale.h"
#include "tests/support/model_case.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

#define TWO   "A model=m; B model=n; A-B gbps=8"
#define TWINS "A model=m; B model=m; A-B gbps=8"

/* A chain; one op read by two; two interchangeable flows between two ops. */
#define CHAIN "* t.m=100 t.n=100; a; b; a>b c.m.n=20 c.n.m=30"
#define FAN                                                                    \
    "* t.m=100 t.n=100; *>* c.m.n=20 c.n.m=20; s; a; b; e; "                   \
    "s>a; s>b; a>e; b>e"
#define ALIKE                                                                  \
    "* t.m=10 t.n=10; *>* c.m.n=2 c.n.m=2; a; b; c; "                          \
    "a>b src_port=0; a>b src_port=1; a>c src_port=2"

typedef struct row_claim {
    const char *graph, *cluster;
    mo_congestion congestion;
    mo_tensors tensors;
    const char *family, *rows;
} row_claim;

#define PORT      MO_CONGESTION_PORT
#define CHANNEL   MO_CONGESTION_CHANNEL
#define NONE      MO_CONGESTION_NONE
#define EACH_EDGE MO_TENSORS_PER_EDGE
#define ONCE      MO_TENSORS_ONCE

static const row_claim claims[] = {
    /* Assignment. */
    { "a t.m=100 t.n=200", TWO, PORT, ONCE, "assign", "x_0_0 = 1\n" },
    { "a t.m=100 t.n=100", TWO, PORT, ONCE, "assign", "x_0_0 + x_0_1 = 1\n" },
    { "a t.m=100 t.n=100 pin=B", TWO, PORT, ONCE, "assign", "x_0_1 = 1\n" },
    { "* t.m=10 t.n=10; a colocate=g; b; c colocate=g", TWO, PORT, ONCE,
      "group", "x_2_0 - x_0_0 = 0\nx_2_1 - x_0_1 = 0\n" },
    { "* t.m=100; a; b; c", TWINS, PORT, ONCE, "twin",
      "x_0_1 <= 0\nx_1_1 - x_0_0 <= 0\nx_2_1 - x_0_0 - x_1_0 <= 0\n" },
    { CHAIN, TWO, PORT, ONCE, "twin", "" },
    { "* t.m=100 t.n=100 memory_bytes=6; a; b",
      "A model=m memory_bytes=10; B model=n memory_bytes=20; A-B gbps=8", PORT,
      ONCE, "memory", "x_0_0 + x_1_0 <= 1\n" },

    /* Transfers and precedence. */
    { FAN, TWO, PORT, ONCE, "cover",
      "y_1_0_0 + y_1_1_0 - x_1_0 >= 0\ny_1_0_0 + y_1_1_0 - x_2_0 >= 0\n"
      "y_2_0_1 + y_2_1_1 - x_1_1 >= 0\ny_2_0_1 + y_2_1_1 - x_2_1 >= 0\n" },
    { FAN, TWO, PORT, ONCE, "source",
      "x_0_0 - y_1_0_0 >= 0\nx_0_1 - y_1_1_0 >= 0\n"
      "x_0_0 - y_2_0_1 >= 0\nx_0_1 - y_2_1_1 >= 0\n" },
    { FAN, TWO, PORT, ONCE, "wait",
      "s_1 - s_0 - 100 x_0_0 - 100 x_0_1 >= 0\n"
      "s_2 - s_0 - 100 x_0_0 - 100 x_0_1 >= 0\n" },
    { FAN, TWO, PORT, EACH_EDGE, "wait", "" },
    { FAN, TWO, PORT, EACH_EDGE, "arrive",
      "s_1 - t_0 - 20 y_0_1_0 - 20 y_0_0_1 >= 0\n"
      "s_2 - t_1 - 20 y_1_1_0 - 20 y_1_0_1 >= 0\n"
      "s_3 - t_2 - 20 y_2_1_0 - 20 y_2_0_1 >= 0\n"
      "s_3 - t_3 - 20 y_3_1_0 - 20 y_3_0_1 >= 0\n" },
    { FAN, TWO, NONE, ONCE, "prec",
      "s_1 - s_0 - 100 x_0_0 - 100 x_0_1 - 20 y_0_1_0 - 20 y_0_0_1 >= 0\n"
      "s_2 - s_0 - 100 x_0_0 - 100 x_0_1 - 20 y_1_1_0 - 20 y_1_0_1 >= 0\n"
      "s_3 - s_1 - 100 x_1_0 - 100 x_1_1 - 20 y_2_1_0 - 20 y_2_0_1 >= 0\n"
      "s_3 - s_2 - 100 x_2_0 - 100 x_2_1 - 20 y_3_1_0 - 20 y_3_0_1 >= 0\n" },
    { FAN, TWO, NONE, ONCE, "leave", "" },

    /* A chain stays on one device: there is no time for a transfer. */
    { CHAIN, TWO, PORT, EACH_EDGE, "route",
      "y_0_0_0 - x_0_0 = 0\ny_0_1_1 - x_0_1 = 0\n"
      "y_0_0_0 - x_1_0 = 0\ny_0_1_1 - x_1_1 = 0\n" },
    { CHAIN, TWO, PORT, EACH_EDGE, "leave", "" },
    { CHAIN, TWO, PORT, EACH_EDGE, "prec",
      "s_1 - s_0 - 100 x_0_0 - 100 x_0_1 >= 0\n" },

    /* Loads between two clean cuts; parallel flows share columns. */
    { FAN, TWO, PORT, ONCE, "load",
      "s_3 - s_0 - 100 x_0_0 - 100 x_0_1 - 100 x_1_0 - 100 x_2_0 >= 0\n"
      "s_3 - s_0 - 100 x_0_0 - 100 x_0_1 - 100 x_1_1 - 100 x_2_1 >= 0\n" },
    { FAN, TWO, NONE, ONCE, "traffic", "" },
    { "* t.m=100; a; b", TWINS, PORT, ONCE, "load",
      "w - 100 x_0_0 - 100 x_1_0 >= 0\nw - 100 x_0_1 - 100 x_1_1 >= 0\n" },
    { ALIKE, TWO, CHANNEL, EACH_EDGE, "traffic",
      "w - s_0 - 1000 x_0_0 - 1000 x_0_1 - 400 y_0_0_1 - 200 y_2_0_1 >= 0\n"
      "w - s_0 - 1000 x_0_0 - 1000 x_0_1 - 400 y_0_1_0 - 200 y_2_1_0 >= 0\n" },

    /* Orders.  Those of colocated ops are never both 0, and interchangeable
     * flows are ordered by number. */
    { "* t.m=100 t.n=100; a pin=A; b; c", TWO, PORT, ONCE, "meet",
      "o_0_1 + o_1_0 - x_0_0 - x_1_0 >= -1\n"
      "o_0_2 + o_2_0 - x_0_0 - x_2_0 >= -1\n"
      "o_1_2 + o_2_1 - x_1_0 - x_2_0 >= -1\n"
      "o_1_2 + o_2_1 - x_1_1 - x_2_1 >= -1\n" },
    { "* t.m=100 t.n=100; a colocate=g; b colocate=g", TWO, PORT, ONCE, "meet",
      "o_0_1 + o_1_0 >= 1\n" },
    { ALIKE, TWO, PORT, EACH_EDGE, "queue",
      "t_1 - t_0 - 200 y_0_1_0 - 200 y_0_0_1 >= 0\n" },
};

START_TEST(rows_are_what_they_should_be)
{
    const row_claim *claim = &claims[_i];
    mo_regime regime = { claim->congestion, claim->tensors, MO_MEMORY_STATIC };
    problem p = { 0 };
    model_case c;

    problem_make(&p, claim->graph, claim->cluster, NULL);
    model_case_open(&c, &p, &mo_formulation_compact, &regime, false);
    ck_assert_str_eq(model_case_rows(&c, claim->family), claim->rows);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* Without predecessors and successors: anywhere up to the horizon. */
START_TEST(big_m_is_the_latest_end_less_the_earliest_start)
{
    mo_regime regime = { PORT, ONCE, MO_MEMORY_STATIC };
    problem p = { 0 };
    model_case c;
    char rows[256];
    double m;

    problem_make(&p, "* t.m=100 t.n=100; a colocate=g; b colocate=g", TWO,
                 NULL);
    model_case_open(&c, &p, &mo_formulation_compact, &regime, false);
    m = mo_scale_time(c.frame->unit_ns, c.frame->horizon_ns);
    snprintf(rows, sizeof rows,
             "s_1 - s_0 - 100 x_0_0 - 100 x_0_1 - %g o_0_1 >= %g\n"
             "s_0 - s_1 - 100 x_1_0 - 100 x_1_1 - %g o_1_0 >= %g\n",
             m, -m, m, -m);
    ck_assert_str_eq(model_case_rows(&c, "order"), rows);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

/* Four ops in two chains that may be anywhere; d is pinned so that both chains
 * are sent to it. */
static const char *const two_chains =
    "* t.A=9 t.B=9 t.C=9; *>* c.A.B=5 c.A.C=5 c.B.A=5 c.B.C=5 c.C.A=5 c.C.B=5; "
    "a pin=A; b; c pin=A; d; a>b; c>d; e t.A=40 t.B=40 t.C=40";

START_TEST(an_order_costs_two_rows_and_one_for_each_side)
{
    const char *three = "A; B; C; A-B gbps=8; B-C gbps=8; A-C gbps=8";
    mo_regime regime = { PORT, EACH_EDGE, MO_MEMORY_STATIC };
    problem p = { 0 };
    model_case c;

    problem_make(&p, two_chains, three, NULL);
    model_case_open(&c, &p, &mo_formulation_compact, &regime, false);
    ck_assert_int_eq(model_case_count(&c, "queue"), 2);
    /* Both leave A: for any targets they share its egress. */
    ck_assert_int_eq(model_case_count(&c, "share"), 1);
    ck_assert_ptr_nonnull(
        strstr(model_case_rows(&c, "share"), "h_0_1 + h_1_0"));
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

START_TEST(coefficients_are_in_range)
{
    unsigned n_seeds = (unsigned) how_many(40, 3);

    for (unsigned seed = 0; seed < n_seeds; seed++)
        for (int i = 0; i < 8; i++) {
            mo_regime regime = { (mo_congestion) (i % 4), (mo_tensors) (i / 4),
                                 MO_MEMORY_STATIC };
            problem p = { 0 };
            random_problem r;
            model_case c;

            random_problem_make(&r, seed);
            problem_make(&p, r.graph, r.cluster, NULL);
            random_problem_clear(&r);
            model_case_open(&c, &p, &mo_formulation_compact, &regime, false);
            if (model_case_least(&c) < 1e-6 || model_case_largest(&c) > 1e6)
                ck_abort_msg("seed %u, congestion %s: coefficients from %g to "
                             "%g",
                             seed, mo_congestion_names[regime.congestion],
                             model_case_least(&c), model_case_largest(&c));
            model_case_close(&c);
            problem_clear(&p);
        }
}
END_TEST

SUITE(compact)
{
    EACH(rows_are_what_they_should_be, COUNT(claims));
    TEST(big_m_is_the_latest_end_less_the_earliest_start);
    TEST(an_order_costs_two_rows_and_one_for_each_side);
    TEST(coefficients_are_in_range);
}
