/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/weights/constants.h: the weight store, on GraphML with a
 * weight file beside it. */
#include "exec/weights/constants.h"

#include <math.h>
#include <stdio.h>

#include "ingest/graphml.h"
#include "tests/support/graphml_text.h"
#include "tests/support/graphs.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define KEYS                                                                   \
    KEY("o", "node", "op")                                                     \
    KEY("s", "node", "shape")                                                  \
    KEY("d", "node", "dtype")                                                  \
    KEY("a", "node", "attrs")                                                  \
    KEY("w", "node", "weights")                                                \
    KEY("c", "node", "constant")                                               \
    KEY("p", "edge", "dst_port")
#define CONSTANT(id, type, shape, dtype, more)                                 \
    NODE(id, DATA("c", "true") DATA("o", type) DATA("s", shape)                \
                 DATA("d", dtype) more)
#define STORED(id, shape, dtype, place)                                        \
    CONSTANT(id, "Const", shape, dtype, DATA("w", place))
#define TOLD(id, shape, dtype, attrs)                                          \
    CONSTANT(id, "Const", shape, dtype, DATA("a", attrs))
#define OP(id, type, shape, more)                                              \
    NODE(id, DATA("o", type) DATA("s", shape) DATA("d", "f32") more)
#define INTO(from, to, port) EDGE(from, to, DATA("p", port))

/* A graph and the folder of its weights. */
typedef struct world {
    mo_graph *graph;
    mo_weights_store *constants;
} world;

static world world_of(const char *text, mo_weights_options options)
{
    world w = { NULL, NULL };

    MUST(mo_graphml_read_memory("text", text, strlen(text), NULL, &w.graph,
                                &err));
    MUST(mo_weights_new(w.graph, &options, &w.constants, &err));
    return w;
}

static void end(world *w)
{
    mo_weights_free(w->constants);
    mo_graph_free(w->graph);
}

static const mo_tensor_dense *value_of(world *w, const char *name)
{
    const mo_tensor_dense *value = NULL;

    MUST(mo_weights_get(w->constants, id_of(w->graph, name), 0, &value, &err));
    return value;
}

/* Formats as "i64[2] 1 2"; returns a static buffer. */
static const char *say(const mo_tensor_dense *value)
{
    static char text[512];
    size_t n = strlen(mo_tensor_desc_format(&value->desc, text));

    for (int64_t i = 0; i < mo_tensor_desc_elements(&value->desc); i++)
        n += (size_t) snprintf(text + n, sizeof text - n, " %g",
                               mo_tensor_get_double(value, i));
    return text;
}

static void write_weights(const char *file)
{
    static const float numbers[] = { 1, 2, 3, 4 };
    FILE *f = fopen(file, "wb");

    ck_assert_ptr_nonnull(f);
    fwrite("\x07", 1, 1, f); /* makes the rest unaligned */
    fwrite(numbers, sizeof *numbers, 4, f);
    fwrite("\x05\x00\x01", 1, 3, f);
    fclose(f);
}

START_TEST(weights_are_found_in_their_file)
{
    world w;

    write_weights("m:1.bin");
    w = world_of(GRAPHML(KEYS,
                         STORED("a", "2,2", "f32", "m:1.bin:1:16:f32:2,2")
                             STORED("b", "1", "u8", "m:1.bin:0:1:u8:1") STORED(
                                 "c", "3", "bool", "m:1.bin:17:3:bool:3")
                                 STORED("d", "0", "f32", "m:1.bin:20:0:f32:0")),
                 (mo_weights_options){ 0 });
    ck_assert_str_eq(say(value_of(&w, "a")), "f32[2,2] 1 2 3 4");
    ck_assert_str_eq(say(value_of(&w, "b")), "u8[1] 7");
    ck_assert_str_eq(say(value_of(&w, "c")), "boolean[3] 1 0 1");
    ck_assert_str_eq(say(value_of(&w, "d")), "f32[0]");
    ck_assert_ptr_eq(value_of(&w, "a"), value_of(&w, "a"));
    end(&w);
}
END_TEST

START_TEST(a_description_needs_no_file)
{
    world w = world_of(
        GRAPHML(KEYS, STORED("a", "2,2", "f32", "none.bin:0:16:f32:2,2")),
        (mo_weights_options){ 0 });
    char text[MO_TENSOR_DESC_TEXT_SIZE];
    mo_tensor_desc desc;

    MUST(mo_weights_get_desc(w.constants, id_of(w.graph, "a"), 0, &desc, &err));
    ck_assert_str_eq(mo_tensor_desc_format(&desc, text), "f32[2,2]");
    end(&w);
}
END_TEST

static const struct {
    const char *text, *why;
} wrong[] = {
    { STORED("a", "4", "f32", "none.bin:0:16:f32:4"), "--random-weights" },
    { STORED("a", "4", "f32", "m.bin:8:16:f32:4"), "too short" },
    { STORED("a", "4", "f32", "m.bin:9223372036854775807:16:f32:4"),
      "too short" },
    { STORED("a", "4", "f32", "m.bin:0:15:f32:4"), "15 bytes" },
    { STORED("a", "4", "f32", "m.bin:0:12:f32:3"), "12 bytes" },
    { STORED("a", "2", "f32", "m.bin:0:8:i32:2"), "not its f32[2]" },
    { STORED("a", "4", "f32", "m.bin:0:-16:f32:4"), "not file:offset" },
    { STORED("a", "4", "f32", "m.bin:0:16"), "not file:offset" },
    { STORED("a", "4", "f32", ":0:16:f32:4"), "not file:offset" },
    { STORED("a", "4", "f32", ".:0:16:f32:4"), "is no file" },
    { STORED("a", "4", "u4", "m.bin:0:2:u4:4"), "'u4'" },
    { CONSTANT("a", "Const", "4", "f32", ""), "has no value" },
    { TOLD("a", "2", "i64", "{\"value\":\"1\",\"value\":\"1,2,3\"}"),
      "3 numbers where 2" },
    { TOLD("a", "2", "i64", "{\"value\":\"1,x\"}"), "'x' is no number" },
    { TOLD("a", "2", "i64", "{\"value\":\"\"}"), "0 numbers" },
};

START_TEST(wrong_weights_are_told_in_one_line)
{
    char text[2048];
    world w;
    const mo_tensor_dense *value;
    mo_error err = { 0 };

    write_weights("m.bin");
    snprintf(text, sizeof text, GRAPHML(KEYS, "%s"), wrong[_i].text);
    w = world_of(text, (mo_weights_options){ 0 });
    ck_assert_int_ne(
        mo_weights_get(w.constants, id_of(w.graph, "a"), 0, &value, &err),
        MO_OK);
    ck_assert_msg(strstr(err.text, wrong[_i].why) != NULL, "%s", err.text);
    end(&w);
}
END_TEST

START_TEST(values_may_stand_in_attributes)
{
    world w = world_of(
        GRAPHML(KEYS,
                TOLD("a", "3", "i64", "{\"value\":\"1,-2,9007199254740993\"}")
                    TOLD("b", "3", "f32", "{\"value\":\"0.5, -inf,-0\"}")
                        TOLD("c", "2,2", "i32", "{\"value\":7}")),
        (mo_weights_options){ 0 });

    ck_assert_int_eq(mo_tensor_get_int(value_of(&w, "a"), 2),
                     INT64_C(9007199254740993));
    ck_assert_str_eq(say(value_of(&w, "b")), "f32[3] 0.5 -inf -0");
    ck_assert_str_eq(say(value_of(&w, "c")), "i32[2,2] 7 7 7 7");
    end(&w);
}
END_TEST

START_TEST(what_follows_from_constants_is_computed)
{
    static const char front[] = GRAPHML(
        KEYS, TOLD("x", "2", "f32", "{\"value\":\"-1.5,2\"}")
                  TOLD("y", "2", "f32", "{\"value\":\"10,20\"}")
                      CONSTANT("sum", "Add", "2", "f32", "")
                          CONSTANT("cut", "ReLU", "2", "f32", "")
                              INTO("x", "sum", "0") INTO("y", "sum", "1")
                                  INTO("x", "cut", "0"));
    world w = world_of(front, (mo_weights_options){ 0 });

    ck_assert_str_eq(say(value_of(&w, "sum")), "f32[2] 8.5 22");
    ck_assert_str_eq(say(value_of(&w, "cut")), "f32[2] 0 2");
    end(&w);
}
END_TEST

START_TEST(made_up_weights_depend_on_the_seed_alone)
{
    static const char text[] = GRAPHML(
        KEYS, STORED("a", "8,8", "f32", "none.bin:0:256:f32:8,8")
                  STORED("b", "8,8", "f32", "none.bin:256:256:f32:8,8"));
    world w = world_of(text, (mo_weights_options){ .random = true });
    world again = world_of(text, (mo_weights_options){ .random = true });
    world other =
        world_of(text, (mo_weights_options){ .random = true, .seed = 1 });
    const mo_tensor_dense *a = value_of(&w, "a");

    /* Read in another order. */
    value_of(&again, "b");
    ck_assert_mem_eq(a->data, value_of(&again, "a")->data, 256);
    ck_assert_mem_ne(a->data, value_of(&other, "a")->data, 256);
    ck_assert_mem_ne(a->data, value_of(&w, "b")->data, 256);
    for (int64_t i = 0; i < 64; i++)
        ck_assert(fabs(mo_tensor_get_double(a, i)) <= sqrt(3.0 / 8) + 1e-6);
    end(&w);
    end(&again);
    end(&other);
}
END_TEST

/* An op of that type from one shape to another, with a missing integer
 * constant as input at a port. */
static const struct {
    const char *type, *in, *out, *port, *n, *guess;
} guesses[] = {
    { "Reshape", "2,12", "3,8", "1", "2", "3 8" },
    { "Transpose", "1,12,7,64", "1,7,12,64", "1", "4", "0 2 1 3" },
    { "Transpose", "5,5,3", "3,5,5", "1", "3", "2 0 1" },
    { "Squeeze", "1,5,1", "5", "1", "2", "0 2" },
    { "Squeeze", "1,1,5", "1,5", "1", "1", "0" },
    { "Unsqueeze", "5", "1,5", "1", "1", "0" },
    { "Unsqueeze", "5,4", "5,4,1", "1", "1", "2" },
    { "ReduceMean", "1,8,7,7", "1,8,1,1", "1", "2", "2 3" },
    { "ReduceMean", "1,8,7,7", "1,8", "1", "2", "2 3" },
    { "ReduceSum", "4,6", "4", "1", "1", "1" },
    { "MVN", "1,8,16", "1,8,16", "1", "1", "2" },
    { "Split", "2,12,4", "2,6,4;2,6,4", "1", "", "1" },
    { "VariadicSplit", "9,4", "2,4;7,4", "2", "2", "2 7" },
    { "Slice", "9,4", "2,4", "1", "1", "0" },
    { "Slice", "9,4", "2,4", "2", "1", "2" },
    { "Slice", "9,4,5", "9,4,3", "4", "1", "2" },
    { "Pad", "2,3", "2,5", "2", "2", "0 2" },
    { "Broadcast", "1,3", "4,3", "1", "2", "4 3" },
};

START_TEST(missing_integers_fit_the_shapes_of_their_reader)
{
    char text[2048], wanted[128];
    world w;

    snprintf(text, sizeof text,
             GRAPHML(KEYS,
                     OP("in", "Parameter", "%s", "") OP("op", "%s", "%s", "")
                         STORED("a", "%s", "i64", "none.bin:0:8:i64:%s")
                             INTO("in", "op", "0") INTO("a", "op", "%s")),
             guesses[_i].in, guesses[_i].type, guesses[_i].out, guesses[_i].n,
             guesses[_i].n, guesses[_i].port);
    w = world_of(text, (mo_weights_options){ .random = true });
    snprintf(wanted, sizeof wanted, "i64[%s] %s", guesses[_i].n,
             guesses[_i].guess);
    ck_assert_str_eq(say(value_of(&w, "a")), wanted);
    end(&w);
}
END_TEST

/* The sum itself is not inferred: its consumer's shape determines the
 * result. */
START_TEST(arithmetic_on_missing_integers_is_guessed_at_its_end)
{
    world w = world_of(
        GRAPHML(KEYS,
                OP("in", "Parameter", "2,12", "") OP("op", "Reshape", "3,8", "")
                    STORED("x", "2", "i64", "none.bin:0:16:i64:2")
                        STORED("y", "2", "i64", "none.bin:16:16:i64:2")
                            CONSTANT("sum", "Add", "2", "i64", "") INTO(
                                "x", "sum", "0") INTO("y", "sum", "1")
                                INTO("in", "op", "0") INTO("sum", "op", "1")),
        (mo_weights_options){ .random = true });

    ck_assert_str_eq(say(value_of(&w, "sum")), "i64[2] 3 8");
    end(&w);
}
END_TEST

START_TEST(ports_without_nodes_have_what_attributes_tell)
{
    static const char text[] = GRAPHML(
        KEYS, OP("m", "MatMul", "3,3",
                 DATA("a", "{\"weights\":\"1:4,3\",\"values\":\"2:causal;"
                           "3:0,2,1\"}")));
    world w = world_of(text, (mo_weights_options){ .seed = 5 });
    world again = world_of(text, (mo_weights_options){ .seed = 5 });
    mo_tensor_desc matrix = { MO_ELEM_F32, { 2, { 4, 3 } } };
    mo_tensor_desc square = { MO_ELEM_F32, { 2, { 3, 3 } } };
    mo_tensor_desc order = { MO_ELEM_I64, { 1, { 3 } } },
                   two = { MO_ELEM_I64, { 1, { 2 } } };
    const mo_tensor_dense *value, *same;

    MUST(mo_weights_synthesize(w.constants, 0, 2, &square, &value, &err));
    ck_assert_str_eq(say(value), "f32[3,3] 0 -inf -inf 0 0 -inf 0 0 0");
    MUST(mo_weights_synthesize(w.constants, 0, 3, &order, &value, &err));
    ck_assert_str_eq(say(value), "i64[3] 0 2 1");
    MUST(mo_weights_synthesize(w.constants, 0, 1, &matrix, &value, &err));
    MUST(mo_weights_synthesize(again.constants, 0, 1, &matrix, &same, &err));
    ck_assert_mem_eq(value->data, same->data, 48);
    MUST(mo_weights_synthesize(w.constants, 0, 1, &matrix, &same, &err));
    ck_assert_ptr_eq(value, same);
    ck_assert_int_eq(
        mo_weights_synthesize(again.constants, 0, 3, &two, &value, NULL),
        MO_E_INPUT);
    end(&w);
    end(&again);
}
END_TEST

SUITE(constants)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(weights_are_found_in_their_file);
    TEST(a_description_needs_no_file);
    EACH(wrong_weights_are_told_in_one_line, COUNT(wrong));
    TEST(values_may_stand_in_attributes);
    TEST(what_follows_from_constants_is_computed);
    TEST(made_up_weights_depend_on_the_seed_alone);
    EACH(missing_integers_fit_the_shapes_of_their_reader, COUNT(guesses));
    TEST(arithmetic_on_missing_integers_is_guessed_at_its_end);
    TEST(ports_without_nodes_have_what_attributes_tell);
}
