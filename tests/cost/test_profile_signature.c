/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of mo_profile_signature: equal for ops that take the same time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/profile.h"
#include "ingest/read.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

#define KEY(id, role)                                                          \
    "<key id='" id "' for='" role "' attr.name='" id "' "                      \
    "attr.type='string'/>"

/* A graph out of nodes and edges; data is <data key='shape'>... */
static mo_graph *graph(const char *content)
{
    static const char head[] =
        "<graphml>" KEY("op", "node") KEY("shape", "node") KEY("dtype", "node")
            KEY("attrs", "node") KEY("constant", "node") KEY("flops", "node")
                KEY("bytes", "node") KEY("weight_bytes", "node")
                    KEY("output_bytes", "node") KEY("src_port", "edge")
                        KEY("dst_port", "edge") "<graph "
                                                "edgedefault='directed'>";
    size_t size = sizeof head + strlen(content) + 64;
    char *text = malloc(size);
    mo_graph *g;

    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "%s%s</graph></graphml>", head, content);
    MUST(mo_read_memory("g", text, strlen(text), NULL, &g, NULL, &err));
    free(text);
    return g;
}

/* free() it. */
static char *signature(const mo_graph *g, const char *name)
{
    mo_out *out;
    char *text;
    size_t size;

    MUST(mo_out_memory(&out, &err));
    mo_profile_signature(g, id_of(g, name), out);
    text = mo_out_take(out, &size);
    ck_assert_ptr_nonnull(text);
    mo_out_abandon(out);
    return text;
}

#define D(key, value)  "<data key='" key "'>" value "</data>"
#define F32(shape)     D("shape", shape) D("dtype", "f32")
#define NODE(id, data) "<node id='" id "'>" data "</node>"
#define EDGE(from, to, data)                                                   \
    "<edge source='" from "' target='" to "'>" data "</edge>"
#define PORT(n) D("dst_port", n)

/* In each case the op is x. */
static const struct {
    const char *content, *signature;
} cases[] = {
    /* Canonical operator names, inputs, outputs. */
    { NODE("a", F32("8,512")) NODE("x", D("op", "aten.relu.default")
                                            F32("8,512")) EDGE("a", "x", ""),
      "ReLU(f32[8,512]) f32[8,512]" },
    { NODE("x", D("op", "Parameter") F32("8")), "Parameter() f32[8]" },
    { NODE("x", D("op", "Parameter") F32("")), "Parameter() f32[]" },

    /* Inputs by port, constants too. */
    { NODE("b", F32("8,512")) NODE("a", D("constant", "true") F32("512,64"))
          NODE("x", D("op", "MatMul") F32("8,64")) EDGE("b", "x", PORT("0"))
              EDGE("a", "x", PORT("1")),
      "MatMul(f32[8,512], f32[512,64]) f32[8,64]" },
    { NODE("a", F32("1")) NODE("b", F32("2"))
          NODE("x", D("op", "Concat") F32("3")) EDGE("a", "x", PORT("2"))
              EDGE("b", "x", PORT("0")),
      "Concat(f32[2], 2:f32[1]) f32[3]" },
    { NODE("a", F32("1")) NODE("x", D("op", "Add") F32("1"))
          EDGE("a", "x", PORT("left")),
      "Add(left:f32[1]) f32[1]" },

    /* Which output of several. */
    { NODE("a", D("op", "Split") D("shape", "1;2") D("dtype", "f32;i64"))
          NODE("x", D("op", "Abs") D("shape", "2") D("dtype", "i64"))
              EDGE("a", "x", D("src_port", "1")),
      "Abs(i64[2]) i64[2]" },
    { NODE("x", D("op", "Split") D("shape", "1;2") D("dtype", "f32;i64")),
      "Split() f32[1], i64[2]" },

    /* Parameters by name, in any notation; some do not affect the time. */
    { NODE("x", D("op", "MaxPool") F32("4")
                    D("attrs", "{\"strides\": [1, 2], \"opset\": \"opset8\", "
                               "\"kernel\": \"3,3\", \"index\": 7, "
                               "\"ceil\": true}")),
      "MaxPool() f32[4] ceil=true kernel=3,3 strides=1,2" },
    { NODE("x", D("op", "ReLU") F32("4") D("attrs", "{}")), "ReLU() f32[4]" },

    /* Amounts where the rest does not determine the work. */
    { NODE("x", D("op", "Linear") F32("8,64") D("weight_bytes", "4096")),
      "Linear() f32[8,64] weight_bytes=4096" },
    { NODE("x", D("op", "MyOp") F32("8") D("flops", "10") D("bytes", "64")),
      "MyOp() f32[8] flops=10 bytes=64" },
    { NODE("a", D("output_bytes", "64"))
          NODE("x", D("op", "Add") D("output_bytes", "32") D("flops", "8"))
              EDGE("a", "x", ""),
      "Add(64B) 32B flops=8 bytes=96" },
    { NODE("x", ""), "?() ?" },
    { NODE("x", D("op", "conv2d+my+relu_") F32("8") D("flops", "7")),
      "Convolution+my+ReLU() f32[8] flops=7" },
};

START_TEST(signatures_contain_what_decides_about_time)
{
    mo_graph *g = graph(cases[_i].content);
    char *text = signature(g, "x");

    ck_assert_str_eq(text, cases[_i].signature);
    free(text);
    mo_graph_free(g);
}
END_TEST

START_TEST(names_do_not_matter)
{
    mo_graph *g = graph(
        NODE("a", F32("1")) NODE("b", F32("2")) NODE("c", F32("1"))
            NODE("x", D("op", "Concat") F32("3"))
                NODE("y", D("op", "Concat") F32("3")) EDGE("a", "x", "")
                    EDGE("b", "x", "") EDGE("b", "y", "") EDGE("c", "y", ""));
    char *x = signature(g, "x"), *y = signature(g, "y");

    ck_assert_str_eq(x, "Concat(f32[1], f32[2]) f32[3]");
    ck_assert_str_eq(x, y);
    free(x);
    free(y);
    mo_graph_free(g);
}
END_TEST

/* A concatenation of n inputs of sizes 1 .. n, except that one is of another
 * size; its inputs are called by their sizes, or the other way round. */
static mo_graph *wide(int n, int other, bool is_reversed)
{
    size_t room = (size_t) n * 160 + 256, used = 0;
    char *text = malloc(room);
    mo_graph *g;

    ck_assert_ptr_nonnull(text);
    used +=
        (size_t) snprintf(text, room, NODE("x", D("op", "Concat") F32("9")));
    for (int i = 1; i <= n; i++) {
        int name = is_reversed ? n + 1 - i : i;

        used += (size_t) snprintf(
            text + used, room - used,
            "<node id='n%04d'><data key='shape'>%d</data></node>"
            "<edge source='n%04d' target='x'/>",
            name, i == other ? n + 7 : i, name);
    }
    g = graph(text);
    free(text);
    return g;
}

START_TEST(many_inputs_are_given_by_a_digest)
{
    mo_graph *graphs[] = { wide(500, 0, false), wide(500, 0, true),
                           wide(500, 300, false) };
    char *a = signature(graphs[0], "x"), *b = signature(graphs[1], "x"),
         *c = signature(graphs[2], "x");

    ck_assert_ptr_eq(strstr(a, "Concat(500 inputs #"), a);
    ck_assert_int_lt(strlen(a), 100);
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
    free(a);
    free(b);
    free(c);
    for (int i = 0; i < 3; i++)
        mo_graph_free(graphs[i]);
}
END_TEST

START_TEST(many_parameters_are_given_by_a_digest)
{
    char attrs[2048] = "{\"a\": 1", text[4096];
    size_t used = strlen(attrs);
    mo_graph *g;
    char *got;

    for (int i = 0; i < 40; i++)
        used += (size_t) snprintf(attrs + used, sizeof attrs - used,
                                  ", \"k%d\": %d", i, i);
    snprintf(text, sizeof text,
             "<node id='x'><data key='op'>Abs</data>"
             "<data key='attrs'>%s}</data></node>",
             attrs);
    g = graph(text);
    got = signature(g, "x");
    ck_assert_ptr_eq(strstr(got, "Abs() ? attrs=#"), got);
    ck_assert_int_lt(strlen(got), 64);
    free(got);
    mo_graph_free(g);
}
END_TEST

START_TEST(every_op_of_any_graph_has_one)
{
    mo_graph *g = random_graph((unsigned) _i, 60);

    for (int op = 0; op < g->n_ops; op++) {
        char *text = signature(g, g->ops[op].name);

        ck_assert_ptr_nonnull(strchr(text, '('));
        free(text);
    }
    mo_graph_free(g);
}
END_TEST

SUITE(profile_signature)
{
    EACH(signatures_contain_what_decides_about_time, COUNT(cases));
    TEST(names_do_not_matter);
    TEST(many_inputs_are_given_by_a_digest);
    TEST(many_parameters_are_given_by_a_digest);
    EACH(every_op_of_any_graph_has_one, 20);
}
