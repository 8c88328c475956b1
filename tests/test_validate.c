/* Claims of schedule/validate.h: each rule by hand, then the judge held against
 * the definition on schedules that were changed at random. */
#include "schedule/validate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/heft.h"
#include "schedule/upper.h"
#include "tests/crowd.h"
#include "tests/graphs.h"
#include "tests/problem.h"
#include "tests/random_problem.h"
#include "tests/suite.h"
#include "tests/valid.h"

enum { A, B, C, MAX_LISTED = 64 };

static const mo_regime edges_by_port = { MO_CONGESTION_PORT,
                                         MO_TENSORS_PER_EDGE,
                                         MO_MEMORY_STATIC };
static const mo_regime once_by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                        MO_MEMORY_STATIC };
static const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                MO_MEMORY_LIVE };

/* a is read by three others; a kB takes 1 us. */
static const char fork_of_three[] =
    "* t.A=2 t.B=2 t.C=2; * memory_bytes=10; a; b; c; d;"
    "a>b bytes=1000; a>c bytes=2000; a>d bytes=3000";
static const char three[] =
    "A memory_bytes=100; B memory_bytes=100; C memory_bytes=100;"
    "A-B gbps=8; A-C gbps=8; B-C gbps=8";

static mo_schedule *made(const problem *p, const mo_regime *regime,
                         const int *device)
{
    mo_schedule *s = NULL;

    MUST(mo_schedule_new(p->x, regime, device, &s, &err));
    MUST(mo_schedule_shift(p->x, s, &err));
    return s;
}

/* A problem, and the schedule of a placement; both to be cleared. */
static mo_schedule *scheduled(problem *p, const char *graph,
                              const char *cluster, const mo_regime *regime,
                              const int *device)
{
    problem_make(p, graph, cluster, NULL);
    return made(p, regime, device);
}

static void clear(problem *p, mo_schedule *s)
{
    mo_schedule_free(s);
    problem_clear(p);
}

static mo_verdict *verdict_on(const problem *p, const mo_schedule *s)
{
    mo_verdict *v = NULL;

    MUST(mo_validate(p->x, s, MAX_LISTED, &v, &err));
    return v;
}

static void print_all(const mo_verdict *v)
{
    for (int i = 0; i < v->n; i++)
        fprintf(stderr, "%s\n", v->violations[i].text);
}

/* There is one violation, and it is this. */
static void check_only(const problem *p, const mo_schedule *s,
                       mo_rule_broken rule, int64_t amount, const char *text)
{
    mo_verdict *v = verdict_on(p, s);

    if (v->n != 1)
        print_all(v);
    ck_assert_int_eq(v->n, 1);
    ck_assert_str_eq(v->violations[0].text, text);
    ck_assert_int_eq(v->violations[0].rule, rule);
    ck_assert_int_eq(v->violations[0].amount, amount);
    ck_assert(!v->more);
    mo_verdict_free(v);
}

/* One of the violations is this. */
static void check_among(const problem *p, const mo_schedule *s,
                        mo_rule_broken rule, int64_t amount, const char *text)
{
    mo_verdict *v = verdict_on(p, s);
    bool found = false;

    for (int i = 0; i < v->n; i++)
        found = found || (v->violations[i].rule == rule &&
                          v->violations[i].amount == amount &&
                          strcmp(v->violations[i].text, text) == 0);
    if (!found)
        print_all(v);
    ck_assert_msg(found, "nobody says: %s", text);
    mo_verdict_free(v);
}

START_TEST(a_valid_schedule_is_described)
{
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);
    mo_verdict *v;

    v = verdict_on(&p, s);
    print_all(v);
    ck_assert_int_eq(v->n, 0);
    ck_assert_int_eq(v->busy_ns[A], 4000);
    ck_assert_int_eq(v->busy_ns[C], 2000);
    ck_assert_int_eq(v->peak_bytes[A], 20);
    ck_assert_int_eq(v->n_transfers, 2);
    ck_assert_int_eq(v->sent_ns, 5000);
    mo_verdict_free(v);
    clear(&p, s);
}
END_TEST

START_TEST(devices_that_do_not_exist_are_named)
{
    const int device[] = { A, A, A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);

    s->device[3] = 3;
    s->makespan_ns = s->start_ns[3];
    check_only(&p, s, MO_BROKEN_ASSIGNMENT, 0,
               "(1c) op \"d\" is on device number 3 of 3");
    s->device[3] = -1;
    check_only(&p, s, MO_BROKEN_ASSIGNMENT, 0,
               "(1c) op \"d\" is on device number -1 of 3");
    clear(&p, s);
}
END_TEST

START_TEST(pins_and_groups_are_kept)
{
    const int device[] = { A, B, A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "* t.A=1 t.B=1; a pin=B; b; c", "A; B",
                               &edges_by_port, device);

    check_only(&p, s, MO_BROKEN_PIN, 0,
               "pin: op \"a\" is pinned to B and is on A");
    clear(&p, s);

    problem_make(&p, "* t.A=1 t.B=1; a colocate=g; b; c colocate=g", "A; B",
                 NULL);
    s = made(&p, &edges_by_port, device);
    check_valid(p.x, s);
    mo_schedule_free(s);
    s = made(&p, &edges_by_port, (const int[]){ A, A, B });
    check_only(&p, s, MO_BROKEN_GROUP, 0,
               "group: ops \"a\" and \"c\" belong on one device and are on A "
               "and B");
    clear(&p, s);
}
END_TEST

START_TEST(ops_that_overlap_are_told_by_how_much)
{
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, "a t.A=3; b t.A=5", "A", &edges_by_port, device);

    s->start_ns[1] = 1250;
    s->makespan_ns = 6250;
    check_only(&p, s, MO_BROKEN_OVERLAP, 1750,
               "(1e) ops \"a\" and \"b\" overlap on A by 1.75 us");
    clear(&p, s);
}
END_TEST

/* z takes no time: it may lie at the ends of a, not inside. */
START_TEST(what_takes_no_time_lies_at_the_ends_of_others)
{
    static const int64_t starts[] = { 0, 1, 2999, 3000, 5000 };
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, "a t.A=3; z t.A=0", "A", &edges_by_port, device);

    for (int i = 0; i < COUNT(starts); i++) {
        s->start_ns[1] = starts[i];
        s->makespan_ns = starts[i] > 3000 ? starts[i] : 3000;
        if (starts[i] == 1 || starts[i] == 2999)
            check_only(&p, s, MO_BROKEN_OVERLAP, 1,
                       "(1e) op \"z\" takes no time and lies inside op \"a\" "
                       "on A, by 0.001 us");
        else
            check_valid(p.x, s);
    }
    clear(&p, s);
}
END_TEST

/* The long one that began first is remembered beyond the short one. */
START_TEST(what_lies_inside_is_found_behind_others)
{
    const int device[] = { A, A, A, A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "a t.A=9; b t.A=1; c t.A=0; d t.A=2", "A",
                               &edges_by_port, device);
    mo_verdict *v;

    memcpy(s->start_ns, (const int64_t[]){ 0, 1000, 4000, 8000 },
           4 * sizeof *s->start_ns);
    s->makespan_ns = 10000;
    v = verdict_on(&p, s);
    ck_assert_int_eq(v->n, 3);
    ck_assert_str_eq(v->violations[2].text,
                     "(1e) ops \"a\" and \"d\" overlap on A by 1 us");
    ck_assert_int_eq(v->violations[1].amount, 4000);
    mo_verdict_free(v);
    clear(&p, s);
}
END_TEST

START_TEST(readers_wait_for_what_they_read)
{
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);

    s->start_ns[2] -= 1;
    check_only(&p, s, MO_BROKEN_PRECEDENCE, 1,
               "(1a) op \"c\" starts 0.001 us before the transfer of \"a\" to "
               "\"c\" from A to B has ended");
    s->start_ns[2] += 1;
    s->transfers[0].start_ns -= 500;
    s->transfers[0].end_ns -= 500;
    check_only(&p, s, MO_BROKEN_PRECEDENCE, 500,
               "(1a) the transfer of \"a\" to \"c\" from A to B starts 0.5 us "
               "before \"a\" has ended");
    mo_schedule_free(s);
    s = made(&p, &edges_by_port, (const int[]){ A, A, A, A });
    s->start_ns[0] = 1000;
    check_among(&p, s, MO_BROKEN_PRECEDENCE, 1000,
                "(1a) op \"b\" starts 1 us before \"a\" has ended, which it "
                "reads");
    clear(&p, s);
}
END_TEST

START_TEST(nothing_starts_before_all_begins)
{
    const int device[] = { A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "a t.A=3", "A", &edges_by_port, device);

    s->start_ns[0] = -1000;
    s->makespan_ns = 2000;
    check_only(&p, s, MO_BROKEN_PRECEDENCE, 1000,
               "(1a) op \"a\" starts at -1 us, before all begins");
    clear(&p, s);
}
END_TEST

static void drop_transfer(mo_schedule *s, int at)
{
    s->n_transfers--;
    memmove(s->transfers + at, s->transfers + at + 1,
            (size_t) (s->n_transfers - at) * sizeof *s->transfers);
}

static void double_transfer(mo_schedule *s, int at)
{
    size_t n = (size_t) s->n_transfers + 1;

    s->transfers = realloc(s->transfers, n * sizeof *s->transfers);
    ck_assert_ptr_nonnull(s->transfers);
    memmove(s->transfers + at + 1, s->transfers + at,
            (size_t) (s->n_transfers - at) * sizeof *s->transfers);
    s->n_transfers++;
}

START_TEST(transfers_follow_from_the_placement)
{
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);

    s->transfers[1].end_ns -= 100;
    check_only(&p, s, MO_BROKEN_TRANSFER, 100,
               "(1f) the transfer of \"a\" to \"d\" from A to C takes 3 us and "
               "not 2.9 us");
    s->transfers[1].end_ns += 100;
    s->transfers[1].from = B;
    check_only(&p, s, MO_BROKEN_TRANSFER, 0,
               "(1f) the transfer of \"a\" to \"d\" from B to C does not begin "
               "on A, where \"a\" is");
    s->transfers[1].from = A;
    s->transfers[1].to = B;
    check_among(
        &p, s, MO_BROKEN_TRANSFER, 3000,
        "(1f) the transfer of \"a\" to \"d\" from A to C, which takes 3 "
        "us, is missing");
    check_among(
        &p, s, MO_BROKEN_TRANSFER, 3000,
        "(1f) the transfer of \"a\" to \"d\" from A to B, which takes 3 "
        "us, is for nobody");
    s->transfers[1].to = C;
    double_transfer(s, 0);
    check_among(
        &p, s, MO_BROKEN_TRANSFER, 2000,
        "(1f) the transfer of \"a\" to \"c\" from A to B, which takes 2 "
        "us, is there already");
    drop_transfer(s, 0);
    drop_transfer(s, 0);
    check_only(&p, s, MO_BROKEN_TRANSFER, 2000,
               "(1f) the transfer of \"a\" to \"c\" from A to B, which takes 2 "
               "us, is missing");
    clear(&p, s);
}
END_TEST

/* One transfer to B is for both, and takes what the longer does. */
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
    check_only(&p, s, MO_BROKEN_TRANSFER, 1000,
               "(1f) the transfer of output 1 of \"a\" from A to B, which "
               "takes 1 us, is missing");
    clear(&p, s);
}
END_TEST

/* b and c are sent 2 and 3 us at once, from A to B and C and from B to C. */
static const struct {
    mo_congestion congestion;
    int device[4];
    const char *text; /* NULL: they do not meet */
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
    /* A>B is link 0, and on the way to C */
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
        check_only(&p, s, MO_BROKEN_CONGESTION, 2000, meetings[_i].text);
    else
        check_valid(p.x, s);
    clear(&p, s);
}
END_TEST

START_TEST(memory_that_lacks_is_told_in_bytes)
{
    const int device[] = { A, A, A, B };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three,
                  "A memory_bytes=25; B memory_bytes=100; C memory_bytes=100;"
                  "A-B gbps=8; A-C gbps=8; B-C gbps=8",
                  &edges_by_port, device);

    check_only(&p, s, MO_BROKEN_MEMORY, 5,
               "(1d) device A needs 30 bytes and has 25, 5 too few");
    s->regime.memory = MO_MEMORY_NONE;
    check_valid(p.x, s);
    clear(&p, s);
}
END_TEST

/* While b runs there is what a made and what b makes, beside both weights. */
START_TEST(live_memory_is_told_with_its_moment)
{
    const int device[] = { A, A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p,
                  "* t.A=1; * weight_bytes=1; * workspace_bytes=0; a; b; c;"
                  "a>b bytes=100; b>c bytes=200",
                  "A memory_bytes=302", &live, device);

    check_only(&p, s, MO_BROKEN_MEMORY, 1,
               "(1d) device A needs 303 bytes at 1 us and has 302, 1 too few");
    clear(&p, s);
}
END_TEST

START_TEST(a_wrong_makespan_is_corrected)
{
    const int device[] = { A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "a t.A=3", "A", &edges_by_port, device);

    s->makespan_ns = 2500;
    check_only(&p, s, MO_BROKEN_OBJECTIVE, 500,
               "(1) the makespan is 3 us and not 2.5 us, 0.5 us more");
    clear(&p, s);
}
END_TEST

START_TEST(names_cannot_command_a_terminal)
{
    const int device[] = { A };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "a t.A=3", "A", NULL);
    p.x->op_names[0] = "a\n\x1b[2J";
    s = made(&p, &edges_by_port, device);
    s->start_ns[0] = -1000;
    s->makespan_ns = 2000;
    check_only(&p, s, MO_BROKEN_PRECEDENCE, 1000,
               "(1a) op \"a\\n\\x1b[2J\" starts at -1 us, before all begins");
    clear(&p, s);
}
END_TEST

START_TEST(only_so_many_are_listed)
{
    const int device[] = { A, A, A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);
    mo_verdict *v = NULL;

    memset(s->start_ns, 0, 4 * sizeof *s->start_ns);
    MUST(mo_validate(p.x, s, 2, &v, &err));
    ck_assert_int_eq(v->n, 2);
    ck_assert(v->more);
    mo_verdict_free(v);
    clear(&p, s);
}
END_TEST

/* Whatever a file claims: no overflow, no reading beyond the end. */
START_TEST(wild_numbers_are_judged)
{
    static const int64_t wild[] = { INT64_MIN, INT64_MIN + 1, -1,
                                    0,         INT64_MAX - 1, INT64_MAX };
    static const int numbers[] = { INT_MIN, -2, -1, 0, 2, 3, 99, INT_MAX };
    test_random random = { (uint64_t) _i + 1 };
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);
    mo_verdict *v;

    s->regime = regime_of(_i % N_REGIMES);
    s->start_ns[random_below(&random, 4)] =
        wild[random_below(&random, COUNT(wild))];
    s->transfers[0].start_ns = wild[random_below(&random, COUNT(wild))];
    s->transfers[1].end_ns = wild[random_below(&random, COUNT(wild))];
    s->transfers[0].item = numbers[random_below(&random, COUNT(numbers))];
    s->transfers[1].from = numbers[random_below(&random, COUNT(numbers))];
    s->transfers[1].to = numbers[random_below(&random, COUNT(numbers))];
    s->device[random_below(&random, 4)] =
        numbers[random_below(&random, COUNT(numbers))];
    s->makespan_ns = wild[random_below(&random, COUNT(wild))];
    v = verdict_on(&p, s);
    ck_assert_int_gt(v->n, 0);
    mo_verdict_free(v);
    clear(&p, s);
}
END_TEST

static int64_t nudge(test_random *random)
{
    static const int64_t steps[] = { 1, 7, 500, 1000, 2000, 5000, 20000 };
    int64_t step = steps[random_below(random, COUNT(steps))];

    return random_below(random, 2) ? step : -step;
}

static int64_t right_makespan(const mo_instance *x, const mo_schedule *s)
{
    int64_t last_ns = 0;

    for (int i = 0; i < x->n; i++) {
        int64_t end_ns = s->start_ns[i] + mo_instance_p_ns(x, i, s->device[i]);

        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}

static void mutate_transfer(const mo_instance *x, mo_schedule *s,
                            test_random *random)
{
    int at = random_below(random, s->n_transfers);
    mo_transfer *t = &s->transfers[at];
    int64_t step = nudge(random);

    switch (random_below(random, 6)) {
    case 0:
        drop_transfer(s, at);
        break;
    case 1:
        double_transfer(s, at);
        break;
    case 2:
        t->from = random_below(random, x->n_devices);
        break;
    case 3:
        t->end_ns += step;
        break;
    default:
        t->start_ns += step;
        t->end_ns += step;
        break;
    }
}

/* Some of it leaves the schedule valid. */
static void mutate(const mo_instance *x, mo_schedule *s, test_random *random)
{
    int op = random_below(random, x->n), other = random_below(random, x->n);
    int kind = random_below(random, 8);
    int64_t kept_ns = s->start_ns[op];

    if (kind < 3 && s->n_transfers > 0) {
        mutate_transfer(x, s, random);
    } else if (kind < 5) {
        s->start_ns[op] += nudge(random);
    } else if (kind == 5) {
        s->device[op] = random_below(random, x->n_devices);
    } else if (kind == 6) {
        s->start_ns[op] = s->start_ns[other];
        s->start_ns[other] = kept_ns;
    } else {
        for (int i = 0; i < x->n; i++)
            s->start_ns[i] += s->start_ns[i] >= kept_ns ? 3000 : 0;
        for (int t = 0; t < s->n_transfers; t++)
            if (s->transfers[t].start_ns >= kept_ns) {
                s->transfers[t].start_ns += 3000;
                s->transfers[t].end_ns += 3000;
            }
    }
    s->makespan_ns = right_makespan(x, s);
    if (random_below(random, 10) == 0)
        s->makespan_ns += nudge(random);
}

/* Says the same as the definition, and of memory to the byte. */
static void check_against_definition(const problem *p, const mo_schedule *s,
                                     unsigned seed)
{
    mo_verdict *v = verdict_on(p, s);
    const char *broken = broken_rule(p->x, s);
    int64_t *peak = calloc((size_t) p->x->n_devices + 1, sizeof *peak);

    ck_assert_msg((v->n == 0) == (broken == NULL),
                  "seed %u: definition: %s; judge: %s", seed,
                  broken ? broken : "valid",
                  v->n ? v->violations[0].text : "valid");
    ck_assert_ptr_nonnull(peak);
    if (!broken) {
        peak_by_definition(p->x, s, peak);
        for (int k = 0; k < p->x->n_devices; k++)
            ck_assert_int_eq(peak[k], v->peak_bytes[k]);
    }
    free(peak);
    mo_verdict_free(v);
}

static mo_schedule *copy_of(const mo_instance *x, const mo_schedule *s)
{
    mo_schedule *copy = NULL;

    MUST(mo_schedule_new(x, &s->regime, s->device, &copy, &err));
    memcpy(copy->start_ns, s->start_ns, (size_t) s->n * sizeof *s->start_ns);
    for (int t = 0; t < s->n_transfers; t++)
        copy->transfers[t] = s->transfers[t];
    copy->makespan_ns = s->makespan_ns;
    return copy;
}

static void check_mutations(const problem *p, const mo_schedule *s,
                            unsigned seed, int n)
{
    test_random random = { seed + 1 };

    check_against_definition(p, s, seed);
    for (int i = 0; i < n; i++) {
        mo_schedule *copy = copy_of(p->x, s);

        for (int again = 0; again <= i % 3; again++)
            mutate(p->x, copy, &random);
        check_against_definition(p, copy, seed);
        mo_schedule_free(copy);
    }
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    mo_schedule *s = NULL;
    int64_t bound_ns;

    MUST(mo_upper_find(p->x, &regime, &s, &bound_ns, &err));
    if (s)
        check_mutations(p, s, seed, 20);
    mo_schedule_free(s);
}

START_TEST(small_ones_are_judged_as_by_definition)
{
    random_problem_check((unsigned) _i, check_regime);
}
END_TEST

START_TEST(crowds_are_judged_as_by_definition)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);
        mo_schedule *s = NULL;

        MUST(mo_heft(p.x, &regime, NULL, &s, &err));
        if (s)
            check_mutations(&p, s, (unsigned) _i, 10);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

SUITE(validate)
{
    TEST(a_valid_schedule_is_described);
    TEST(devices_that_do_not_exist_are_named);
    TEST(pins_and_groups_are_kept);
    TEST(ops_that_overlap_are_told_by_how_much);
    TEST(what_takes_no_time_lies_at_the_ends_of_others);
    TEST(what_lies_inside_is_found_behind_others);
    TEST(readers_wait_for_what_they_read);
    TEST(nothing_starts_before_all_begins);
    TEST(transfers_follow_from_the_placement);
    TEST(a_tensor_goes_once_to_a_device);
    EACH(transfers_that_meet_are_found, COUNT(meetings));
    TEST(memory_that_lacks_is_told_in_bytes);
    TEST(live_memory_is_told_with_its_moment);
    TEST(a_wrong_makespan_is_corrected);
    TEST(names_cannot_command_a_terminal);
    TEST(only_so_many_are_listed);
    SOME(wild_numbers_are_judged, 500, 50);
    SOME(small_ones_are_judged_as_by_definition, 60, 6);
    SOME(crowds_are_judged_as_by_definition, 20, 2);
}
