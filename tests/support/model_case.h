/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_case.h - test fixture: a MILP model of a problem, with its rows and
 * columns as text.
 *
 *     model_case c;
 *
 *     model_case_open(&c, &p, &mo_formulation_getf, &regime, false);
 *     ck_assert_str_eq(model_case_rows(&c, "load"), "w - x_0_0 >= 0\n");
 *     model_case_close(&c);
 *
 * Terms are in the order of the columns in the model.
 */
#ifndef MO_TESTS_SUPPORT_MODEL_CASE_H
#define MO_TESTS_SUPPORT_MODEL_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/model.h"
#include "tests/support/problem.h"

typedef struct model_case {
    mo_frame *frame;
    mo_identity identity; /* empty */
    mo_model model;
    char *text; /* of the last call; owned */
} model_case;

/* The test fails when there is no such model. */
void model_case_open(model_case *c, const problem *p,
                     const mo_formulation *formulation, const mo_regime *regime,
                     bool closure);
void model_case_close(model_case *c);

/* Returns the rows of a family, each on a line; valid until the next call. */
const char *model_case_rows(model_case *c, const char *family);

/* Every column, with its bounds: "x_0_1 binary", "w 0 .. 4.2"; likewise. */
const char *model_case_columns(model_case *c);

/* Returns the number of rows of the family; NULL: all families. */
int model_case_count(model_case *c, const char *family);

/* Returns the largest violation of a row or a bound by the values of the
 * columns. */
double model_case_violation(model_case *c);

/* Return the range of the coefficients, by magnitude. */
double model_case_largest(model_case *c);
double model_case_least(model_case *c);

/* Returns the optimum in ns found by HiGHS, -1 when it is infeasible.  Writes
 * a file, so the test must have a scratch folder. */
double model_case_solve(model_case *c);

#endif
