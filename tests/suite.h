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
 *     }
 *
 * Tests are named as claims.  Each runs in a process of its own unless CK_FORK
 * is "no" (valgrind and sanitizers).
 */
#ifndef MO_TESTS_SUITE_H
#define MO_TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Check writes to a file at every assertion that holds, to know the last one
 * should the test crash.  Here claims are held against thousands of cases, and
 * the sanitizers tell more about a crash. */
#define _mark_point(file, line) ((void) 0)

#define COUNT(array) ((int) (sizeof(array) / sizeof *(array)))

#define TEST(claim) tcase_add_test(tests, claim)
#define EACH(claim, count) tcase_add_loop_test(tests, claim, 0, (count))
#define SOME(claim, many, few) EACH(claim, is_watched() ? (few) : (many))

/* Where each claim is not a process of its own, valgrind or a sanitizer looks
 * at every step: a few random cases then show as much as many. */
static inline bool is_watched(void)
{
    const char *fork = getenv("CK_FORK");

    return fork && strcmp(fork, "no") == 0;
}

/* call takes &err, which this declares; fails with the error's own words. */
#define MUST(call)                                                            \
    do {                                                                      \
        mo_error err = { 0 };                                                 \
        char must_text[2048];                                                 \
        mo_status must_status = (call);                                       \
        if (must_status != MO_OK)                                             \
            ck_abort_msg("%s: %s", #call,                                     \
                         mo_error_format(&err, must_text,                     \
                                         sizeof must_text));                  \
    } while (0)

#define SUITE(name)                                                           \
    static void add_tests(TCase *tests);                                      \
    int main(void)                                                            \
    {                                                                         \
        Suite *suite = suite_create(#name);                                   \
        TCase *tests = tcase_create(#name);                                   \
        SRunner *runner = srunner_create(suite);                              \
        int failed;                                                           \
                                                                              \
        tcase_set_timeout(tests, 120);                                        \
        add_tests(tests);                                                     \
        suite_add_tcase(suite, tests);                                        \
        srunner_run_all(runner, CK_ENV);                                      \
        failed = srunner_ntests_failed(runner);                               \
        srunner_free(runner);                                                 \
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;                          \
    }                                                                         \
    static void add_tests(TCase *tests)

#endif
