/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/json_writer.h: separators, layouts and values. */
#include "base/json_writer.h"

#include <string.h>

#include "tests/support/suite.h"

static mo_json_writer open_writer(void)
{
    mo_json_writer w = { 0 };

    MUST(mo_out_memory(&w.out, &err));
    return w;
}

/* Compares the output with wanted and closes it. */
static void check_output(mo_json_writer *w, const char *wanted)
{
    size_t size;
    char *got = mo_out_take(w->out, &size);

    ck_assert_ptr_nonnull(got);
    ck_assert_str_eq(got, wanted);
    free(got);
    MUST(mo_out_commit(w->out, &err));
}

static const struct {
    mo_json_layout layout;
    const char *empty, *single, *twin;
} arrays[] = {
    { MO_JSON_INLINE, "[]\n", "[0]\n", "[0, 1]\n" },
    { MO_JSON_LINES, "[]\n", "[\n  0\n]\n", "[\n  0,\n  1\n]\n" },
    { MO_JSON_BLOCK, "[\n]\n", "[\n  0\n]\n", "[\n  0,\n  1\n]\n" },
    { MO_JSON_HANGING, "[]\n", "[\n  0]\n", "[\n  0,\n  1]\n" },
};

START_TEST(layouts_place_elements_and_brackets)
{
    const char *const wanted[] = { arrays[_i].empty, arrays[_i].single,
                                   arrays[_i].twin };

    for (int n = 0; n < COUNT(wanted); n++) {
        mo_json_writer w = open_writer();

        mo_json_begin_array(&w, NULL, arrays[_i].layout);
        for (int i = 0; i < n; i++)
            mo_json_put_int(&w, NULL, i);
        mo_json_end(&w);
        check_output(&w, wanted[n]);
    }
}
END_TEST

START_TEST(inline_levels_add_no_indentation)
{
    mo_json_writer w = open_writer();

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_begin_array(&w, "devices", MO_JSON_LINES);
    for (int i = 0; i < 2; i++) {
        mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
        mo_json_put_int(&w, "id", i);
        mo_json_begin_array(&w, "steps", MO_JSON_HANGING);
        mo_json_put_ints(&w, NULL, (const int[]){ i, -1 }, 2);
        mo_json_put_ints(&w, NULL, NULL, 0);
        mo_json_end(&w);
        mo_json_end(&w);
    }
    mo_json_end(&w);
    mo_json_begin_object(&w, "none", MO_JSON_BLOCK);
    mo_json_end(&w);
    mo_json_end(&w);
    check_output(&w, "{\n"
                     "  \"devices\": [\n"
                     "    {\"id\": 0, \"steps\": [\n"
                     "      [0, -1],\n"
                     "      []]},\n"
                     "    {\"id\": 1, \"steps\": [\n"
                     "      [1, -1],\n"
                     "      []]}\n"
                     "  ],\n"
                     "  \"none\": {\n"
                     "  }\n"
                     "}\n");
}
END_TEST

START_TEST(values_are_written_as_json)
{
    mo_json_writer w = open_writer();

    mo_json_begin_object(&w, NULL, MO_JSON_INLINE);
    mo_json_put_text(&w, "a \"key\"", "a\\b\n");
    mo_json_put_text(&w, "absent", NULL);
    mo_json_put_int(&w, "least", INT64_MIN);
    mo_json_put_double(&w, "tenth", 0.1);
    mo_json_put_us(&w, "us", 1500);
    mo_json_put_bool(&w, "yes", true);
    mo_json_put_bool(&w, "no", false);
    mo_json_put_null(&w, "null");
    mo_json_put_key(&w, "raw");
    mo_out_text(w.out, "1.250");
    mo_json_end(&w);
    check_output(&w, "{\"a \\\"key\\\"\": \"a\\\\b\\n\", \"absent\": null, "
                     "\"least\": -9223372036854775808, \"tenth\": 0.1, "
                     "\"us\": 1.5, \"yes\": true, \"no\": false, "
                     "\"null\": null, \"raw\": 1.250}\n");
}
END_TEST

START_TEST(deepest_nesting_is_indented)
{
    mo_json_writer w = open_writer();
    size_t size;
    char *got;

    for (int i = 0; i < MO_JSON_MAX_NESTING; i++)
        mo_json_begin_array(&w, NULL, MO_JSON_LINES);
    mo_json_put_int(&w, NULL, 7);
    for (int i = 0; i < MO_JSON_MAX_NESTING; i++)
        mo_json_end(&w);
    got = mo_out_take(w.out, &size);
    ck_assert_ptr_nonnull(got);
    ck_assert_ptr_nonnull(strstr(got, "[\n                7\n              ]"));
    ck_assert_str_eq(got + size - 6, "  ]\n]\n");
    free(got);
    MUST(mo_out_commit(w.out, &err));
}
END_TEST

SUITE(json_writer)
{
    EACH(layouts_place_elements_and_brackets, COUNT(arrays));
    TEST(inline_levels_add_no_indentation);
    TEST(values_are_written_as_json);
    TEST(deepest_nesting_is_indented);
}
