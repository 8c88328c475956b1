/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/arena.h. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(free_accepts_null)
{
    mo_arena_free(NULL);
}
END_TEST

START_TEST(memory_is_zeroed_and_aligned_for_any_type)
{
    static const char zeros[1000];
    mo_arena *arena = mo_arena_new();

    for (size_t size = 0; size < sizeof zeros; size++) {
        char *bytes = mo_arena_alloc(arena, size);

        ck_assert_ptr_nonnull(bytes);
        ck_assert_uint_eq((uintptr_t) bytes % _Alignof(max_align_t), 0);
        ck_assert(memcmp(bytes, zeros, size) == 0);
        memset(bytes, 0xff, size);
        mo_arena_text(arena, "odd", size % 4);
    }
    mo_arena_free(arena);
}
END_TEST

START_TEST(texts_are_copied_and_terminated)
{
    mo_arena *arena = mo_arena_new();
    char name[] = "conv1";
    const char *copy = mo_arena_text(arena, name, 4);

    name[0] = 'x';
    ck_assert_str_eq(copy, "conv");
    ck_assert_str_eq(mo_arena_text(arena, NULL, 0), "");
    mo_arena_free(arena);
}
END_TEST

START_TEST(texts_stay_while_the_arena_grows)
{
    enum { TEXTS = 20000 };
    mo_arena *arena = mo_arena_new();
    char **texts = mo_arena_array(arena, TEXTS, sizeof *texts);
    char name[16];

    for (int i = 0; i < TEXTS; i++) {
        int n = snprintf(name, sizeof name, "op%d", i);
        texts[i] = mo_arena_text(arena, name, (size_t) n);
    }
    for (int i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "op%d", i);
        if (strcmp(texts[i], name) != 0)
            ck_abort_msg("%s became %s", name, texts[i]);
    }
    mo_arena_free(arena);
}
END_TEST

START_TEST(short_texts_cost_hardly_more_than_their_bytes)
{
    enum { TEXTS = 1000000, LENGTH = 10 };
    mo_arena *arena = mo_arena_new();
    size_t net = (size_t) TEXTS * (LENGTH + 1);

    for (int i = 0; i < TEXTS; i++)
        mo_arena_text(arena, "0123456789", LENGTH);
    ck_assert_uint_ge(mo_arena_bytes(arena), net);
    ck_assert_uint_le(mo_arena_bytes(arena), net + net / 2);
    mo_arena_free(arena);
}
END_TEST

/* A large array must not make the arena lose the block it was filling. */
START_TEST(large_requests_leave_the_shared_block_in_use)
{
    enum { LARGE = 1 << 20 };
    mo_arena *arena = mo_arena_new();
    size_t before;

    for (int i = 0; i < 10; i++) {
        ck_assert_ptr_nonnull(mo_arena_alloc(arena, 8));
        ck_assert_ptr_nonnull(mo_arena_alloc(arena, LARGE));
    }
    before = mo_arena_bytes(arena);
    ck_assert_uint_lt(before, 10 * LARGE + LARGE / 2);
    mo_arena_alloc(arena, 8);
    ck_assert_uint_eq(mo_arena_bytes(arena), before);
    mo_arena_free(arena);
}
END_TEST

START_TEST(impossible_sizes_give_null)
{
    mo_arena *arena = mo_arena_new();

    ck_assert_ptr_null(mo_arena_array(arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(mo_arena_array(arena, SIZE_MAX, SIZE_MAX));
    ck_assert_ptr_null(mo_arena_alloc(arena, SIZE_MAX - 8));
    ck_assert_ptr_null(mo_arena_text(arena, "", SIZE_MAX));
    ck_assert_ptr_nonnull(mo_arena_alloc(arena, 8));
    mo_arena_free(arena);
}
END_TEST

SUITE(arena)
{
    TEST(free_accepts_null);
    TEST(memory_is_zeroed_and_aligned_for_any_type);
    TEST(texts_are_copied_and_terminated);
    TEST(texts_stay_while_the_arena_grows);
    TEST(short_texts_cost_hardly_more_than_their_bytes);
    TEST(large_requests_leave_the_shared_block_in_use);
    TEST(impossible_sizes_give_null);
}
