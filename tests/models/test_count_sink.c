/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/write/count_sink.h, against written LP and MPS files. */
#include <math.h>

#include "models/write/count_sink.h"
#include "tests/models/random_model.h"
#include "tests/support/suite.h"

enum { MANY = 300, FEW = 15 };

static mo_model_counts count_of(const sample_model *s)
{
    mo_model_counts count;
    mo_sink *sink;

    MUST(mo_count_sink_new(&count, &sink, &err));
    sample_send(s, sink);
    mo_sink_free(sink);
    return count;
}

static void sizes_are(const sample_model *s, const mo_model_counts *count,
                      unsigned seed)
{
    size_t lp, mps;

    free(sample_lp(s, &lp));
    free(sample_mps(s, &mps));
    ck_assert_msg(count->lp_bytes == (int64_t) lp, "seed %u: LP %d, not %d",
                  seed, (int) count->lp_bytes, (int) lp);
    ck_assert_msg(count->mps_bytes == (int64_t) mps, "seed %u: MPS %d, not %d",
                  seed, (int) count->mps_bytes, (int) mps);
}

START_TEST(sizes_are_those_of_the_files)
{
    unsigned n = (unsigned) how_many(MANY, FEW);

    for (unsigned seed = 0; seed < n; seed++) {
        sample_model s;
        mo_model_counts count;

        sample_make(&s, seed, 2 + (int) seed, 3 + (int) (seed * 37 % 2000));
        count = count_of(&s);
        sizes_are(&s, &count, seed);
        sample_free(&s);
    }
}
END_TEST

START_TEST(rows_columns_and_entries_are_counted)
{
    unsigned n = (unsigned) how_many(MANY, FEW);

    for (unsigned seed = 0; seed < n; seed++) {
        sample_model s;
        mo_model_counts count;
        double least = INFINITY, largest = 0;
        int64_t binaries = 0;

        sample_make(&s, seed, 2 + (int) seed, 3 + (int) (seed * 7 % 90));
        count = count_of(&s);
        for (int i = 0; i < s.n_columns; i++)
            binaries += s.columns[i].kind == MO_VARIABLE_BINARY;
        for (int i = 0; i < s.n_entries; i++) {
            least = fmin(least, fabs(s.coef[i]));
            largest = fmax(largest, fabs(s.coef[i]));
        }
        ck_assert_int_eq(count.rows, s.n_rows);
        ck_assert_int_eq(count.nonzeros, s.n_entries);
        ck_assert_int_eq(count.binaries, binaries);
        ck_assert_int_eq(count.continuous, s.n_columns - binaries);
        ck_assert(count.least_coef == least && count.largest_coef == largest);
        ck_assert_int_eq(count.n_families, 3);
        ck_assert_int_eq(count.family[0].rows + count.family[1].rows +
                             count.family[2].rows,
                         s.n_rows);
        sample_free(&s);
    }
}
END_TEST

/* w, x_0_0, o_0_1, s_0 with coefficients 1, 2, 3, 4. */
static mo_variable four[] = {
    { .role = MO_VARIABLE_ROLE_MAKESPAN, .upper = INFINITY },
    { .role = MO_VARIABLE_ROLE_PLACE, .kind = MO_VARIABLE_BINARY },
    { .role = MO_VARIABLE_ROLE_ORDER,
      .number = { 0, 1 },
      .kind = MO_VARIABLE_BINARY },
    { .role = MO_VARIABLE_ROLE_START, .upper = INFINITY },
};

static const struct {
    int first, n;
    double big_m; /* 0: none */
} big_ms[] = {
    { 0, 2, 0 }, /* a duration */
    { 1, 2, 0 }, /* no time */
    { 2, 1, 0 }, { 2, 2, -3 }, { 0, 3, -3 }, { 0, 4, -3 }, { 3, 1, 0 },
};

START_TEST(a_choice_in_a_row_with_a_time_has_a_big_m)
{
    int column[] = { 0, 1, 2, 3 };
    double coef[] = { 1, 2, -3, 4 };
    sample_row row = { "row", 0, MO_GE, 0, big_ms[_i].first, big_ms[_i].n };
    sample_model s = { 4, 1, 4, four, &row, column, coef };
    mo_model_counts count = count_of(&s);

    ck_assert(count.least_big_m == fabs(big_ms[_i].big_m));
    ck_assert(count.largest_big_m == fabs(big_ms[_i].big_m));
}
END_TEST

SUITE(count_sink)
{
    TEST(sizes_are_those_of_the_files);
    TEST(rows_columns_and_entries_are_counted);
    EACH(a_choice_in_a_row_with_a_time_has_a_big_m, COUNT(big_ms));
}
