/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/bound/bundle_method.h: concave functions with known
 * maxima, and limits. */
#include "schedule/bound/bundle_method.h"

#include <math.h>

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

enum { MAX_VARIABLES = 12, MAX_PLANES = 60 };

/* The least of planes value + slope (x - at), which has its maximum, value, at
 * the point at: slopes are balanced there. */
typedef struct roof {
    int n, n_planes, n_evaluations;
    double value, at[MAX_VARIABLES];
    double slope[MAX_PLANES][MAX_VARIABLES];
} roof;

static void evaluate_roof(void *context, const double *point, double *value,
                          double *gradient)
{
    roof *r = context;

    r->n_evaluations++;
    *value = INFINITY;
    for (int j = 0; j < r->n_planes; j++) {
        double here = r->value;

        for (int k = 0; k < r->n; k++)
            here += r->slope[j][k] * (point[k] - r->at[k]);
        if (here < *value) {
            *value = here;
            memcpy(gradient, r->slope[j], (size_t) r->n * sizeof *gradient);
        }
    }
    for (int k = 0; k < r->n; k++)
        ck_assert(point[k] >= 0);
}

/* Random slopes and their negatives: none rises in every direction, and the
 * mean is 0. */
static void make_roof(roof *r, int seed)
{
    test_random random = { (uint64_t) seed * UINT64_C(0x9e3779b97f4a7c15) };

    *r = (roof){ .n = 1 + seed % MAX_VARIABLES, .value = 1e6 };
    r->n_planes = 4 * r->n;
    for (int k = 0; k < r->n; k++)
        r->at[k] = random_below(&random, 3) * 1e5;
    for (int j = 0; j < r->n_planes; j += 2)
        for (int k = 0; k < r->n; k++) {
            r->slope[j][k] = (random_below(&random, 200) - 100) * 0.01;
            r->slope[j + 1][k] = -r->slope[j][k];
        }
}

static mo_bundle_problem problem_of(roof *r)
{
    return (mo_bundle_problem){ .n = r->n,
                                .evaluate = evaluate_roof,
                                .context = r,
                                .max_evaluations = 400,
                                .tolerance = 1e-6 };
}

START_TEST(maximum_is_found)
{
    double point[MAX_VARIABLES] = { 0 }, value = 0;
    mo_bundle_problem problem;
    roof r;

    make_roof(&r, _i);
    problem = problem_of(&r);
    MUST(mo_bundle_maximize(&problem, point, &value, &err));
    ck_assert_double_le(value, r.value + 1e-6);
    ck_assert_msg(value >= 0.999 * r.value, "seed %d: %.3f after %d", _i, value,
                  r.n_evaluations);
}
END_TEST

START_TEST(limits_are_kept)
{
    double point[MAX_VARIABLES] = { 0 }, value = 0;
    mo_bundle_problem problem;
    mo_stop stop;
    roof r;

    make_roof(&r, 5);
    problem = problem_of(&r);
    problem.max_evaluations = 7;
    MUST(mo_bundle_maximize(&problem, point, &value, &err));
    ck_assert_int_eq(r.n_evaluations, 7);
    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    problem.stop = &stop;
    r.n_evaluations = 0;
    MUST(mo_bundle_maximize(&problem, point, &value, &err));
    ck_assert_int_eq(r.n_evaluations, 1);
}
END_TEST

SUITE(bundle_method)
{
    EACH(maximum_is_found, 36);
    TEST(limits_are_kept);
}
