/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of primal/path_anneal.c. */
#include "solvers/search/primal/rcsp.h"

#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_STATIC };

enum { MOST_PIECES = 16 };

/* Ops of different sizes in a row, faster on A; transfers take no time.  The
 * time on B is by bytes, so that A is to be filled up. */
#define ROW                                                                    \
    "* t.A=1; *>* bytes=0;"                                                    \
    "a weight_bytes=17 t.B=18; b weight_bytes=13 t.B=14;"                      \
    "c weight_bytes=11 t.B=12; d weight_bytes=7 t.B=8;"                        \
    "e weight_bytes=5 t.B=6; f weight_bytes=3 t.B=4;"                          \
    "a>b; b>c; c>d; d>e; e>f"
#define ROW_BYTES 56

/* All on A at first.  Returns the least time in us, -1: not found; then all
 * must be as before. */
static int64_t anneal_row(int64_t a_bytes, int64_t b_bytes)
{
    const int64_t capacity_bytes[] = { a_bytes, b_bytes };
    double price_ns[] = { 1000, 0 };
    int device[] = { 0, 1 }, of[] = { 0, 1 };
    const mo_decomp_states states = { 2, device, of, true };
    const mo_primal_path_anneal_options options = {
        .seed = 1, .moves = 20000, .penalty = 3, .hot = 5, .cold = 0.01
    };
    unsigned char variants[MOST_PIECES] = { 0 };
    mo_primal_rcsp path_problem;
    problem p = { 0 };
    mo_decomp_segments *segments = NULL;
    mo_decomp_classes *classes = NULL;
    mo_decomp_path *path = NULL;
    int64_t least_ns = INT64_MAX, sum_ns = 0, used[2] = { 0 };

    problem_make(&p, ROW, "A; B; A-B gbps=8", NULL);
    MUST(mo_decomp_segments_find(p.x, &by_port, true, &segments, &err));
    ck_assert_int_le(segments->n, MOST_PIECES);
    MUST(mo_decomp_classes_new(segments, &states, &by_port, true, &classes,
                               &err));
    MUST(mo_decomp_path_new(segments, states.n, &path, &err));
    for (int i = 0; i < segments->n - 1; i++)
        path->state[i] = 0;
    path_problem = (mo_primal_rcsp){ .classes = classes,
                                     .capacity_bytes = capacity_bytes,
                                     .price_ns = price_ns };
    MUST(mo_primal_path_anneal(&path_problem, &options, path, variants,
                               &least_ns, &err));
    for (int i = 0; i < segments->n; i++) {
        int boundary = mo_decomp_path_boundary(path, i),
            v = mo_decomp_segment_exit(segments, i);

        ck_assert_int_eq(variants[i], 0);
        sum_ns += classes->classes[segments->cls[i]].upper_ns[boundary];
        if (v != MO_FREE)
            used[boundary % 2] += p.x->memory_bytes[v];
    }
    if (least_ns == INT64_MAX) {
        ck_assert_int_eq(used[0], ROW_BYTES);
    } else {
        ck_assert_int_eq(sum_ns, least_ns);
        ck_assert_int_le(used[0], a_bytes);
        ck_assert_int_le(used[1], b_bytes);
    }
    mo_decomp_path_free(path);
    mo_decomp_classes_free(classes);
    mo_decomp_segments_free(segments);
    problem_clear(&p);
    return least_ns == INT64_MAX ? -1 : least_ns / 1000;
}

/* Six ops take 6 us on A and as much more on B as they have bytes. */
static const struct {
    int64_t a_bytes, b_bytes, us;
} cases[] = {
    { 56, 0, 6 },       { 55, 56, 6 + 3 }, { 49, 56, 6 + 7 },
    { 31, 56, 6 + 25 }, /* 17 + 11 + 3 are on A */
    { 27, 29, 6 + 29 }, /* nothing is left on either */
    { 0, 56, 6 + 56 },  { 27, 28, -1 },    { 0, 0, -1 },
};

START_TEST(devices_are_filled_up)
{
    ck_assert_int_eq(anneal_row(cases[_i].a_bytes, cases[_i].b_bytes),
                     cases[_i].us);
}
END_TEST

SUITE(path_anneal)
{
    EACH(devices_are_filled_up, COUNT(cases));
}
