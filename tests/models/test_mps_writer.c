/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of models/write/mps_writer.h: files are read back by the strict reader.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"
#include "models/write/transpose.h"
#include "tests/models/random_model.h"
#include "tests/support/scratch.h"
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
    char *text = sample_mps(&s, 0, &size);

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

static char *write_mps(const sample_model *s, size_t *size)
{
    return sample_mps(s, 0, size);
}

START_TEST(a_strict_reader_reads_the_same_model)
{
    unsigned n = (unsigned) how_many(MANY, FEW);

    for (unsigned seed = 0; seed < n; seed++)
        sample_survives(seed, write_mps, strict_read_mps);
}
END_TEST

/* From one column per bucket to all but one entry in memory. */
START_TEST(a_small_buffer_gives_the_same_bytes)
{
    static const size_t buffers[] = { 1, 64, 100, 333, 1024, 4096, 9000 };
    unsigned n = (unsigned) how_many(40, 4);

    for (unsigned seed = 0; seed < n; seed++) {
        sample_model s;
        size_t size, other;
        char *text, *again;

        sample_make(&s, seed, 10 + (int) seed * 60, 100);
        text = sample_mps(&s, 0, &size);
        for (int i = 0; i < COUNT(buffers); i++) {
            again = sample_mps(&s, buffers[i], &other);
            ck_assert_msg(size == other && memcmp(text, again, size) == 0,
                          "seed %u, buffer of %zu", seed, buffers[i]);
            free(again);
        }
        free(text);
        sample_free(&s);
    }
}
END_TEST

START_TEST(nothing_is_left_in_the_temporary_folder)
{
    sample_model s;
    size_t size, entries = scratch_count(".");

    setenv("TMPDIR", ".", 1);
    sample_make(&s, 1, 50, 100);
    free(sample_mps(&s, 64, &size));
    ck_assert_int_eq(scratch_count("."), entries);
    sample_free(&s);
}
END_TEST

/* Streams a model that exceeds the buffer; returns the status of the sink. */
static mo_status spill(mo_error *failure)
{
    static const int column = 0;
    static const double coef = 2;
    mo_transpose *t;
    mo_status status;

    MUST(mo_transpose_new(4096, &t, &err));
    MUST(mo_transpose_columns(t, 1, &err));
    for (int i = 0; i < 10000; i++)
        mo_transpose_count(t, 1, &column);
    status = mo_transpose_plan(t, failure);
    for (uint32_t i = 0; i < 10000 && status == MO_OK; i++)
        status = mo_transpose_add(t, i, 1, &column, &coef, failure);
    mo_transpose_free(t);
    return status;
}

START_TEST(a_missing_temporary_folder_is_told)
{
    mo_error err = { 0 };

    setenv("TMPDIR", "not/there", 1);
    ck_assert_int_eq(spill(&err), MO_E_IO);
    ck_assert_str_eq(err.file, "not/there");
    ck_assert_ptr_nonnull(strstr(err.text, "TMPDIR"));
}
END_TEST

/* A limit on the size of files simulates a full disk. */
START_TEST(a_full_disk_is_told)
{
    struct rlimit old, small;
    mo_error err = { 0 };
    mo_status status;

    signal(SIGXFSZ, SIG_IGN);
    setenv("TMPDIR", ".", 1);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 65536;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    status = spill(&err);
    setrlimit(RLIMIT_FSIZE, &old);
    ck_assert_int_eq(status, MO_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "temporary"));
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
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(a_small_model_is_written_so);
    TEST(a_strict_reader_reads_the_same_model);
    TEST(a_small_buffer_gives_the_same_bytes);
    TEST(nothing_is_left_in_the_temporary_folder);
    TEST(a_missing_temporary_folder_is_told);
    TEST(a_full_disk_is_told);
    EACH(the_strict_reader_is_strict, COUNT(refused));
}
