/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite.h - a Check suite in a few lines.
 *
 *     START_TEST(cuts_are_found) { ... } END_TEST
 *
 *     SUITE(cut)
 *     {
 *         TEST(empty_graph_has_none);
 *         EACH(cuts_are_found, COUNT(cases));   // once per _i
 *         SOME(any_cut_is_clean, 300, 10);      // ten when watched
 *         SOME(no_cut_is_lost, at_length(900, 300), 10);
 *     }
 *
 * Tests are named as claims.  Each runs in a process of its own unless CK_FORK
 * is "no" (valgrind, sanitizers, GPUs).  MOIRAI_TEST_PART=2/8 runs the second
 * of eight parts: that fraction of every EACH; single tests are in the last.
 */
#ifndef MO_TESTS_SUPPORT_SUITE_H
#define MO_TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Check writes to a file at every assertion that holds, to locate a crash.
 * Here assertions run over thousands of cases, and the sanitizers report more
 * about a crash. */
#define _mark_point(file, line) ((void) 0)

#define COUNT(array) ((int) (sizeof(array) / sizeof *(array)))

#define TEST(claim) tcase_add_loop_test(tests, claim, 0, part_of(1, 1) == 1)
#define EACH(claim, count)                                                     \
    tcase_add_loop_test(tests, claim, part_of(count, 0), part_of(count, 1))
#define SOME(claim, many, few) EACH(claim, how_many((many), (few)))

/* Returns the begin, or, with end, the end, of this part of that many
 * cases. */
static inline int part_of(int count, int end)
{
    const char *text = getenv("MOIRAI_TEST_PART");
    int part = 1, parts = 1;

    if (text && sscanf(text, "%d/%d", &part, &parts) != 2)
        part = 0;
    if (part < 1 || part > parts) {
        fprintf(stderr, "MOIRAI_TEST_PART is no part, such as 2/8\n");
        exit(EXIT_FAILURE);
    }
    return (int) ((long long) count * (part - 1 + end) / parts);
}

/* Without a process for each test, valgrind or a sanitizer checks every step:
 * a few random cases suffice then.  On a GPU there is one process because the
 * driver does not survive a fork, and MOIRAI_TEST_GPU is "watched" under a
 * checker. */
static inline bool is_watched(void)
{
    const char *fork = getenv("CK_FORK"), *gpu = getenv("MOIRAI_TEST_GPU");

    return fork && strcmp(fork, "no") == 0 &&
           (!gpu || strcmp(gpu, "watched") == 0);
}

static inline bool is_set(const char *variable)
{
    const char *text = getenv(variable);

    return text && *text;
}

/* Cases that take seconds: how many in .ci/run, which sets MOIRAI_CI, or on a
 * GPU, and in make check. */
static inline int in_ci(int many, int few)
{
    return is_set("MOIRAI_CI") || is_set("MOIRAI_LONG") ||
                   is_set("MOIRAI_TEST_GPU")
               ? many
               : few;
}

/* Returns how many of n random cases run: a quarter in make check.  Fewer than
 * least are not worth a choice: all of them run. */
static inline int sample_of(int n, int least)
{
    return n < least ? n : in_ci(n, n / 4 > 8 ? n / 4 : 8);
}

/* Lists of cases have fewer than 40. */
static inline int how_many(int many, int few)
{
    int sample = sample_of(many, 40);

    return is_watched() || sample < few ? few : sample;
}

/* Random cases beyond the second number rarely find anything new: with
 * MOIRAI_LONG there are as many as the first. */
static inline int at_length(int longer, int usual)
{
    return is_set("MOIRAI_LONG") ? longer : sample_of(usual, 16);
}

/* call takes &err, which this declares; fails with the error's text. */
#define MUST(call)                                                             \
    do {                                                                       \
        mo_error err = { 0 };                                                  \
        char must_text[2048];                                                  \
        mo_status must_status = (call);                                        \
        if (must_status != MO_OK)                                              \
            ck_abort_msg("%s: %s", #call,                                      \
                         mo_error_format(&err, must_text, sizeof must_text));  \
    } while (0)

#define SUITE(name)                                                            \
    static void add_tests(TCase *tests);                                       \
    int main(void)                                                             \
    {                                                                          \
        Suite *suite = suite_create(#name);                                    \
        TCase *tests = tcase_create(#name);                                    \
        SRunner *runner = srunner_create(suite);                               \
        int failed;                                                            \
                                                                               \
        tcase_set_timeout(tests, 120);                                         \
        add_tests(tests);                                                      \
        suite_add_tcase(suite, tests);                                         \
        srunner_run_all(runner, CK_ENV);                                       \
        failed = srunner_ntests_failed(runner);                                \
        srunner_free(runner);                                                  \
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;                           \
    }                                                                          \
    static void add_tests(TCase *tests)

#endif
