/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/openvino.h, with small models. */
#include "ingest/openvino.h"

#include <string.h>

#include "base/json.h"
#include "tests/ingest/ir_text.h"
#include "tests/support/suite.h"

static mo_graph *graph_of(const char *text)
{
    mo_graph *g;

    MUST(mo_openvino_read_memory("dir/m.xml", text, strlen(text), NULL, &g,
                                 &err));
    return g;
}

static const mo_op *find(const mo_graph *g, const char *name)
{
    int id = mo_graph_find(g, name);

    ck_assert_msg(id >= 0, "there is no '%s'", name);
    return &g->ops[id];
}

static bool is_constant(const mo_graph *g, const char *name)
{
    return find(g, name) - g->ops >= g->n_ops;
}

/* Number of edges and feeds from one op to another. */
static int n_links(const mo_graph *g, const char *from, const char *to)
{
    int a = mo_graph_find(g, from), b = mo_graph_find(g, to), n = 0;

    for (int e = 0; e < g->n_edges; e++)
        n += g->edges[e].from == a && g->edges[e].to == b;
    for (int f = 0; f < g->n_feeds; f++)
        n += g->feeds[f].from == a && g->feeds[f].to == b;
    return n;
}

START_TEST(a_chain_becomes_ops_and_edges)
{
    mo_graph *g = graph_of(NET(PARAMETER(0, "x") RELU(1, "a") RESULT(2, "r"),
                               EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));
    const mo_op *a = find(g, "a");

    ck_assert_str_eq(g->name, "tiny");
    ck_assert_int_eq(g->n_ops, 3);
    ck_assert_int_eq(g->n_constants, 0);
    ck_assert_int_eq(g->n_edges, 2);
    ck_assert_str_eq(a->type, "ReLU");
    ck_assert_str_eq(a->shape, "2,3");
    ck_assert_str_eq(a->dtype, "f32");
    ck_assert_str_eq(a->attrs, "{\"opset\":\"opset1\"}");
    ck_assert_ptr_null(a->label);
    ck_assert_ptr_null(a->weights);
    ck_assert_int_eq(a->output_bytes, 24);
    ck_assert_int_eq(a->weight_bytes, 0);
    ck_assert_int_eq(a->memory_bytes, 0);
    ck_assert_int_eq(a->line, 3);
    ck_assert_int_eq(g->edges[0].bytes, 24);
    ck_assert_int_eq(g->edges[0].dst_port, 0);
    ck_assert_ptr_null(find(g, "r")->shape);
    ck_assert_int_eq(find(g, "r")->output_bytes, 0);
    mo_graph_free(g);
}
END_TEST

START_TEST(version_10_is_read_the_same)
{
#define CHAIN       PARAMETER(0, "x") RELU(1, "a") RESULT(2, "r")
#define CHAIN_EDGES EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)
    mo_graph *old = graph_of(NET_OF("10", CHAIN, CHAIN_EDGES));
    mo_graph *new = graph_of(NET_OF("11", CHAIN, CHAIN_EDGES));
    uint64_t a, b;

    MUST(mo_graph_digest(old, &a, &err));
    MUST(mo_graph_digest(new, &b, &err));
    ck_assert(a == b);
    mo_graph_free(old);
    mo_graph_free(new);
}
END_TEST

START_TEST(inputs_and_outputs_know_their_number)
{
    mo_graph *g = graph_of(NET(
        RESULT(9, "r0") PARAMETER(8, "x0") PARAMETER(7, "x1") ADD(6, "s")
            RESULT(5, "r1"),
        EDGE(8, 0, 6, 0) EDGE(7, 0, 6, 1) EDGE(6, 2, 9, 0) EDGE(6, 2, 5, 0)));

    ck_assert_str_eq(find(g, "x0")->attrs,
                     "{\"shape\":\"2,3\",\"element_type\":\"f32\","
                     "\"opset\":\"opset1\",\"index\":0}");
    ck_assert_ptr_nonnull(strstr(find(g, "x1")->attrs, "\"index\":1"));
    ck_assert_str_eq(find(g, "r0")->attrs,
                     "{\"opset\":\"opset1\",\"index\":0}");
    ck_assert_ptr_nonnull(strstr(find(g, "r1")->attrs, "\"index\":1"));
    ck_assert_ptr_null(strstr(find(g, "s")->attrs, "index"));
    mo_graph_free(g);
}
END_TEST

START_TEST(constants_feed_ops_and_count_as_their_memory)
{
    mo_graph *g = graph_of(
        NET(PARAMETER(0, "x") CONST(1, "w", 4096) ADD(2, "s") RESULT(3, "r"),
            EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0)));
    const mo_op *w = find(g, "w");

    ck_assert_int_eq(g->n_ops, 3);
    ck_assert_int_eq(g->n_constants, 1);
    ck_assert_int_eq(g->n_feeds, 1);
    ck_assert_int_eq(g->feeds[0].dst_port, 1);
    ck_assert_int_eq(g->feeds[0].bytes, 24);
    ck_assert_str_eq(w->weights, "m.bin:4096:24:f32:2,3");
    ck_assert_str_eq(w->type, "Const");
    ck_assert_int_eq(find(g, "s")->weight_bytes, 24);
    ck_assert_int_eq(find(g, "s")->workspace_bytes, 0);
    ck_assert_int_eq(find(g, "s")->memory_bytes, 24);
    mo_graph_free(g);
}
END_TEST

/* f16 in the file, f32 in use. */
#define HALF_CONST(id, name)                                                   \
    LAYER(id, name, "Const",                                                   \
          DATA("element_type=\"f16\" shape=\"2,3\" offset=\"0\" size=\"12\"")  \
              OUTPUTS(PORT(0, "FP16", DIM(2) DIM(3))))
#define CONVERT(id, name)                                                      \
    LAYER(id, name, "Convert",                                                 \
          DATA("destination_type=\"f32\"")                                     \
              INPUTS(PORT(0, "FP16", DIM(2) DIM(3))) OUTPUTS(F32_2_3(1)))

START_TEST(what_depends_on_constants_is_one)
{
    mo_graph *g =
        graph_of(NET(PARAMETER(0, "x") HALF_CONST(1, "w") CONVERT(2, "c")
                         RELU(3, "n") ADD(4, "s") RESULT(5, "r"),
                     EDGE(1, 0, 2, 0) EDGE(2, 1, 3, 0) EDGE(0, 0, 4, 0)
                         EDGE(3, 1, 4, 1) EDGE(4, 2, 5, 0)));

    ck_assert_int_eq(g->n_ops, 3);
    ck_assert_int_eq(g->n_constants, 3);
    ck_assert(is_constant(g, "w") && is_constant(g, "c") &&
              is_constant(g, "n"));
    ck_assert_int_eq(n_links(g, "w", "c"), 1);
    ck_assert_int_eq(n_links(g, "c", "n"), 1);
    ck_assert_int_eq(n_links(g, "n", "s"), 1);
    ck_assert_str_eq(find(g, "c")->type, "Convert");
    ck_assert_ptr_null(find(g, "c")->weights);
    ck_assert_int_eq(find(g, "s")->weight_bytes, 24);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_constant_read_twice_is_in_memory_once)
{
    mo_graph *g = graph_of(NET(
        PARAMETER(0, "x") CONST(1, "w", 0)
            LAYER(2, "sel", "Select",
                  INPUTS(F32_2_3(0) F32_2_3(1) F32_2_3(2)) OUTPUTS(F32_2_3(3)))
                RESULT(3, "r"),
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(1, 0, 2, 2) EDGE(2, 3, 3, 0)));

    ck_assert_int_eq(n_links(g, "w", "sel"), 2);
    ck_assert_int_eq(find(g, "sel")->weight_bytes, 24);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_constant_of_two_ops_is_in_the_memory_of_both)
{
    mo_graph *g =
        graph_of(NET(PARAMETER(0, "x") CONST(1, "w", 0) ADD(2, "s") ADD(3, "t")
                         RESULT(4, "r"),
                     EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0)
                         EDGE(1, 0, 3, 1) EDGE(3, 2, 4, 0)));

    ck_assert_int_eq(find(g, "s")->weight_bytes, 24);
    ck_assert_int_eq(find(g, "t")->weight_bytes, 24);
    mo_graph_free(g);
}
END_TEST

START_TEST(what_nobody_reads_is_dropped_if_it_is_constant)
{
    mo_graph *g = graph_of(NET(
        PARAMETER(0, "x") RELU(1, "a") RELU(2, "unread") RESULT(3, "r")
            HALF_CONST(4, "w") CONVERT(5, "c"),
        EDGE(0, 0, 1, 0) EDGE(1, 1, 3, 0) EDGE(1, 1, 2, 0) EDGE(4, 0, 5, 0)));

    ck_assert_int_eq(g->n_ops, 4);
    ck_assert_int_eq(g->n_constants, 0);
    ck_assert(!is_constant(g, "unread"));
    mo_graph_free(g);
}
END_TEST

/* a's shape, and values computed from it, feed a Broadcast. */
START_TEST(shapes_are_known_before_the_first_input)
{
    mo_graph *g =
        graph_of(NET(PARAMETER(0, "x") RELU(1, "a") SHAPE_OF(2, "shape")
                         LAYER(3, "neg", "Negative",
                               INPUTS(PORT(0, "I64", DIM(2)))
                                   OUTPUTS(PORT(1, "I64", DIM(2))))
                             LAYER(4, "b", "Broadcast",
                                   INPUTS(F32_2_3(0) PORT(1, "I64", DIM(2)))
                                       OUTPUTS(F32_2_3(2))) RESULT(5, "r"),
                     EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0) EDGE(2, 1, 3, 0)
                         EDGE(0, 0, 4, 0) EDGE(3, 1, 4, 1) EDGE(4, 2, 5, 0)));
    const mo_op *shape = find(g, "shape");

    ck_assert_int_eq(g->n_ops, 4);
    ck_assert(is_constant(g, "shape") && is_constant(g, "neg"));
    ck_assert_int_eq(n_links(g, "a", "shape"), 0);
    ck_assert_int_eq(n_links(g, "shape", "neg"), 1);
    ck_assert_int_eq(n_links(g, "neg", "b"), 1);
    ck_assert_str_eq(shape->type, "Const");
    ck_assert_str_eq(shape->attrs, "{\"element_type\":\"i64\",\"shape\":\"2\","
                                   "\"value\":\"2,3\"}");
    ck_assert_str_eq(shape->shape, "2");
    ck_assert_ptr_null(shape->weights);
    ck_assert_int_eq(find(g, "b")->weight_bytes, 16);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_constant_that_only_its_shape_is_asked_of_is_dropped)
{
    mo_graph *g = graph_of(NET(
        PARAMETER(0, "x") CONST(1, "w", 0) SHAPE_OF(2, "shape")
            LAYER(3, "b", "Reshape",
                  INPUTS(F32_2_3(0) PORT(1, "I64", DIM(2))) OUTPUTS(F32_2_3(2)))
                RESULT(4, "r"),
        EDGE(1, 0, 2, 0) EDGE(0, 0, 3, 0) EDGE(2, 1, 3, 1) EDGE(3, 2, 4, 0)));

    ck_assert_int_eq(g->n_constants, 1);
    ck_assert(is_constant(g, "shape"));
    mo_graph_free(g);
}
END_TEST

/* These are live whatever they read. */
static const char *const live[] = {
    LAYER(1, "a", "RandomUniform", INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
    LAYER(1, "a", "ReadValue", INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
    LAYER(1, "a", "Assign", INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
    LAYER(1, "a", "Loop", INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
    LAYER(1, "a", "If", INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
    LAYER(1, "a", "TensorIterator", INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
    LAYER(1, "a", "Result", INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
};

START_TEST(what_has_a_life_of_its_own_is_never_constant)
{
    char text[2000] = "<net version=\"11\"><layers>" CONST(0, "w", 0);
    mo_graph *g;

    strcat(text, live[_i]);
    strcat(text, RESULT(2, "r") "</layers><edges>" EDGE(0, 0, 1, 0)
                     EDGE(1, 1, 2, 0) "</edges></net>");
    g = graph_of(text);
    ck_assert_msg(!is_constant(g, "a"), "%s", live[_i]);
    ck_assert_int_eq(find(g, "a")->weight_bytes, 24);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_source_of_an_unknown_type_is_live)
{
    mo_graph *g = graph_of(NET(LAYER(0, "camera", "Camera", OUTPUTS(F32_2_3(0)))
                                   RESULT(1, "r"),
                               EDGE(0, 0, 1, 0)));

    ck_assert_int_eq(g->n_ops, 2);
    mo_graph_free(g);
}
END_TEST

START_TEST(several_outputs_are_several_tensors)
{
    mo_graph *g = graph_of(NET(
        PARAMETER(0, "x") LAYER(1, "split", "Split",
                                DATA("num_splits=\"2\"") INPUTS(F32_2_3(0))
                                    OUTPUTS(PORT(2, "FP32", DIM(1) DIM(3)) PORT(
                                        3, "I64", DIM(2)) PORT(4, "FP32", "")))
            LAYER(2, "b", "ReLU",
                  INPUTS(PORT(0, "I64", DIM(2))) OUTPUTS(
                      PORT(1, "I64", DIM(2)))) RESULT(3, "r") RESULT(4, "q"),
        EDGE(0, 0, 1, 0) EDGE(1, 3, 2, 0) EDGE(1, 2, 3, 0) EDGE(2, 1, 4, 0)));
    const mo_op *split = find(g, "split");
    int id = (int) (split - g->ops);

    ck_assert_str_eq(split->shape, "1,3;2;");
    ck_assert_str_eq(split->dtype, "f32;i64;f32");
    ck_assert_int_eq(split->output_bytes, 32); /* 12 + 16 + 4 */
    ck_assert_int_eq(g->tensor_start[id + 1] - g->tensor_start[id], 2);
    ck_assert_int_eq(g->tensors[g->tensor_start[id]].port, 0);
    ck_assert_int_eq(g->tensors[g->tensor_start[id]].bytes, 12);
    ck_assert_int_eq(g->tensors[g->tensor_start[id] + 1].port, 1);
    ck_assert_int_eq(g->tensors[g->tensor_start[id] + 1].bytes, 16);
    mo_graph_free(g);
}
END_TEST

START_TEST(an_edge_per_use_of_a_tensor)
{
    mo_graph *g =
        graph_of(NET(PARAMETER(0, "x") ADD(1, "s") RESULT(2, "r"),
                     EDGE(0, 0, 1, 0) EDGE(0, 0, 1, 1) EDGE(1, 2, 2, 0)));

    ck_assert_int_eq(n_links(g, "x", "s"), 2);
    ck_assert_int_eq(g->n_tensors, 2);
    mo_graph_free(g);
}
END_TEST

START_TEST(shared_and_empty_names_get_the_id)
{
    mo_graph *g =
        graph_of(NET(PARAMETER(0, "x") RELU(1, "a") RELU(2, "a") RELU(3, "a#1")
                         RELU(4, "") RESULT(5, "r"),
                     EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0) EDGE(2, 1, 3, 0)
                         EDGE(3, 1, 4, 0) EDGE(4, 1, 5, 0)));

    ck_assert_int_eq(g->n_ops, 6);
    ck_assert_int_eq(n_links(g, "x", "a#1#1"), 1);
    ck_assert_int_eq(n_links(g, "a#1#1", "a#2"), 1);
    ck_assert_int_eq(n_links(g, "a#2", "a#1"), 1);
    ck_assert_int_eq(n_links(g, "a#1", "#4"), 1);
    ck_assert_int_eq(n_links(g, "#4", "r"), 1);
    mo_graph_free(g);
}
END_TEST

START_TEST(attributes_of_our_own_do_not_hide_the_files)
{
    mo_graph *g = graph_of(
        NET(PARAMETER(0, "x") LAYER(1, "a", "Custom",
                                    DATA("opset=\"mine\"") INPUTS(F32_2_3(0))
                                        OUTPUTS(F32_2_3(1))),
            EDGE(0, 0, 1, 0)));

    ck_assert_str_eq(find(g, "a")->attrs, "{\"opset\":\"mine\"}");
    mo_graph_free(g);
}
END_TEST

START_TEST(attributes_are_json_whatever_they_hold)
{
    mo_graph *g = graph_of(
        NET(PARAMETER(0, "x") LAYER(1, "a", "Custom",
                                    DATA("k='a\"b\\c&lt;&#10;&#233;'")
                                        INPUTS(F32_2_3(0)) OUTPUTS(F32_2_3(1))),
            EDGE(0, 0, 1, 0)));
    const char *attrs = find(g, "a")->attrs;

    ck_assert_msg(mo_json_is_object(attrs, strlen(attrs)), "%s", attrs);
    mo_graph_free(g);
}
END_TEST

/* A loop's body is not read. */
START_TEST(loops_are_ops_like_others)
{
    mo_graph *g = graph_of(
        NET(PARAMETER(0, "x")
                LAYER(1, "loop", "Loop",
                      INPUTS(F32_2_3(0))
                          OUTPUTS(F32_2_3(1)) "<body><layers>" PARAMETER(0, "x")
                              RELU(1, "inner") "</layers><edges>" EDGE(
                                  0, 0, 1, 0) "</edges></body>") RESULT(2, "r"),
            EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));

    ck_assert_int_eq(g->n_ops, 3);
    ck_assert_int_eq(mo_graph_find(g, "inner"), -1);
    mo_graph_free(g);
}
END_TEST

START_TEST(the_bin_is_called_after_the_xml)
{
    static const struct {
        const char *file, *weights;
    } cases[] = {
        { "model.xml", "model.bin:0:24:f32:2,3" },
        { "a.b/net.XML", "net.bin:0:24:f32:2,3" },
        { "a/b:c.xml", "b:c.bin:0:24:f32:2,3" },
        { "net", "net.bin:0:24:f32:2,3" },
        { MO_READER_STDIN, "model.bin:0:24:f32:2,3" },
    };
    static const char text[] =
        NET(CONST(0, "w", 0) RESULT(1, "r"), EDGE(0, 0, 1, 0));

    for (int i = 0; i < COUNT(cases); i++) {
        mo_graph *g;

        MUST(mo_openvino_read_memory(cases[i].file, text, strlen(text), NULL,
                                     &g, &err));
        ck_assert_str_eq(find(g, "w")->weights, cases[i].weights);
        mo_graph_free(g);
    }
}
END_TEST

static const struct {
    const char *text;
    int line;
    const char *says;
} faults[] = {
    { NET(RELU(0, "a") RELU(1, "b"), EDGE(0, 1, 1, 0) EDGE(1, 1, 0, 0)), 2,
      "the layers run in a circle: 'a' (line 2) <- 'b' (line 3)" },
    { NET(PARAMETER(0, "x") LAYER(
              1, "s", "ShapeOf",
              INPUTS(F32_2_3(0)) OUTPUTS(PORT(1, "I64", DIM(3)))) ADD(2, "a"),
          EDGE(0, 0, 1, 0) EDGE(0, 0, 2, 0) EDGE(1, 1, 2, 1)),
      3, "ShapeOf 's' has not as many elements as its input has dimensions" },
    { NET(LAYER(0, "input_ids", "Parameter",
                DATA("shape=\"1,?\"") OUTPUTS(PORT(0, "I64", DIM(1) DIM(-1)))),
          ""),
      2, "input_ids" },
};

START_TEST(faults_are_told_with_their_line)
{
    mo_error err = { 0 };
    mo_graph *g = NULL;

    ck_assert_int_eq(mo_openvino_read_memory("m.xml", faults[_i].text,
                                             strlen(faults[_i].text), NULL, &g,
                                             &err),
                     MO_E_INPUT);
    ck_assert_ptr_null(g);
    ck_assert_str_eq(err.file, "m.xml");
    ck_assert_int_eq(err.line, faults[_i].line);
    ck_assert_msg(strstr(err.text, faults[_i].says), "'%s' does not say '%s'",
                  err.text, faults[_i].says);
}
END_TEST

SUITE(openvino)
{
    TEST(a_chain_becomes_ops_and_edges);
    TEST(version_10_is_read_the_same);
    TEST(inputs_and_outputs_know_their_number);
    TEST(constants_feed_ops_and_count_as_their_memory);
    TEST(what_depends_on_constants_is_one);
    TEST(a_constant_read_twice_is_in_memory_once);
    TEST(a_constant_of_two_ops_is_in_the_memory_of_both);
    TEST(what_nobody_reads_is_dropped_if_it_is_constant);
    TEST(shapes_are_known_before_the_first_input);
    TEST(a_constant_that_only_its_shape_is_asked_of_is_dropped);
    EACH(what_has_a_life_of_its_own_is_never_constant, COUNT(live));
    TEST(a_source_of_an_unknown_type_is_live);
    TEST(several_outputs_are_several_tensors);
    TEST(an_edge_per_use_of_a_tensor);
    TEST(shared_and_empty_names_get_the_id);
    TEST(attributes_of_our_own_do_not_hide_the_files);
    TEST(attributes_are_json_whatever_they_hold);
    TEST(loops_are_ops_like_others);
    TEST(the_bin_is_called_after_the_xml);
    EACH(faults_are_told_with_their_line, COUNT(faults));
}
