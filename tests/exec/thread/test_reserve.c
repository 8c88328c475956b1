/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/thread/reserve.h: claims in a name space of their own. */
#include <config.h>

#include "exec/thread/reserve.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/suite.h"

enum { N_CPUS = 4 };

static char space[64];
static mo_thread_cpu list[N_CPUS];
static mo_thread_cpus cpus;

/* Numbers that no machine has: these processors are never busy. */
static int number_of(int i)
{
    return 2000 + i;
}

static void set_up(void)
{
    snprintf(space, sizeof space, "moirai-test-%d", (int) getpid());
    for (int i = 0; i < N_CPUS; i++)
        list[i] =
            (mo_thread_cpu){ .number = number_of(i), .core = number_of(i) };
    cpus = (mo_thread_cpus){ .n = N_CPUS, .cpus = list, .quota = N_CPUS };
}

START_TEST(reservations_do_not_overlap)
{
    const int two[] = { 1, 1 }, one[] = { 1 };
    mo_thread_reservation a = { 0 }, b = { 0 }, c = { 0 };

    MUST(mo_thread_reserve(space, &cpus, two, 2, &a, &err));
    if (!a.cpus)
        return; /* a system without claims */
    ck_assert_int_eq(a.cpus[0], number_of(0));
    ck_assert_int_eq(a.cpus[1], number_of(1));
    set_up();
    MUST(mo_thread_reserve(space, &cpus, two, 2, &b, &err));
    ck_assert_ptr_nonnull(b.cpus);
    ck_assert_int_eq(b.cpus[0], number_of(2));
    ck_assert_int_eq(b.cpus[1], number_of(3));
    set_up();
    MUST(mo_thread_reserve(space, &cpus, one, 1, &c, &err));
    ck_assert_ptr_null(c.cpus);
    ck_assert_int_eq(c.n_claims, 0);
    mo_thread_reservation_clear(&c);
    mo_thread_reservation_clear(&a);
    set_up();
    MUST(mo_thread_reserve(space, &cpus, one, 1, &c, &err));
    ck_assert_int_eq(c.cpus[0], number_of(0));
    mo_thread_reservation_clear(&b);
    mo_thread_reservation_clear(&c);
}
END_TEST

START_TEST(all_threads_have_one_or_none_has)
{
    const int three[] = { 2, 1 };
    mo_thread_reservation other = { 0 }, r = { 0 };

    if (!mo_thread_claim(space, number_of(1), &other))
        return;
    ck_assert(!mo_thread_claim(space, number_of(1), &r));
    list[3].taken = true;
    MUST(mo_thread_reserve(space, &cpus, three, 2, &r, &err));
    ck_assert_ptr_null(r.cpus);
    ck_assert_int_eq(r.n_claims, 0);
    mo_thread_reservation_clear(&r);
    list[3].taken = false;
    MUST(mo_thread_reserve(space, &cpus, three, 2, &r, &err));
    ck_assert_ptr_nonnull(r.cpus);
    for (int t = 0; t < 3; t++)
        ck_assert_int_ne(r.cpus[t], number_of(1));
    mo_thread_reservation_clear(&r);
    mo_thread_reservation_clear(&other);
}
END_TEST

START_TEST(claims_end_with_their_process)
{
    mo_thread_reservation r = { 0 };
    int status = 0;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void) mo_thread_claim(space, number_of(0), &r);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    mo_thread_cpus_mark_claimed(space, &cpus);
    ck_assert(!list[0].taken);
}
END_TEST

START_TEST(a_claim_is_seen_by_others)
{
    mo_thread_reservation r = { 0 };

    if (!mo_thread_claim(space, number_of(2), &r))
        return;
    mo_thread_cpus_mark_claimed(space, &cpus);
    for (int i = 0; i < N_CPUS; i++)
        ck_assert_int_eq(list[i].taken, i == 2);
    mo_thread_reservation_clear(&r);
}
END_TEST

SUITE(reserve)
{
    tcase_add_checked_fixture(tests, set_up, NULL);
    TEST(reservations_do_not_overlap);
    TEST(all_threads_have_one_or_none_has);
    TEST(claims_end_with_their_process);
    TEST(a_claim_is_seen_by_others);
}
