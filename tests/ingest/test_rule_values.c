/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/infer/rule.h: evaluation of small tensors. */
#include "ingest/infer/rule.h"

#include <math.h>
#include <string.h>

#include "tests/ingest/rule_case.h"
#include "tests/support/suite.h"

/* The values of an output, with all inputs known. */
static const struct {
    const char *type, *attributes, *inputs, *dtype, *items;
    int output, n_outputs;
} values[] = {
#define VALUE(type, attributes, inputs, dtype, items)                          \
    {                                                                          \
        type, attributes, inputs, dtype, items, 0, 1                           \
    }
    VALUE("ShapeOf", "", "2,3,4", "i64", "2,3,4"),
    VALUE("ShapeOf", "", "2,300", "i32", "2,300"),
    VALUE("Add", "", "=1,2,3 ; #10", "i64", "11,12,13"),
    VALUE("Add", "", "2x1=10,20 ; =1,2", "i64", "11,12,21,22"),
    VALUE("Subtract", "", "=1,2 ; =5,1", "i64", "-4,1"),
    VALUE("Multiply", "", "=3,-4 ; #5", "i64", "15,-20"),
    VALUE("Divide", "", "=7,-7,7,-7 ; =2,2,-2,-2", "i64", "3,-4,-4,3"),
    VALUE("Divide", "m_pythondiv=false", "=7,-7,7,-7 ; =2,2,-2,-2", "i64",
          "3,-3,-3,3"),
    VALUE("Mod", "", "=7,-7,7,-7 ; =4,4,-4,-4", "i64", "3,-3,3,-3"),
    VALUE("FloorMod", "", "=7,-7,7,-7 ; =4,4,-4,-4", "i64", "3,1,-1,-3"),
    VALUE("Power", "", "=2,3,7 ; =10,3,0", "i64", "1024,27,1"),
    VALUE("Power", "", "=3 ; =39", "i64", "4052555153018976267"),
    VALUE("Maximum", "", "=2,9 ; #5", "i64", "5,9"),
    VALUE("Minimum", "", "=2,9 ; #5", "i64", "2,5"),
    VALUE("SquaredDifference", "", "=2,9 ; #5", "i64", "9,16"),
    VALUE("Divide", "", "~7,1 ; ~2,4", "f32", "3.5,0.25"),
    VALUE("FloorMod", "", "~-7.5 ; ~2", "f32", "0.5"),
    VALUE("LogicalAnd", "", "=1,1,0 ; =1,0,0", "boolean", "1,0,0"),
    VALUE("LogicalOr", "", "=1,1,0 ; =1,0,0", "boolean", "1,1,0"),
    VALUE("LogicalXor", "", "=1,1,0 ; =1,0,0", "boolean", "0,1,0"),
    VALUE("LogicalNot", "", "=1,0", "boolean", "0,1"),
    VALUE("Equal", "", "=1,2,3 ; #2", "boolean", "0,1,0"),
    VALUE("NotEqual", "", "=1,2,3 ; #2", "boolean", "1,0,1"),
    VALUE("Less", "", "=1,2,3 ; #2", "boolean", "1,0,0"),
    VALUE("LessEqual", "", "=1,2,3 ; #2", "boolean", "1,1,0"),
    VALUE("Greater", "", "~1,2,3 ; ~2", "boolean", "0,0,1"),
    VALUE("GreaterEqual", "", "~1,2,3 ; ~2", "boolean", "0,1,1"),
    VALUE("Select", "", "=1,0,1 ; =1,2,3 ; #9", "i64", "1,9,3"),
    VALUE("Abs", "", "=-1,2", "i64", "1,2"),
    VALUE("Negative", "", "=-1,2", "i64", "1,-2"),
    VALUE("Sign", "", "=-7,0,7", "i64", "-1,0,1"),
    VALUE("ReLU", "", "=-7,0,7", "i64", "0,0,7"),
    VALUE("Floor", "", "~-1.5,1.5", "f32", "-2,1"),
    VALUE("Ceiling", "", "~-1.5,1.5", "f32", "-1,2"),
    VALUE("Sqrt", "", "~9,2.25", "f32", "3,1.5"),
    VALUE("Exp", "", "~0", "f32", "1"),
    VALUE("Log", "", "~1", "f32", "0"),
    VALUE("Convert", "", "~1.9,-1.9", "i64", "1,-1"),
    VALUE("Convert", "", "=4294967303,-1", "i32", "7,-1"),
    VALUE("Convert", "", "=300,-1", "u8", "44,255"),
    VALUE("Convert", "", "=200", "i8", "-56"),
    VALUE("Convert", "", "=16777217", "f32", "16777216"),
    VALUE("Convert", "", "=2049", "f16", "2048"),
    VALUE("Convert", "", "~0.5,0", "boolean", "1,0"),
    VALUE("ConvertLike", "", "~2.5 ; =1", "i64", "2"),
    VALUE("Reshape", "", "=1,2,3,4 ; =2,2", "i64", "1,2,3,4"),
    VALUE("Squeeze", "", "1x2=1,2", "i64", "1,2"),
    VALUE("Unsqueeze", "", "=1,2 ; =0", "i64", "1,2"),
    VALUE("Transpose", "", "2x3=1,2,3,4,5,6 ; =1,0", "i64", "1,4,2,5,3,6"),
    VALUE("Tile", "", "2x2=1,2,3,4 ; =2,1,2", "i64",
          "1,2,1,2,3,4,3,4,1,2,1,2,3,4,3,4"),
    VALUE("Broadcast", "", "=1,2 ; =2,2", "i64", "1,2,1,2"),
    VALUE("Broadcast", "mode=explicit", "=1,2 ; =2,2 ; =0", "i64", "1,1,2,2"),
    VALUE("Concat", "axis=1", "2x1=1,2 ; 2x2=3,4,5,6", "i64", "1,3,4,2,5,6"),
    { "Split", "num_splits=2", "=1,2,3,4 ; #0", "i64", "3,4", 1, 2 },
    { "Split", "num_splits=2", "2x2=1,2,3,4 ; #1", "i64", "2,4", 1, 2 },
    { "VariadicSplit", "", "=1,2,3,4 ; #0 ; =1,-1", "i64", "2,3,4", 1, 2 },
    { "VariadicSplit", "", "=1,2,3,4 ; #0 ; =-1,1,1", "i64", "3", 1, 3 },
    VALUE("Slice", "", "=1,2,3,4,5 ; =-1 ; =0 ; =-2", "i64", "5,3"),
    VALUE("StridedSlice", "shrink_axis_mask=1", "=1,2,3 ; =-1 ; =0", "i64",
          "3"),
    VALUE("StridedSlice", "new_axis_mask=1,0", "=1,2,3 ; =0,1 ; =0,3", "i64",
          "2,3"),
    VALUE("Gather", "", "=5,6,7 ; =-1,0 ; #0", "i64", "7,5"),
    VALUE("Gather", "", "2x3=1,2,3,4,5,6 ; =2,0 ; #1", "i64", "3,1,6,4"),
    VALUE("ReduceProd", "", "=2,3,4 ; =0", "i64", "24"),
    VALUE("ReduceSum", "", "2x3=1,2,3,4,5,6 ; =0", "i64", "5,7,9"),
    VALUE("ReduceMax", "", "2x3=1,2,3,4,5,6 ; =1", "i64", "3,6"),
    VALUE("ReduceMin", "keep_dims=true", "2x3=1,2,3,4,5,6 ; =1", "i64", "1,4"),
    VALUE("ReduceMean", "", "=1,2,4 ; =0", "i64", "2"),
    VALUE("ReduceMean", "", "~1,2 ; =0", "f32", "1.5"),
    VALUE("ReduceLogicalAnd", "", "=1,0 ; =0", "boolean", "0"),
    VALUE("ReduceLogicalOr", "", "=1,0 ; =0", "boolean", "1"),
    VALUE("Range", "output_type=i64", "#2 ; #9 ; #3", "i64", "2,5,8"),
    VALUE("Range", "output_type=i64",
          "#9223372036854775805 ; #9223372036854775807 ; #1", "i64",
          "9223372036854775805,9223372036854775806"),
    VALUE("Range", "output_type=f32", "()~1 ; ()~0 ; ()~-0.5", "f32", "1,0.5"),
};

/* Applies the rule's shape function, then its value function to an output. */
static mo_status evaluate(rule_case *c, int output, const char *dtype,
                          mo_infer_value **value, mo_error *why)
{
    const mo_infer_rule *rule = mo_infer_rule_find(c->op.type);

    ck_assert(rule->value != NULL);
    MUST(mo_infer_rule_apply(rule, &c->op, c->outputs, &err));
    *value = mo_infer_value_new(c->arena, &c->outputs[output], dtype);
    return rule->value(&c->op, output, *value, why);
}

START_TEST(values_are_computed)
{
    mo_infer_value *value;
    rule_case c;

    rule_case_make(&c, values[_i].type, NULL, values[_i].attributes,
                   values[_i].inputs, values[_i].n_outputs);
    MUST(evaluate(&c, values[_i].output, values[_i].dtype, &value, &err));
    ck_assert_msg(!strcmp(rule_case_items(value), values[_i].items),
                  "%s(%s) is %s, not %s", c.op.type, values[_i].inputs,
                  rule_case_items(value), values[_i].items);
    rule_case_free(&c);
}
END_TEST

START_TEST(every_value_rule_is_tested)
{
    for (int i = 0; mo_infer_rule_at(i); i++) {
        bool found = !mo_infer_rule_at(i)->value;

        for (int k = 0; k < COUNT(values); k++)
            found |= strcmp(values[k].type, mo_infer_rule_at(i)->type) == 0;
        ck_assert_msg(found, "%s", mo_infer_rule_at(i)->type);
    }
}
END_TEST

static const struct {
    const char *type, *attributes, *inputs, *dtype;
} unvalued[] = {
    { "Divide", "", "=1 ; =0", "i64" },
    { "Mod", "", "=1 ; =0", "i64" },
    { "FloorMod", "", "=-9223372036854775808 ; =-1", "i64" },
    { "Divide", "", "=-9223372036854775808 ; =-1", "i64" },
    { "Add", "", "=9223372036854775807 ; =1", "i64" },
    { "Subtract", "", "=0 ; =-9223372036854775808", "i64" },
    { "Multiply", "", "=9223372036854775807 ; =2", "i64" },
    { "Power", "", "=10 ; =19", "i64" },
    { "Power", "", "=0 ; =-1", "i64" },
    { "SquaredDifference", "", "=9223372036854775807 ; =-1", "i64" },
    { "Negative", "", "=-9223372036854775808", "i64" },
    { "Abs", "", "=-9223372036854775808", "i64" },
    { "Sqrt", "", "=4", "i64" },
    { "Add", "", "=1 ; ~1", "i64" },
    { "Add", "auto_broadcast=pdpd axis=0", "2x3=1,2,3,4,5,6 ; =1,2", "i64" },
    { "Equal", "", "=1 ; ~1", "boolean" },
    { "Select", "", "~1 ; =1 ; =2", "i64" },
    { "LogicalAnd", "", "~1 ; ~1", "f32" },
    { "Convert", "", "~1e30", "i64" },
    { "Convert", "", "~-1e30", "i32" },
    { "Gather", "", "=5,6,7 ; =3 ; #0", "i64" },
    { "Gather", "", "=5,6,7 ; =-4 ; #0", "i64" },
    { "ReduceMax", "", "0= ; =0", "i64" },
    { "ReduceSum", "", "~1 ; =0", "i64" },
    { "StridedSlice", "shrink_axis_mask=1", "0x2= ; =0 ; =1", "i64" },
};

START_TEST(what_has_no_result_has_no_value)
{
    mo_error err = { 0 };
    mo_infer_value *value;
    rule_case c;

    rule_case_make(&c, unvalued[_i].type, NULL, unvalued[_i].attributes,
                   unvalued[_i].inputs, 1);
    ck_assert_msg(evaluate(&c, 0, unvalued[_i].dtype, &value, &err) != MO_OK,
                  "%s(%s) is %s", c.op.type, unvalued[_i].inputs,
                  rule_case_items(value));
    ck_assert_str_ne(err.text, "");
    rule_case_free(&c);
}
END_TEST

static const char *const keeps_nan[] = { "Maximum",   "Minimum", "ReduceMax",
                                         "ReduceMin", "ReLU",    "Sign" };

START_TEST(not_a_number_is_kept)
{
    bool reduces = strncmp(keeps_nan[_i], "Reduce", 6) == 0;

    for (int k = 0; k < 2; k++) {
        mo_infer_value *value;
        rule_case c;

        rule_case_make(&c, keeps_nan[_i], NULL, "",
                       reduces  ? "~1,2 ; =0"
                       : _i < 4 ? "~1,2 ; ~2,1"
                                : "~1,2",
                       1);
        c.inputs[0].value->items[k].r = NAN;
        MUST(evaluate(&c, 0, "f32", &value, &err));
        ck_assert(isnan(value->items[reduces ? 0 : k].r));
        rule_case_free(&c);
    }
}
END_TEST

/* Of 2^63 and above: constants may be moved, and are computed with by the
 * kernels. */
START_TEST(large_u64_has_no_value)
{
    static const char *const types[] = { "Maximum", "Less", "Divide", "Add" };

    for (int k = 0; k < COUNT(types); k++) {
        mo_error err = { 0 };
        mo_infer_value *value, given[2];
        rule_case c;

        rule_case_make(&c, types[k], NULL, "", "=-1 ; =3", 1);
        for (int i = 0; i < 2; i++) {
            given[i] = *c.inputs[i].value;
            given[i].dtype = "u64";
            c.inputs[i].value = &given[i];
        }
        ck_assert(evaluate(&c, 0, "u64", &value, &err) != MO_OK);
        rule_case_free(&c);
    }
}
END_TEST

SUITE(rule_values)
{
    EACH(not_a_number_is_kept, COUNT(keeps_nan));
    TEST(large_u64_has_no_value);
    EACH(values_are_computed, COUNT(values));
    TEST(every_value_rule_is_tested);
    EACH(what_has_no_result_has_no_value, COUNT(unvalued));
}
