/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of models/write/lp_writer.h: files are read back by the strict reader.
 */
#include <math.h>
#include <string.h>

#include "models/write/lp_writer.h"
#include "tests/models/random_model.h"
#include "tests/support/suite.h"

enum { MANY = 200, FEW = 10 };

static char *lp_of(const mo_variable *columns, int n, const int *terms,
                   const double *coefs, int n_terms, mo_sense sense, double rhs)
{
    mo_out *out;
    mo_sink *sink;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    MUST(mo_lp_writer_new(out, NULL, &sink, &err));
    mo_sink_begin(sink, 0);
    for (int i = 0; i < n; i++)
        mo_sink_column(sink, &columns[i]);
    mo_sink_columns_end(sink);
    mo_sink_family(sink, "row");
    for (int i = 0; i < n_terms; i++)
        mo_sink_term(sink, terms[i], coefs[i]);
    mo_sink_row(sink, sense, rhs);
    MUST(mo_sink_end(sink, &err));
    mo_sink_free(sink);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    return text;
}

START_TEST(a_small_model_is_written_so)
{
    static const mo_variable columns[] = {
        { .role = MO_VARIABLE_ROLE_MAKESPAN, .upper = INFINITY },
        { .role = MO_VARIABLE_ROLE_PLACE,
          .number = { 0, 1 },
          .kind = MO_VARIABLE_BINARY },
        { .role = MO_VARIABLE_ROLE_START,
          .number = { 7 },
          .lower = 1.5,
          .upper = 4 },
        { .role = MO_VARIABLE_ROLE_SEND,
          .number = { 8 },
          .lower = 2,
          .upper = INFINITY },
        { .role = MO_VARIABLE_ROLE_CHANNEL,
          .number = { 1, 2, 3 },
          .lower = 1,
          .upper = 1 },
    };
    char *text = lp_of(columns, 5, (int[]){ 0, 1, 2, 3, 4 },
                       (double[]){ 1, -2.5, -1, 1, 1e6 }, 5, MO_GE, -0.125);

    ck_assert_str_eq(text, "Minimize\nobj: w\nSubject To\n"
                           "row_0: w - 2.5 x_0_1 - s_7 + t_8 + 1000000 "
                           "y_1_2_3 >= -0.125\n"
                           "Bounds\n1.5 <= s_7 <= 4\nt_8 >= 2\ny_1_2_3 = 1\n"
                           "Binaries\n x_0_1\nEnd\n");
    free(text);
}
END_TEST

START_TEST(a_strict_reader_reads_the_same_model)
{
    unsigned n = (unsigned) how_many(MANY, FEW);

    for (unsigned seed = 0; seed < n; seed++)
        sample_survives(seed, sample_lp, strict_read_lp);
}
END_TEST

/* Inputs that the strict reader must reject: otherwise it proves nothing. */
static const struct {
    const char *text;
    int line;
} refused[] = {
    { "Maximize\nobj: w\nSubject To\nr_0: w >= 1\nEnd\n", 1 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= 1\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + w >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + 0 x >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= 1\nr_0: w >= 2\nEnd\n", 5 },
    { "Minimize\nobj: w\nSubject To\nr_0: w x >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= x\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: 1 <= w <= 2\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w < 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w +2 x >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + 2x >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + e_1 >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + inf_1 >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + free >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= .5\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= 0.1234567890123456\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\n\\ late\nr_0: w >= 1\nEnd\n", 4 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= 1\nBinaries\n x\nEnd\n", 6 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= 1\nBounds\nw <= 1\nEnd\n", 6 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + x >= 1\nBounds\nx = 1\n"
      "Binaries\n x\nEnd\n",
      8 },
    { "Minimize\nobj: w\nSubject To\nr_0: w + x >= 1\nBinaries\n x\n"
      "Bounds\nw = 1\nEnd\n",
      7 },
    { "Minimize\nobj: w\nSubject To\nr_0: w >= 1\nEnd\nmore\n", 6 },
};

START_TEST(the_strict_reader_is_strict)
{
    strict_model m;

    ck_assert(strict_read_lp(&m, "\\ top\nMinimize\nobj: w\nSubject To\n"
                                 "r_0: w\n - 2.5 x >= -1\nBinaries\n x\n"
                                 "End\n"));
    strict_free(&m);
    sample_refused(refused[_i].text, refused[_i].line, strict_read_lp);
}
END_TEST

SUITE(lp_writer)
{
    TEST(a_small_model_is_written_so);
    TEST(a_strict_reader_reads_the_same_model);
    EACH(the_strict_reader_is_strict, COUNT(refused));
}
