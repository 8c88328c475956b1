/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/json.h. */
#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *text;
    bool valid;
} objects[] = {
    { "{}", true },
    { " \t\r\n{ } \n", true },
    { "{\"a\":1}", true },
    { "{\"a\":1,\"b\":[1,2.5,-3e+7,0.1E-2],\"c\":\"x\"}", true },
    { "{\"a\":{\"b\":{\"c\":[true,false,null]}}}", true },
    { "{ \"a\" : [ 1 , 2 ] , \"b\" : { } }", true },
    { "{\"\":\"\"}", true },
    { "{\"a\":0,\"a\":-0}", true },
    { "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"}", true },
    { "{\"a\":\"\\ud800\"}", true }, /* half a pair: the grammar has it */
    { "{\"caf\xc3\xa9\":\"\x7f\"}", true },
    { "", false },
    { " ", false },
    { "[]", false },
    { "1", false },
    { "null", false },
    { "\"a\"", false },
    { "{", false },
    { "}", false },
    { "{\"a\"", false },
    { "{\"a\":", false },
    { "{\"a\":}", false },
    { "{\"a\":1", false },
    { "{\"a\" 1}", false },
    { "{\"a\":1,}", false },
    { "{,\"a\":1}", false },
    { "{\"a\":1 \"b\":2}", false },
    { "{a:1}", false },
    { "{'a':1}", false },
    { "{1:2}", false },
    { "{\"a\":1}}", false },
    { "{\"a\":1} x", false },
    { "{\"a\":[1,]}", false },
    { "{\"a\":[,1]}", false },
    { "{\"a\":[1 2]}", false },
    { "{\"a\":[1}", false },
    { "{\"a\":[}]", false },
    { "{\"a\":01}", false },
    { "{\"a\":+1}", false },
    { "{\"a\":-}", false },
    { "{\"a\":.5}", false },
    { "{\"a\":5.}", false },
    { "{\"a\":1e}", false },
    { "{\"a\":1e+}", false },
    { "{\"a\":0x10}", false },
    { "{\"a\":NaN}", false },
    { "{\"a\":Infinity}", false },
    { "{\"a\":True}", false },
    { "{\"a\":tru}", false },
    { "{\"a\":nul", false },
    { "{\"a\":truefalse}", false },
    { "{\"a\":\"x}", false },
    { "{\"a\":\"\\\"}", false },
    { "{\"a\":\"\\x\"}", false },
    { "{\"a\":\"\\u12g4\"}", false },
    { "{\"a\":\"\\u12\"}", false },
    { "{\"a\":\"\n\"}", false },
    { "{\"a\":\"\x01\"}", false },
    { "{\"a\":\"\xff\"}", false },
    { "{\"a\":\"\xed\xa0\x80\"}", false },
    { "{\"a\":1/**/}", false },
    { "\xef\xbb\xbf{}", false },
};

/* A copy with a brace behind its end, which a read beyond the end would
 * find. */
START_TEST(objects_are_distinguished_from_the_rest)
{
    size_t n = strlen(objects[_i].text);
    char *text = malloc(n + 1);

    memcpy(text, objects[_i].text, n);
    text[n] = '}';
    ck_assert_msg(mo_json_is_object(text, n) == objects[_i].valid, "%s",
                  objects[_i].text);
    free(text);
}
END_TEST

START_TEST(no_part_of_an_object_is_one)
{
    static const char whole[] =
        "{\"a\":[1,-2.5e3,true],\"b\":{\"c\":\"\\u00e9\\n\"},\"d\":null}";

    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char *text = malloc(n + 1);

        memcpy(text, whole, n);
        ck_assert_msg(!mo_json_is_object(text, n), "%.*s", (int) n, whole);
        free(text);
    }
    ck_assert(mo_json_is_object(whole, sizeof whole - 1));
}
END_TEST

START_TEST(a_zero_byte_is_no_white_space)
{
    ck_assert(!mo_json_is_object("{}\0", 3));
    ck_assert(!mo_json_is_object("{\0}", 3));
    ck_assert(!mo_json_is_object("{\"a\\\0\":1}", 9));
}
END_TEST

/* Objects and arrays in turn, so many of them around a number. */
static char *nested(int depth)
{
    char *text = malloc((size_t) depth * 7 + 2), *at = text;

    for (int i = 0; i < depth; i++)
        at += strlen(strcpy(at, i % 2 == 0 ? "{\"a\":" : "["));
    *at++ = '1';
    for (int i = depth; i-- > 0;)
        *at++ = i % 2 == 0 ? '}' : ']';
    *at = '\0';
    return text;
}

START_TEST(depth_is_limited)
{
    static const struct {
        int depth;
        bool valid;
    } depths[] = { { 1, true }, { 32, true }, { 33, false }, { 99999, false } };
    char *text = nested(depths[_i].depth);

    ck_assert(mo_json_is_object(text, strlen(text)) == depths[_i].valid);
    free(text);
}
END_TEST

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
    { " { \"x\" : [1] , \"a\" : \"same_upper\" } ", "a", "\"same_upper\"" },
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
};

START_TEST(find_gives_the_raw_value)
{
    size_t length = 0;
    const char *value = mo_json_find(finds[_i].text, finds[_i].key, &length);

    ck_assert_msg((value == NULL) == (finds[_i].value == NULL), "%s",
                  finds[_i].text);
    if (value) {
        ck_assert_uint_eq(length, strlen(finds[_i].value));
        ck_assert(memcmp(value, finds[_i].value, length) == 0);
    }
}
END_TEST

/* "key=value|" for each member, as written. */
static void list_members(const char *text, char *list, size_t size)
{
    mo_json_cursor c;
    mo_json_member m;
    size_t used = 0;

    list[0] = '\0';
    if (!mo_json_open(&c, '{', text, strlen(text)))
        return;
    while (mo_json_take_member(&c, &m) > 0)
        used += (size_t) snprintf(list + used, size - used, "%.*s=%.*s|",
                                  (int) m.key_length, m.key,
                                  (int) m.value_length, m.value);
}

static const struct {
    const char *text, *members;
} walks[] = {
    { "{}", "" },
    { " { } ", "" },
    { "{\"a\":1}", "a=1|" },
    { " { \"b\" : [1, 2] , \"a\\u0062\":{\"x\":{}},\"a\":\"}\" } ",
      "b=[1, 2]|a\\u0062={\"x\":{}}|a=\"}\"|" },
    { "[1]", "" },
    { "", "" },
    { "{\"a\":1,\"b\"}", "a=1|" },
};

START_TEST(members_come_one_after_the_other)
{
    char list[256];

    list_members(walks[_i].text, list, sizeof list);
    ck_assert_str_eq(list, walks[_i].members);
}
END_TEST

static const struct {
    const char *text;
    bool valid;
} arrays[] = {
    { "[\"a\"]", true },
    { " [ \"a\" , \"\" ] ", true },
    { "[\"\\u00e9\",\"caf\xc3\xa9\"]", true },
    { "", false },
    { "[]", false },
    { "[\"a\"", false },
    { "[\"a\",]", false },
    { "[,\"a\"]", false },
    { "[\"a\" \"b\"]", false },
    { "[\"a\"]]", false },
    { "[\"a\"] x", false },
    { "[\"a\", 1]", false },
    { "[[\"a\"]]", false },
    { "[null]", false },
    { "{\"a\":\"b\"}", false },
    { "\"a\"", false },
    { "[\"\xff\"]", false },
    { "[\"a\\\"]", false },
};

START_TEST(arrays_of_texts_are_distinguished_from_the_rest)
{
    const char *text = arrays[_i].text;

    ck_assert_msg(mo_json_is_text_array(text, strlen(text)) == arrays[_i].valid,
                  "%s", text);
}
END_TEST

SUITE(json)
{
    EACH(objects_are_distinguished_from_the_rest, COUNT(objects));
    EACH(arrays_of_texts_are_distinguished_from_the_rest, COUNT(arrays));
    TEST(no_part_of_an_object_is_one);
    TEST(a_zero_byte_is_no_white_space);
    EACH(depth_is_limited, 4);
    EACH(find_gives_the_raw_value, COUNT(finds));
    EACH(members_come_one_after_the_other, COUNT(walks));
}
