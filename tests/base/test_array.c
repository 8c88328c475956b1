/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/array.h. */
#include "base/array.h"

#include "tests/support/suite.h"

START_TEST(pushing_keeps_what_is_there)
{
    int *ids = NULL;
    size_t n = 0, room = 0;

    for (int i = 0; i < 1000; i++) {
        MUST(MO_ARRAY_GROW(ids, n, room, &err));
        ids[n++] = i * 3;
    }
    ck_assert_uint_ge(room, n);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(ids[i], i * 3);
    free(ids);
}
END_TEST

START_TEST(room_doubles)
{
    char *bytes = NULL;
    size_t room = 0, times = 0;

    for (size_t need = 1; need <= 1 << 12; need++) {
        size_t before = room;

        MUST(mo_array_reserve((void **) &bytes, &room, need, 1, &err));
        times += room != before;
    }
    ck_assert_uint_le(times, 12);
    free(bytes);
}
END_TEST

START_TEST(a_failed_reserve_changes_nothing)
{
    static const size_t needs[] = { SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 9 };
    int64_t *items = malloc(sizeof *items);
    void *kept = items;
    size_t room = 1;
    mo_error err;

    ck_assert_int_eq(mo_array_reserve((void **) &items, &room, needs[_i],
                                      sizeof *items, &err),
                     MO_E_MEMORY);
    ck_assert_ptr_eq(items, kept);
    ck_assert_uint_eq(room, 1);
    free(items);
}
END_TEST

static const struct {
    size_t a, b;
    bool fits;
} products[] = {
    { 0, SIZE_MAX, true },         { 1, SIZE_MAX, true },
    { 2, SIZE_MAX / 2, true },     { 2, SIZE_MAX / 2 + 1, false },
    { SIZE_MAX, SIZE_MAX, false },
};

START_TEST(size_products_do_not_wrap)
{
    size_t out = 77;

    ck_assert_int_eq(mo_size_mul(products[_i].a, products[_i].b, &out),
                     products[_i].fits);
    ck_assert_uint_eq(out,
                      products[_i].fits ? products[_i].a * products[_i].b : 77);
    ck_assert_int_eq(mo_size_mul(products[_i].b, products[_i].a, &out),
                     products[_i].fits);
}
END_TEST

START_TEST(size_sums_do_not_wrap)
{
    size_t out = 77;

    ck_assert(mo_size_add(SIZE_MAX - 1, 1, &out));
    ck_assert_uint_eq(out, SIZE_MAX);
    out = 77;
    ck_assert(!mo_size_add(SIZE_MAX, 1, &out));
    ck_assert_uint_eq(out, 77);
}
END_TEST

static const struct {
    int64_t a, b;
    bool sum_fits, product_fits;
} pairs[] = {
    { 3, -4, true, true },
    { INT64_MAX, 0, true, true },
    { INT64_MAX, 1, false, true },
    { INT64_MIN, 1, true, true },
    { INT64_MIN, -1, false, false },
    { INT64_MAX, -1, true, true },
    { INT64_MAX, 2, false, false },
    { INT64_MIN, INT64_MAX, true, false },
    { 3037000500, 3037000500, true, false },
    { 3037000499, 3037000499, true, true },
};

START_TEST(int64_arithmetic_does_not_wrap)
{
    int64_t a = pairs[_i].a, b = pairs[_i].b, sum = 77, product = 77;

    ck_assert_int_eq(mo_int64_add(a, b, &sum), pairs[_i].sum_fits);
    ck_assert_int_eq(sum, pairs[_i].sum_fits ? a + b : 77);
    ck_assert_int_eq(mo_int64_mul(a, b, &product), pairs[_i].product_fits);
    ck_assert_int_eq(product, pairs[_i].product_fits ? a * b : 77);
}
END_TEST

SUITE(array)
{
    TEST(pushing_keeps_what_is_there);
    TEST(room_doubles);
    EACH(a_failed_reserve_changes_nothing, 3);
    EACH(size_products_do_not_wrap, COUNT(products));
    TEST(size_sums_do_not_wrap);
    EACH(int64_arithmetic_does_not_wrap, COUNT(pairs));
}
