/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind threads */
/* Tests of exec/transport/rendezvous/join.h: a rank is connected, or refused
 * by name. */
#include <config.h>

#include "exec/transport/rendezvous/join.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/exec/transport/rendezvous_case.h"
#include "tests/support/suite.h"

static void join_all(join_rank *ranks, int n)
{
    for (int r = 0; r < n; r++)
        join_start(&ranks[r]);
    for (int r = 0; r < n; r++)
        join_finish(&ranks[r]);
    for (int r = 0; r < n; r++)
        ck_assert_msg(ranks[r].status == MO_OK, "rank %d: %s", r,
                      ranks[r].err.text);
    join_check(ranks, n);
    for (int r = 0; r < n; r++)
        join_hang_up(&ranks[r]);
}

/* With a token up to three ranks: each takes 0.1 s to derive its key. */
START_TEST(all_are_connected_with_all)
{
    join_rank ranks[JOIN_RANKS];
    int n = 1 + _i % JOIN_RANKS;

    join_set_up(ranks, n, _i < JOIN_RANKS ? 0 : join_free_port());
    for (int r = 0; r < n; r++)
        ranks[r].job.has_token = ranks[r].job.has_token && n <= 3;
    join_all(ranks, n);
}
END_TEST

/* The machine's name may resolve to loopback, and yet remote ranks shall
 * connect. */
START_TEST(only_loopback_itself_is_local)
{
    char name[256] = "";
    uint8_t at[MO_RDV_ADDRESS_BYTES];

    ck_assert(mo_rdv_address_parse_loopback("localhost", at));
    ck_assert(mo_rdv_address_parse_loopback("127.0.0.1", at));
    ck_assert(mo_rdv_address_parse_loopback("127.1.2.3", at));
    ck_assert(mo_rdv_address_parse_loopback("::1", at));
    ck_assert(!mo_rdv_address_parse_loopback("10.0.0.1", at));
    ck_assert(!mo_rdv_address_parse_loopback("::", at));
    ck_assert(!mo_rdv_address_parse_loopback("localhost.example.org", at));
    gethostname(name, sizeof name - 1);
    if (strcmp(name, "localhost") != 0)
        ck_assert(!mo_rdv_address_parse_loopback(name, at));
}
END_TEST

/* Loopback has more than one address: the one that is connected to has to be
 * the one where rank 0 listens; the mesh uses it as well. */
START_TEST(ranks_meet_at_any_loopback)
{
    static const char *const hosts[] = { "localhost", "127.0.0.2", "::1" };
    join_rank ranks[3];
    uint8_t at[MO_RDV_ADDRESS_BYTES];
    int listener;

    ck_assert(mo_rdv_address_parse_loopback(hosts[_i], at));
    listener = mo_rdv_socket_listen(at, 0, 1);
    if (listener < 0)
        return; /* not on this machine */
    close(listener);
    join_set_up(ranks, 3, join_free_port());
    for (int r = 0; r < 3; r++)
        strcpy(ranks[r].job.host, hosts[_i]);
    join_all(ranks, 3);
}
END_TEST

START_TEST(an_address_of_others_is_refused_by_name)
{
    join_rank alone;

    join_set_up(&alone, 1, join_free_port());
    alone.job.n_ranks = 2;
    alone.job.bind = "192.0.2.77"; /* unassigned: RFC 5737 */
    join_start(&alone);
    join_finish(&alone);
    ck_assert_int_eq(alone.status, MO_E_IO);
    ck_assert_msg(strstr(alone.err.text, "'192.0.2.77'") != NULL, "%s",
                  alone.err.text);
}
END_TEST

START_TEST(the_first_may_come_last)
{
    join_rank ranks[2];

    join_set_up(ranks, 2, join_free_port());
    join_start(&ranks[1]);
    usleep(200000);
    join_start(&ranks[0]);
    join_finish(&ranks[0]);
    join_finish(&ranks[1]);
    ck_assert_int_eq(ranks[0].status, MO_OK);
    ck_assert_int_eq(ranks[1].status, MO_OK);
    join_check(ranks, 2);
    join_hang_up(&ranks[0]);
    join_hang_up(&ranks[1]);
}
END_TEST

/* There are more connections than the soft limit of open files allows. */
START_TEST(many_ranks_need_many_files)
{
    join_rank ranks[JOIN_RANKS];
    struct rlimit limit, before;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 40;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    join_set_up(ranks, JOIN_RANKS, join_free_port());
    join_all(ranks, JOIN_RANKS);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

/* A wrong rank is refused; the right one is accepted afterwards. */
static void refuse_then_accept(join_rank *ranks, join_rank *wrong,
                               const char *own_words, const char *others_words)
{
    join_start(&ranks[0]);
    join_start(wrong);
    join_finish(wrong);
    ck_assert_int_eq(wrong->status, MO_E_IO);
    join_expect(wrong->err.text, own_words);
    join_start(&ranks[1]);
    join_finish(&ranks[0]);
    join_finish(&ranks[1]);
    ck_assert_msg(ranks[0].status == MO_OK, "%s", ranks[0].err.text);
    ck_assert_msg(ranks[1].status == MO_OK, "%s", ranks[1].err.text);
    join_expect(join_notes, others_words);
    join_hang_up(&ranks[0]);
    join_hang_up(&ranks[1]);
}

START_TEST(a_wrong_token_is_refused_by_name)
{
    join_rank ranks[2], wrong;

    static const char *const own[] = { "rank 0 at this machine has a token, "
                                       "but this rank has neither",
                                       "has another token" };
    static const char *const others[] = {
        "rank 1 at this machine has neither token nor certificate, but rank 0",
        "rank 1 at 127.0.0.1 has another token"
    };

    if (!mo_secure_is_available())
        return;
    join_set_up(ranks, 2, _i == 0 ? 0 : join_free_port());
    wrong = ranks[1];
    wrong.job.has_token = _i > 0;
    wrong.job.token = _i == 0 ? "" : "sesame ";
    refuse_then_accept(ranks, &wrong, own[_i], others[_i]);
}
END_TEST

START_TEST(another_number_of_ranks_is_refused)
{
    join_rank ranks[2], wrong;

    join_set_up(ranks, 2, 0);
    wrong = ranks[1];
    wrong.job.n_ranks = 3;
    refuse_then_accept(ranks, &wrong, "was given 3 ranks, but rank 0 2",
                       "was given 3 ranks, but rank 0 2");
}
END_TEST

/* Two with the same number have been started: one is refused, whichever is
 * later. Waits for that, and returns the other, which is not finished yet. */
static join_rank *finish_refused(join_rank *a, join_rank *b, const char *words)
{
    join_rank *refused;

    while (!atomic_load(&a->is_done) && !atomic_load(&b->is_done))
        usleep(1000);
    refused = atomic_load(&a->is_done) ? a : b;
    join_finish(refused);
    ck_assert_int_eq(refused->status, MO_E_IO);
    join_expect(refused->err.text, words);
    return refused == a ? b : a;
}

START_TEST(of_two_equal_ranks_one_is_refused)
{
    join_rank ranks[3], twin, *accepted;

    join_set_up(ranks, 3, 0);
    twin = ranks[1];
    join_start(&ranks[0]);
    join_start(&ranks[1]);
    join_start(&twin);
    accepted = finish_refused(&ranks[1], &twin,
                              "rank 1 at this machine has come already");
    join_start(&ranks[2]);
    join_finish(&ranks[0]);
    join_finish(accepted);
    join_finish(&ranks[2]);
    ranks[1] = *accepted;
    for (int r = 0; r < 3; r++)
        ck_assert_msg(ranks[r].status == MO_OK, "%s", ranks[r].err.text);
    join_check(ranks, 3);
    for (int r = 0; r < 3; r++)
        join_hang_up(&ranks[r]);
}
END_TEST

START_TEST(of_two_ranks_0_one_is_refused)
{
    join_rank ranks[2], twin, *accepted;

    join_set_up(ranks, 2, join_free_port());
    twin = ranks[0];
    join_start(&ranks[0]);
    join_start(&twin);
    accepted = finish_refused(&ranks[0], &twin, "is taken");
    join_start(&ranks[1]);
    join_finish(accepted);
    join_finish(&ranks[1]);
    ck_assert_msg(accepted->status == MO_OK, "%s", accepted->err.text);
    join_hang_up(accepted);
    join_hang_up(&ranks[1]);
}
END_TEST

SUITE(rendezvous_join)
{
    EACH(all_are_connected_with_all, 2 * JOIN_RANKS);
    TEST(only_loopback_itself_is_local);
    EACH(ranks_meet_at_any_loopback, 3);
    TEST(an_address_of_others_is_refused_by_name);
    TEST(the_first_may_come_last);
    TEST(many_ranks_need_many_files);
    EACH(a_wrong_token_is_refused_by_name, 2);
    TEST(another_number_of_ranks_is_refused);
    TEST(of_two_equal_ranks_one_is_refused);
    TEST(of_two_ranks_0_one_is_refused);
}
