/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/plugins/dynlib.h and library_solve.h. */
#include <config.h>

#include "solvers/plugins/dynlib.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/plugins/library_solve.h"
#include "solvers/plugins/scip_api.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

START_TEST(scips_statuses_are_read_by_version)
{
    ck_assert_int_eq(mo_scip_solution_status(8, 11),
                     MO_SOLUTION_STATUS_OPTIMAL);
    ck_assert_int_eq(mo_scip_solution_status(9, 12),
                     MO_SOLUTION_STATUS_INFEASIBLE);
    ck_assert_int_eq(mo_scip_solution_status(9, 13),
                     MO_SOLUTION_STATUS_UNBOUNDED);
    ck_assert_int_eq(mo_scip_solution_status(9, 14),
                     MO_SOLUTION_STATUS_UNBOUNDED);
    ck_assert_int_eq(mo_scip_solution_status(9, 1),
                     MO_SOLUTION_STATUS_FEASIBLE);
    ck_assert_int_eq(mo_scip_solution_status(9, 5),
                     MO_SOLUTION_STATUS_FEASIBLE);
    ck_assert_int_eq(mo_scip_solution_status(10, 1),
                     MO_SOLUTION_STATUS_OPTIMAL);
    ck_assert_int_eq(mo_scip_solution_status(10, 2),
                     MO_SOLUTION_STATUS_INFEASIBLE);
    ck_assert_int_eq(mo_scip_solution_status(10, 4),
                     MO_SOLUTION_STATUS_UNBOUNDED);
    ck_assert_int_eq(mo_scip_solution_status(10, 11),
                     MO_SOLUTION_STATUS_FEASIBLE);
}
END_TEST

/* A made-up interface, half of which every C library has. */
typedef struct made_up {
    mo_dynlib library;
    double (*cosine)(double x);
    double (*other)(double x);
} made_up;

static bool made_up_version(const mo_dynlib *library, int version[3])
{
    const made_up *api = (const made_up *) library;

    version[0] = 2;
    version[1] = 7;
    version[2] = 1;
    return api->cosine != NULL;
}

static const char *const made_up_sonames[] = { "libabsent.so.9", "libm.so.6",
                                               NULL };

static mo_status open_made_up(const char *other, bool optional, int minor,
                              made_up *api, mo_error *err)
{
    mo_dynlib_symbol symbols[] = {
        { "cos", offsetof(made_up, cosine), false },
        { other, offsetof(made_up, other), optional },
        { NULL, 0, false },
    };
    mo_dynlib_spec kind = { .title = "Made-up",
                            .sonames = made_up_sonames,
                            .symbols = symbols,
                            .version = made_up_version,
                            .min_version = { 2, 0 } };

    kind.min_version[1] = minor;
    return mo_dynlib_open(&kind, NULL, &api->library, err);
}

START_TEST(symbols_fill_the_struct)
{
    made_up api;

    MUST(open_made_up("sin", false, 7, &api, &err));
    ck_assert_double_eq(api.cosine(0), 1);
    ck_assert_double_eq(api.other(0), 0);
    ck_assert(mo_dynlib_at_least(&api.library, 2, 7));
    ck_assert(mo_dynlib_at_least(&api.library, 1, 9));
    ck_assert(!mo_dynlib_at_least(&api.library, 2, 8));
    ck_assert(!mo_dynlib_at_least(&api.library, 3, 0));
    MUST(open_made_up("no_such_function", true, 7, &api, &err));
    ck_assert(!api.other);
}
END_TEST

START_TEST(what_is_missing_is_named)
{
    made_up api;
    mo_error err;

    ck_assert_int_eq(open_made_up("no_such_function", false, 7, &api, &err),
                     MO_E_SUPPORT);
    ck_assert_str_eq(err.file, "libm.so.6");
    ck_assert_str_eq(err.text,
                     "Made-up 2.7.1, but it has no symbol 'no_such_function'");
    ck_assert_int_eq(open_made_up("sin", false, 8, &api, &err), MO_E_SUPPORT);
    ck_assert_str_eq(err.text,
                     "Made-up 2.7.1 is too old: 2.8 or later is needed");
}
END_TEST

/* Builds lib<name>.so with one function, which returns one more than that of
 * lib<needed>.so. */
static bool make_library(const char *name, const char *needed)
{
    char text[512], command[512], link[64] = "";

    if (needed)
        snprintf(link, sizeof link, "-L. -l%s", needed);
    snprintf(text, sizeof text,
             "double %s(double x); double %s(double x);\n"
             "double %s(double x) { return %s(x + 1); }\n",
             name, needed ? needed : "from", name, needed ? needed : "");
    scratch_write("made.c", text);
    snprintf(command, sizeof command,
             "%s -shared -fPIC made.c -o lib%s.so -Wl,-soname,lib%s.so %s",
             getenv("CC"), name, name, link);
    return system(command) == 0;
}

static mo_status open_made(const char *path, made_up *api, mo_error *err)
{
    static const char *const none[] = { NULL };
    static const mo_dynlib_symbol symbols[] = {
        { "mo_outer", offsetof(made_up, cosine), false }, { NULL, 0, false }
    };
    const mo_dynlib_spec kind = { .title = "Outer",
                                  .sonames = none,
                                  .symbols = symbols,
                                  .version = made_up_version };

    return mo_dynlib_open(&kind, path, &api->library, err);
}

/* As SCIP in a Python package: chained dependencies, all in one folder. */
START_TEST(what_lies_beside_it_is_loaded_first)
{
    made_up api;

    if (!getenv("CC"))
        return;
    ck_assert(make_library("mo_inner", NULL) &&
              make_library("mo_middle", "mo_inner") &&
              make_library("mo_outer", "mo_middle"));
    MUST(open_made("./libmo_outer.so", &api, &err));
    ck_assert_double_eq(api.cosine(1), 4);
}
END_TEST

/* With a name of its own: a loaded library is not searched. */
START_TEST(what_is_needed_and_absent_is_named)
{
    made_up api;
    mo_error err;

    if (!getenv("CC"))
        return;
    ck_assert(make_library("mo_gone", NULL) &&
              make_library("mo_lost", "mo_gone"));
    ck_assert_int_eq(remove("libmo_gone.so"), 0);
    ck_assert_int_eq(open_made("./libmo_lost.so", &api, &err), MO_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "libmo_gone.so"));
}
END_TEST

static const char *letter(void *context, int column)
{
    static char name[2];

    (void) context;
    name[0] = (char) ('a' + column);
    return name;
}

START_TEST(what_is_no_number_is_not_written)
{
    double values[] = { 1, 0, 0.5 };
    mo_library_solution answer = { MO_SOLUTION_STATUS_FEASIBLE,
                                   true,
                                   true,
                                   3,
                                   -INFINITY,
                                   3,
                                   values,
                                   letter,
                                   NULL };
    mo_error refusal;

    MUST(mo_library_solution_write(".", &answer, &err));
    ck_assert_str_eq(scratch_read(MO_SOLVER_LIBRARY_SOLUTION),
                     "# status: feasible\n=obj= 3\na 1\nc 0.5\n");
    values[1] = NAN;
    ck_assert_int_eq(mo_library_solution_write(".", &answer, &refusal),
                     MO_E_INPUT);
    ck_assert_str_eq(refusal.text,
                     "the solver's value of column b is no number");
    values[1] = 0;
    answer.objective = INFINITY;
    ck_assert_int_eq(mo_library_solution_write(".", &answer, &refusal),
                     MO_E_INPUT);
    ck_assert_str_eq(scratch_read(MO_SOLVER_LIBRARY_SOLUTION),
                     "# status: feasible\n=obj= 3\na 1\nc 0.5\n");
}
END_TEST

SUITE(dynlib)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(scips_statuses_are_read_by_version);
    TEST(symbols_fill_the_struct);
    TEST(what_is_missing_is_named);
    TEST(what_lies_beside_it_is_loaded_first);
    TEST(what_is_needed_and_absent_is_named);
    TEST(what_is_no_number_is_not_written);
}
