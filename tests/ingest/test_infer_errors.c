/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/infer/infer.h: errors and their texts. */
#include "ingest/infer/infer.h"

#include <string.h>

#include "tests/ingest/infer_case.h"
#include "tests/ingest/ir_text.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static const char *const x_is_8_3[] = { "x=8,3" };

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
    mo_ir *ir = infer_ir(infer_flattened);
    mo_error err = { 0 };

    scratch_write("short.bin", "abc");
    ck_assert_int_ne(infer_with(ir, bins[_i].bin, x_is_8_3, 1, &err), MO_OK);
    ck_assert_msg(strstr(err.text, bins[_i].text), "%s", err.text);
    ck_assert_str_eq(err.file, "m.xml");
    mo_ir_free(ir);
}
END_TEST

#define TWO                                                                    \
    NET(X LAYER(1, "mask", "Parameter",                                        \
                DATA("shape=\"?\" element_type=\"i64\"") OUTPUTS(I64(0, ANY))) \
            LAYER(2, "a", "Gather",                                            \
                  DATA("batch_dims=\"0\"")                                     \
                      INPUTS(F32(0, ANY DIM(3)) I64(1, ANY) I64(2, ""))        \
                          OUTPUTS(F32(3, ANY DIM(3)))) NUMBER(3, "axis", 0)    \
                LAYER(4, "r", "Result", INPUTS(F32(0, ANY DIM(3)))),           \
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(3, 0, 2, 2) EDGE(2, 3, 4, 0))

#define BY_DATA                                                                \
    NET(X LAYER(1, "n", "Parameter",                                           \
                DATA("shape=\"1\" element_type=\"i64\"")                       \
                    OUTPUTS(I64(0, DIM(1))))                                   \
            LAYER(2, "flat", "Reshape",                                        \
                  DATA("special_zero=\"false\"") INPUTS(                       \
                      F32(0, ANY DIM(3)) I64(1, DIM(1))) OUTPUTS(F32(2, ANY))) \
                LAYER(3, "r", "Result", INPUTS(F32(0, ANY))),                  \
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0))

#define WRONG                                                                  \
    NET(X LAYER(1, "w", "Const",                                               \
                DATA("element_type=\"f32\" shape=\"4, 5\" offset=\"0\" "       \
                     "size=\"80\"") OUTPUTS(F32(0, DIM(4) DIM(5))))            \
            LAYER(2, "fc", "MatMul",                                           \
                  DATA("transpose_a=\"false\" transpose_b=\"false\"")          \
                      INPUTS(F32(0, ANY DIM(3)) F32(1, DIM(4) DIM(5)))         \
                          OUTPUTS(F32(2, ANY DIM(5))))                         \
                LAYER(3, "r", "Result", INPUTS(F32(0, ANY DIM(5)))),           \
        EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0))

/* Reshapes x with a pattern computed by one type of layer from one list. */
#define BY_LIST(list, type, attributes, precision, dims)                       \
    NET(X list LAYER(2, "made", type,                                          \
                     DATA(attributes) INPUTS(I64(0, DIM(1)))                   \
                         OUTPUTS(PORT(1, precision, dims)))                    \
            LAYER(3, "flat", "Reshape",                                        \
                  DATA("special_zero=\"false\"") INPUTS(                       \
                      F32(0, ANY DIM(3)) I64(1, dims)) OUTPUTS(F32(2, ANY)))   \
                LAYER(4, "r", "Result", INPUTS(F32(0, ANY))),                  \
        EDGE(1, 0, 2, 0) EDGE(0, 0, 3, 0) EDGE(2, 1, 3, 1) EDGE(3, 2, 4, 0))

#define FLAT "m.xml:5: Reshape 'flat': needs the value of its input 1, but "

static const struct {
    const char *model, *request, *text;
    mo_status status;
} faults[] = {
    { infer_chain, NULL,
      "m.xml:2: input 'x' has a dynamic dimension (?,3); give it a size with "
      "--shape x=1,3",
      MO_E_INPUT },
    { infer_chain, "y=1,3",
      "--shape y=1,3 names no input of m.xml; its inputs are 'x'", MO_E_USAGE },
    { infer_chain, "1=1,3",
      "--shape 1=1,3 names no input of m.xml; its inputs are 'x'", MO_E_USAGE },
    { infer_chain, "x=1",
      "m.xml:2: --shape x=1: input 'x' has 2 dimensions (?,3)", MO_E_USAGE },
    { infer_chain, "x=?,3",
      "--shape x=?,3: every size must be a number, not '?' or -1", MO_E_USAGE },
    { infer_chain, "x=-1,3",
      "--shape x=-1,3: every size must be a number, not '?' or -1",
      MO_E_USAGE },
    { infer_chain, "x=one", "--shape x=one is not NAME=DIMS, as in input=1,128",
      MO_E_USAGE },
    { infer_chain, "x=99999999999999999999,3",
      "--shape x=99999999999999999999,3 is too large; give at most "
      "2^48 elements",
      MO_E_USAGE },
    { infer_chain, "x=1000000000,1000000000",
      "--shape x=1000000000,1000000000 is too large; give at most "
      "2^48 elements",
      MO_E_USAGE },
    { NET(CONST(0, "c", 0) RESULT(1, "r"), EDGE(0, 0, 1, 0)), "2,3",
      "--shape 2,3 names no input of m.xml; its inputs are none", MO_E_USAGE },
    { TWO, "1,3",
      "--shape 1,3 does not say for which input; they are 'x', 'mask'",
      MO_E_USAGE },
    { TWO, "x=1,3",
      "m.xml:3: input 'mask' has a dynamic dimension (?); give it a size with "
      "--shape mask=1",
      MO_E_INPUT },
    { BY_DATA, "x=2,3",
      "m.xml:4: Reshape 'flat': needs the value of its input 1, but it "
      "depends on the data of input 'n'",
      MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 1, 0, 8), "Convert", "destination_type=\"i4\"", "I4",
              DIM(1)),
      "x=2,3", FLAT "'made' is of type i4", MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 1, 0, 8), "Fancy", "a=\"1\"", "I64", DIM(1)),
      "x=2,3", FLAT "it depends on Fancy 'made'", MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 70000, 0, 560000), "Abs", "a=\"1\"", "I64",
              DIM(70000)),
      "x=2,3", FLAT "'l' (70000) is too large for a shape", MO_E_SUPPORT },
    { BY_LIST(LIST(1, "l", 1, 0, 8), "Sqrt", "a=\"1\"", "I64", DIM(1)), "x=2,3",
      FLAT "Sqrt 'made' overflows or is not defined", MO_E_SUPPORT },
    { WRONG, "x=2,3",
      "m.xml:4: MatMul 'fc': cannot multiply 2,3 by 4,5: 3 columns meet 4 "
      "rows",
      MO_E_INPUT },
};

START_TEST(errors_say_where_and_what_to_do)
{
    mo_ir *ir = infer_ir(faults[_i].model);
    mo_error err = { 0 };
    char text[2048];

    infer_write_bin();
    ck_assert_int_eq(infer_with(ir, "m.bin", &faults[_i].request,
                                faults[_i].request ? 1 : 0, &err),
                     faults[_i].status);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text), faults[_i].text);
    mo_ir_free(ir);
}
END_TEST

START_TEST(an_input_has_one_shape)
{
    static const char *const requests[] = { "x=2,3", "0=2,3" };
    mo_ir *ir = infer_ir(infer_chain);
    mo_error err = { 0 };

    ck_assert_int_eq(infer_with(ir, NULL, requests, 2, &err), MO_E_USAGE);
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
    mo_ir *ir =
        infer_ir(NET(PARAMETER(0, "a") PARAMETER(1, "b") PARAMETER(2, "c")
                         PARAMETER(3, "d") PARAMETER(4, "e") PARAMETER(5, "f")
                             PARAMETER(6, "g") PARAMETER(7, "h"),
                     ""));
    mo_error err = { 0 };
    char name[200];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < ir->n_layers; i++)
        ir->layers[i].name = name;
    ck_assert_int_eq(infer_with(ir, NULL, request, 1, &err), MO_E_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "nnn', ..."));
    ck_assert_uint_lt(strlen(err.text), 400);
    mo_ir_free(ir);
}
END_TEST

/* Values of x (?,3) in f32. */
static const struct {
    const char *shape, *value, *text;
} values[] = {
    { "x=1,3", "y=1", "--value y=1 names no input of m.xml" },
    { "x=1,3", "x=1,2", "has 2 numbers, but the input has 3 elements (1,3)" },
    { "x=1,3", "x=one", "'one' is no number of type f32" },
    { "x=1,3", "x=1e99", "'1e99' is no number of type f32" },
    { "x=1,3", "x=1,,2", "'' is no number of type f32" },
    { "x=40000,3", "x=1", "has more than 65536 elements" },
    { NULL, "x=1",
      "has a dynamic dimension (?,3); give it a size with --shape, too" },
};

START_TEST(a_value_must_fit_its_input)
{
    const char *shape[] = { values[_i].shape }, *value[] = { values[_i].value };
    const mo_read_options options = {
        .shapes = { .items = shape, .count = shape[0] != NULL },
        .values = { .items = value, .count = 1 }
    };
    mo_ir *ir = infer_ir(infer_chain);
    mo_error err = { 0 };

    ck_assert_int_ne(mo_infer_shapes(ir, NULL, &options, &err), MO_OK);
    ck_assert_msg(strstr(err.text, values[_i].text) != NULL, "%s", err.text);
    mo_ir_free(ir);
}
END_TEST

START_TEST(a_dynamic_rank_is_shown)
{
    mo_ir *ir = infer_ir(infer_chain);
    mo_error err = { 0 };

    ir->layers[0].outputs[0].shape.rank = MO_DYNAMIC;
    ck_assert_int_eq(infer_with(ir, NULL, NULL, 0, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "input 'x' has a dynamic dimension (...); give "
                               "it a size with --shape x=1,...");
    mo_ir_free(ir);
}
END_TEST

SUITE(infer_errors)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(constants_are_missed_where_they_are_needed, COUNT(bins));
    EACH(errors_say_where_and_what_to_do, COUNT(faults));
    TEST(an_input_has_one_shape);
    TEST(many_inputs_are_listed_shortly);
    TEST(a_dynamic_rank_is_shown);
    EACH(a_value_must_fit_its_input, COUNT(values));
}
