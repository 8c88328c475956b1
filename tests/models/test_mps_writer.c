/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of models/write/mps_writer.h: files are read back by the strict reader.
 */
#include <config.h>

#include <math.h>

#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"
#include "tests/models/random_model.h"
#include "tests/support/suite.h"

enum { MANY = 200, FEW = 10 };

START_TEST(a_small_model_is_written_so)
{
    static mo_variable columns[] = {
        { .role = MO_VARIABLE_ROLE_MAKESPAN, .upper = INFINITY },
        { .role = MO_VARIABLE_ROLE_PLACE,
          .number = { 0, 1 },
          .kind = MO_VARIABLE_BINARY },
        { .role = MO_VARIABLE_ROLE_ORDER,
          .number = { 1, 2 },
          .kind = MO_VARIABLE_BINARY },
        { .role = MO_VARIABLE_ROLE_START,
          .number = { 7 },
          .lower = 1.5,
          .upper = 4 },
        { .role = MO_VARIABLE_ROLE_SPACE,
          .number = { 1 },
          .lower = 1,
          .upper = 1 },
    };
    static sample_row rows[] = { { "one", 0, MO_EQ, 1, 0, 2 },
                                 { "one", 1, MO_LE, 0, 2, 2 },
                                 { "two", 0, MO_GE, -2.5, 4, 2 } };
    int column[] = { 1, 2, 0, 3, 4, 2 };
    double coef[] = { 1, 1, 1, -1, 0.25, 100 };
    sample_model s = { 5, 3, 6, columns, rows, column, coef };
    size_t size;
    char *text = sample_mps(&s, &size);

    ck_assert_str_eq(
        text, "NAME moirai FREE\nROWS\n N obj\n E one_0\n L one_1\n G two_0\n"
              "COLUMNS\n w obj 1\n w one_1 1\n MARKER 'MARKER' 'INTORG'\n"
              " x_0_1 one_0 1\n o_1_2 one_0 1\n o_1_2 two_0 100\n"
              " MARKER 'MARKER' 'INTEND'\n s_7 one_1 -1\n a_1 two_0 0.25\n"
              "RHS\n RHS one_0 1\n RHS two_0 -2.5\n"
              "BOUNDS\n LO BND x_0_1 0\n UP BND x_0_1 1\n LO BND o_1_2 0\n"
              " UP BND o_1_2 1\n LO BND s_7 1.5\n UP BND s_7 4\n"
              " FX BND a_1 1\nENDATA\n");
    free(text);
}
END_TEST

START_TEST(a_strict_reader_reads_the_same_model)
{
    unsigned n = (unsigned) how_many(MANY, FEW);

    for (unsigned seed = 0; seed < n; seed++)
        sample_survives(seed, sample_mps, strict_read_mps);
}
END_TEST

#define TOP  "NAME m FREE\nROWS\n N obj\n G r_0\n"
#define BODY "COLUMNS\n w obj 1\n w r_0 1\n"

static const struct {
    const char *text;
    int line;
} refused[] = {
    { "* first\n" TOP BODY "RHS\nBOUNDS\nENDATA\n", 1 },
    { "NAME m\nROWS\n", 1 },
    { TOP " N free\n" BODY "RHS\nBOUNDS\nENDATA\n", 5 },
    { TOP " L r_0\n" BODY "RHS\nBOUNDS\nENDATA\n", 5 },
    { TOP BODY " w r_0 2\nRHS\nBOUNDS\nENDATA\n", 8 },
    { TOP BODY " x r_1 2\nRHS\nBOUNDS\nENDATA\n", 8 },
    { TOP BODY " x r_0 2\n w r_0 1\nRHS\nBOUNDS\nENDATA\n", 9 },
    { TOP BODY " x r_0 0\nRHS\nBOUNDS\nENDATA\n", 8 },
    { TOP BODY " x r_0 1 r_0 1\nRHS\nBOUNDS\nENDATA\n", 8 },
    { TOP BODY " M 'MARKER' 'INTORG'\n x r_0 2\nRHS\nBOUNDS\nENDATA\n", 10 },
    { TOP BODY " M 'MARKER' 'INTEND'\nRHS\nBOUNDS\nENDATA\n", 8 },
    { TOP BODY " M 'MARKER' 'INTORG'\n x r_0 2\n M 'MARKER' 'INTEND'\nRHS\n"
               "BOUNDS\n UP BND x 1\nENDATA\n",
      14 },
    { TOP BODY "RHS\n RHS obj 1\nBOUNDS\nENDATA\n", 9 },
    { TOP BODY "RHS\n RHS r_0 1\n RHS r_0 1\nBOUNDS\nENDATA\n", 10 },
    { TOP BODY "RHS\nRANGES\nBOUNDS\nENDATA\n", 9 },
    { TOP BODY "RHS\nBOUNDS\n UP BND w -1\nENDATA\n", 10 },
    { TOP BODY "RHS\nBOUNDS\n UP BND w 1\n UP BND w 2\nENDATA\n", 11 },
    { TOP BODY "RHS\nBOUNDS\n UP BND v 1\nENDATA\n", 10 },
    { TOP BODY "RHS\nBOUNDS\n", 9 },
    { TOP BODY "RHS\nBOUNDS\nENDATA\nmore\n", 11 },
};

START_TEST(the_strict_reader_is_strict)
{
    strict_model m;

    ck_assert(strict_read_mps(&m,
                              "NAME m FREE\n* top\nROWS\n N obj\n G r_0\n" BODY
                              "RHS\n RHS r_0 1\nBOUNDS\nENDATA\n"));
    strict_free(&m);
    sample_refused(refused[_i].text, refused[_i].line, strict_read_mps);
}
END_TEST

SUITE(mps_writer)
{
    TEST(a_small_model_is_written_so);
    TEST(a_strict_reader_reads_the_same_model);
    EACH(the_strict_reader_is_strict, COUNT(refused));
}
