/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of period/placement_pool.h against a sorted list of all values. */
#include "solvers/search/period/placement_pool.h"

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

enum { OFFERS = 40 };

typedef struct value {
    int64_t period_ns, excess_bytes;
} value;

static bool is_less(value a, value b)
{
    return a.excess_bytes != b.excess_bytes ? a.excess_bytes < b.excess_bytes
                                            : a.period_ns < b.period_ns;
}

/* Inserts a value that is not yet in the list. */
static void insert(value *list, int *n, value v)
{
    int at = 0;

    while (at < *n && is_less(list[at], v))
        at++;
    if (at < *n && !is_less(v, list[at]))
        return;
    for (int i = (*n)++; i > at; i--)
        list[i] = list[i - 1];
    list[at] = v;
}

/* Devices that identify the value. */
static void keep(mo_period_pool *pool, value v)
{
    int device[2] = { (int) v.period_ns, (int) v.excess_bytes };

    mo_period_pool_keep(pool, device, v.period_ns, v.excess_bytes);
    device[0] = device[1] = -1; /* the pool has a copy */
}

START_TEST(pool_has_the_best_values_in_order)
{
    test_random random = { (unsigned) _i };
    mo_period_pool pool;
    value list[OFFERS];
    mo_error err;
    int n = 0;

    ck_assert_int_eq(mo_period_pool_init(&pool, 2, &err), MO_OK);
    for (int i = 0; i < OFFERS; i++) {
        value v = { random_below(&random, 20), random_below(&random, 3) };
        bool best = n == 0 || is_less(v, list[0]);

        ck_assert(mo_period_pool_is_best(&pool, v.period_ns, v.excess_bytes) ==
                  best);
        keep(&pool, v);
        insert(list, &n, v);
        ck_assert_int_eq(pool.n,
                         n < MO_PERIOD_POOL_SIZE ? n : MO_PERIOD_POOL_SIZE);
        for (int j = 0; j < pool.n; j++) {
            const mo_period_placement *p = &pool.placements[j];

            ck_assert_int_eq(p->period_ns, list[j].period_ns);
            ck_assert_int_eq(p->excess_bytes, list[j].excess_bytes);
            ck_assert_int_eq(p->device[0], list[j].period_ns);
            ck_assert_int_eq(p->device[1], list[j].excess_bytes);
        }
    }
    mo_period_pool_clear(&pool);
}
END_TEST

SUITE(placement_pool)
{
    SOME(pool_has_the_best_values_in_order, 100, 10);
}
