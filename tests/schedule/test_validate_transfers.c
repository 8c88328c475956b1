/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/validate/validate.h: constraints on transfers, by hand. */
#include "schedule/validate/validate.h"

#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"
#include "tests/schedule/validate_case.h"

enum { A, B, C };

START_TEST(readers_wait_for_what_they_read)
{
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);

    s->start_ns[2] -= 1;
    check_only(&p, s, MO_VIOLATION_PRECEDENCE, 1,
               "(1a) op \"c\" starts 0.001 us before the transfer of \"a\" to "
               "\"c\" from A to B has ended");
    s->start_ns[2] += 1;
    s->transfers[0].start_ns -= 500;
    s->transfers[0].end_ns -= 500;
    check_only(&p, s, MO_VIOLATION_PRECEDENCE, 500,
               "(1a) the transfer of \"a\" to \"c\" from A to B starts 0.5 us "
               "before \"a\" has ended");
    mo_schedule_free(s);
    s = schedule_made(&p, &edges_by_port, (const int[]){ A, A, A, A });
    s->start_ns[0] = 1000;
    check_among(&p, s, MO_VIOLATION_PRECEDENCE, 1000,
                "(1a) op \"b\" starts 1 us before \"a\" has ended, which it "
                "reads");
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(transfers_follow_from_the_placement)
{
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);

    s->transfers[1].end_ns -= 100;
    check_only(&p, s, MO_VIOLATION_TRANSFER, 100,
               "(1f) the transfer of \"a\" to \"d\" from A to C takes 3 us and "
               "not 2.9 us");
    s->transfers[1].end_ns += 100;
    s->transfers[1].from = B;
    check_only(&p, s, MO_VIOLATION_TRANSFER, 0,
               "(1f) the transfer of \"a\" to \"d\" from B to C does not begin "
               "on A, where \"a\" is");
    s->transfers[1].from = A;
    s->transfers[1].to = B;
    check_among(
        &p, s, MO_VIOLATION_TRANSFER, 3000,
        "(1f) the transfer of \"a\" to \"d\" from A to C, which takes 3 "
        "us, is missing");
    check_among(
        &p, s, MO_VIOLATION_TRANSFER, 3000,
        "(1f) the transfer of \"a\" to \"d\" from A to B, which takes 3 "
        "us, is for nobody");
    s->transfers[1].to = C;
    double_transfer(s, 0);
    check_among(
        &p, s, MO_VIOLATION_TRANSFER, 2000,
        "(1f) the transfer of \"a\" to \"c\" from A to B, which takes 2 "
        "us, is there already");
    drop_transfer(s, 0);
    drop_transfer(s, 0);
    check_only(&p, s, MO_VIOLATION_TRANSFER, 2000,
               "(1f) the transfer of \"a\" to \"c\" from A to B, which takes 2 "
               "us, is missing");
    clear_scheduled(&p, s);
}
END_TEST

/* One transfer to B serves both readers, and takes the longer time. */
START_TEST(a_tensor_goes_once_to_a_device)
{
    const int device[] = { A, B, B };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p,
                  "* t.A=1 t.B=1; a; b; c; a>b tensor=u bytes=1000;"
                  "a>c tensor=u bytes=1000; a>c tensor=v bytes=2000",
                  "A; B; A-B gbps=8", &once_by_port, device);

    ck_assert_int_eq(s->n_transfers, 2);
    check_valid(p.x, s);
    drop_transfer(s, 0);
    check_only(&p, s, MO_VIOLATION_TRANSFER, 1000,
               "(1f) the transfer of output 1 of \"a\" from A to B, which "
               "takes 1 us, is missing");
    clear_scheduled(&p, s);
}
END_TEST

/* Transfers of b and c take 2 and 3 us at once, from A to B and C and from B
 * to C. */
static const struct {
    mo_congestion congestion;
    int device[4];
    const char *text; /* NULL: they do not conflict */
} meetings[] = {
    { MO_CONGESTION_NONE, { A, A, B, B }, NULL },
    { MO_CONGESTION_PORT,
      { A, A, B, C },
      "(1g) the transfers of \"a\" to \"c\" from A to B and of \"a\" to \"d\" "
      "from A to C overlap on the port out of A by 2 us" },
    { MO_CONGESTION_CHANNEL, { A, A, B, C }, NULL },
    { MO_CONGESTION_CHANNEL,
      { A, A, B, B },
      "(1g) the transfers of \"a\" to \"c\" from A to B and of \"a\" to \"d\" "
      "from A to B overlap on the channel from A to B by 2 us" },
    { MO_CONGESTION_LINK, { B, B, A, C }, NULL },
    { MO_CONGESTION_LINK,
      { A, A, B, C },
      "(1g) the transfers of \"a\" to \"c\" from A to B and of \"a\" to \"d\" "
      "from A to C overlap on link 0 by 2 us" },
};

START_TEST(transfers_that_meet_are_found)
{
    const mo_regime regime = { meetings[_i].congestion, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_NONE };
    problem p = { 0 };
    /* A>B is link 0, and on the route to C */
    mo_schedule *s = scheduled(
        &p,
        "* t.A=2 t.B=2 t.C=2; a; b; c; d; a>b bytes=1000;"
        "a>c c.A.B=2 c.B.A=2; a>d c.A.C=3 c.A.B=3 c.B.C=3",
        "A; B; C; A-B gbps=8; B-C gbps=8", &regime, meetings[_i].device);

    s->transfers[0] = (mo_transfer){ s->transfers[0].item, s->transfers[0].from,
                                     s->transfers[0].to, 2000, 4000 };
    s->transfers[1] = (mo_transfer){ s->transfers[1].item, s->transfers[1].from,
                                     s->transfers[1].to, 2000, 5000 };
    s->start_ns[2] = 20000;
    s->start_ns[3] = 30000;
    s->makespan_ns = 32000;
    if (meetings[_i].text)
        check_only(&p, s, MO_VIOLATION_CONGESTION, 2000, meetings[_i].text);
    else
        check_valid(p.x, s);
    clear_scheduled(&p, s);
}
END_TEST

SUITE(validate_transfers)
{
    TEST(readers_wait_for_what_they_read);
    TEST(transfers_follow_from_the_placement);
    TEST(a_tensor_goes_once_to_a_device);
    EACH(transfers_that_meet_are_found, COUNT(meetings));
}
