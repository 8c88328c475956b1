/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the passes for devices that compile kernels, RMS normalization and
 * GELU written as pointwise ops, rotations by halves, and values that are
 * computed twice; in half precision angles stay f32. Results are those of the
 * plan without them. */
#include "exec/plan/verify/verify.h"
#include "ingest/read.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/graphml_text.h"
#include "tests/support/suite.h"

#define KEYS                                                                   \
    KEY("o", "node", "op")                                                     \
    KEY("s", "node", "shape")                                                  \
    KEY("d", "node", "dtype")                                                  \
    KEY("a", "node", "attrs")                                                  \
    KEY("q", "edge", "dst_port") KEY("r", "edge", "src_port")
#define TYPED(id, op, shape, type, attrs)                                      \
    NODE(id, DATA("o", op) DATA("s", shape) DATA("d", type) DATA("a", attrs))
#define OP(id, op, shape, attrs) TYPED(id, op, shape, "f32", attrs)
#define TO(from, to, port)       EDGE(from, to, DATA("q", port))
#define HALF(number, to, port)                                                 \
    EDGE("split", to, DATA("r", number) DATA("q", port))

/* x^2 by square, to the power by root, and y of x and that. */
#define RMS(square, power, y)                                                  \
    GRAPHML(KEYS,                                                              \
            OP("x", "Parameter", "2,3,8", "{}")                                \
                square OP("mean", "ReduceMean", "2,3,1",                       \
                          "{\"values\":\"1:-1\",\"keep_dims\":\"true\"}")      \
                    OP("sum", "Add", "2,3,1", "{\"values\":\"1:0.5\"}")        \
                        power y OP("out", "Result", "2,3,8", "{}")             \
                            TO("x", "square", "0") TO("square", "mean", "0")   \
                                TO("mean", "sum", "0") TO("sum", "root", "0")  \
                                    TO("x", "y", "0") TO("root", "y", "1")     \
                                        TO("y", "out", "0"))
#define POWER(id, shape, x) OP(id, "Power", shape, "{\"values\":\"1:" x "\"}")
#define NUMBER(id, op, x)   OP(id, op, "2,3,8", "{\"values\":\"1:" x "\"}")
#define TIMES(id)           OP(id, "Multiply", "2,3,8", "{}")

/* The argument x, its curve c = 1 + erf(x / sqrt 2) and their product y. */
#define GELU(root, one, product)                                               \
    GRAPHML(                                                                   \
        KEYS,                                                                  \
        OP("in", "Parameter", "2,3,8", "{}") OP("x", "Tanh", "2,3,8", "{}")    \
            root OP("e", "Erf", "2,3,8", "{}") NUMBER("c", "Add", one)         \
                product OP("out", "Result", "2,3,8", "{}") TO("in", "x", "0")  \
                    TO("x", "root", "0") TO("root", "e", "0")                  \
                        TO("e", "c", "0") TO("y", "out", "0"))
#define DIVIDED    NUMBER("root", "Divide", "1.41421354")
#define MULTIPLIED NUMBER("root", "Multiply", "0.707106769")

#define HALVES                                                                 \
    OP("x", "Parameter", "2,3,8", "{}")                                        \
    OP("s", "Parameter", "1,1,8", "{}")                                        \
    OP("split", "Split", "2,3,4;2,3,4",                                        \
       "{\"values\":\"1:2\",\"num_splits\":2}")                                \
    OP("minus", "Negative", "2,3,4", "{}")                                     \
    OP("cat", "Concat", "2,3,8", "{\"axis\":2}")                               \
    OP("y", "Multiply", "2,3,8", "{}")                                         \
    TO("x", "split", "0") TO("s", "y", "1") TO("cat", "y", "0")

static const struct {
    const char *name, *text;
    int calls; /* with the passes */
    bool fits; /* there is a norm or a GELU */
} graphs[] = {
    { "rsqrt",
      RMS(POWER("square", "2,3,8", "2"), POWER("root", "2,3,1", "-0.5"),
          OP("y", "Multiply", "2,3,8", "{}")),
      1, true },
    { "sqrt",
      RMS(POWER("square", "2,3,8", "2"), OP("root", "Sqrt", "2,3,1", "{}"),
          OP("y", "Divide", "2,3,8", "{}")),
      1, true },
    { "another power",
      RMS(POWER("square", "2,3,8", "2"), POWER("root", "2,3,1", "-0.25"),
          OP("y", "Multiply", "2,3,8", "{}")),
      0, false },
    { "no square",
      RMS(POWER("square", "2,3,8", "4"), POWER("root", "2,3,1", "-0.5"),
          OP("y", "Multiply", "2,3,8", "{}")),
      0, false },
    { "the other way",
      RMS(POWER("square", "2,3,8", "2"), OP("root", "Sqrt", "2,3,1", "{}"),
          OP("y", "Multiply", "2,3,8", "{}")),
      0, false },
    { "first half",
      GRAPHML(KEYS, HALVES OP("out", "Result", "2,3,8", "{}")
                        HALF("1", "minus", "0") TO("minus", "cat", "0")
                            HALF("0", "cat", "1") TO("y", "out", "0")),
      1, false },
    { "second half",
      GRAPHML(KEYS, HALVES OP("out", "Result", "2,3,8", "{}")
                        HALF("0", "minus", "0") HALF("1", "cat", "0")
                            TO("minus", "cat", "1") TO("y", "out", "0")),
      1, false },
    { "no exchange",
      GRAPHML(KEYS, HALVES OP("out", "Result", "2,3,8", "{}")
                        HALF("0", "minus", "0") TO("minus", "cat", "0")
                            HALF("1", "cat", "1") TO("y", "out", "0")),
      1, false },
    { "twice",
      GRAPHML(KEYS, OP("x", "Parameter", "2,8", "{}") OP(
                        "e", "Exp", "2,8", "{}") OP("f", "Exp", "2,8", "{}")
                        OP("p", "MatMul", "2,2", "{\"transpose_b\":true}")
                            OP("out", "Result", "2,2", "{}") TO("x", "e", "0")
                                TO("x", "f", "0") TO("e", "p", "0")
                                    TO("f", "p", "1") TO("p", "out", "0")),
      2, false },
    { "half of the product",
      GELU(DIVIDED, "1",
           TIMES("p") NUMBER("y", "Multiply", "0.5") TO("x", "p", "0")
               TO("c", "p", "1") TO("p", "y", "0")),
      1, true },
    { "half of x",
      GELU(MULTIPLIED, "1",
           NUMBER("p", "Multiply", "0.5") TIMES("y") TO("x", "p", "0")
               TO("p", "y", "0") TO("c", "y", "1")),
      1, true },
    { "half of the curve",
      GELU(DIVIDED, "1",
           NUMBER("p", "Multiply", "0.5") TIMES("y") TO("c", "p", "0")
               TO("p", "y", "1") TO("x", "y", "0")),
      1, true },
    { "half of the curve of another",
      GELU(DIVIDED, "1",
           NUMBER("p", "Multiply", "0.5") TIMES("y") TO("c", "p", "0")
               TO("p", "y", "1") TO("in", "y", "0")),
      0, false },
    { "another number",
      GELU(MULTIPLIED, "1",
           NUMBER("p", "Multiply", "0.25") TIMES("y") TO("x", "p", "0")
               TO("p", "y", "0") TO("c", "y", "1")),
      0, false },
    { "another root",
      GELU(NUMBER("root", "Divide", "1.4"), "1",
           TIMES("p") NUMBER("y", "Multiply", "0.5") TO("x", "p", "0")
               TO("c", "p", "1") TO("p", "y", "0")),
      0, false },
    { "another sum",
      GELU(DIVIDED, "2",
           TIMES("p") NUMBER("y", "Multiply", "0.5") TO("x", "p", "0")
               TO("c", "p", "1") TO("p", "y", "0")),
      0, false },
};

static mo_graph *parse(const char *text)
{
    mo_graph *graph = NULL;

    MUST(mo_read_memory("rows", text, strlen(text), NULL, &graph, NULL, &err));
    return graph;
}

/* A plan of r's network with the passes. */
static mo_exec_plan *build(random_plan *r, mo_elem storage)
{
    static const bool here[RANDOM_PLAN_DEVICES] = { true };
    mo_exec_plan *plan = NULL;

    r->source.fuses_attention = r->source.can_jit = here;
    r->source.fuse = true;
    r->source.storage_elem = storage;
    MUST(mo_plan_build(&r->source, &plan, &err));
    MUST(mo_verify_plan(plan, &err));
    return plan;
}

static int count(const mo_exec_plan *plan, mo_call_kind kind)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        n += plan->calls[c].call.kind == kind;
    return n;
}

static int count_gelus(const mo_exec_plan *plan)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++) {
        const mo_point_program *point = &plan->calls[c].call.u.point;

        for (int i = 0;
             plan->calls[c].call.kind == MO_CALL_POINT && i < point->n_steps;
             i++)
            n += point->steps[i].op == MO_POINT_GELU_ERF;
    }
    return n;
}

START_TEST(results_are_the_same)
{
    mo_run_result plain = { 0 }, result = { 0 };
    random_plan r;
    mo_exec_plan *plan;
    int n;

    random_plan_of(&r, parse(graphs[_i].text), parse(graphs[_i].text), NULL, 0,
                   1);
    plan = build(&r, MO_ELEM_F32);
    n = count(plan, MO_CALL_NORM) + count_gelus(plan);
    ck_assert_msg(n == graphs[_i].fits, "%s: %d of them", graphs[_i].name, n);
    ck_assert_msg(graphs[_i].calls == 0 || plan->n_calls == graphs[_i].calls,
                  "%s: %d calls", graphs[_i].name, plan->n_calls);
    plan_runner_result(r.plan, 1, &plain);
    plan_runner_result(plan, 1, &result);
    check_outputs_close(&result, &plain, 1e-6, _i);
    mo_run_result_clear(&result);
    mo_run_result_clear(&plain);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

/* Angles of a large position, which bf16 has not. */
static const char rotary[] = GRAPHML(
    KEYS,
    TYPED("at", "Parameter", "1", "i64", "{}") OP("x", "Parameter", "1,8", "{}")
        TYPED("far", "Add", "1", "i64", "{\"values\":\"1:12345\"}")
            OP("real", "Convert", "1", "{\"destination_type\":\"f32\"}")
                OP("angle", "Multiply", "1", "{\"values\":\"1:0.01\"}")
                    OP("cos", "Cos", "1", "{}") OP("y", "Multiply", "1,8", "{}")
                        OP("out", "Result", "1,8", "{}") TO("at", "far", "0")
                            TO("far", "real", "0") TO("real", "angle", "0")
                                TO("angle", "cos", "0") TO("x", "y", "0")
                                    TO("cos", "y", "1") TO("y", "out", "0"));

START_TEST(angles_stay_exact)
{
    mo_run_result plain = { 0 }, result = { 0 };
    random_plan r;
    mo_exec_plan *plan = NULL;

    random_plan_of(&r, parse(rotary), parse(rotary), NULL, 0, 1);
    r.source.storage_elem = MO_ELEM_BF16;
    r.source.fuse = false;
    if (_i == 0)
        MUST(mo_plan_build(&r.source, &plan, &err));
    else
        plan = build(&r, MO_ELEM_BF16);
    MUST(mo_verify_plan(plan, &err));
    ck_assert(_i == 0 ? plan->n_calls == 5 : plan->n_calls < 5);
    plan_runner_result(r.plan, 1, &plain);
    plan_runner_result(plan, 1, &result);
    check_outputs_close(&result, &plain, 0.01, 0);
    mo_run_result_clear(&result);
    mo_run_result_clear(&plain);
    mo_plan_free(plan);
    random_plan_clear(&r);
}
END_TEST

SUITE(fuse_rows)
{
    EACH(results_are_the_same, COUNT(graphs));
    EACH(angles_stay_exact, 2); /* call by call, and in one */
}
