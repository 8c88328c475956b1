/* Claims of ingest/infer.h. */
#include "ingest/infer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/infer/rule.h"
#include "ingest/input.h"
#include "tests/ir_text.h"
#include "tests/scratch.h"
#include "tests/suite.h"

#define ANY       "<dim>-1</dim>"
#define F32(id, dims) PORT(id, "FP32", dims)
#define I64(id, dims) PORT(id, "I64", dims)

/* x of shape ?,3 and what is made of it. */
#define X                                                                     \
    LAYER(0, "x", "Parameter",                                                \
          DATA("shape=\"?,3\" element_type=\"f32\"")                          \
          OUTPUTS(F32(0, ANY DIM(3))))
#define RELU_X(id, name)                                                      \
    LAYER(id, name, "ReLU", INPUTS(F32(0, ANY DIM(3)))                        \
          OUTPUTS(F32(1, ANY DIM(3))))

/* A list of integers at a place of the .bin. */
#define LIST(id, name, count, offset, size)                                   \
    LAYER(id, name, "Const",                                                  \
          DATA("element_type=\"i64\" shape=\"" #count "\" offset=\"" #offset  \
               "\" size=\"" #size "\"") OUTPUTS(I64(0, DIM(count))))
#define NUMBER(id, name, offset)                                              \
    LAYER(id, name, "Const",                                                  \
          DATA("element_type=\"i64\" shape=\"\" offset=\"" #offset            \
               "\" size=\"8\"") OUTPUTS(I64(0, "")))

static mo_ir *ir_of(const char *text)
{
    mo_ir *ir;

    MUST(mo_ir_read_memory("m.xml", text, strlen(text), &ir, &err));
    return ir;
}

/* The first output of a layer, as text. */
static const char *shape_of(const mo_ir *ir, const char *name)
{
    static char text[MO_SHAPE_TEXT_SIZE + 1];

    for (int i = 0; i < ir->n_layers; i++)
        if (strcmp(ir->layers[i].name, name) == 0) {
            const mo_shape *shape = &ir->layers[i].outputs[0].shape;

            text[mo_shape_write(shape, text)] = '\0';
            return text;
        }
    ck_abort_msg("no layer %s", name);
}

/* The numbers 0, 1, 2, 3, -1 as int64. */
static void write_bin(void)
{
    FILE *file = fopen("m.bin", "wb");

    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 5; i++) {
        int64_t number = i < 4 ? i : -1;

        for (int b = 0; b < 8; b++)
            fputc((int) ((uint64_t) number >> 8 * b & 255), file);
    }
    ck_assert_int_eq(fclose(file), 0);
}

static const char chain[] = NET(X RELU_X(1, "a") RESULT(2, "r"),
                                EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0));

START_TEST(a_size_flows_through_the_model)
{
    static const char *const requests[] = { "x=7,3", "0=7,3", "7,3", "x=7x3" };
    mo_ir *ir = ir_of(chain);

    MUST(mo_infer_shapes(ir, NULL, &requests[_i], 1, &err));
    ck_assert_str_eq(shape_of(ir, "x"), "7,3");
    ck_assert_str_eq(shape_of(ir, "a"), "7,3");
    ck_assert_int_eq(ir->layers[1].inputs[0].shape.dims[0], 7);
    ck_assert_int_eq(ir->layers[2].inputs[0].shape.dims[0], 7);
    mo_ir_free(ir);
}
END_TEST

START_TEST(attributes_say_the_new_shape)
{
    static const char *const request[] = { "x=7,3" };
    mo_ir *ir = ir_of(chain);

    MUST(mo_infer_shapes(ir, NULL, request, 1, &err));
    ck_assert_str_eq(ir->layers[0].attrs,
                     "{\"shape\":\"7,3\",\"element_type\":\"f32\"}");
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_static_model_is_left_alone)
{
    mo_ir *ir = ir_of(NET(PARAMETER(0, "x") UNARY(1, "a", "Fancy")
                          RESULT(2, "r"),
                          EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));

    MUST(mo_infer_shapes(ir, NULL, NULL, 0, &err));
    ck_assert_str_eq(shape_of(ir, "a"), "2,3");
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_static_model_takes_another_size)
{
    static const char *const request[] = { "x=5,3" };
    mo_ir *ir = ir_of(NET(PARAMETER(0, "x") RELU(1, "a") RESULT(2, "r"),
                          EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));

    MUST(mo_infer_shapes(ir, NULL, request, 1, &err));
    ck_assert_str_eq(shape_of(ir, "a"), "5,3");
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_dynamic_rank_takes_any)
{
    static const char *const request[] = { "x=4,5,6" };
    mo_ir *ir = ir_of(NET(
        LAYER(0, "x", "Parameter", DATA("shape=\"...\" element_type=\"f32\"")
              OUTPUTS(F32(0, ANY)))
        LAYER(1, "a", "ReLU", INPUTS(F32(0, ANY)) OUTPUTS(F32(1, ANY)))
        LAYER(2, "r", "Result", INPUTS(F32(0, ANY))),
        EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));

    ir->layers[0].outputs[0].shape.rank = MO_DYNAMIC;
    MUST(mo_infer_shapes(ir, NULL, request, 1, &err));
    ck_assert_str_eq(shape_of(ir, "a"), "4,5,6");
    mo_ir_free(ir);
}
END_TEST

/*
 * x (?,3) -> reshaped to (x's second size, -1): the pattern is made of ShapeOf,
 * Gather and Concat, with an axis, an index and a -1 out of the .bin.
 */
static const char flattened[] = NET(
    X
    LAYER_OF("opset3", 1, "shape", "ShapeOf", DATA("output_type=\"i64\"")
             INPUTS(F32(0, ANY DIM(3))) OUTPUTS(I64(1, DIM(2))))
    LIST(2, "index", 1, 8, 8)
    NUMBER(3, "axis", 0)
    LAYER_OF("opset8", 4, "size", "Gather", DATA("batch_dims=\"0\"")
             INPUTS(I64(0, DIM(2)) I64(1, DIM(1)) I64(2, ""))
             OUTPUTS(I64(3, DIM(1))))
    LIST(5, "rest", 1, 32, 8)
    LAYER(6, "pattern", "Concat", DATA("axis=\"0\"")
          INPUTS(I64(0, DIM(1)) I64(1, DIM(1))) OUTPUTS(I64(2, DIM(2))))
    LAYER(7, "flat", "Reshape", DATA("special_zero=\"false\"")
          INPUTS(F32(0, ANY DIM(3)) I64(1, DIM(2))) OUTPUTS(F32(2, ANY ANY)))
    LAYER(8, "r", "Result", INPUTS(F32(0, ANY ANY))),
    EDGE(0, 0, 1, 0) EDGE(1, 1, 4, 0) EDGE(2, 0, 4, 1) EDGE(3, 0, 4, 2)
    EDGE(4, 3, 6, 0) EDGE(5, 0, 6, 1) EDGE(0, 0, 7, 0) EDGE(6, 2, 7, 1)
    EDGE(7, 2, 8, 0));

static const char *const x_is_8_3[] = { "x=8,3" };

START_TEST(shape_arithmetic_is_evaluated)
{
    mo_ir *ir = ir_of(flattened);

    write_bin();
    MUST(mo_infer_shapes(ir, "m.bin", x_is_8_3, 1, &err));
    ck_assert_str_eq(shape_of(ir, "flat"), "3,8");
    mo_ir_free(ir);
}
END_TEST

/* The same model without the constants it needs. */
static const struct {
    const char *bin, *text;
} bins[] = {
    { NULL, "there is no .bin file" },
    { "none.bin", "none.bin cannot be read: No such file or directory" },
    { ".", ". is not a file" },
    { "short.bin", "short.bin ends before byte 8 + 8 (it has 3)" },
};

START_TEST(constants_are_missed_where_they_are_needed)
{
    mo_ir *ir = ir_of(flattened);
    mo_error err = { 0 };

    scratch_write("short.bin", "abc");
    ck_assert_int_ne(mo_infer_shapes(ir, bins[_i].bin, x_is_8_3, 1, &err),
                     MO_OK);
    ck_assert_msg(strstr(err.text, bins[_i].text), "%s", err.text);
    ck_assert_str_eq(err.file, "m.xml");
    mo_ir_free(ir);
}
END_TEST

/* Reshape of x with a pattern nobody can read, whose own file says what comes
 * out: that holds as long as x has the size the file says. */
static const char declared[] = NET(
    PARAMETER(0, "x") LIST(1, "pattern", 1, 32, 8)
    LAYER(2, "flat", "Reshape", DATA("special_zero=\"false\"")
          INPUTS(F32_2_3(0) I64(1, DIM(1))) OUTPUTS(F32(2, DIM(6))))
    LAYER(3, "odd", "Fancy", INPUTS(F32(0, DIM(6))) OUTPUTS(F32(1, DIM(9))))
    LAYER(4, "r", "Result", INPUTS(F32(0, DIM(9)))),
    EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0) EDGE(3, 1, 4, 0));

START_TEST(what_did_not_change_keeps_its_shape)
{
    static const char *const request[] = { "x=2,3" };
    mo_ir *ir = ir_of(declared);

    MUST(mo_infer_shapes(ir, NULL, request, 1, &err));
    ck_assert_str_eq(shape_of(ir, "flat"), "6");
    ck_assert_str_eq(shape_of(ir, "odd"), "9");
    mo_ir_free(ir);
}
END_TEST

static const struct {
    const char *bin, *text;
} changes[] = {
    { NULL, "m.xml:4: Reshape 'flat': needs the value of its input 1, but it "
            "is the constant 'pattern', and there is no .bin file" },
    { "m.bin", "m.xml:5: Fancy 'odd': there is no shape rule for this "
               "operator" },
};

START_TEST(what_changed_needs_a_rule)
{
    static const char *const request[] = { "x=4,3" };
    mo_ir *ir = ir_of(declared);
    mo_error err = { 0 };
    char text[2048];

    write_bin();
    ck_assert_int_eq(mo_infer_shapes(ir, changes[_i].bin, request, 1, &err),
                     MO_E_SUPPORT);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     changes[_i].text);
    mo_ir_free(ir);
}
END_TEST

#define TWO                                                                   \
    NET(X LAYER(1, "mask", "Parameter",                                       \
                DATA("shape=\"?\" element_type=\"i64\"")                      \
                OUTPUTS(I64(0, ANY)))                                         \
        LAYER(2, "a", "Gather", DATA("batch_dims=\"0\"")                      \
              INPUTS(F32(0, ANY DIM(3)) I64(1, ANY) I64(2, ""))               \
              OUTPUTS(F32(3, ANY DIM(3))))                                    \
        NUMBER(3, "axis", 0)                                                  \
        LAYER(4, "r", "Result", INPUTS(F32(0, ANY DIM(3)))),                  \
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(3, 0, 2, 2) EDGE(2, 3, 4, 0))

#define BY_DATA                                                               \
    NET(X LAYER(1, "n", "Parameter",                                          \
                DATA("shape=\"1\" element_type=\"i64\"")                      \
                OUTPUTS(I64(0, DIM(1))))                                      \
        LAYER(2, "flat", "Reshape", DATA("special_zero=\"false\"")            \
              INPUTS(F32(0, ANY DIM(3)) I64(1, DIM(1)))                       \
              OUTPUTS(F32(2, ANY)))                                           \
        LAYER(3, "r", "Result", INPUTS(F32(0, ANY))),                         \
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0))

#define WRONG                                                                 \
    NET(X LAYER(1, "w", "Const",                                              \
                DATA("element_type=\"f32\" shape=\"4, 5\" offset=\"0\" "      \
                     "size=\"80\"") OUTPUTS(F32(0, DIM(4) DIM(5))))           \
        LAYER(2, "fc", "MatMul",                                              \
              DATA("transpose_a=\"false\" transpose_b=\"false\"")             \
              INPUTS(F32(0, ANY DIM(3)) F32(1, DIM(4) DIM(5)))                \
              OUTPUTS(F32(2, ANY DIM(5))))                                    \
        LAYER(3, "r", "Result", INPUTS(F32(0, ANY DIM(5)))),                  \
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0))

/* Reshapes x with a pattern that is one type of layer's, made of one list. */
#define BY_LIST(list, type, attributes, precision, dims)                      \
    NET(X list                                                                \
        LAYER(2, "made", type, DATA(attributes) INPUTS(I64(0, DIM(1)))        \
              OUTPUTS(PORT(1, precision, dims)))                              \
        LAYER(3, "flat", "Reshape", DATA("special_zero=\"false\"")            \
              INPUTS(F32(0, ANY DIM(3)) I64(1, dims)) OUTPUTS(F32(2, ANY)))   \
        LAYER(4, "r", "Result", INPUTS(F32(0, ANY))),                         \
        EDGE(1, 0, 2, 0) EDGE(0, 0, 3, 0) EDGE(2, 1, 3, 1) EDGE(3, 2, 4, 0))

#define FLAT "m.xml:5: Reshape 'flat': needs the value of its input 1, but "

static const struct {
    const char *model, *request, *text;
    mo_status status;
} faults[] = {
    { chain, NULL,
      "m.xml:2: input 'x' has a dynamic dimension (?,3); give it a size with "
      "--shape x=1,3", MO_E_INPUT },
    { chain, "y=1,3",
      "--shape y=1,3 names no input of m.xml; its inputs are 'x'", MO_E_USAGE },
    { chain, "1=1,3",
      "--shape 1=1,3 names no input of m.xml; its inputs are 'x'", MO_E_USAGE },
    { chain, "x=1",
      "m.xml:2: --shape x=1: input 'x' has 2 dimensions (?,3)", MO_E_USAGE },
    { chain, "x=?,3",
      "--shape x=?,3: every size must be a number, not '?' or -1",
      MO_E_USAGE },
    { chain, "x=-1,3",
      "--shape x=-1,3: every size must be a number, not '?' or -1",
      MO_E_USAGE },
    { chain, "x=one",
      "--shape x=one is not NAME=DIMS, as in input=1,128", MO_E_USAGE },
    { chain, "x=99999999999999999999,3",
      "--shape x=99999999999999999999,3 is too large; give at most "
      "2^48 elements", MO_E_USAGE },
    { chain, "x=1000000000,1000000000",
      "--shape x=1000000000,1000000000 is too large; give at most "
      "2^48 elements", MO_E_USAGE },
    { NET(CONST(0, "c", 0) RESULT(1, "r"), EDGE(0, 0, 1, 0)), "2,3",
      "--shape 2,3 names no input of m.xml; its inputs are none",
      MO_E_USAGE },
    { TWO, "1,3",
      "--shape 1,3 does not say for which input; they are 'x', 'mask'",
      MO_E_USAGE },
    { TWO, "x=1,3",
      "m.xml:3: input 'mask' has a dynamic dimension (?); give it a size with "
      "--shape mask=1", MO_E_INPUT },
    { BY_DATA, "x=2,3",
      "m.xml:4: Reshape 'flat': needs the value of its input 1, but it "
      "depends on the data of input 'n'", MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 1, 0, 8), "Convert", "destination_type=\"i4\"",
              "I4", DIM(1)), "x=2,3", FLAT "'made' is of type i4",
      MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 1, 0, 8), "Fancy", "a=\"1\"", "I64", DIM(1)),
      "x=2,3", FLAT "it depends on Fancy 'made'", MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 70000, 0, 560000), "Abs", "a=\"1\"", "I64",
              DIM(70000)), "x=2,3",
      FLAT "'l' (70000) is too large for a shape", MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 1, 0, 8), "Sqrt", "a=\"1\"", "I64", DIM(1)),
      "x=2,3", FLAT "Sqrt 'made' overflows or is not defined",
      MO_E_SUPPORT },
    { WRONG, "x=2,3",
      "m.xml:4: MatMul 'fc': cannot multiply 2,3 by 4,5: 3 columns meet 4 "
      "rows", MO_E_INPUT },
};

START_TEST(errors_say_where_and_what_to_do)
{
    mo_ir *ir = ir_of(faults[_i].model);
    mo_error err = { 0 };
    char text[2048];

    write_bin();
    ck_assert_int_eq(mo_infer_shapes(ir, "m.bin", &faults[_i].request,
                                     faults[_i].request ? 1 : 0, &err),
                     faults[_i].status);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     faults[_i].text);
    mo_ir_free(ir);
}
END_TEST

START_TEST(an_input_has_one_shape)
{
    static const char *const requests[] = { "x=2,3", "0=2,3" };
    mo_ir *ir = ir_of(chain);
    mo_error err = { 0 };

    ck_assert_int_eq(mo_infer_shapes(ir, NULL, requests, 2, &err),
                     MO_E_USAGE);
    ck_assert_str_eq(err.text,
                     "--shape 0=2,3: the shape of 'x' is given twice; keep one "
                     "of them");
    mo_ir_free(ir);
}
END_TEST

/* Long names, and more of them than a line holds. */
START_TEST(many_inputs_are_listed_shortly)
{
    static const char *const request[] = { "y=2,3" };
    mo_ir *ir = ir_of(NET(
        PARAMETER(0, "a") PARAMETER(1, "b") PARAMETER(2, "c")
        PARAMETER(3, "d") PARAMETER(4, "e") PARAMETER(5, "f")
        PARAMETER(6, "g") PARAMETER(7, "h"), ""));
    mo_error err = { 0 };
    char name[200];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < ir->n_layers; i++)
        ir->layers[i].name = name;
    ck_assert_int_eq(mo_infer_shapes(ir, NULL, request, 1, &err), MO_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "nnn', ..."));
    ck_assert_uint_lt(strlen(err.text), 400);
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_dynamic_rank_is_shown)
{
    mo_ir *ir = ir_of(chain);
    mo_error err = { 0 };

    ir->layers[0].outputs[0].shape.rank = MO_DYNAMIC;
    ck_assert_int_eq(mo_infer_shapes(ir, NULL, NULL, 0, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "input 'x' has a dynamic dimension (...); give "
                               "it a size with --shape x=1,...");
    mo_ir_free(ir);
}
END_TEST

/* Forgets every shape but those of constants and inputs. */
static void forget_shapes(mo_ir *ir)
{
    for (int i = 0; i < ir->n_layers; i++)
        for (int k = 0; ir->layers[i].n_inputs > 0
                        && k < ir->layers[i].n_outputs; k++)
            ir->layers[i].outputs[k].shape.rank = MO_DYNAMIC;
}

static mo_ir *read_model(const char *folder, const char *name)
{
    char path[4096];
    mo_input *input;
    mo_ir *ir;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    MUST(mo_input_open(path, &input, &err));
    MUST(mo_ir_read(input, &ir, &err));
    mo_input_close(input);
    return ir;
}

static const char *const models[] = {
    "small_bert", "small_gpt2",  "small_regnet",
    "small_swin", "small_trunk", "squeezenet1_1",
};

START_TEST(forgotten_shapes_come_back)
{
    const char *data = getenv("MOIRAI_DATA");
    char folder[2048], bin[4096];
    mo_ir *told, *forgot;

    if (!data)
        return;
    snprintf(folder, sizeof folder, "%s/runnable/%s", data, models[_i]);
    snprintf(bin, sizeof bin, "%s/model.bin", folder);
    told = read_model(folder, "model.xml");
    forgot = read_model(folder, "model.xml");
    forget_shapes(forgot);
    MUST(mo_infer_shapes(forgot, bin, NULL, 0, &err));
    for (int i = 0; i < told->n_layers; i++)
        for (int k = 0; k < told->layers[i].n_outputs; k++)
            ck_assert_msg(
                mo_shape_equal(&told->layers[i].outputs[k].shape,
                               &forgot->layers[i].outputs[k].shape),
                "%s: %s", models[_i], told->layers[i].name);
    mo_ir_free(told);
    mo_ir_free(forgot);
}
END_TEST

static const char *const structures[] = {
    "bert_base_128", "esmfold_trunk4_64",  "googlenet", "gpt2_512",
    "resnet50",      "mobilenet_v3_large", "swin_t",
};

/* Derives a layer's shapes from those of its inputs alone; false when that is
 * not enough. */
static bool derive(const mo_ir_layer *layer, mo_shape *outputs)
{
    const mo_rule *rule = mo_rule_find(layer->type);
    mo_rule_input inputs[64] = { 0 };
    mo_rule_op op = { .type = layer->type, .version = layer->version,
                      .attrs = layer->attrs, .inputs = inputs,
                      .n_inputs = layer->n_inputs,
                      .n_outputs = layer->n_outputs };
    mo_error err = { 0 };
    mo_status status;

    if (!rule)
        return false;
    for (int k = 0; k < layer->n_inputs; k++)
        inputs[k].shape = layer->inputs[k].shape;
    status = mo_rule_infer(rule, &op, outputs, &err);
    ck_assert_msg(status == MO_OK || status == MO_E_SUPPORT, "%s: %s",
                  layer->name, err.text);
    return status == MO_OK;
}

/* Without constants, the rules that need none must agree with the file. */
START_TEST(files_agree_with_the_rules)
{
    const char *data = getenv("MOIRAI_DATA");
    char folder[2048], name[64];
    mo_shape outputs[64];
    int derived = 0;
    mo_ir *ir;

    if (!data)
        return;
    snprintf(folder, sizeof folder, "%s/openvino", data);
    snprintf(name, sizeof name, "%s.xml", structures[_i]);
    ir = read_model(folder, name);
    for (int i = 0; i < ir->n_layers; i++) {
        const mo_ir_layer *layer = &ir->layers[i];

        if (!derive(layer, outputs))
            continue;
        derived++;
        for (int k = 0; k < layer->n_outputs; k++)
            ck_assert_msg(mo_shape_equal(&layer->outputs[k].shape,
                                         &outputs[k]),
                          "%s: %s", name, layer->name);
    }
    ck_assert_int_gt(derived, ir->n_layers / 5);
    mo_ir_free(ir);
}
END_TEST

SUITE(infer)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(a_size_flows_through_the_model, 4);
    TEST(attributes_say_the_new_shape);
    TEST(a_static_model_is_left_alone);
    TEST(a_static_model_takes_another_size);
    TEST(a_dynamic_rank_takes_any);
    TEST(shape_arithmetic_is_evaluated);
    EACH(constants_are_missed_where_they_are_needed, COUNT(bins));
    TEST(what_did_not_change_keeps_its_shape);
    EACH(what_changed_needs_a_rule, COUNT(changes));
    EACH(errors_say_where_and_what_to_do, COUNT(faults));
    TEST(an_input_has_one_shape);
    TEST(many_inputs_are_listed_shortly);
    TEST(a_dynamic_rank_is_shown);
    EACH(forgotten_shapes_come_back, COUNT(models));
    EACH(files_agree_with_the_rules, COUNT(structures));
}
