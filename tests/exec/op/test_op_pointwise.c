/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/* Tests of exec/op/lower/binary.c, activation.c, select_convert.c and their
 * kernels, by small examples. The values are those of OpenVINO's reference or
 * specification. */
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"
#include "tests/exec/op/tensor_text.h"

static const struct {
    const char *type, *attrs;
    const char *in[5];
    const char *out;
} cases[] = {
    /* broadcasting */
    { "Add",
      NULL,
      { "f32[2,3] 1 2 3 4 5 6", "f32[3] 10 20 30" },
      "f32[2,3] 11 22 33 14 25 36" },
    { "Add",
      NULL,
      { "f32[2,1] 1 2", "f32[1,2] 10 20" },
      "f32[2,2] 11 21 12 22" },
    { "Add", NULL, { "f32[] 1", "f32[2] 1 2" }, "f32[2] 2 3" },
    { "Add", NULL, { "f32[0]", "f32[1] 1" }, "f32[0]" },
    { "Add",
      "{\"auto_broadcast\":\"none\"}",
      { "f32[2] 1 2", "f32[2] 3 4" },
      "f32[2] 4 6" },
    { "Add",
      "{\"auto_broadcast\":\"pdpd\",\"axis\":\"0\"}",
      { "f32[2,3] 1 2 3 4 5 6", "f32[2] 10 20" },
      "f32[2,3] 11 12 13 24 25 26" },
    { "Add",
      "{\"auto_broadcast\":\"pdpd\",\"axis\":\"1\"}",
      { "f32[2,2,2] 1 2 3 4 5 6 7 8", "f32[2] 10 20" },
      "f32[2,2,2] 11 12 23 24 15 16 27 28" },
    { "Add",
      "{\"auto_broadcast\":\"pdpd\"}",
      { "f32[2,3] 1 2 3 4 5 6", "f32[3] 10 20 30" },
      "f32[2,3] 11 22 33 14 25 36" },
    { "Add",
      NULL,
      { "f32[2] 1 2", "f32[2] 3 4", "f32[2] 5 6" },
      "f32[2] 9 12" },
    /* integers */
    { "Add", NULL, { "i32[1] 2147483647", "i32[1] 1" }, "i32[1] -2147483648" },
    { "Add", NULL, { "u8[2] 250 3", "u8[2] 10 4" }, "u8[2] 4 7" },
    { "Subtract", NULL, { "u8[2] 250 3", "u8[2] 10 4" }, "u8[2] 240 255" },
    { "Multiply",
      NULL,
      { "i16[2] 100 -100", "i16[2] 1000 4000" },
      "i16[2] -31072 -6784" },
    { "Divide",
      NULL,
      { "i32[6] 7 -7 7 -7 6 -6", "i32[6] 2 2 -2 -2 3 3" },
      "i32[6] 3 -4 -4 3 2 -2" },
    { "Divide",
      "{\"m_pythondiv\":\"false\"}",
      { "i32[4] 7 -7 7 -7", "i32[4] 2 2 -2 -2" },
      "i32[4] 3 -3 -3 3" },
    { "Divide", NULL, { "i64[1] 5", "i64[1] 0" }, "i64[1] 0" },
    { "Mod",
      NULL,
      { "i32[4] 7 -7 7 -7", "i32[4] 2 2 -2 -2" },
      "i32[4] 1 -1 1 -1" },
    { "FloorMod",
      NULL,
      { "i32[4] 7 -7 7 -7", "i32[4] 2 2 -2 -2" },
      "i32[4] 1 1 -1 -1" },
    { "Power",
      NULL,
      { "i32[4] 2 3 -2 0", "i32[4] 3 -1 3 0" },
      "i32[4] 8 0 -8 1" },
    { "SquaredDifference",
      NULL,
      { "i32[2] 3 -2", "i32[2] 5 7" },
      "i32[2] 4 81" },
    { "Exp", NULL, { "i32[4] 0 1 2 5" }, "i32[4] 1 3 7 148" },
    { "Sqrt", NULL, { "i64[3] 3 8 15" }, "i64[3] 2 3 4" },
    { "Floor", NULL, { "i32[2] -3 5" }, "i32[2] -3 5" },
    { "Clamp",
      "{\"min\":\"-1.5\",\"max\":\"2.5\"}",
      { "i32[5] -3 -1 0 2 3" },
      "i32[5] -1 -1 0 2 2" },
    { "BitwiseAnd", NULL, { "u8[2] 12 255", "u8[2] 10 15" }, "u8[2] 8 15" },
    { "BitwiseOr", NULL, { "i32[1] 12", "i32[1] 10" }, "i32[1] 14" },
    { "BitwiseXor", NULL, { "i32[1] 12", "i32[1] 10" }, "i32[1] 6" },
    { "BitwiseNot", NULL, { "u8[2] 0 1" }, "u8[2] 255 254" },
    { "BitwiseNot", NULL, { "bool[2] 0 1" }, "bool[2] 1 0" },
    /* reals */
    { "Divide", NULL, { "f32[3] 1 0 -1", "f32[1] 0" }, "f32[3] inf nan -inf" },
    { "Mod",
      NULL,
      { "f32[4] 7.5 -7.5 7.5 -7.5", "f32[4] 2 2 -2 -2" },
      "f32[4] 1.5 -1.5 1.5 -1.5" },
    { "FloorMod",
      NULL,
      { "f32[4] 7.5 -7.5 7.5 -7.5", "f32[4] 2 2 -2 -2" },
      "f32[4] 1.5 0.5 -0.5 -1.5" },
    { "Maximum", NULL, { "f32[3] nan 1 2", "f32[3] 1 0 3" }, "f32[3] nan 1 3" },
    { "Minimum", NULL, { "f32[2] 1 2", "f32[2] 0 3" }, "f32[2] 0 2" },
    { "Power",
      NULL,
      { "f32[5] -2 -2 0 0 2", "f32[5] 3 0.5 0 -1 0.5" },
      "f32[5] -8 nan 1 inf 1.41421356" },
    { "Power", NULL, { "f32[3] -2 0 3", "f32[] 2" }, "f32[3] 4 0 9" },
    { "Power", NULL, { "f32[2] -2 3", "f32[1] 3" }, "f32[2] -8 27" },
    { "Power", NULL, { "f32[2] 4 0", "f32[1] 0.5" }, "f32[2] 2 0" },
    { "Power", NULL, { "f32[2] 4 0", "f32[1] -1" }, "f32[2] 0.25 inf" },
    { "Power", NULL, { "f32[2] 4 16", "f32[1] -0.5" }, "f32[2] 0.5 0.25" },
    { "Power", NULL, { "f32[2] 4 16", "f32[1,1] 1" }, "f32[1,2] 4 16" },
    { "Power", NULL, { "f32[2] 4 16", "f32[1] 1.5" }, "f32[2] 8 64" },
    { "Add", NULL, { "f16[1] 2048", "f16[1] 1" }, "f16[1] 2048" },
    { "Add", NULL, { "bf16[1] 256", "bf16[1] 1" }, "bf16[1] 256" },
    { "Add",
      NULL,
      { "f64[1] 1e10", "f64[1] 1e-5" },
      "f64[1] 10000000000.00001" },
    /* curves */
    { "Abs", NULL, { "f32[3] -2 0 3" }, "f32[3] 2 0 3" },
    { "Abs", NULL, { "i8[2] -2 3" }, "i8[2] 2 3" },
    { "Negative", NULL, { "f32[2] -2 3" }, "f32[2] 2 -3" },
    { "Sign", NULL, { "f32[4] -2 0 3 nan" }, "f32[4] -1 0 1 nan" },
    { "Ceiling", NULL, { "f32[3] -1.5 0.5 2" }, "f32[3] -1 1 2" },
    { "Round",
      "{\"mode\":\"half_to_even\"}",
      { "f32[6] -2.5 -1.5 -0.5 0.5 1.5 2.5" },
      "f32[6] -2 -2 0 0 2 2" },
    { "Round",
      "{\"mode\":\"half_away_from_zero\"}",
      { "f32[6] -2.5 -1.5 -0.5 0.5 1.5 2.5" },
      "f32[6] -3 -2 -1 1 2 3" },
    { "Round",
      "{\"mode\":\"half_away_from_zero\"}",
      { "f32[2] 0.49999997 8388609" },
      "f32[2] 0 8388609" },
    { "ReLU", NULL, { "f32[4] -3 0 2 nan" }, "f32[4] 0 0 2 nan" },
    { "ReLU6", NULL, { "f32[3] -3 2 9" }, "f32[3] 0 2 6" },
    { "Clamp",
      "{\"min\":\"-1\",\"max\":\"2\"}",
      { "f32[3] -3.5 0.5 3" },
      "f32[3] -1 0.5 2" },
    { "Clamp", "{\"max\":\"2\"}", { "f32[2] -3.5 3" }, "f32[2] -3.5 2" },
    { "Elu",
      "{\"alpha\":\"1.5\"}",
      { "f32[3] -3.5 -0.5 2.5" },
      "f32[3] -1.4547039 -0.5902040 2.5" },
    { "Selu",
      NULL,
      { "f32[2] -3.5 2.5", "f32[] 1.67", "f32[] 1.05" },
      "f32[2] -1.7005487 2.625" },
    { "LeakyReLU",
      "{\"negative_slope\":\"0.1\"}",
      { "f32[2] -3 3" },
      "f32[2] -0.3 3" },
    { "HSwish", NULL, { "f32[3] -3.5 -1.5 3.5" }, "f32[3] 0 -0.375 3.5" },
    { "HSigmoid", NULL, { "f32[3] -3.5 -1.5 3.5" }, "f32[3] 0 0.25 1" },
    { "HardSigmoid",
      NULL,
      { "f32[3] -3 -1.5 3", "f32[] 0.2", "f32[] 0.5" },
      "f32[3] 0 0.2 1" },
    { "HardSigmoid",
      "{\"alpha\":\"0.2\",\"beta\":\"0.5\"}",
      { "f32[3] -3 -1.5 3" },
      "f32[3] 0 0.2 1" },
    { "Sigmoid", NULL, { "f32[3] -3.5 0 inf" }, "f32[3] 0.029312231 0.5 1" },
    { "SoftPlus",
      NULL,
      { "f32[3] -3.5 0 3.5" },
      "f32[3] 0.029750418 0.69314718 3.52975042" },
    { "Softsign", NULL, { "f32[2] -3.5 1.5" }, "f32[2] -0.77777778 0.6" },
    { "Mish", NULL, { "f32[2] -3.5 3.5" }, "f32[2] -0.1040957 3.493991" },
    { "Swish", NULL, { "f32[2] -3.5 1.5" }, "f32[2] -0.10259281 1.2263618" },
    { "Swish", NULL, { "f32[1] 1.5", "f32[] 2" }, "f32[1] 1.4288612" },
    { "Gelu",
      "{\"approximation_mode\":\"ERF\"}",
      { "f32[2] -1.5 2.5" },
      "f32[2] -0.10021080 2.4844759" },
    { "Gelu",
      "{\"approximation_mode\":\"TANH\"}",
      { "f32[2] -1.5 2.5" },
      "f32[2] -0.10042843 2.4849157" },
    { "Gelu", NULL, { "f32[1] -1.5" }, "f32[1] -0.10021080" },
    { "Erf", NULL, { "f32[2] -1.5 0.5" }, "f32[2] -0.96610515 0.52049988" },
    { "Tanh", NULL, { "f32[2] -1.5 0.5" }, "f32[2] -0.90514825 0.46211716" },
    { "Log", NULL, { "f32[3] 0 1 -1" }, "f32[3] -inf 0 nan" },
    { "Rsqrt", NULL, { "f32[2] 4 0" }, "f32[2] 0.5 inf" },
    { "Reciprocal", NULL, { "f32[2] 4 0" }, "f32[2] 0.25 inf" },
    { "Square", NULL, { "f32[2] -4 3" }, "f32[2] 16 9" },
    { "Square", NULL, { "i32[2] -4 3" }, "i32[2] 16 9" },
    { "Sin", NULL, { "f32[1] 1" }, "f32[1] 0.84147098" },
    { "Cos", NULL, { "f32[1] 1" }, "f32[1] 0.54030231" },
    { "Tan", NULL, { "f32[1] 1" }, "f32[1] 1.5574077" },
    { "Asin", NULL, { "f32[1] 0.5" }, "f32[1] 0.52359878" },
    { "Acos", NULL, { "f32[1] 0.5" }, "f32[1] 1.04719755" },
    { "Atan", NULL, { "f32[1] 0.5" }, "f32[1] 0.46364761" },
    { "Sinh", NULL, { "f32[1] 0.5" }, "f32[1] 0.52109531" },
    { "Cosh", NULL, { "f32[1] 0.5" }, "f32[1] 1.12762597" },
    { "Asinh", NULL, { "f32[1] 0.5" }, "f32[1] 0.48121183" },
    { "Acosh", NULL, { "f32[1] 1.5" }, "f32[1] 0.96242365" },
    { "Atanh", NULL, { "f32[1] 0.5" }, "f32[1] 0.54930614" },
    { "PReLU",
      NULL,
      { "f32[1,2,2] -1 -2 -3 4", "f32[2] 0.1 0.5" },
      "f32[1,2,2] -0.1 -0.2 -1.5 4" },
    { "PReLU",
      NULL,
      { "f32[2,2] -1 -2 -3 4", "f32[1] 0.5" },
      "f32[2,2] -0.5 -1 -1.5 4" },
    { "PReLU",
      NULL,
      { "f32[3] -1 -2 3", "f32[3] 0.1 0.5 1" },
      "f32[3] -0.1 -1 3" },
    { "PReLU",
      NULL,
      { "f32[1,2,2] -1 -2 -3 -4", "f32[2,1] 0.1 0.5" },
      "f32[1,2,2] -0.1 -0.2 -1.5 -2" },
    /* true and false */
    { "Equal", NULL, { "f32[3] 1 nan 2", "f32[3] 1 nan 3" }, "bool[3] 1 0 0" },
    { "NotEqual", NULL, { "i32[2] 1 2", "i32[2] 1 3" }, "bool[2] 0 1" },
    { "Less", NULL, { "i64[2] 1 4", "i64[] 3" }, "bool[2] 1 0" },
    { "LessEqual", NULL, { "f32[3] 1 3 4", "f32[] 3" }, "bool[3] 1 1 0" },
    { "Greater", NULL, { "f32[3] 1 3 4", "f32[] 3" }, "bool[3] 0 0 1" },
    { "GreaterEqual", NULL, { "u8[3] 1 3 200", "u8[] 3" }, "bool[3] 0 1 1" },
    { "LogicalAnd",
      NULL,
      { "bool[4] 0 0 1 1", "bool[4] 0 1 0 1" },
      "bool[4] 0 0 0 1" },
    { "LogicalOr",
      NULL,
      { "bool[4] 0 0 1 1", "bool[4] 0 1 0 1" },
      "bool[4] 0 1 1 1" },
    { "LogicalXor",
      NULL,
      { "bool[4] 0 0 1 1", "bool[4] 0 1 0 1" },
      "bool[4] 0 1 1 0" },
    { "LogicalNot", NULL, { "bool[2] 0 1" }, "bool[2] 1 0" },
    { "IsNaN", NULL, { "f32[4] nan inf -inf 0" }, "bool[4] 1 0 0 0" },
    { "IsFinite", NULL, { "f32[4] nan inf -inf 0" }, "bool[4] 0 0 0 1" },
    { "IsInf", NULL, { "f32[4] nan inf -inf 0" }, "bool[4] 0 1 1 0" },
    { "IsInf",
      "{\"detect_negative\":\"false\"}",
      { "f32[3] inf -inf 0" },
      "bool[3] 1 0 0" },
    { "IsInf",
      "{\"detect_positive\":\"false\"}",
      { "f32[3] inf -inf 0" },
      "bool[3] 0 1 0" },
    { "IsInf",
      "{\"detect_positive\":\"false\",\"detect_negative\":\"false\"}",
      { "f32[3] inf -inf 0" },
      "bool[3] 0 0 0" },
    { "Select",
      NULL,
      { "bool[2] 1 0", "f32[2] 1 2", "f32[2] 3 4" },
      "f32[2] 1 4" },
    { "Select",
      NULL,
      { "bool[2,1] 1 0", "i32[2] 1 2", "i32[] 9" },
      "i32[2,2] 1 2 9 9" },
    { "MaskedFill",
      NULL,
      { "f32[2] 1 2", "bool[2] 0 1", "f32[] -inf" },
      "f32[2] 1 -inf" },
    { "MaskedFill",
      "{\"value\":\"-5\"}",
      { "f32[2] 1 2", "bool[2] 0 1" },
      "f32[2] 1 -5" },
    /* conversions */
    { "Convert",
      NULL,
      { "f32[5] -1.5 -0.5 0.5 1.7 200.9" },
      "i32[5] -1 0 0 1 200" },
    { "Convert",
      NULL,
      { "f32[4] -300.7 -1.5 200.9 300" },
      "u8[4] 212 255 200 44" },
    { "Convert", NULL, { "f32[4] 0 -0.5 nan 3" }, "bool[4] 0 1 1 1" },
    { "Convert",
      NULL,
      { "i64[4] -300 -1 200 3000000000" },
      "i32[4] -300 -1 200 -1294967296" },
    { "Convert", NULL, { "i64[3] -1 256 0" }, "bool[3] 1 1 0" },
    { "Convert",
      NULL,
      { "i64[2] 1099511627776 -7" },
      "f32[2] 1099511627776 -7" },
    { "Convert", NULL, { "bool[2] 0 1" }, "f32[2] 0 1" },
    { "Convert", NULL, { "f32[2] 65519 1e6" }, "f16[2] 65504 inf" },
    { "Convert", NULL, { "f64[1] 0.1" }, "f32[1] 0.1" },
    { "ConvertLike", NULL, { "f32[2] 1.5 -2.5", "i32[] 0" }, "i32[2] 1 -2" },
    { "FakeQuantize",
      "{\"levels\":\"5\"}",
      { "f32[6] -1 0 0.3 0.5 0.9 2", "f32[] 0", "f32[] 1", "f32[] 0",
        "f32[] 10" },
      "f32[6] 0 0 2.5 5 10 10" },
    { "FakeQuantize",
      "{\"levels\":\"256\"}",
      { "f32[1,2,2] -1 0.2 0.2 3", "f32[2,1] 0 0", "f32[2,1] 1 2",
        "f32[2,1] 0 0", "f32[2,1] 1 2" },
      "f32[1,2,2] 0 0.2 0.20392157 2" },
};

static void add_inputs(op_case *c, const char *const *in)
{
    for (int i = 0; i < 5 && in[i]; i++)
        c->value[c->n_in++] = tensor_of(in[i]);
}

START_TEST(operators_mean_what_their_specification_says)
{
    op_case c = op_case_of(cases[_i].type, cases[_i].attrs);
    mo_tensor_dense out = tensor_of(cases[_i].out);
    char what[64];

    add_inputs(&c, cases[_i].in);
    op_case_makes(&c, out.desc.elem, &out.desc.shape);
    op_case_run(&c);
    snprintf(what, sizeof what, "case %d: %s", _i, cases[_i].type);
    check_tensor(&c.result[0], cases[_i].out, what);
    mo_tensor_clear(&out);
    op_case_clear(&c);
}
END_TEST

static const struct {
    const char *type, *attrs;
    const char *in[5];
    const char *out, *why;
} refused[] = {
    { "Add", NULL, { "f32[2]", "f32[3]" }, "f32[3]", "" },
    { "Add", NULL, { "f32[1]", "f32[1]" }, "f32[3]", "" },
    { "Add",
      "{\"auto_broadcast\":\"none\"}",
      { "f32[2]", "f32[1]" },
      "f32[2]",
      "" },
    { "Add",
      "{\"auto_broadcast\":\"pdpd\",\"axis\":\"2\"}",
      { "f32[2,3]", "f32[3]" },
      "f32[2,3]",
      "broadcast" },
    { "Subtract", NULL, { "f32[2]" }, "f32[2]", "has 1 input, but takes 2" },
    { "Select",
      NULL,
      { "bool[2]", "f32[2]" },
      "f32[2]",
      "has 2 inputs, but takes 3" },
    { "BitwiseAnd", NULL, { "f32[2]", "f32[2]" }, "f32[2]", "integers" },
    { "Clamp",
      "{\"min\":\"3\",\"max\":\"2\"}",
      { "f32[2]" },
      "f32[2]",
      "empty" },
    { "Elu", "{\"alpha\":\"much\"}", { "f32[2]" }, "f32[2]", "number" },
    { "FakeQuantize",
      "{\"levels\":\"1\"}",
      { "f32[2]", "f32[]", "f32[]", "f32[]", "f32[]" },
      "f32[2]",
      "levels" },
    { "Swish", NULL, { "f32[2]", "f32[2]" }, "f32[2]", "" },
};

START_TEST(what_makes_no_sense_is_refused)
{
    op_case c = op_case_of(refused[_i].type, refused[_i].attrs);
    mo_tensor_dense out;
    mo_error err = { 0 };
    char text[256];

    snprintf(text, sizeof text, "%s 0", refused[_i].out);
    out = tensor_of(text);
    for (int i = 0; i < 5 && refused[_i].in[i]; i++) {
        snprintf(text, sizeof text, "%s 0", refused[_i].in[i]);
        c.value[c.n_in++] = tensor_of(text);
    }
    op_case_makes(&c, out.desc.elem, &out.desc.shape);
    ck_assert_msg(op_case_try(&c, &err) != MO_OK, "case %d", _i);
    ck_assert_msg(strstr(err.text, refused[_i].why), "case %d: %s", _i,
                  err.text);
    mo_tensor_clear(&out);
    op_case_clear(&c);
}
END_TEST

SUITE(op_pointwise)
{
    EACH(operators_mean_what_their_specification_says, COUNT(cases));
    EACH(what_makes_no_sense_is_refused, COUNT(refused));
}
