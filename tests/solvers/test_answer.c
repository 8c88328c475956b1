/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/answer/answer.h and evaluation.h: decoding of columns, and
 * that no mutation of a valid solution is accepted as another. */
#include "solvers/answer/answer.h"

#include <stdio.h>
#include <string.h>

#include "solvers/answer/evaluation.h"
#include "solvers/answer/placement_list.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

/* a and b on A, c on B; b's output is sent. */
static const char graph[] = "a t.A=1 t.B=2; b t.A=3 t.B=4; c t.A=9 t.B=5; "
                            "a>b bytes=8 c.A.B=2 c.B.A=2; "
                            "b>c bytes=8 c.A.B=2 c.B.A=2";
static const char cluster[] = "A; B; A-B gbps=8";

/* In units of 100 ns. */
#define IDENTITY                                                               \
    "moirai_g_0000000000000001 1\n"                                            \
    "moirai_o_compact.port.per_edge.static.none 1\n"                           \
    "moirai_u_100 1\n"
#define ANSWER                                                                 \
    "w 110\nx_0_0 1\nx_1_0 0.9999999999\nx_2_1 1\nx_0_1 1e-12\n"               \
    "s_0 0\ns_1 10\ns_2 60\nt_1 40\ny_0_0_0 1\ny_1_0_1 1\n"

static mo_solution *read_text(const char *text)
{
    mo_solution *solution = NULL;

    MUST(
        mo_solution_read_memory("answer", text, strlen(text), &solution, &err));
    return solution;
}

static void judge(const problem *p, const char *text, mo_answer_evaluation *j)
{
    mo_solution *solution = read_text(text);
    mo_provenance origin;

    MUST(mo_answer_provenance(solution, &origin, &err));
    MUST(mo_answer_evaluate_solution(solution, &origin, p->x, &origin.regime,
                                     MO_ANSWER_TOLERANCE, j, &err));
    MUST(mo_answer_evaluation_bound(p->x, j, &err));
    mo_solution_free(solution);
}

START_TEST(an_answer_is_timed_anew)
{
    problem p = { 0 };
    mo_answer_evaluation j;

    problem_make(&p, graph, cluster, NULL);
    judge(&p, IDENTITY ANSWER, &j);
    ck_assert_msg(mo_answer_evaluation_valid(&j), "%s",
                  mo_answer_evaluation_count(&j)
                      ? mo_answer_evaluation_violation(&j, 0)
                      : "");
    ck_assert_int_eq(j.schedule->makespan_ns, 11000);
    ck_assert_int_eq(j.claim_ns, 11000);
    ck_assert_int_eq(j.schedule->device[2], 1);
    ck_assert_int_eq(j.schedule->n_transfers, 1);
    ck_assert_int_eq(j.schedule->transfers[0].start_ns, 4000);
    ck_assert_int_le(j.lower.bound_ns, 11000);
    mo_answer_evaluation_clear(&j);
    problem_clear(&p);
}
END_TEST

/* Each is ANSWER with one change. */
static const struct {
    const char *what, *text;
    const char *complaint; /* NULL: harmless */
} changes[] = {
    { "a moved op",
      "w 110\nx_0_0 1\nx_1_1 1\nx_2_1 1\ns_1 10\ns_2 60\n"
      "t_1 40\ny_1_0_1 1\n",
      "(1f) column y_1_0_1 has op 'b' on another" },
    { "an op that was moved, all else in order",
      "w 130\nx_0_0 1\nx_1_1 1\nx_2_1 1\ns_1 30\ns_2 70\nt_0 10\n", NULL },
    { "an op moved and the old makespan",
      "w 110\nx_0_0 1\nx_1_1 1\nx_2_1 1\ns_1 30\ns_2 70\nt_0 10\n",
      "(1) the objective is claimed to be 11.000 us, but the schedule takes "
      "12.000 us" },
    { "an op nowhere", "w 110\nx_0_0 1\nx_2_1 1\ns_1 10\ns_2 60\n",
      "(1c) op 'b' is on no device" },
    { "ops nowhere", "w 110\nx_0_0 1\ns_1 10\ns_2 60\n",
      "(1c) op 'b' and 1 more are on no device" },
    { "no op anywhere", "w 110\n", "(1c) no op is on any device" },
    { "an op in two places",
      "w 110\nx_0_0 1\nx_1_0 1\nx_1_1 1\nx_2_1 1\ns_1 10\ns_2 60\n",
      "(1c) op 'b' is on two devices, A and B" },
    { "half an op", "w 110\nx_0_0 1\nx_1_0 0.5\nx_1_1 0.5\nx_2_1 1\n",
      "(1c) op 'b' is on A only in part: x_1_0 is 0.5" },
    { "more than an op", "w 110\nx_0_0 1\nx_1_0 2\nx_2_1 1\n",
      "(1c) op 'b' is on A only in part: x_1_0 is 2" },
    { "a column twice",
      "w 110\nx_0_0 1\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\n",
      "column x_0_0 is there twice" },
    { "a start twice",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_1 10\ns_2 60\n",
      "column s_1 is there twice" },
    { "a transfer twice",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\nt_1 40\n",
      "column t_1 is there twice" },
    { "an op that is not there",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\nx_3_0 1\ns_1 10\ns_2 60\n",
      "column x_3_0 is about op 3, but there are only 3" },
    { "a device that is not there",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_7 1\ns_1 10\ns_2 60\n",
      "column x_2_7 is about device 7, but there are only 2" },
    { "a transfer that is not there",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_9 1\n",
      "column t_9 is about transfer 9, but there are only 2" },
    { "an order turned round",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_0 40\ns_1 0\ns_2 60\nt_1 40\n",
      "(1a) op 'b' starts before op 'a', which it reads" },
    { "an order that starts contradict",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\no_1_0 1\n",
      "(1e) column o_1_0 has op 'b' before op 'a', but the second starts" },
    { "an order that they keep",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\no_0_1 1\n",
      NULL },
    { "a start that was dropped",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\nt_1 40\n",
      "(1a) op 'c' starts before the transfer from op 'b', which it reads" },
    { "a transfer that was dropped",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\n", NULL },
    { "a claim that is too good",
      "w 100\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\n",
      "(1) the objective is claimed to be 10.000 us" },
    { "a claim that is too bad",
      "w 120\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\n", NULL },
    { "a makespan that was dropped",
      "x_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\n", NULL },
    { "another objective beside it",
      "=obj= 90\nw 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\n",
      "(1) the objective is 90, but column w is 110" },
    { "a time beyond all", "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 1e300\n",
      "column s_1 is 1e+300, which is no time" },
    { "an infinite time", "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 inf\n",
      "column s_1 is inf, which is no time" },
    { "starts a little off",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_0 1e-7\ns_1 9.9999999\n"
      "s_2 60.0000001\nt_1 40\n",
      NULL },
    { "somebody's own columns",
      "w 110\nx_0_0 1\nx_1_0 1\nx_2_1 1\ns_1 10\ns_2 60\nt_1 40\nmine 7\n"
      "x_of_mine 3\nx_00_0 1\nX 1\nq_1 5\n",
      NULL },
};

START_TEST(a_change_is_refused_or_harmless)
{
    problem p = { 0 };
    mo_answer_evaluation j;
    char text[1024];

    problem_make(&p, graph, cluster, NULL);
    snprintf(text, sizeof text, "%s%s",
             changes[_i].text[0] == '=' ? "" : IDENTITY, changes[_i].text);
    if (changes[_i].text[0] == '=')
        snprintf(text + strlen(text), sizeof text - strlen(text), IDENTITY);
    judge(&p, text, &j);
    if (!changes[_i].complaint)
        ck_assert_msg(mo_answer_evaluation_valid(&j), "%s: %s",
                      changes[_i].what,
                      mo_answer_evaluation_count(&j)
                          ? mo_answer_evaluation_violation(&j, 0)
                          : "no schedule");
    else
        ck_assert_msg(mo_answer_evaluation_count(&j) > 0 &&
                          strstr(mo_answer_evaluation_violation(&j, 0),
                                 changes[_i].complaint),
                      "%s: '%s'", changes[_i].what,
                      mo_answer_evaluation_count(&j)
                          ? mo_answer_evaluation_violation(&j, 0)
                          : "valid");
    mo_answer_evaluation_clear(&j);
    problem_clear(&p);
}
END_TEST

START_TEST(identity_is_read)
{
    mo_solution *s = read_text(
        "moirai_g_00000000000000ab 1\nmoirai_c_0000000000000002 0.9999999\n"
        "moirai_p_0000000000000003 1\nmoirai_f_ffffffffffffffff 1\n"
        "moirai_i_0123456789abcdef 1\nmoirai_u_10 1\n"
        "moirai_o_paper.link.once.live.cublaslt 1\nw 3\n");
    mo_provenance o;

    MUST(mo_answer_provenance(s, &o, &err));
    ck_assert(o.has_graph && o.has_cluster && o.has_profile && o.has_rules &&
              o.has_instance && o.has_options && o.unit_ns > 0);
    ck_assert_uint_eq(o.graph, 0xab);
    ck_assert_uint_eq(o.rules, UINT64_MAX);
    ck_assert_uint_eq(o.instance, 0x0123456789abcdef);
    ck_assert_int_eq(o.unit_ns, 10);
    ck_assert_str_eq(o.formulation, "paper");
    ck_assert_str_eq(o.fusion, "cublaslt");
    ck_assert_int_eq(o.regime.congestion, MO_CONGESTION_LINK);
    ck_assert_int_eq(o.regime.tensors, MO_TENSORS_ONCE);
    ck_assert_int_eq(o.regime.memory, MO_MEMORY_LIVE);
    mo_solution_free(s);
}
END_TEST

/* Reads the identity columns; they parse. */
static mo_provenance read_identity(const char *text)
{
    mo_solution *s = read_text(text);
    mo_provenance o;

    MUST(mo_answer_provenance(s, &o, &err));
    mo_solution_free(s);
    return o;
}

static void write_identity(const mo_identity *identity, const int *order,
                           char *text, size_t size)
{
    size_t n = 0;

    for (int i = 0; i < identity->n; i++)
        n += (size_t) snprintf(text + n, size - n, "%s 1\n",
                               identity->name[order ? order[i] : i]);
}

/* Every option, digest, cost, shape and unit is covered by the digest in the
 * options, in any order; the names of files are not. */
START_TEST(an_edit_of_the_identity_is_noticed)
{
    static const char *shapes[] = { "ids=1,128", "mask=1,128" };
    static const char *values[] = { "rate=16000" };
    static const struct {
        const char *from, *to;
        bool edited;
    } edits[] = {
        { ".static.", ".none.", true },
        { ".static.", ".live.", true },
        { ".port.", ".none.", true },
        { ".once.", ".per_edge.", true },
        { "compact.", "paper.", true },
        { ".default.", ".none.", true },
        { "moirai_u_10 ", "moirai_u_1 ", true },
        { "roofline", "rooflines", true },
        { "_3d1_2c128", "_3d1_2c127", true },
        { "moirai_g_0", "moirai_g_1", true },
        { "moirai_i_0", "moirai_i_1", true },
        { "moirai_c_0000000000000002 1\n", "", true },
        { "moirai_s_ids_3d1_2c128 1\n", "", true },
        { "_3d16000 ", "_3d8000 ", true },
        { "moirai_v_rate_3d16000 1\n", "", true },
        { "moirai_i_0000000000000003 1\n", "", true },
        { "net.graphml", "other.graphml", false },
        { "_net.graphml", "", false },
    };
    mo_instance x = { .cluster_digest = 2, .digest = 3 };
    mo_identity_options options = {
        .formulation = "compact",
        .regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_STATIC },
        .fusion = "default",
        .graph_digest = 1,
        .graph_file = "net.graphml",
        .unit_ns = 10,
        .cost = "roofline",
        .read = { .shapes = { .items = shapes, .count = COUNT(shapes) },
                  .values = { .items = values, .count = COUNT(values) } }
    };
    const int backwards[] = { 8, 7, 6, 5, 4, 3, 2, 1, 0 };
    char text[2048], edited[2048];
    mo_identity identity;

    mo_identity_make(&x, &options, &identity);
    ck_assert_int_eq(identity.n, COUNT(backwards));
    write_identity(&identity, backwards, text, sizeof text);
    ck_assert(read_identity(text).has_digest && !read_identity(text).edited);
    write_identity(&identity, NULL, text, sizeof text);
    ck_assert(read_identity(text).has_digest && !read_identity(text).edited);
    for (size_t i = 0; i < COUNT(edits); i++) {
        char *at = strstr(text, edits[i].from);

        ck_assert_msg(at != NULL, "%s", edits[i].from);
        snprintf(edited, sizeof edited, "%.*s%s%s", (int) (at - text), text,
                 edits[i].to, at + strlen(edits[i].from));
        ck_assert_msg(read_identity(edited).edited == edits[i].edited,
                      "'%s' for '%s'", edits[i].to, edits[i].from);
    }
}
END_TEST

/* In any order of the columns; what does not fit is cut as a whole. */
START_TEST(lists_of_shapes_take_several_columns)
{
    static const char *shapes[] = {
        "ids=1,16;1,32;1,48;1,64;1,80;1,96;1,112;1,128;2,16;2,32;2,48;2,64;"
        "2,80;2,96;2,112;2,128;8,16;8,32;8,64;8,128",
        "n=5", "x=y=1,2,3;1,2,4;1,2,5;1,2,6;1,2,7;1,2,8;1,2,9;1,2,10;1,2,11",
        NULL
    };
    const int backwards[] = { 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };
    mo_instance x = { .cluster_digest = 2, .digest = 3 };
    mo_identity_options options = {
        .formulation = "compact",
        .fusion = "default",
        .unit_ns = 10,
        .read = { .shapes = { .items = shapes, .count = 3 } },
    };
    char text[2048];
    mo_identity identity;
    mo_provenance found;

    mo_identity_make(&x, &options, &identity);
    ck_assert_int_le(identity.n, COUNT(backwards));
    for (int i = 0; i < 2; i++) {
        write_identity(&identity,
                       i ? backwards + COUNT(backwards) - identity.n : NULL,
                       text, sizeof text);
        found = read_identity(text);
        ck_assert_int_eq(found.shapes.n, 3);
        ck_assert(!found.edited && !found.shapes.is_cut);
        for (int k = 0; k < 3; k++)
            ck_assert_str_eq(found.shapes.items[i ? 2 - k : k], shapes[k]);
    }
    options.read.shapes.count = 4;
    shapes[3] = shapes[0];
    mo_identity_make(&x, &options, &identity);
    write_identity(&identity, NULL, text, sizeof text);
    found = read_identity(text);
    ck_assert(found.shapes.is_cut);
    ck_assert_int_eq(found.shapes.n, 3);
}
END_TEST

static const char *const no_identities[] = {
    "moirai_g_0000000000000001 0\n",
    "moirai_g_0000000000000001 0.5\n",
    "moirai_g_0000000000000001 1\nmoirai_g_0000000000000002 1\n",
    "moirai_g_1 1\n",
    "moirai_g_000000000000000G 1\n",
    "moirai_g_00000000000000012 1\n",
    "moirai_g 1\n",
    "moirai_z_0000000000000001 1\n",
    "moirai_u_0 1\n",
    "moirai_u_-5 1\n",
    "moirai_u_99999999999999999999 1\n",
    "moirai_u_10 1\nmoirai_u_100 1\n",
    "moirai_o_compact.port.once.static 1\n",
    "moirai_o_compact.port.once.static.none.more 1\n",
    "moirai_o_compact.port.once.static.none.0123456789abcdef0 1\n",
    "moirai_o_compact.port.once.static.none.0123456789abcdef_ 1\n",
    "moirai_o_compact.boat.once.static.none 1\n",
    "moirai_o_dense.port.once.static.none 1\n",
    "moirai_o_ 1\n",
};

START_TEST(a_broken_identity_is_refused)
{
    mo_solution *s = read_text(no_identities[_i]);
    mo_provenance o;
    mo_error err = { 0 };

    ck_assert_msg(mo_answer_provenance(s, &o, &err) == MO_E_INPUT, "%s",
                  no_identities[_i]);
    ck_assert_msg(strstr(err.text, "moirai_") != NULL, "%s", err.text);
    mo_solution_free(s);
}
END_TEST

/* A tensor for two readers on B, and one on its own transfer. */
START_TEST(tensors_sent_once_are_found)
{
    static const char text[] =
        "moirai_o_compact.port.once.static.none 1\nmoirai_u_1000 1\n"
        "w 14\nx_0_0 1\nx_1_1 1\nx_2_1 1\nx_3_0 1\n"
        "t_2 1\ns_1 3\ns_2 6\nt_6 9\ns_3 11\n";
    problem p = { 0 };
    mo_answer_evaluation j;

    problem_make(&p,
                 "a t.A=1 t.B=1; b t.A=3 t.B=3; c t.A=3 t.B=3; d t.A=3 t.B=3; "
                 "a>b tensor=x bytes=8 c.A.B=2 c.B.A=2; "
                 "a>c tensor=x bytes=8 c.A.B=2 c.B.A=2; "
                 "b>d bytes=8 c.A.B=2 c.B.A=2; c>d bytes=8 c.A.B=2 c.B.A=2",
                 cluster, NULL);
    ck_assert_int_eq(p.x->n_tensors, 3);
    judge(&p, text, &j);
    ck_assert_msg(mo_answer_evaluation_valid(&j), "%s",
                  mo_answer_evaluation_count(&j)
                      ? mo_answer_evaluation_violation(&j, 0)
                      : "");
    ck_assert_int_eq(j.schedule->n_transfers, 3);
    ck_assert_int_eq(j.schedule->makespan_ns, 14000);
    mo_answer_evaluation_clear(&j);
    problem_clear(&p);
}
END_TEST

static const struct {
    const char *text;
    bool is_listing;
    mo_status status;
} listings[] = {
    { "a A\nb A\n\n# c is alone\nc B\n", true, MO_OK },
    { "\ta  A\r\nb A\r\nc B", true, MO_OK },
    { "{\"a\": \"A\", \"b\": \"A\", \"c\": \"B\"}", true, MO_OK },
    { "{\"placement\": {\"a\": \"A\", \"b\": \"A\", \"c\": \"B\"}, "
      "\"schedule\": {\"ops\": {\"a\": 0}}}",
      true, MO_OK },
    { "{\"graph\": \"g\", \"ops\": 3, "
      "\"placement\": {\"a\": \"A\", \"b\": \"A\", \"c\": \"B\"}}",
      true, MO_OK },
    { "{\"\\u0061\": \"A\", \"b\": \"A\", \"c\": \"B\"}", true, MO_OK },
    { "a A\nb A\nb A\nc B\n", true, MO_OK },
    { "a A # first\nb A #\n  # c\nc B", true, MO_OK },
    { "\xef\xbb\xbf"
      "a A\nb A\nc B",
      true, MO_OK },
    { "\xef\xbb\xbf"
      "{\"a\": \"A\", \"b\": \"A\", \"c\": \"B\"}",
      true, MO_OK },
    { "a# A\nb A\nc B", true, MO_E_SYNTAX },
    { "a b A\nc B\n", false, MO_OK },
    { "a A\nb\n", false, MO_OK },
    { "a A\nb A\n", true, MO_E_INPUT },
    { "a A\nb A\nb B\nc B\n", true, MO_E_INPUT },
    { "a A\nb A\nc C\n", true, MO_E_SYNTAX },
    { "a A\nb A\nq A\n", true, MO_E_SYNTAX },
    { "{\"a\": \"A\", \"b\": 3}", true, MO_E_SYNTAX },
    { "{\"a\": \"A\", \"b\"", true, MO_E_SYNTAX },
    { "{}", true, MO_E_INPUT },
    { "=obj= 3\nx_0_0 1\n", false, MO_OK },
    { "=obj= 3\nx_0_0 NaN\nqw 3\n", false, MO_OK },
    { "# Objective value = 3\nx_0_0 0x1\n", false, MO_OK },
    { "x_0_0 1,0\nmoirai_g_0123456789abcdef 1\n", false, MO_OK },
    { "x_0_0 1\nw 3\n", false, MO_OK },
    { "Model status\nOptimal\n", false, MO_OK },
    { "solution status: optimal\nw 3\n", false, MO_OK },
    { "{\"SolutionInfo\": {\"Status\": 2}}", false, MO_OK },
    { "a 0\nb 1\n", true, MO_E_SYNTAX },
    { "", false, MO_OK },
};

START_TEST(placements_are_told_from_solutions)
{
    problem p = { 0 };
    char text[256];
    int device[3];
    mo_status status;

    problem_make(&p, graph, cluster, NULL);
    strcpy(text, listings[_i].text);
    ck_assert_int_eq(mo_placement_list_sniff(text), listings[_i].is_listing);
    if (listings[_i].is_listing) {
        status = mo_placement_list_read("list", text, strlen(text), p.x, device,
                                        NULL);
        ck_assert_int_eq(status, listings[_i].status);
        if (status == MO_OK)
            ck_assert(device[0] == 0 && device[1] == 0 && device[2] == 1);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(a_placement_is_judged_by_itself)
{
    const mo_regime regime = { 0 };
    const int wrong[] = { 0, 1, 0 }, right[] = { 0, 0, 1 };
    problem p = { 0 };
    mo_answer_evaluation j;

    problem_make(&p,
                 "a t.A=1 t.B=2; b t.A=3 t.B=4 pin=A; c t.A=9 t.B=5; "
                 "a>b bytes=8; b>c bytes=8",
                 "A; B; A-B gbps=8", NULL);
    MUST(mo_answer_evaluate_placement(p.x, &regime, right, &j, &err));
    ck_assert(mo_answer_evaluation_valid(&j));
    mo_answer_evaluation_clear(&j);
    MUST(mo_answer_evaluate_placement(p.x, &regime, wrong, &j, &err));
    ck_assert(!mo_answer_evaluation_valid(&j));
    ck_assert_msg(strncmp(mo_answer_evaluation_violation(&j, 0), "pin", 3) == 0,
                  "%s", mo_answer_evaluation_violation(&j, 0));
    mo_answer_evaluation_clear(&j);
    problem_clear(&p);
}
END_TEST

/* b's input does not fit on B before c has ended. */
START_TEST(what_waits_for_memory_is_not_moved)
{
    static const char graph_of_three[] =
        "a t.A=1 t.B=1 pin=A; b t.A=1 t.B=1 pin=B; "
        "c t.A=5 t.B=5 pin=B weight_bytes=0 workspace_bytes=6; "
        "a>b bytes=8 c.A.B=2 c.B.A=2";
    char text[400];
    problem p = { 0 };
    mo_answer_evaluation j;

    problem_make(&p, graph_of_three, "A; B memory_bytes=10; A-B gbps=8", NULL);
    for (int late = 0; late < 2; late++) {
        snprintf(text, sizeof text,
                 "moirai_o_compact.port.per_edge.live.none 1\n"
                 "moirai_u_1000 1\nw 8\nx_%d_0 1\nx_%d_1 1\nx_%d_1 1\n"
                 "s_%d 7\nt_0 %d\n",
                 problem_op(&p, "a"), problem_op(&p, "b"), problem_op(&p, "c"),
                 problem_op(&p, "b"), late ? 5 : 4);
        judge(&p, text, &j);
        ck_assert_int_eq(mo_answer_evaluation_valid(&j), late);
        ck_assert(!late || j.schedule->makespan_ns == 8000);
        mo_answer_evaluation_clear(&j);
    }
    problem_clear(&p);
}
END_TEST

SUITE(answer)
{
    TEST(an_answer_is_timed_anew);
    EACH(a_change_is_refused_or_harmless, COUNT(changes));
    TEST(identity_is_read);
    TEST(an_edit_of_the_identity_is_noticed);
    TEST(lists_of_shapes_take_several_columns);
    EACH(a_broken_identity_is_refused, COUNT(no_identities));
    TEST(tensors_sent_once_are_found);
    EACH(placements_are_told_from_solutions, COUNT(listings));
    TEST(a_placement_is_judged_by_itself);
    TEST(what_waits_for_memory_is_not_moved);
}
