/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/shape.h, graph/dtype.h, graph/output_types.h and
 * graph/output_types.h. */
#include "graph/shape.h"

#include <string.h>

#include "graph/dtype.h"
#include "graph/output_types.h"
#include "tests/support/suite.h"

static const struct {
    const char *text;
    mo_shape_fault fault;
    const char *written; /* of those that are shapes; dynamic dims are -1 */
} texts[] = {
    { "1,64,56,56", MO_SHAPE_OK, "1,64,56,56" },
    { "", MO_SHAPE_OK, "" },
    { "  ", MO_SHAPE_OK, "" },
    { "7", MO_SHAPE_OK, "7" },
    { "0,3", MO_SHAPE_OK, "0,3" },
    { " 1, 64 ", MO_SHAPE_OK, "1,64" },
    { "[1, 64]", MO_SHAPE_OK, "1,64" },
    { "[]", MO_SHAPE_OK, "" },
    { "()", MO_SHAPE_OK, "" },
    { "(1,64)", MO_SHAPE_OK, "1,64" },
    { "(3,)", MO_SHAPE_OK, "3" },
    { "1x64x7", MO_SHAPE_OK, "1,64,7" },
    { "torch.Size([1, 64])", MO_SHAPE_OK, "1,64" },
    { "torch.Size([])", MO_SHAPE_OK, "" },
    { "281474976710656", MO_SHAPE_OK, "281474976710656" }, /* 2^48 */
    { "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", MO_SHAPE_OK,
      "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1" },

    { "-1,64", MO_SHAPE_DYNAMIC, "-1,64" },
    { "?,64", MO_SHAPE_DYNAMIC, "-1,64" },
    { "1..8,64", MO_SHAPE_DYNAMIC, "-1,64" },
    { "..8,64,2..", MO_SHAPE_DYNAMIC, "-1,64,-1" },
    { "..", MO_SHAPE_DYNAMIC, "-1" },
    { "-9223372036854775808", MO_SHAPE_DYNAMIC, "-1" },

    { "ellipse", MO_SHAPE_INVALID, NULL },
    { "1,,2", MO_SHAPE_INVALID, NULL },
    { ",", MO_SHAPE_INVALID, NULL },
    { ",1", MO_SHAPE_INVALID, NULL },
    { "x", MO_SHAPE_INVALID, NULL },
    { "1x", MO_SHAPE_INVALID, NULL },
    { "1.5,2", MO_SHAPE_INVALID, NULL },
    { "0x10", MO_SHAPE_OK, "0,10" },
    { "1e3", MO_SHAPE_INVALID, NULL },
    { "[1,2", MO_SHAPE_INVALID, NULL },
    { "1,2]", MO_SHAPE_INVALID, NULL },
    { "[", MO_SHAPE_INVALID, NULL },
    { "(1,2]", MO_SHAPE_INVALID, NULL },
    { "torch.Size", MO_SHAPE_INVALID, NULL },
    { "torch.Size[1]", MO_SHAPE_INVALID, NULL },
    { "1...8", MO_SHAPE_INVALID, NULL },
    { "-1..8", MO_SHAPE_INVALID, NULL },
    { "1,2;3", MO_SHAPE_INVALID, NULL },
    { "NaN", MO_SHAPE_INVALID, NULL },

    { "281474976710657", MO_SHAPE_RANGE, NULL }, /* 2^48 + 1 */
    { "16777216,16777217", MO_SHAPE_RANGE, NULL },
    { "9223372036854775808", MO_SHAPE_RANGE, NULL }, /* 2^63 */
    { "0,281474976710656,2", MO_SHAPE_RANGE, NULL },
    { "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", MO_SHAPE_RANGE, NULL },
};

START_TEST(shapes_are_read_as_people_write_them)
{
    mo_shape shape = { .rank = 99 };
    mo_shape_fault fault =
        mo_shape_read(texts[_i].text, strlen(texts[_i].text), &shape);
    char written[MO_SHAPE_TEXT_SIZE + 1];

    ck_assert_msg(fault == texts[_i].fault, "'%s' is %d, not %d",
                  texts[_i].text, (int) fault, (int) texts[_i].fault);
    if (texts[_i].written) {
        written[mo_shape_write(&shape, written)] = '\0';
        ck_assert_str_eq(written, texts[_i].written);
        ck_assert_int_eq(mo_shape_is_static(&shape), fault == MO_SHAPE_OK);
    } else {
        ck_assert_int_eq(shape.rank, 99);
    }
}
END_TEST

START_TEST(even_the_rank_may_be_dynamic)
{
    mo_shape shape;

    ck_assert_int_eq(mo_shape_read("...", 3, &shape), MO_SHAPE_DYNAMIC);
    ck_assert_int_eq(shape.rank, MO_DYNAMIC);
    ck_assert(!mo_shape_is_static(&shape));
}
END_TEST

static bool shape_at(const char *text, int i, mo_shape *shape)
{
    mo_arena *arena = mo_arena_new();
    bool found = mo_shape_list_get(
        text ? mo_shape_list_parse(text, arena) : NULL, i, shape);

    mo_arena_free(arena);
    return found;
}

static const char *dtype_at(const char *text, int i)
{
    mo_arena *arena = mo_arena_new();
    const char *found =
        mo_dtype_list_get(text ? mo_dtype_list_parse(text, arena) : NULL, i);

    mo_arena_free(arena);
    return found;
}

START_TEST(a_text_may_hold_several_shapes)
{
    mo_shape shape;

    ck_assert(shape_at("1,2;;3", 0, &shape));
    ck_assert_int_eq(shape.rank, 2);
    ck_assert(shape_at("1,2;;3", 1, &shape));
    ck_assert_int_eq(shape.rank, 0);
    ck_assert(shape_at("1,2;;3", 2, &shape));
    ck_assert_int_eq(shape.dims[0], 3);
    ck_assert(!shape_at("1,2;;3", 3, &shape));
    ck_assert(!shape_at("1,2;;3", -1, &shape));
    ck_assert(!shape_at(NULL, 0, &shape));
    ck_assert(!shape_at("?,2", 0, &shape));
}
END_TEST

START_TEST(items_are_counted_and_found)
{
    static const char text[] = "a;;bcd";
    size_t length;
    const char *part = mo_text_list_at(text, 0, &length);

    ck_assert_int_eq(mo_text_list_count(NULL), 0);
    ck_assert_int_eq(mo_text_list_count(""), 1);
    ck_assert_int_eq(mo_text_list_count(text), 3);
    ck_assert_ptr_null(mo_text_list_at(NULL, 0, &length));
    ck_assert_ptr_null(mo_text_list_at(text, 3, &length));
    for (int i = 0; i < 3; i++) {
        size_t found;

        ck_assert_ptr_eq(mo_text_list_at(text, i, &found), part);
        ck_assert_uint_eq(found, length);
        part += length;
        if (*part != '\0')
            part++;
        length = strcspn(part, ";");
    }
}
END_TEST

START_TEST(only_a_bounded_part_of_a_text_is_read)
{
    static char many[2 * MO_TEXT_LIST_MAX_ITEMS + 1],
        long_text[MO_TEXT_LIST_MAX_BYTES + 9];
    mo_shape shape;
    size_t length;

    memset(many, ';', sizeof many - 1);
    ck_assert_int_eq(mo_text_list_count(many), MO_TEXT_LIST_MAX_ITEMS);
    ck_assert_ptr_nonnull(
        mo_text_list_at(many, MO_TEXT_LIST_MAX_ITEMS - 1, &length));
    ck_assert_ptr_null(mo_text_list_at(many, MO_TEXT_LIST_MAX_ITEMS, &length));

    memset(long_text, ' ', sizeof long_text - 1);
    long_text[0] = ';';
    ck_assert_ptr_nonnull(mo_text_list_at(long_text, 0, &length));
    ck_assert_ptr_null(mo_text_list_at(long_text, 1, &length));
    ck_assert_int_eq(mo_shape_read(long_text + 1, 5000, &shape),
                     MO_SHAPE_INVALID);
}
END_TEST

START_TEST(equal_shapes_have_equal_dims)
{
    mo_shape a = { 2, { 3, 4 } }, b = { 2, { 3, 4, 9 } };
    mo_shape c = { 2, { 3, 5 } }, d = { 1, { 3 } };

    ck_assert(mo_shape_equal(&a, &b));
    ck_assert(!mo_shape_equal(&a, &c));
    ck_assert(!mo_shape_equal(&a, &d));
    ck_assert(mo_shape_equal_but(&a, &c, 1));
    ck_assert(!mo_shape_equal_but(&a, &c, 0));
    ck_assert(!mo_shape_equal_but(&a, &d, 1));
}
END_TEST

static const struct {
    const char *shape, *dtype;
    int64_t bytes;
} sizes[] = {
    { "2,3", "f32", 24 },
    { "", "f64", 8 },
    { "2,3", "f16", 12 },
    { "2,3", "boolean", 6 },
    { "0,3", "i64", 0 },
    { "3", "i4", 2 }, /* 12 bits */
    { "9", "u1", 2 }, /* 9 bits */
    { "3", "u2", 1 },
    { "1", "u3", 3 }, /* eight fill three bytes */
    { "9", "u3", 6 },
    { "4", "u6", 3 },
    { "5", "u6", 6 },
    { "2,3", "FP32", 24 },
    { "2", "string", -1 },
    { "2", "quaternion", -1 },
    { "2", NULL, -1 },
    { "281474976710656", "c128", 4503599627370496 }, /* 2^48 * 2^4 */
};

START_TEST(bytes_are_bits_rounded_up)
{
    mo_shape shape;

    ck_assert(shape_at(sizes[_i].shape, 0, &shape));
    ck_assert_int_eq(mo_shape_bytes(&shape, sizes[_i].dtype), sizes[_i].bytes);
}
END_TEST

static const struct {
    const char *name, *dtype;
} dtypes[] = {
    { "f32", "f32" },
    { "FP32", "f32" },
    { "float", "f32" },
    { "torch.float32", "f32" },
    { " Float32 ", "f32" },
    { "torch.half", "f16" },
    { "numpy.int64", "i64" },
    { "np.float16", "f16" },
    { "BF16", "bf16" },
    { "BOOL", "boolean" },
    { "torch.bool", "boolean" },
    { "long", "i64" },
    { "U8", "u8" },
    { "I4", "i4" },
    { "nf4", "nf4" },
    { "U3", "u3" },
    { "u6", "u6" },
    { "float8_e4m3fn", "f8e4m3" },
    { "STRING", "string" },
    { "f3", NULL },
    { "f322", NULL },
    { "float int", NULL },
    { "torch.", NULL },
    { "", NULL },
};

START_TEST(types_have_one_name)
{
    const char *found = mo_dtype_find(dtypes[_i].name, strlen(dtypes[_i].name));

    if (!dtypes[_i].dtype) {
        ck_assert_msg(!found, "'%s' is %s", dtypes[_i].name, found);
        return;
    }
    ck_assert_msg(found && strcmp(found, dtypes[_i].dtype) == 0, "'%s' is %s",
                  dtypes[_i].name, found ? found : "unknown");
    ck_assert_ptr_eq(mo_dtype_find(found, strlen(found)), found);
}
END_TEST

START_TEST(one_type_stands_for_all_outputs)
{
    ck_assert_str_eq(dtype_at("f32", 3), "f32");
    ck_assert_str_eq(dtype_at("f32;i64", 0), "f32");
    ck_assert_str_eq(dtype_at("f32;i64", 1), "i64");
    ck_assert_ptr_null(dtype_at("f32;i64", 2));
    ck_assert_ptr_null(dtype_at("f32;", 1));
    ck_assert_ptr_null(dtype_at("f32", -1));
    ck_assert_ptr_null(dtype_at(NULL, 0));
}
END_TEST

SUITE(shape)
{
    EACH(shapes_are_read_as_people_write_them, COUNT(texts));
    TEST(even_the_rank_may_be_dynamic);
    TEST(a_text_may_hold_several_shapes);
    TEST(items_are_counted_and_found);
    TEST(only_a_bounded_part_of_a_text_is_read);
    TEST(equal_shapes_have_equal_dims);
    EACH(bytes_are_bits_rounded_up, COUNT(sizes));
    EACH(types_have_one_name, COUNT(dtypes));
    TEST(one_type_stands_for_all_outputs);
}
