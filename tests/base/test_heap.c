/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/heap.h. */
#include "base/heap.h"

#include "base/random.h"
#include "tests/support/suite.h"

START_TEST(pops_the_least_key_first)
{
    mo_random random = { (uint64_t) _i };
    mo_heap heap = { 0 };
    mo_heap_item last = { -1, -1 };

    for (int i = 0; i < 100; i++)
        MUST(mo_heap_push(&heap, mo_random_below(&random, 20), i, &err));
    for (int i = 0; i < 100; i++) {
        mo_heap_item next = mo_heap_pop(&heap);

        ck_assert(last.key < next.key ||
                  (last.key == next.key && last.id < next.id));
        last = next;
    }
    ck_assert_uint_eq(heap.n, 0);
    mo_heap_clear(&heap);
}
END_TEST

SUITE(heap)
{
    SOME(pops_the_least_key_first, 20, 2);
}
