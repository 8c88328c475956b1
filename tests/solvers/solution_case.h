/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution_case.h - solutions out of files' texts, and what they say.
 */
#ifndef MO_TESTS_SOLVERS_SOLUTION_CASE_H
#define MO_TESTS_SOLVERS_SOLUTION_CASE_H

#include "solvers/formats/solution.h"

/* The test fails where it is refused; the caller frees them. */
mo_solution *solution_of_bytes(const char *text, size_t size);
mo_solution *solution_of_text(const char *text);

/* Of the variable of that name; 0 where it is not told. */
double solution_value(const mo_solution *solution, const char *name);

#endif
