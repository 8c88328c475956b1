/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/runtime/joint/joint_internal.h: ranges are exactly the bytes of
 * the split, and their accesses equal those of an array with an entry for each
 * byte. */
#include "exec/runtime/joint/joint_internal.h"

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

enum { BYTES = 64, STEPS = 300 };

/* The last accesses to a byte. */
typedef struct users {
    int wrote[MO_JOINT_TRACK_COUNT], read[MO_JOINT_TRACK_COUNT];
} users;

typedef struct pair {
    mo_joint_access_map bytes;
    users naive[BYTES];
} pair;

static users nobody(void)
{
    users none;

    for (int t = 0; t < MO_JOINT_TRACK_COUNT; t++)
        none.wrote[t] = none.read[t] = MO_JOINT_NONE;
    return none;
}

static void begin(pair *p)
{
    p->bytes = (mo_joint_access_map){ 0 };
    for (int b = 0; b < BYTES; b++)
        p->naive[b] = nobody();
}

static void check_users(const mo_joint_access_range *span, const users *naive)
{
    for (int t = 0; t < MO_JOINT_TRACK_COUNT; t++) {
        ck_assert_int_eq(span->wrote[t], naive->wrote[t]);
        ck_assert_int_eq(span->read[t], naive->read[t]);
    }
}

/* Just these bytes, one range behind the other. */
static void check_cut(const pair *p, const mo_joint_access_range *spans,
                      size_t n, int64_t from, int64_t to)
{
    int64_t at = from;

    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(spans[i].begin, at);
        ck_assert_int_gt(spans[i].end, at);
        for (at = spans[i].begin; at < spans[i].end && at < BYTES; at++)
            check_users(&spans[i], &p->naive[at]);
        at = spans[i].end;
    }
    ck_assert_int_eq(at, to);
}

/* All bytes in order. */
static void check_all(const pair *p)
{
    check_cut(p, p->bytes.ranges, p->bytes.n, 0, INT64_MAX);
}

static void note(pair *p, mo_joint_access_range *spans, size_t n, int64_t from,
                 int64_t to, bool writes, int track, int call)
{
    for (size_t i = 0; i < n; i++)
        (writes ? spans[i].wrote : spans[i].read)[track] = call;
    for (int64_t b = from; b < to; b++)
        (writes ? p->naive[b].wrote : p->naive[b].read)[track] = call;
}

static void forget(pair *p, mo_joint_access_range *spans, size_t n,
                   int64_t from, int64_t to)
{
    size_t before = p->bytes.n;

    mo_joint_access_map_merge(&p->bytes, spans, n);
    ck_assert_uint_eq(p->bytes.n, before - (n > 0 ? n - 1 : 0));
    for (int64_t b = from; b < to; b++)
        p->naive[b] = nobody();
}

/* A random range, split and, mostly, accessed or merged. */
static void step(pair *p, test_random *random, int call)
{
    int64_t from = random_below(random, BYTES);
    int64_t to = from + random_below(random, BYTES - (int) from + 1);
    mo_joint_access_range *spans = NULL;
    size_t n = 0;

    MUST(mo_joint_access_map_split(&p->bytes, from, to, &spans, &n, &err));
    check_cut(p, spans, n, from, to);
    check_all(p);
    switch (random_below(random, 8)) {
    case 0:
        break;
    case 1:
        forget(p, spans, n, from, to);
        break;
    default:
        note(p, spans, n, from, to, random_below(random, 2),
             random_below(random, MO_JOINT_TRACK_COUNT), call);
    }
}

START_TEST(each_byte_knows_its_last_users)
{
    test_random random = { (uint64_t) _i };
    pair p;

    begin(&p);
    for (int i = 0; i < STEPS; i++)
        step(&p, &random, i);
    check_all(&p);
    mo_joint_access_map_clear(&p.bytes);
}
END_TEST

START_TEST(no_bytes_are_no_spans)
{
    static const int64_t ranges[][2] = { { 0, 0 }, { 5, 5 }, { 7, 3 } };
    pair p;

    begin(&p);
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < COUNT(ranges); i++) {
            mo_joint_access_range some, *spans = &some;
            size_t n = 1;

            MUST(mo_joint_access_map_split(&p.bytes, ranges[i][0], ranges[i][1],
                                           &spans, &n, &err));
            ck_assert_ptr_null(spans);
            ck_assert_uint_eq(n, 0);
        }
    mo_joint_access_map_clear(&p.bytes);
}
END_TEST

/* There is no last byte. */
START_TEST(nobody_has_touched_what_is_far_away)
{
    mo_joint_access_range *spans = NULL;
    size_t n = 0;
    pair p;

    begin(&p);
    MUST(mo_joint_access_map_split(&p.bytes, 8, 16, &spans, &n, &err));
    note(&p, spans, n, 8, 16, true, MO_JOINT_TRACK_IN, 3);
    MUST(mo_joint_access_map_split(&p.bytes, 16, INT64_MAX - 1, &spans, &n,
                                   &err));
    check_cut(&p, spans, n, 16, INT64_MAX - 1);
    check_users(&spans[0], &p.naive[BYTES - 1]);
    mo_joint_access_map_clear(&p.bytes);
    ck_assert_ptr_null(p.bytes.ranges);
}
END_TEST

SUITE(joint_access_map)
{
    SOME(each_byte_knows_its_last_users, 100, 5);
    TEST(no_bytes_are_no_spans);
    TEST(nobody_has_touched_what_is_far_away);
}
