/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/infer/infer.h: derived shapes. */
#include "graph/op_attrs.h"
#include "ingest/infer/infer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/infer/rule.h"
#include "ingest/input.h"
#include "tests/ingest/infer_case.h"
#include "tests/ingest/ir_text.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

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

START_TEST(a_size_flows_through_the_model)
{
    static const char *const requests[] = { "x=7,3", "0=7,3", "7,3", "x=7x3" };
    mo_ir *ir = infer_ir(infer_chain);

    MUST(infer_with(ir, NULL, &requests[_i], 1, &err));
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
    mo_ir *ir = infer_ir(infer_chain);

    MUST(infer_with(ir, NULL, request, 1, &err));
    ck_assert_str_eq(ir->layers[0].attrs,
                     "{\"shape\":\"7,3\",\"element_type\":\"f32\"}");
    mo_ir_free(ir);
}
END_TEST

/* Sizes of data count where the file has none, and only there. */
START_TEST(hints_set_dynamic_sizes)
{
    static const struct {
        const char *hint, *shape;
    } cases[] = {
        { "x=7,3", "7,3" }, { "0=7,3", "7,3" }, { "7,3", "7,3" },
        { "x=7,4", NULL },  { "x=7", NULL },    { "y=7,3", NULL },
    };

    for (int i = 0; i < COUNT(cases); i++) {
        const char *hint[] = { cases[i].hint };
        const mo_read_options options = { .hints = { .items = hint,
                                                     .count = 1 } };
        mo_ir *ir = infer_ir(infer_chain);
        mo_error err = { 0 };

        ck_assert((mo_infer_shapes(ir, NULL, &options, &err) == MO_OK) ==
                  (cases[i].shape != NULL));
        if (cases[i].shape)
            ck_assert_str_eq(shape_of(ir, "a"), cases[i].shape);
        else
            ck_assert_ptr_nonnull(strstr(err.text, "--shape x=1,3"));
        mo_ir_free(ir);
    }
}
END_TEST

/* A reshape by an input: known values make its shape known. */
static const char by_input[] =
    NET(X LAYER(1, "sizes", "Parameter",
                DATA("shape=\"?\" element_type=\"i64\"") OUTPUTS(I64(0, ANY)))
            LAYER(2, "flat", "Reshape",
                  DATA("special_zero=\"false\"") INPUTS(
                      F32(0, ANY DIM(3)) I64(1, ANY)) OUTPUTS(F32(2, ANY ANY)))
                LAYER(3, "r", "Result", INPUTS(F32(0, ANY ANY))),
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0));

START_TEST(an_input_with_a_value_is_a_constant)
{
    const char *shapes[] = { "x=8,3" }, *values[] = { "1=6,-1" };
    const mo_read_options options = { .shapes = { .items = shapes, .count = 1 },
                                      .values = { .items = values,
                                                  .count = 1 } };
    mo_ir *ir = infer_ir(by_input);

    MUST(mo_infer_shapes(ir, NULL, &options, &err));
    ck_assert_str_eq(ir->layers[1].type, "Const");
    ck_assert_str_eq(
        ir->layers[1].attrs,
        "{\"element_type\":\"i64\",\"shape\":\"2\",\"value\":\"6,-1\"}");
    ck_assert_str_eq(shape_of(ir, "flat"), "6,4");
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_static_model_is_left_alone)
{
    mo_ir *ir =
        infer_ir(NET(PARAMETER(0, "x") UNARY(1, "a", "Fancy") RESULT(2, "r"),
                     EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));

    MUST(infer_with(ir, NULL, NULL, 0, &err));
    ck_assert_str_eq(shape_of(ir, "a"), "2,3");
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_static_model_takes_another_size)
{
    static const char *const request[] = { "x=5,3" };
    mo_ir *ir = infer_ir(NET(PARAMETER(0, "x") RELU(1, "a") RESULT(2, "r"),
                             EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));

    MUST(infer_with(ir, NULL, request, 1, &err));
    ck_assert_str_eq(shape_of(ir, "a"), "5,3");
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_dynamic_rank_takes_any)
{
    static const char *const request[] = { "x=4,5,6" };
    mo_ir *ir = infer_ir(NET(
        LAYER(0, "x", "Parameter",
              DATA("shape=\"...\" element_type=\"f32\"") OUTPUTS(F32(0, ANY)))
            LAYER(1, "a", "ReLU", INPUTS(F32(0, ANY)) OUTPUTS(F32(1, ANY)))
                LAYER(2, "r", "Result", INPUTS(F32(0, ANY))),
        EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0)));

    ir->layers[0].outputs[0].shape.rank = MO_DYNAMIC;
    MUST(infer_with(ir, NULL, request, 1, &err));
    ck_assert_str_eq(shape_of(ir, "a"), "4,5,6");
    mo_ir_free(ir);
}
END_TEST

static const char *const x_is_8_3[] = { "x=8,3" };

START_TEST(shape_arithmetic_is_evaluated)
{
    mo_ir *ir = infer_ir(infer_flattened);

    infer_write_bin();
    MUST(infer_with(ir, "m.bin", x_is_8_3, 1, &err));
    ck_assert_str_eq(shape_of(ir, "flat"), "3,8");
    mo_ir_free(ir);
}
END_TEST

/* Reshape of x with a pattern that cannot be read, but with an output shape in
 * the file: that is valid as long as x has the size in the file. */
static const char declared[] =
    NET(PARAMETER(0, "x") LIST(1, "pattern", 1, 32, 8)
            LAYER(2, "flat", "Reshape",
                  DATA("special_zero=\"false\"")
                      INPUTS(F32_2_3(0) I64(1, DIM(1))) OUTPUTS(F32(2, DIM(6))))
                LAYER(3, "odd", "Fancy",
                      INPUTS(F32(0, DIM(6))) OUTPUTS(F32(1, DIM(9))))
                    LAYER(4, "r", "Result", INPUTS(F32(0, DIM(9)))),
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0) EDGE(3, 1, 4, 0));

START_TEST(what_did_not_change_keeps_its_shape)
{
    static const char *const request[] = { "x=2,3" };
    mo_ir *ir = infer_ir(declared);

    MUST(infer_with(ir, NULL, request, 1, &err));
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
    mo_ir *ir = infer_ir(declared);
    mo_error err = { 0 };
    char text[2048];

    infer_write_bin();
    ck_assert_int_eq(infer_with(ir, changes[_i].bin, request, 1, &err),
                     MO_E_SUPPORT);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     changes[_i].text);
    mo_ir_free(ir);
}
END_TEST

/* Clears every shape but those of constants and inputs. */
static void forget_shapes(mo_ir *ir)
{
    for (int i = 0; i < ir->n_layers; i++)
        for (int k = 0;
             ir->layers[i].n_inputs > 0 && k < ir->layers[i].n_outputs; k++)
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
    MUST(infer_with(forgot, bin, NULL, 0, &err));
    for (int i = 0; i < told->n_layers; i++)
        for (int k = 0; k < told->layers[i].n_outputs; k++)
            ck_assert_msg(mo_shape_equal(&told->layers[i].outputs[k].shape,
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
    const mo_infer_rule *rule = mo_infer_rule_find(layer->type);
    mo_infer_rule_input inputs[64] = { 0 };
    mo_arena *arena = mo_arena_new();
    mo_infer_rule_op op = {
        .type = layer->type,
        .version = layer->version,
        .attrs = layer->attrs ? mo_attr_list_parse(layer->attrs, arena) : NULL,
        .inputs = inputs,
        .n_inputs = layer->n_inputs,
        .n_outputs = layer->n_outputs
    };
    mo_error err = { 0 };
    mo_status status;

    for (int k = 0; k < layer->n_inputs; k++)
        inputs[k].shape = layer->inputs[k].shape;
    status =
        rule ? mo_infer_rule_apply(rule, &op, outputs, &err) : MO_E_SUPPORT;
    mo_arena_free(arena);
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
            ck_assert_msg(mo_shape_equal(&layer->outputs[k].shape, &outputs[k]),
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
    TEST(hints_set_dynamic_sizes);
    TEST(an_input_with_a_value_is_a_constant);
    TEST(a_static_model_is_left_alone);
    TEST(a_static_model_takes_another_size);
    TEST(a_dynamic_rank_takes_any);
    TEST(shape_arithmetic_is_evaluated);
    TEST(what_did_not_change_keeps_its_shape);
    EACH(what_changed_needs_a_rule, COUNT(changes));
    EACH(forgotten_shapes_come_back, COUNT(models));
    EACH(files_agree_with_the_rules, COUNT(structures));
}
