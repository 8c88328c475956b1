/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/op_attrs.h: attributes are read the same however written. */
#include "graph/op_attrs.h"

#include <math.h>
#include <string.h>

#include "graph/build.h"
#include "tests/support/suite.h"

static mo_arena *arena;

static const mo_attr_list *parse(const char *text)
{
    const mo_attr_list *list;

    mo_arena_free(arena);
    arena = mo_arena_new();
    ck_assert_ptr_nonnull(arena);
    list = mo_attr_list_parse(text, arena);
    ck_assert_ptr_nonnull(list);
    return list;
}

static const struct {
    const char *text, *key, *value; /* NULL: absent */
} finds[] = {
    { "{}", "a", NULL },
    { "{\"a\":12}", "a", "12" },
    { "{\"a\":12}", "b", NULL },
    { "{\"a\":12}", "aa", NULL },
    { "{\"aa\":12}", "a", NULL },
    { "{\"a\":12}", "", NULL },
    { "{\"\":12}", "", "12" },
    { " { \"x\" : [1] , \"a\" : \"same_upper\" } ", "a", "same_upper" },
    { "{\"s\":[1,1],\"t\":true}", "s", "[1,1]" },
    { "{\"s\":[1,1],\"t\":true}", "t", "true" },
    { "{\"x\":{\"a\":1},\"a\":2}", "a", "2" },
    { "{\"x\":{\"a\":1}}", "a", NULL },
    { "{\"x\":\"\\\"a\\\":1\"}", "a", NULL },
    { "{\"a\":1,\"a\":2}", "a", "2" }, /* the last one, as Python has it */
    { "{\"caf\\u00e9\":1}", "caf\xc3\xa9", "1" },
    { "{\"a\\/b\\n\":1}", "a/b\n", "1" },
    { "{\"\\ud83d\\ude00\":1}", "\xf0\x9f\x98\x80", "1" },
    { "{\"\\ud83dx\":1}", "\xef\xbf\xbdx", "1" },
    { "{\"a\\u0000\":1}", "a", NULL },
    { "{\"A\":1}", "a", NULL },
    { "", "a", NULL },
    { "x", "a", NULL },
    { "[\"a\",1]", "a", NULL },
    { "{\"a\":1", "a", "1" }, /* what is missing is behind it */
    { "{\"a\":1 \"b\":2}", "b", "2" },
    { "{\"a\":1,\"b\"", "a", NULL },
    { "{\"a\":1,\"b\":}", "a", NULL },
    { "{\"a\":1,\"\\x\":2}", "a", NULL },
    { "{\"a\":1,\"\\::2}", "a", "1" },
    { "{\"a\":tru}", "a", NULL },
};

START_TEST(the_last_of_a_key_is_found)
{
    const mo_attr *attr = mo_attr_find(parse(finds[_i].text), finds[_i].key);

    ck_assert_msg((attr == NULL) == (finds[_i].value == NULL), "%s",
                  finds[_i].text);
    if (attr) {
        ck_assert_uint_eq(attr->length, strlen(finds[_i].value));
        ck_assert_mem_eq(attr->text, finds[_i].value, attr->length);
    }
}
END_TEST

static const struct {
    const char *text;
    int count;
    int64_t values[3];
} int_lists[] = {
    { "{\"k\":3}", 1, { 3 } },
    { "{\"k\":-3}", 1, { -3 } },
    { "{\"k\":[1,2]}", 2, { 1, 2 } },
    { "{\"k\":[ 1 , 2 ]}", 2, { 1, 2 } },
    { "{\"k\":\"1,2\"}", 2, { 1, 2 } },
    { "{\"k\":\"1, -2, 3\"}", 3, { 1, -2, 3 } },
    { "{\"k\":\"3\"}", 1, { 3 } },
    { "{\"k\":[]}", 0, { 0 } },
    { "{\"k\":[ ]}", 0, { 0 } },
    { "{\"k\":\"\"}", 0, { 0 } },
    { "{\"k\":[1,2,3,4,5]}", 5, { 1, 2, 3 } },
    { "{\"k\":9223372036854775807}", 1, { INT64_MAX } },
    { "{\"k\":9223372036854775808}", -1, { 0 } },
    { "{\"k\":1.5}", -1, { 0 } },
    { "{\"k\":1e2}", -1, { 0 } },
    { "{\"k\":true}", -1, { 0 } },
    { "{\"k\":null}", -1, { 0 } },
    { "{\"k\":\"same\"}", -1, { 0 } },
    { "{\"k\":\"1,,2\"}", -1, { 0 } },
    { "{\"k\":\"1,\"}", -1, { 0 } },
    { "{\"k\":[[1]]}", -1, { 0 } },
    { "{\"k\":{}}", -1, { 0 } },
    { "{\"j\":1}", -1, { 0 } },
};

START_TEST(ints_are_read_however_written)
{
    int64_t values[3] = { 0 };

    ck_assert_msg(mo_attr_ints(parse(int_lists[_i].text), "k", values, 3) ==
                      int_lists[_i].count,
                  "%s", int_lists[_i].text);
    if (int_lists[_i].count > 0)
        ck_assert_mem_eq(values, int_lists[_i].values, sizeof values);
}
END_TEST

static const struct {
    const char *text;
    bool if_false, if_true; /* the result, by fallback */
} bools[] = {
    { "{\"k\":true}", true, true },        { "{\"k\":\"true\"}", true, true },
    { "{\"k\":\"True\"}", true, true },    { "{\"k\":1}", true, true },
    { "{\"k\":\"1\"}", true, true },       { "{\"k\":false}", false, false },
    { "{\"k\":\"FALSE\"}", false, false }, { "{\"k\":0}", false, false },
    { "{\"k\":\"0\"}", false, false },     { "{\"k\":2}", false, true },
    { "{\"k\":\"yes\"}", false, true },    { "{\"k\":[1]}", false, true },
    { "{\"j\":true}", false, true },       { "{\"k\":\"\"}", false, true },
};

START_TEST(bools_are_read_however_written)
{
    ck_assert(mo_attr_bool(parse(bools[_i].text), "k", false) ==
              bools[_i].if_false);
    ck_assert(mo_attr_bool(parse(bools[_i].text), "k", true) ==
              bools[_i].if_true);
}
END_TEST

static const struct {
    const char *text, *value;
    bool is;
} texts[] = {
    { "{\"k\":\"same_upper\"}", "same_upper", true },
    { "{\"k\":\"SAME_Upper\"}", "same_upper", true },
    { "{\"k\":\"same_upper\"}", "SAME_UPPER", true },
    { "{\"k\":\"s\\u0061me\"}", "same", true },
    { "{\"k\":\"same\"}", "same_upper", false },
    { "{\"k\":\"same_upper\"}", "same", false },
    { "{\"k\":\"\"}", "", true },
    { "{\"k\":\"a\\u0000\"}", "a", false },
    { "{\"k\":[\"same\"]}", "same", false },
    { "{\"k\":true}", "true", false },
    { "{\"j\":\"same\"}", "same", false },
    { "{\"k\":\"\xc3\x89\"}", "\xc3\xa9", false }, /* case is ASCII's */
    { "{\"k\":\"@\"}", "`", false },               /* and only letters' */
};

START_TEST(texts_are_compared_without_case)
{
    ck_assert_msg(mo_attr_equals(parse(texts[_i].text), "k", texts[_i].value) ==
                      texts[_i].is,
                  "%s", texts[_i].text);
}
END_TEST

static const struct {
    const char *text;
    mo_attr_kind kind;
    double number;
} kinds[] = {
    { "{\"k\":3.5}", MO_ATTR_NUMBER, 3.5 },
    { "{\"k\":-1e3}", MO_ATTR_NUMBER, -1000 },
    { "{\"k\":\"3.5\"}", MO_ATTR_STRING, 3.5 },
    { "{\"k\":\"inf\"}", MO_ATTR_STRING, INFINITY },
    { "{\"k\":\"-inf\"}", MO_ATTR_STRING, -INFINITY },
    { "{\"k\":\"-\"}", MO_ATTR_STRING, NAN },
    { "{\"k\":\"\"}", MO_ATTR_STRING, NAN },
    { "{\"k\":\"nan\"}", MO_ATTR_STRING, NAN },
    { "{\"k\":1e999}", MO_ATTR_NUMBER, NAN },
    { "{\"k\":[3]}", MO_ATTR_LIST, NAN },
    { "{\"k\":true}", MO_ATTR_BOOL, NAN },
    { "{\"k\":false}", MO_ATTR_BOOL, NAN },
    { "{\"k\":null}", MO_ATTR_OTHER, NAN },
    { "{\"k\":{\"k\":1}}", MO_ATTR_OTHER, NAN },
};

START_TEST(kinds_and_numbers_are_known)
{
    const mo_attr_list *list = parse(kinds[_i].text);
    const mo_attr *attr = mo_attr_find(list, "k");
    double number = kinds[_i].number;

    ck_assert_ptr_nonnull(attr);
    ck_assert_int_eq(attr->kind, kinds[_i].kind);
    ck_assert_msg(isnan(number) ? isnan(attr->number) : attr->number == number,
                  "%s", kinds[_i].text);
    ck_assert_ptr_eq(mo_attr_find_string(list, "k"),
                     attr->kind == MO_ATTR_STRING ? attr : NULL);
}
END_TEST

START_TEST(no_list_is_an_empty_one)
{
    int64_t value = 7;

    ck_assert_ptr_null(mo_attr_find(NULL, "k"));
    ck_assert_ptr_null(mo_attr_find_string(NULL, "k"));
    ck_assert_int_eq(mo_attr_ints(NULL, "k", &value, 1), -1);
    ck_assert_int_eq(value, 7);
    ck_assert(mo_attr_bool(NULL, "k", true));
    ck_assert(!mo_attr_bool(NULL, "k", false));
    ck_assert(!mo_attr_equals(NULL, "k", ""));
}
END_TEST

static void add_op(mo_builder *b, const char *name, const char *attrs)
{
    mo_op *op;
    int slot;

    MUST(mo_builder_slot(b, name, strlen(name), 0, &slot, &err));
    MUST(mo_builder_define(b, slot, 0, &op, &err));
    op->attrs = attrs;
}

START_TEST(the_builder_parses_every_text)
{
    static const char shared[] = "{\"k\":[1,2]}";
    int64_t values[2];
    mo_builder *b;
    mo_graph *g;

    MUST(mo_builder_new("inline", &b, &err));
    add_op(b, "a", shared);
    add_op(b, "b", NULL);
    add_op(b, "c", "not an object");
    add_op(b, "d", shared);
    MUST(mo_builder_finish(b, &g, &err));
    mo_builder_free(b);
    ck_assert_int_eq(mo_attr_ints(g->ops[0].attr_list, "k", values, 2), 2);
    ck_assert_int_eq(values[1], 2);
    ck_assert_ptr_null(g->ops[1].attr_list);
    ck_assert_int_eq(g->ops[2].attr_list->n, 0);
    ck_assert_str_eq(g->ops[2].attrs, "not an object");
    ck_assert_ptr_eq(g->ops[3].attr_list, g->ops[0].attr_list);
    mo_graph_free(g);
}
END_TEST

SUITE(op_attrs)
{
    EACH(the_last_of_a_key_is_found, COUNT(finds));
    EACH(ints_are_read_however_written, COUNT(int_lists));
    EACH(bools_are_read_however_written, COUNT(bools));
    EACH(texts_are_compared_without_case, COUNT(texts));
    EACH(kinds_and_numbers_are_known, COUNT(kinds));
    TEST(no_list_is_an_empty_one);
    TEST(the_builder_parses_every_text);
}
