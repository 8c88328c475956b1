/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solution_case.h - solutions from the texts of files.
 */
#ifndef MO_TESTS_SOLVERS_SOLUTION_CASE_H
#define MO_TESTS_SOLVERS_SOLUTION_CASE_H

#include "solvers/formats/solution.h"

/* The test fails where the text is refused; the caller frees the result. */
mo_solution *solution_of_bytes(const char *text, size_t size);
mo_solution *solution_of_text(const char *text);

/* Returns the value of the variable of that name; 0 where it is missing. */
double solution_value(const mo_solution *solution, const char *name);

#endif
