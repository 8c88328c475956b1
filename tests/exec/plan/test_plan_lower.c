/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/plan/build.h: lowering, transfers and step order of small
 * networks. */
#include "exec/plan/build.h"

#include <stdio.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/verify/verify.h"
#include "ingest/zoo.h"
#include "tests/support/graphs.h"
#include "tests/exec/support/random_plan.h"
#include "tests/support/suite.h"

#define TIMES  "* t.A=10 t.B=10 t.C=10; *>* bytes=16; "
#define F32    " dtype=f32 shape=2,2 "
#define INPUT  " op=Parameter" F32
#define RELU   " op=ReLU" F32
#define RESULT " op=Result "

enum { MAX_TOLD = 8 };

typedef struct plan_case {
    mo_graph *fine;
    problem problem;
    mo_schedule *schedule;
    mo_weights_store *constants;
    mo_exec_plan *plan; /* or NULL, and why */
    mo_error why;
    char told[MAX_TOLD][400];
    int n_told, lines[MAX_TOLD];
} plan_case;

static void note(void *context, int line, const char *what)
{
    plan_case *c = context;

    ck_assert_int_lt(c->n_told, MAX_TOLD);
    c->lines[c->n_told] = line;
    snprintf(c->told[c->n_told++], sizeof *c->told, "%s", what);
}

/* "x=A a=B": the rest is on A. */
static void place(const plan_case *c, const char *placement, int *device)
{
    for (int i = 0; i < c->problem.x->n; i++) {
        char word[64];
        const char *at;

        snprintf(word, sizeof word, " %s=", c->problem.x->op_names[i]);
        at = strstr(placement, word);
        device[i] = at ? at[strlen(word)] - 'A' : 0;
    }
}

/* Frees the last case. */
static void plan_clear(plan_case *c)
{
    mo_plan_free(c->plan);
    mo_weights_free(c->constants);
    mo_schedule_free(c->schedule);
    problem_clear(&c->problem);
    mo_graph_free(c->fine);
    memset(c, 0, sizeof *c);
}

static void plan_try(plan_case *c, const char *graph, const char *placement)
{
    const mo_weights_options options = { .seed = 1 };
    const mo_regime regime = { .memory = MO_MEMORY_NONE,
                               .tensors = MO_TENSORS_ONCE };
    mo_plan_source source = { .on_unsupported = note, .context = c };
    int device[64];

    memset(c, 0, sizeof *c);
    problem_make(&c->problem, graph,
                 "A; B; C; A-B gbps=8; B-C gbps=8; "
                 "A-C gbps=8",
                 NULL);
    c->fine = problem_graph(graph);
    ck_assert_int_le(c->problem.x->n, COUNT(device));
    place(c, placement, device);
    MUST(mo_schedule_new(c->problem.x, &regime, device, &c->schedule, &err));
    MUST(mo_schedule_left_shift(c->problem.x, c->schedule, &err));
    MUST(mo_weights_new(c->fine, &options, &c->constants, &err));
    source.fine = c->fine;
    source.placed = c->problem.g;
    source.instance = c->problem.x;
    source.schedule = c->schedule;
    source.constants = c->constants;
    mo_plan_build(&source, &c->plan, &c->why);
}

static void plan_make(plan_case *c, const char *graph, const char *placement)
{
    plan_try(c, graph, placement);
    ck_assert_msg(c->plan != NULL, "%s", c->why.text);
    MUST(mo_verify_plan(c->plan, &err));
}

/* The steps of a device: "receive x, relu, await x". */
static const char *steps_of(const plan_case *c, int device)
{
    static const char *const words[] = { "", "send ", "receive ", "await " };
    static char text[512];
    const mo_exec_plan *plan = c->plan;
    size_t n = 0;

    text[0] = '\0';
    for (int s = 0; s < plan->devices[device].n_steps; s++) {
        const mo_plan_step *it = &plan->devices[device].steps[s];
        const char *name =
            it->kind == MO_PLAN_STEP_COMPUTE
                ? plan->items[plan->calls[it->what].item].name
                : plan->values[plan->transfers[it->what].from_value].name;

        n += (size_t) snprintf(text + n, sizeof text - n, "%s%s%s",
                               s > 0 ? ", " : "", words[it->kind], name);
    }
    return text;
}

/* b1 runs on B while a1 is sent there, and a2 on A: both ends are posted
 * first. */
START_TEST(what_is_sent_during_an_op_is_begun_before_it)
{
    plan_case c;

    plan_make(&c,
              "* t.A=10 t.B=25 t.C=10; *>* bytes=16; x" INPUT "; y" INPUT
              "; a1" RELU "; a2" RELU "; b1" RELU "; b2 op=Add" F32 "; r" RESULT
              "; s" RESULT
              "; x>a1 dst_port=0; a1>a2 dst_port=0; y>b1 dst_port=0; "
              "a1>b2 dst_port=0; b1>b2 dst_port=1; b2>r dst_port=0; "
              "a2>s dst_port=0",
              " y=B b1=B b2=B r=B");
    ck_assert_str_eq(steps_of(&c, 0), "a1, send a1, a2, await a1");
    ck_assert_str_eq(steps_of(&c, 1), "receive a1, b1, await a1, b2");
    plan_clear(&c);
}
END_TEST

START_TEST(a_view_and_what_it_shows_are_sent_once)
{
    plan_case c;

    plan_make(&c,
              TIMES "x" INPUT "; a" RELU "; v op=Reshape dtype=f32 shape=4,1 "
                    "attrs={\"values\":\"1:4,1\"}; p" RELU
                    "; q op=ReLU dtype=f32 shape=4,1; r" RESULT "; s" RESULT
                    "; x>a; a>v dst_port=0; a>p; v>q; p>r; q>s",
              " p=B q=B r=B s=B");
    ck_assert_int_eq(c.plan->n_transfers, 1);
    plan_clear(&c);
}
END_TEST

/* A view has a device of its own, from where it is forwarded. */
START_TEST(what_was_brought_is_passed_on)
{
    plan_case c;

    plan_make(&c,
              TIMES "x" INPUT "; a" RELU "; v op=Reshape dtype=f32 shape=4,1 "
                    "attrs={\"values\":\"1:4,1\"}; q op=ReLU dtype=f32 "
                    "shape=4,1; r" RESULT "; x>a; a>v dst_port=0; v>q; q>r",
              " v=B q=C r=C");
    ck_assert_int_eq(c.plan->n_transfers, 2);
    ck_assert_str_eq(steps_of(&c, 0), "a, send a, await a");
    ck_assert_str_eq(steps_of(&c, 1), "receive a, await a, send a, await a");
    ck_assert_str_eq(steps_of(&c, 2), "receive a, await a, q");
    plan_clear(&c);
}
END_TEST

START_TEST(a_placed_input_is_fed_there_and_sent)
{
    plan_case c;
    const mo_plan_input *input;

    plan_make(&c, TIMES "x" INPUT "; a" RELU "; r" RESULT "; x>a; a>r",
              " x=B a=C r=C");
    input = &c.plan->inputs[0];
    ck_assert_int_eq(input->n_values, 1);
    ck_assert_int_eq(c.plan->values[input->values[0]].device, 1);
    ck_assert_str_eq(steps_of(&c, 1), "send x, await x");
    plan_clear(&c);
}
END_TEST

START_TEST(a_placed_result_is_sent_there)
{
    plan_case c;

    plan_make(&c, TIMES "x" INPUT "; a" RELU "; r" RESULT "; x>a; a>r", " r=C");
    ck_assert_int_eq(c.plan->values[c.plan->outputs[0].value].device, 2);
    ck_assert_str_eq(steps_of(&c, 2), "receive a, await a");
    plan_clear(&c);
}
END_TEST

START_TEST(inputs_and_outputs_stand_by_their_index)
{
    plan_case c;

    plan_make(&c,
              TIMES "x" INPUT "attrs={\"index\":1}; y" INPUT
                    "attrs={\"index\":0}; a" RELU "; b" RELU "; r" RESULT
                    "attrs={\"index\":1}; s" RESULT
                    "attrs={\"index\":0}; x>a; y>b; a>r; b>s",
              "");
    ck_assert_str_eq(c.plan->inputs[0].name, "y");
    ck_assert_str_eq(c.plan->inputs[1].name, "x");
    ck_assert_str_eq(c.plan->outputs[0].name, "s");
    ck_assert_str_eq(c.plan->outputs[1].name, "r");
    plan_clear(&c);
}
END_TEST

START_TEST(without_results_what_nobody_reads_is_put_out)
{
    plan_case c;

    plan_make(&c, TIMES "x" INPUT "; a" RELU "; b" RELU "; x>a; a>b", "");
    ck_assert_int_eq(c.plan->n_outputs, 1);
    ck_assert_str_eq(c.plan->outputs[0].name, "b");
    plan_clear(&c);
}
END_TEST

START_TEST(marked_outputs_are_put_out_and_the_rest_is_not_computed)
{
    plan_case c;

    plan_make(&c, TIMES "x" INPUT "; a" RELU "output=true; b" RELU "; x>a; a>b",
              "");
    ck_assert_int_eq(c.plan->n_outputs, 1);
    ck_assert_str_eq(c.plan->outputs[0].name, "a");
    ck_assert_str_eq(steps_of(&c, 0), "a");
    plan_clear(&c);
}
END_TEST

START_TEST(inputs_and_constants_may_be_put_out_at_once)
{
    plan_case c;

    plan_make(&c,
              TIMES "x" INPUT "; w op=Const" F32
                    "constant=true attrs={\"value\":\"3\"}; r" RESULT
                    "attrs={\"index\":0}; s" RESULT
                    "attrs={\"index\":1}; x>r; w>s",
              " s=B");
    ck_assert_int_eq(c.plan->n_calls, 0);
    ck_assert_int_eq(c.plan->values[c.plan->outputs[0].value].input, 0);
    ck_assert_ptr_nonnull(c.plan->values[c.plan->outputs[1].value].constant);
    plan_clear(&c);
}
END_TEST

/* Shapes are constants before anything runs. */
START_TEST(shapes_are_not_computed)
{
    plan_case c;
    const mo_plan_value *value;

    plan_make(&c,
              TIMES "x" INPUT "; a" RELU "; s op=ShapeOf dtype=i64 shape=2; "
                    "t op=Add dtype=i64 shape=2; r" RESULT
                    "; x>a; a>s; s>t; s>t; t>r",
              " s=B t=C r=B");
    value = &c.plan->values[c.plan->outputs[0].value];
    ck_assert_int_eq(c.plan->n_calls, 0);
    ck_assert_ptr_nonnull(value->constant);
    ck_assert_int_eq(mo_tensor_get_int(value->constant, 0), 4);
    plan_clear(&c);
}
END_TEST

/* Sequence first: the leading dimensions of the left operand are rows. */
static const struct {
    const char *data, *weights, *out;
    const char *transposed;
    int64_t m, n, k;
    int n_batch;
} products[] = {
    { "50,1,768", "768,2304", "50,1,2304", "false", 50, 2304, 768, 0 },
    { "50,1,768", "2304,768", "50,1,2304", "true", 50, 2304, 768, 0 },
    { "1,50,768", "768,2304", "1,50,2304", "false", 50, 2304, 768, 0 },
    { "50,1,1,768", "768,2304", "50,1,1,2304", "false", 50, 2304, 768, 0 },
    { "50,4,768", "768,2304", "50,4,2304", "false", 200, 2304, 768, 0 },
    { "5,1,7,1,6", "1,1,6,4", "5,1,7,1,4", "false", 35, 4, 6, 0 },
    { "5,3,6", "5,6,4", "5,3,4", "false", 3, 4, 6, 1 },
};

START_TEST(rows_of_one_matrix_are_one_product)
{
    char graph[512];
    plan_case c;
    const mo_call_matmul *m;

    snprintf(graph, sizeof graph,
             TIMES "x op=Parameter dtype=f32 shape=%s; w op=Const dtype=f32 "
                   "shape=%s constant=true attrs={\"value\":\"1\"}; a "
                   "op=MatMul dtype=f32 shape=%s "
                   "attrs={\"transpose_b\":\"%s\"}; r" RESULT
                   "; x>a dst_port=0; w>a dst_port=1; a>r",
             products[_i].data, products[_i].weights, products[_i].out,
             products[_i].transposed);
    plan_make(&c, graph, "");
    ck_assert_int_eq(c.plan->n_calls, 1);
    ck_assert_int_eq(c.plan->calls[0].call.kind, MO_CALL_MATMUL);
    m = &c.plan->calls[0].call.u.matmul;
    ck_assert_int_eq(m->n_batch, products[_i].n_batch);
    ck_assert_int_eq(m->m, products[_i].m);
    ck_assert_int_eq(m->n, products[_i].n);
    ck_assert_int_eq(m->k, products[_i].k);
    plan_clear(&c);
}
END_TEST

static const struct {
    const char *graph, *why;
} refused[] = {
    { "a op=Nonesuch" F32, "op 'a' (Nonesuch): there is no such operator" },
    { "a" F32, "op 'a' (no type): nobody knows what it does" },
    { "a op=ReLU", "op 'a' (ReLU): its outputs have no shapes" },
    { "a op=ReLU shape=2,2", "its output 0 has no fixed shape, or a dtype" },
    { "a op=ReLU shape=2,2 dtype=string", "a dtype that cannot be run" },
    { "a op=Const" F32, "it is not marked as a constant" },
    { "a op=MatMul" F32 "; y" INPUT "; y>a", "nothing tells its inputs apart" },
    { "a op=Add" F32 "; y" INPUT "; y>a dst_port=7", "it has an input 7" },
    { "a op=Add" F32 "; y" INPUT "; y>a dst_port=left", "has a name" },
    { "a op=Subtract" F32 "; y" INPUT "; y>a dst_port=0; y>a dst_port=0",
      "two edges say that they are input 0" },
    { "a op=Add" F32 "attrs={\"weights\":\"x\"}", "is not PORT:..." },
    { "a op=Add" F32 "attrs={\"values\":\"causal\"}", "is not PORT:..." },
    { "a op=Add" F32 "attrs={\"values\":\"1:1,zwei\"}", "'zwei' is no number" },
};

START_TEST(ops_that_cannot_be_run_are_told)
{
    char graph[512];
    plan_case c;

    snprintf(graph, sizeof graph, "%sx%s; %s; x>a", TIMES, INPUT,
             refused[_i].graph);
    plan_try(&c, graph, "");
    ck_assert_ptr_null(c.plan);
    ck_assert_msg(strstr(c.why.text, refused[_i].why), "%s", c.why.text);
    ck_assert_int_eq(c.n_told, 1);
    ck_assert_str_eq(c.told[0], c.why.text);
    plan_clear(&c);
}
END_TEST

START_TEST(all_of_them_are_told)
{
    plan_case c;

    plan_try(&c,
             TIMES "x" INPUT "; a op=Foo" F32 "; b" RELU "; c op=Bar" F32
                   "; x>a; a>b; b>c",
             "");
    ck_assert_ptr_null(c.plan);
    ck_assert_int_eq(c.n_told, 2);
    ck_assert_int_eq(c.why.status, MO_E_SUPPORT);
    ck_assert_str_eq(c.told[0],
                     "op 'a' (Foo): there is no such operator to run");
    ck_assert_str_eq(c.told[1],
                     "op 'c' (Bar): there is no such operator to run");
    ck_assert_str_eq(c.why.text,
                     "2 ops cannot be run, among them 'a' (Foo) and 'c' (Bar)");
    ck_assert_int_gt(c.lines[1], c.lines[0]);
    plan_clear(&c);
}
END_TEST

/* Ops that fail for the same reason are one line. */
static const struct {
    const char *graph, *why;
} grouped[] = {
    { "a op=Foo" F32 "; b op=Foo" F32 "; x>a; a>b",
      "op 'a' (Foo): there is no such operator to run (and 1 more of this "
      "type)" },
    { "a op=ReLU dtype=f32; b op=Elu dtype=f32; c" RELU
      "; d op=Add dtype=f32; x>a; a>b; b>c; c>d; x>d",
      "3 ops have no fixed shape or no dtype that can be run: 'a' (ReLU), 'b' "
      "(Elu) and 'd' (Add); execution needs both for every output, "
      "moirai-graph(5)" },
    { "a op=MatMul" F32 "; b op=Linear" F32 "; c" RELU "; d op=Add" F32
      "; e op=MatMul" F32 "; x>a; a>b; b>c; c>d; d>e",
      "4 ops have no weights: 'a' (MatMul), 'b' (Linear), 'd' (Add) and 1 "
      "more; "
      "run with --random-weights 1 to use random ones, or give their shapes by "
      "the attribute weights, moirai-graph(5)" },
};

START_TEST(one_reason_is_one_line)
{
    char graph[512];
    plan_case c;

    snprintf(graph, sizeof graph, "%sx%s; %s", TIMES, INPUT, grouped[_i].graph);
    plan_try(&c, graph, "");
    ck_assert_ptr_null(c.plan);
    ck_assert_int_eq(c.n_told, 1);
    ck_assert_str_eq(c.why.text, grouped[_i].why);
    ck_assert_int_gt(c.why.line, 0);
    plan_clear(&c);
}
END_TEST

START_TEST(inputs_without_numbers_are_taken_where_their_order_means_nothing)
{
    plan_case c;

    plan_make(
        &c, TIMES "x" INPUT "; y" INPUT "; a op=Multiply" F32 "; x>a; y>a", "");
    ck_assert_int_eq(c.plan->calls[0].call.n_in, 2);
    plan_clear(&c);
}
END_TEST

static mo_graph *zoo(void)
{
    const mo_zoo_config config = { .name = "zoo",
                                   .layers = 3,
                                   .hidden = 64,
                                   .heads = 4,
                                   .tokens = 16,
                                   .batch = 2,
                                   .dtype = "f32" };
    mo_graph *g = NULL;

    MUST(mo_zoo_build(&config, &g, &err));
    return g;
}

/* The number of constants of a device that are causal masks. */
static int count_masks(const mo_exec_plan *plan, int device)
{
    const mo_tensor_desc mask = { MO_ELEM_F32, { 2, { 16, 16 } } };
    int n = 0;

    for (int v = 0; v < plan->n_values; v++)
        n += plan->values[v].constant && plan->values[v].device == device &&
             mo_tensor_desc_equal(&plan->values[v].desc, &mask);
    return n;
}

START_TEST(networks_of_the_zoo_have_input_weights_and_output)
{
    random_plan r;

    random_plan_of(&r, zoo(), zoo(), NULL, (unsigned) _i,
                   1 + _i % RANDOM_PLAN_DEVICES);
    MUST(mo_verify_plan(r.plan, &err));
    ck_assert_int_eq(r.plan->n_inputs, 1);
    ck_assert_str_eq(r.plan->inputs[0].name, "input");
    ck_assert_int_eq(r.plan->n_outputs, 1);
    for (int d = 0; d < r.plan->n_devices; d++)
        ck_assert_int_le(count_masks(r.plan, d), 1);
    random_plan_clear(&r);
}
END_TEST

SUITE(plan_lower)
{
    TEST(what_is_sent_during_an_op_is_begun_before_it);
    TEST(a_view_and_what_it_shows_are_sent_once);
    TEST(what_was_brought_is_passed_on);
    TEST(a_placed_input_is_fed_there_and_sent);
    TEST(a_placed_result_is_sent_there);
    TEST(inputs_and_outputs_stand_by_their_index);
    TEST(without_results_what_nobody_reads_is_put_out);
    TEST(marked_outputs_are_put_out_and_the_rest_is_not_computed);
    TEST(inputs_and_constants_may_be_put_out_at_once);
    TEST(shapes_are_not_computed);
    EACH(rows_of_one_matrix_are_one_product, COUNT(products));
    EACH(ops_that_cannot_be_run_are_told, COUNT(refused));
    TEST(all_of_them_are_told);
    EACH(one_reason_is_one_line, COUNT(grouped));
    TEST(inputs_without_numbers_are_taken_where_their_order_means_nothing);
    EACH(networks_of_the_zoo_have_input_weights_and_output, 8);
}
