/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/tensor/half.h, exec/tensor/elem.h and
 * exec/tensor/dense_tensor.h: every 16-bit float against its definition. */
#include <math.h>

#include "base/random.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/tensor/half.h"
#include "tests/support/suite.h"

static bool is_nan16(uint16_t h)
{
    return (h & 0x7c00u) == 0x7c00u && (h & 0x3ffu) != 0;
}

/* The definition: sign, exponent and the bits behind the point. */
static double value_of_f16(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double behind = h & 0x3ffu;
    double size = exponent == 31  ? (behind != 0 ? NAN : INFINITY)
                  : exponent == 0 ? ldexp(behind, -24)
                                  : ldexp(1024 + behind, exponent - 25);

    return h & 0x8000u ? -size : size;
}

START_TEST(every_half_is_its_definition)
{
    for (uint32_t bits = 0; bits < 0x10000u; bits++) {
        uint16_t h = (uint16_t) bits;
        float x = mo_f16_to_f32(h);

        if (is_nan16(h))
            ck_assert_msg(x != x, "half %#x", bits);
        else
            ck_assert_msg(x == value_of_f16(h), "half %#x", bits);
    }
}
END_TEST

START_TEST(halves_survive_the_way_there_and_back)
{
    for (uint32_t bits = 0; bits < 0x10000u; bits++) {
        uint16_t h = (uint16_t) bits;
        uint16_t f16 = mo_f32_to_f16(mo_f16_to_f32(h));
        uint16_t bf16 = mo_f32_to_bf16(mo_bf16_to_f32(h));

        ck_assert_msg(is_nan16(h) ? is_nan16(f16) : f16 == h, "half %#x", bits);
        if (mo_bf16_to_f32(h) == mo_bf16_to_f32(h))
            ck_assert_msg(bf16 == h, "bf16 %#x", bits);
        else
            ck_assert_msg(mo_bf16_to_f32(bf16) != mo_bf16_to_f32(bf16),
                          "bf16 %#x", bits);
    }
}
END_TEST

/* Nearest, and of two equally near ones that with an even last bit. */
static bool is_nearest(double x, double at, double below, double above,
                       bool even)
{
    double off = fabs(x - at);

    return (off < fabs(x - below) || (off == fabs(x - below) && even)) &&
           (off < fabs(x - above) || (off == fabs(x - above) && even));
}

START_TEST(floats_go_to_the_nearest_half)
{
    mo_random random = { 7 };
    int n = how_many(500000, 5000);

    for (int i = 0; i < n; i++) {
        uint32_t bits = (uint32_t) mo_random_next(&random);
        float x = mo_f32_from_bits((bits & 0x80ffffffu) | (0x2fu + bits % 0x1au)
                                                              << 24);
        uint16_t h = mo_f32_to_f16(x), size = h & 0x7fffu;
        double at = value_of_f16(size);
        double below = size > 0 ? value_of_f16((uint16_t) (size - 1)) : -1;
        double above =
            size < 0x7bffu ? value_of_f16((uint16_t) (size + 1)) : 65536;

        if (size == 0x7c00u) {
            ck_assert_msg(fabsf(x) >= 65520, "%a", (double) x);
            continue;
        }
        ck_assert_msg(
            is_nearest(fabs((double) x), at, below, above, size % 2 == 0),
            "%a became %#x", (double) x, h);
        ck_assert_msg((h >> 15) == (mo_f32_to_bits(x) >> 31), "%a", (double) x);
    }
    ck_assert_uint_eq(mo_f32_to_f16(65519.996f), 0x7bffu);
    ck_assert_uint_eq(mo_f32_to_f16(65520), 0x7c00u);
    ck_assert_uint_eq(mo_f32_to_f16(-INFINITY), 0xfc00u);
    ck_assert(is_nan16(mo_f32_to_f16(NAN)));
}
END_TEST

START_TEST(floats_go_to_the_nearest_bf16)
{
    ck_assert_uint_eq(mo_f32_to_bf16(1), 0x3f80u);
    ck_assert_uint_eq(mo_f32_to_bf16(mo_f32_from_bits(0x3f808000u)), 0x3f80u);
    ck_assert_uint_eq(mo_f32_to_bf16(mo_f32_from_bits(0x3f818000u)), 0x3f82u);
    ck_assert_uint_eq(mo_f32_to_bf16(mo_f32_from_bits(0x3f808001u)), 0x3f81u);
    ck_assert_uint_eq(mo_f32_to_bf16(-INFINITY), 0xff80u);
    ck_assert_uint_eq(mo_f32_to_bf16(mo_f32_from_bits(0x7f7fffffu)), 0x7f80u);
}
END_TEST

START_TEST(types_are_found_by_any_of_their_names)
{
    mo_elem elem;

    for (int i = 0; i < MO_ELEM_COUNT; i++) {
        ck_assert(mo_elem_from_name(mo_elem_name((mo_elem) i), &elem));
        ck_assert_int_eq(elem, i);
    }
    ck_assert(mo_elem_from_name("torch.float16", &elem) && elem == MO_ELEM_F16);
    ck_assert(mo_elem_from_name("bool", &elem) && elem == MO_ELEM_BOOL);
    ck_assert(!mo_elem_from_name("u4", &elem));
    ck_assert(!mo_elem_from_name("string", &elem));
    ck_assert(!mo_elem_from_name(NULL, &elem));
}
END_TEST

START_TEST(random_tensors_depend_on_their_seed_only)
{
    for (int i = 0; i < MO_ELEM_COUNT; i++) {
        mo_tensor_desc desc = { (mo_elem) i, { 2, { 7, 31 } } };
        mo_tensor_dense a = { 0 }, b = { 0 };
        bool varied = false;

        MUST(mo_tensor_new(&desc, &a, &err));
        MUST(mo_tensor_new(&desc, &b, &err));
        ck_assert_uint_eq((uintptr_t) a.data % 64, 0);
        mo_tensor_fill_random(&a, 42, 0.5, 100);
        mo_tensor_fill_random(&b, 42, 0.5, 100);
        ck_assert_mem_eq(a.data, b.data, (size_t) mo_tensor_desc_bytes(&desc));
        for (int64_t k = 0; k < 7 * 31; k++) {
            double x = mo_tensor_get_double(&a, k);

            ck_assert(mo_elem_is_float(desc.elem) ? fabs(x) <= 0.5
                                                  : x >= 0 && x < 100);
            varied = varied || x != mo_tensor_get_double(&a, 0);
        }
        ck_assert(varied);
        mo_tensor_clear(&a);
        mo_tensor_clear(&b);
    }
}
END_TEST

START_TEST(elements_are_read_as_what_they_are)
{
    int64_t most = INT64_MAX;
    uint8_t byte = 200;
    int8_t small = -56;
    double real = 1e300;
    mo_tensor_dense i64 = { { MO_ELEM_I64, { 0, { 0 } } }, &most, false };
    mo_tensor_dense u64 = { { MO_ELEM_U64, { 0, { 0 } } }, &most, false };
    mo_tensor_dense u8 = { { MO_ELEM_U8, { 0, { 0 } } }, &byte, false };
    mo_tensor_dense i8 = { { MO_ELEM_I8, { 0, { 0 } } }, &small, false };
    mo_tensor_dense f64 = { { MO_ELEM_F64, { 0, { 0 } } }, &real, false };

    ck_assert(mo_tensor_get_int(&i64, 0) == INT64_MAX);
    ck_assert(mo_tensor_get_double(&u64, 0) == 0x1p63);
    ck_assert_int_eq(mo_tensor_get_int(&u8, 0), 200);
    ck_assert_int_eq(mo_tensor_get_int(&i8, 0), -56);
    ck_assert(mo_tensor_get_int(&f64, 0) == INT64_MAX);
    real = -2.75;
    ck_assert_int_eq(mo_tensor_get_int(&f64, 0), -2);
    real = NAN;
    ck_assert_int_eq(mo_tensor_get_int(&f64, 0), 0);
}
END_TEST

START_TEST(an_empty_tensor_has_an_address)
{
    mo_tensor_desc desc = { MO_ELEM_F32, { 2, { 3, 0 } } };
    mo_tensor_dense dense = { 0 };
    char text[MO_TENSOR_DESC_TEXT_SIZE];

    MUST(mo_tensor_new(&desc, &dense, &err));
    ck_assert_ptr_nonnull(dense.data);
    ck_assert_str_eq(mo_tensor_desc_format(&desc, text), "f32[3,0]");
    mo_tensor_clear(&dense);
    mo_tensor_clear(&dense);
}
END_TEST

SUITE(half)
{
    TEST(every_half_is_its_definition);
    TEST(halves_survive_the_way_there_and_back);
    TEST(floats_go_to_the_nearest_half);
    TEST(floats_go_to_the_nearest_bf16);
    TEST(types_are_found_by_any_of_their_names);
    TEST(random_tensors_depend_on_their_seed_only);
    TEST(elements_are_read_as_what_they_are);
    TEST(an_empty_tensor_has_an_address);
}
