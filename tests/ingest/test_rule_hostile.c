/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Fuzz test of ingest/infer/rule.h: any number of inputs, any shape, any
 * value, any attribute give a shape or an error. */
#include "graph/op_attrs.h"
#include "ingest/infer/rule.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

enum { MAX_PORTS = 8, ROUNDS = 2000, FEW_ROUNDS = 100 };

static const int64_t sizes[] = {
    0, 1, 1, 2, 2, 3, 4, 5, 8, 1 << 20, (int64_t) 1 << 48
};

static const int64_t numbers[] = { 0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   7,
                                   -1,
                                   -2,
                                   -3,
                                   -7,
                                   16,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MIN + 1,
                                   (int64_t) 1 << 48 };

static const double reals[] = { 0, 1, -1, 0.5, 2.5, 1e-30, 1e30, -1e300 };

static const char *const dtypes[] = { "i64",     "i32", "u8",
                                      "boolean", "f32", "f16" };

static const char *const keys[] = {
    "axis",       "axes",           "strides",       "dilations",
    "pads_begin", "pads_end",       "kernel",        "group",
    "batch_dims", "block_size",     "num_splits",    "hidden_size",
    "pooled_h",   "pooled_w",       "sizes",         "rates",
    "begin_mask", "end_mask",       "new_axis_mask", "shrink_axis_mask",
    "num_groups", "output_padding", "ellipsis_mask",
};

static const char *const words[] = {
    "\"auto_pad\":\"same_upper\"",
    "\"auto_pad\":\"valid\"",
    "\"rounding_type\":\"ceil\"",
    "\"rounding_type\":\"ceil_torch\"",
    "\"mode\":\"explicit\"",
    "\"mode\":\"bidirectional\"",
    "\"mode\":\"pdpd\"",
    "\"auto_broadcast\":\"pdpd\"",
    "\"keep_dims\":\"true\"",
    "\"special_zero\":\"true\"",
    "\"pad_mode\":\"reflect\"",
    "\"shape_calculation_mode\":\"scales\"",
    "\"equation\":\"ab...,bc->ac\"",
    "\"equation\":\"...->.....\"",
    "\"output_type\":\"i64\"",
    "\"direction\":\"bidirectional\"",
};

static const char *const versions[] = {
    NULL, "opset1", "opset4", "opset8", "opset99999999999999999999", "x"
};

typedef struct source {
    uint64_t state;
} source;

/* xorshift: the same on every machine. */
static int pick(source *s, int n)
{
    s->state ^= s->state << 13;
    s->state ^= s->state >> 7;
    s->state ^= s->state << 17;
    return (int) (s->state >> 33) % n;
}

#define PICK(s, array) ((array)[pick((s), COUNT(array))])

static mo_shape random_shape(source *s)
{
    mo_shape shape;

    do {
        shape = (mo_shape){ .rank = pick(s, pick(s, 8) ? 6 : 17) };
        for (int d = 0; d < shape.rank; d++)
            shape.dims[d] = PICK(s, sizes);
    } while (!mo_shape_fits(&shape));
    return shape;
}

static const mo_infer_value *random_value(source *s, mo_arena *arena,
                                          mo_shape *shape)
{
    mo_infer_value *value;

    if (pick(s, 3))
        *shape = (mo_shape){ .rank = pick(s, 3) > 0, .dims = { pick(s, 6) } };
    if (mo_shape_elements(shape) > 64)
        return NULL;
    value = mo_infer_value_new(arena, shape, PICK(s, dtypes));
    for (int64_t i = 0; i < value->count; i++)
        if (value->real)
            value->items[i].r = PICK(s, reals);
        else
            value->items[i] =
                mo_infer_value_fit_int(PICK(s, numbers), value->dtype);
    return value;
}

static const char *random_attributes(source *s, char *text, size_t size)
{
    size_t at = (size_t) snprintf(text, size, "{\"x\":\"0\"");

    for (int i = 0; i < COUNT(keys); i++) {
        int count = pick(s, 5);

        if (pick(s, 2))
            continue;
        at += (size_t) snprintf(text + at, size - at, ",\"%s\":\"", keys[i]);
        for (int k = 0; k < count; k++)
            at += (size_t) snprintf(
                text + at, size - at, "%s%lld", k ? "," : "",
                (long long) numbers[pick(s, pick(s, 4) ? 5 : 14)]);
        at += (size_t) snprintf(text + at, size - at, "\"");
    }
    for (int i = 0; i < 3; i++)
        at += (size_t) snprintf(text + at, size - at, ",%s", PICK(s, words));
    snprintf(text + at, size - at, "}");
    return text;
}

static bool all_known(const mo_infer_rule *rule, const mo_infer_rule_op *op)
{
    for (int k = 0; k < op->n_inputs; k++)
        if ((mo_infer_rule_set_has(rule->needs, k) ||
             mo_infer_rule_set_has(rule->reads, k)) &&
            !op->inputs[k].value)
            return false;
    return true;
}

static void try_values(const mo_infer_rule *rule, const mo_infer_rule_op *op,
                       const mo_shape *outputs, source *s, mo_arena *arena)
{
    for (int k = 0; k < op->n_outputs; k++) {
        mo_error err = { 0 };
        mo_infer_value *value;

        if (mo_shape_elements(&outputs[k]) > MO_INFER_VALUE_MAX_ITEMS)
            continue;
        value = mo_infer_value_new(arena, &outputs[k], PICK(s, dtypes));
        if (rule->value(op, k, value, &err) != MO_OK)
            ck_assert_str_ne(err.text, "");
    }
}

static void try_rule(const mo_infer_rule *rule, source *s, mo_arena *arena)
{
    mo_infer_rule_input inputs[MAX_PORTS] = { 0 };
    mo_shape outputs[MAX_PORTS];
    char attributes[4096];
    mo_error err = { 0 };
    mo_infer_rule_op op = {
        .type = rule->type,
        .version = PICK(s, versions),
        .attrs = mo_attr_list_parse(
            random_attributes(s, attributes, sizeof attributes), arena),
        .inputs = inputs,
        .n_inputs = pick(s, 4) ? rule->inputs.min : pick(s, MAX_PORTS),
        .n_outputs = pick(s, 4) ? 1 : pick(s, MAX_PORTS),
    };

    for (int k = 0; k < op.n_inputs; k++) {
        inputs[k].shape = random_shape(s);
        if (pick(s, 4) || mo_infer_rule_set_has(rule->needs, k))
            inputs[k].value = random_value(s, arena, &inputs[k].shape);
    }
    if (mo_infer_rule_apply(rule, &op, outputs, &err) != MO_OK) {
        ck_assert_str_ne(err.text, "");
        return;
    }
    for (int k = 0; k < op.n_outputs; k++)
        ck_assert(mo_shape_is_static(&outputs[k]) &&
                  mo_shape_fits(&outputs[k]));
    if (rule->value && all_known(rule, &op))
        try_values(rule, &op, outputs, s, arena);
}

START_TEST(anything_is_a_shape_or_an_error)
{
    const mo_infer_rule *rule = mo_infer_rule_at(_i);
    source s = { (uint64_t) _i * 2654435761u + 1 };
    int n_rounds = how_many(ROUNDS, FEW_ROUNDS);

    for (int round = 0; rule && round < n_rounds; round++) {
        mo_arena *arena = mo_arena_new();

        ck_assert_ptr_nonnull(arena);
        try_rule(rule, &s, arena);
        mo_arena_free(arena);
    }
}
END_TEST

static int count_rules(void)
{
    int count = 0;

    while (mo_infer_rule_at(count))
        count++;
    return count;
}

SUITE(rule_hostile)
{
    EACH(anything_is_a_shape_or_an_error, count_rules());
}
