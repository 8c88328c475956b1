/* SPDX-License-Identifier: Apache-2.0 */
/* tags: threads */
/* Tests of exec/backend/cpu/unit/cpu_unit.h. */
#include <config.h>

#include "exec/backend/cpu/unit/cpu_unit.h"

#include <stdatomic.h>
#include <time.h>

#include "tests/support/suite.h"

enum { MANY = 1000 };

typedef struct tally {
    atomic_int done[MANY];
    atomic_int wrong;
    int size;
} tally;

static void count_job(void *context, int job, int worker)
{
    tally *t = context;

    atomic_fetch_add(&t->done[job], 1);
    if (worker < 0 || worker >= t->size)
        atomic_fetch_add(&t->wrong, 1);
}

static void check_round(mo_cpu_thread_pool *pool, int n_jobs)
{
    static tally t;

    memset(&t, 0, sizeof t);
    t.size = mo_cpu_thread_pool_size(pool);
    mo_cpu_thread_pool_run(pool, n_jobs, count_job, &t);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(atomic_load(&t.done[i]), i < n_jobs);
    ck_assert_int_eq(atomic_load(&t.wrong), 0);
}

START_TEST(every_job_is_done_once)
{
    mo_cpu_thread_pool *pool = NULL;

    MUST(mo_cpu_thread_pool_new(_i + 1, NULL, 0, &pool, &err));
    ck_assert_int_eq(mo_cpu_thread_pool_size(pool), _i + 1);
    for (int n = 0; n < 60; n++)
        check_round(pool, n);
    check_round(pool, MANY);
    mo_cpu_thread_pool_free(pool);
}
END_TEST

/* Rounds follow each other while workers sleep, wake and arrive late. */
START_TEST(sleeping_workers_take_no_job_twice)
{
    mo_cpu_thread_pool *pool = NULL;
    struct timespec pause = { 0, 300000 };

    MUST(mo_cpu_thread_pool_new(4, NULL, 0, &pool, &err));
    for (int round = 0; round < 400; round++) {
        check_round(pool, 1 + round % 7);
        if (round % 20 == 0)
            nanosleep(&pause, NULL);
    }
    mo_cpu_thread_pool_free(pool);
}
END_TEST

typedef struct pieces {
    atomic_llong elements;
    atomic_int ranges;
    int64_t size;
} pieces;

static void count_range(void *context, int64_t begin, int64_t end, int worker)
{
    pieces *p = context;

    (void) worker;
    ck_assert(begin % p->size == 0 && end > begin && end - begin <= p->size);
    atomic_fetch_add(&p->elements, end - begin);
    atomic_fetch_add(&p->ranges, 1);
}

START_TEST(ranges_cover_everything_and_begin_where_size_says)
{
    static const struct {
        int64_t count, size;
        int ranges;
    } cases[] = {
        { 0, 5, 0 }, { 1, 5, 1 }, { 5, 5, 1 }, { 6, 5, 2 }, { 99, 10, 10 }
    };
    mo_cpu_thread_pool *pool = NULL;

    MUST(mo_cpu_thread_pool_new(3, NULL, 0, &pool, &err));
    for (int i = 0; i < COUNT(cases); i++) {
        pieces p = { .size = cases[i].size };

        mo_cpu_thread_pool_parallel_for(pool, cases[i].count, cases[i].size,
                                        count_range, &p);
        ck_assert_int_eq(atomic_load(&p.elements), cases[i].count);
        ck_assert_int_eq(atomic_load(&p.ranges), cases[i].ranges);
    }
    mo_cpu_thread_pool_free(pool);
}
END_TEST

START_TEST(a_pool_stays_on_the_processors_it_is_given)
{
    const int cpus[] = { 0 };
    mo_cpu_thread_pool *pool = NULL;

    MUST(mo_cpu_thread_pool_new(0, cpus, 1, &pool, &err));
    ck_assert_int_eq(mo_cpu_thread_pool_size(pool), 1);
    check_round(pool, 10);
    mo_cpu_thread_pool_free(pool);
    MUST(mo_cpu_thread_pool_new(2, cpus, 1, &pool,
                                &err)); /* both on one processor */
    check_round(pool, MANY);
    mo_cpu_thread_pool_free(pool);
}
END_TEST

SUITE(thread_pool)
{
    EACH(every_job_is_done_once, 5);
    TEST(sleeping_workers_take_no_job_twice);
    TEST(ranges_cover_everything_and_begin_where_size_says);
    TEST(a_pool_stays_on_the_processors_it_is_given);
}
