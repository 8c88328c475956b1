/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/infer/infer_value.h. */
#include "ingest/infer/infer_value.h"

#include <math.h>

#include "tests/support/suite.h"

/* Values of bytes in little endian. */
static const struct {
    const char *dtype, *bytes;
    int count;
    double items[3];
} files[] = {
    { "i64", "\xff\xff\xff\xff\xff\xff\xff\xff\2\0\0\0\0\0\0\0", 2, { -1, 2 } },
    { "i64", "\0\0\0\0\0\0\0\x80", 1, { -0x1p63 } },
    { "i32", "\xfe\xff\xff\xff\0\1\0\0", 2, { -2, 256 } },
    { "i16", "\xff\xff\0\x80", 2, { -1, -32768 } },
    { "i8", "\xff\x7f", 2, { -1, 127 } },
    { "u64", "\1\0\0\0\0\0\0\0", 1, { 1 } },
    { "u64", "\xff\xff\xff\xff\xff\xff\xff\xff", 1, { 0x1p64 } },
    { "u32", "\xff\xff\xff\xff", 1, { 4294967295.0 } },
    { "u16", "\xff\xff", 1, { 65535 } },
    { "u8", "\xff\0", 2, { 255, 0 } },
    { "boolean", "\1\0\2", 3, { 1, 0, 1 } },
    { "f64", "\0\0\0\0\0\0\xf8\xbf", 1, { -1.5 } },
    { "f32", "\0\0\x80\x3f\0\0\x20\xc1", 2, { 1, -10 } },
    { "f32", "\1\0\0\0", 1, { 0x1p-149 } },
    { "f16", "\0\x3c\0\xc0\1\0", 3, { 1, -2, 0x1p-24 } },
    { "bf16", "\x80\x3f\x20\xc1", 2, { 1, -10 } },
    { "f32", "\0\0\x80\x7f", 1, { INFINITY } },
};

START_TEST(bytes_are_decoded)
{
    mo_shape shape = { .rank = 1, .dims = { files[_i].count } };
    mo_arena *arena = mo_arena_new();
    mo_infer_value *value = mo_infer_value_new(arena, &shape, files[_i].dtype);

    mo_infer_value_decode(value, (const unsigned char *) files[_i].bytes);
    for (int i = 0; i < files[_i].count; i++) {
        ck_assert_double_eq(mo_infer_value_number(value, i),
                            files[_i].items[i]);
    }
    mo_arena_free(arena);
}
END_TEST

START_TEST(not_a_number_stays_none)
{
    mo_shape scalar = { 0 };
    mo_arena *arena = mo_arena_new();
    mo_infer_value *value = mo_infer_value_new(arena, &scalar, "f16");

    mo_infer_value_decode(value, (const unsigned char *) "\1\x7e");
    ck_assert(isnan(value->items[0].r));
    ck_assert_int_eq(mo_infer_value_cast(value->items[0], "f16", "i64").i, 0);
    mo_arena_free(arena);
}
END_TEST

START_TEST(only_plain_numbers_are_held)
{
    ck_assert(mo_infer_value_supports("f32") &&
              mo_infer_value_supports("boolean"));
    ck_assert(!mo_infer_value_supports("i4") &&
              !mo_infer_value_supports("string") &&
              !mo_infer_value_supports(NULL));
    ck_assert_uint_eq(mo_infer_value_item_bytes("f16"), 2);
}
END_TEST

static const struct {
    double from;
    const char *dtype;
    double to;
} roundings[] = {
    { 1.0 / 3, "f32", 0.3333333432674408 },
    { 1.0 / 3, "f16", 0.333251953125 },
    { 1.0 / 3, "bf16", 0.333984375 },
    { 1.0 / 3, "f64", 1.0 / 3 },
    { 0, "f16", 0 },
    { 65520, "f16", INFINITY },
    { -1e39, "f32", -INFINITY },
    { 0x1.8p-25, "f16", 0x1p-24 },
    { 0x1p-26, "f16", 0 },
    { 0x1.008p-15, "f16", 0x1.008p-15 },
    { 0x1.004p-15, "f16", 0x1p-15 },
    { -INFINITY, "f16", -INFINITY },
};

START_TEST(floats_are_rounded_to_their_type)
{
    ck_assert_double_eq(
        mo_infer_value_fit_real(roundings[_i].from, roundings[_i].dtype).r,
        roundings[_i].to);
}
END_TEST

START_TEST(views_stretch_and_select)
{
    mo_shape from = { .rank = 2, .dims = { 3, 1 } };
    mo_shape to = { .rank = 3, .dims = { 2, 3, 2 } };
    static const int64_t wanted[] = { 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2 };
    mo_infer_view view = mo_infer_view_broadcast(&from, &to);

    for (int i = 0; i < COUNT(wanted); i++)
        ck_assert_int_eq(mo_infer_view_at(&view, &to, i), wanted[i]);
}
END_TEST

SUITE(infer_value)
{
    EACH(bytes_are_decoded, COUNT(files));
    TEST(not_a_number_stays_none);
    TEST(only_plain_numbers_are_held);
    EACH(floats_are_rounded_to_their_type, COUNT(roundings));
    TEST(views_stretch_and_select);
}
