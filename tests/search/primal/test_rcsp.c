/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of primal/rcsp.h. */
#include "solvers/search/primal/rcsp.h"

#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_STATIC };

enum { MOST_PIECES = 16 };

/* Eight equal ops in a row, faster on A; a transfer takes a microsecond. */
#define ROW                                                                    \
    "* t.A=1; * t.B=2; * weight_bytes=10; *>* bytes=1000;"                     \
    "a; b; c; d; e; f; g; h; a>b; b>c; c>d; d>e; e>f; f>g; g>h"

static int64_t within(const char *graph, int64_t a_bytes, int64_t b_bytes,
                      int threads)
{
    const int64_t capacity_bytes[] = { a_bytes, b_bytes };
    int device[] = { 0, 1 }, of[] = { 0, 1 };
    const mo_decomp_states states = { 2, device, of, true };
    unsigned char variants[MOST_PIECES];
    problem p = { 0 };
    mo_decomp_segments *segments = NULL;
    mo_decomp_classes *classes = NULL;
    mo_decomp_path *path = NULL;
    bool found = false;
    int64_t sum_ns = 0;

    problem_make(&p, graph, "A; B; A-B gbps=8", NULL);
    MUST(mo_decomp_segments_find(p.x, &by_port, true, &segments, &err));
    ck_assert_int_le(segments->n, MOST_PIECES);
    MUST(mo_decomp_classes_new(segments, &states, &by_port, true, &classes,
                               &err));
    MUST(mo_decomp_path_new(segments, states.n, &path, &err));
    MUST(mo_primal_rcsp_solve(
        &(mo_primal_rcsp){ .classes = classes,
                           .capacity_bytes = capacity_bytes,
                           .price_ns = classes->price_ns,
                           .seed = 1,
                           .threads = threads },
        path, variants, &found, &err));
    for (int i = 0; found && i < segments->n; i++)
        sum_ns += classes->classes[segments->cls[i]]
                      .upper_ns[mo_decomp_path_boundary(path, i)];
    mo_decomp_path_free(path);
    mo_decomp_classes_free(classes);
    mo_decomp_segments_free(segments);
    problem_clear(&p);
    return found ? sum_ns : -1;
}

/* Equal segments change device one by one. */
static const struct {
    int64_t a_bytes, b_bytes, ns;
} cases[] = {
    { INT64_MAX, INT64_MAX, 8000 },
    { 80, 0, 8000 },
    { 0, 80, 16000 },
    { 40, 80, 4000 + 1000 + 8000 },
    { 45, 80, 4000 + 1000 + 8000 },
    { 70, 10, 7000 + 1000 + 2000 },
    { 40, 40, 4000 + 1000 + 8000 },
    { 40, 30, -1 },
    { 0, 0, -1 },
};

START_TEST(memory_is_kept_to)
{
    for (int threads = 1; threads <= 3; threads++)
        ck_assert_int_eq(
            within(ROW, cases[_i].a_bytes, cases[_i].b_bytes, threads),
            cases[_i].ns);
}
END_TEST

/* The second op gains more on A than the first two beside it. */
START_TEST(what_gains_most_gets_the_room)
{
    ck_assert_int_eq(within("* t.A=1; * t.B=2; * weight_bytes=10; *>* bytes=0;"
                            "a; b t.B=90; c; d t.B=80; a>b; b>c; c>d",
                            20, 80, 1),
                     2000 + 1000 + 2000 + 1000);
}
END_TEST

SUITE(rcsp)
{
    EACH(memory_is_kept_to, COUNT(cases));
    TEST(what_gains_most_gets_the_room);
}
