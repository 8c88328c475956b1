/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/solvers/solution_case.h"

#include <string.h>

#include "tests/support/suite.h"

mo_solution *solution_of_bytes(const char *text, size_t size)
{
    mo_solution *solution = NULL;

    MUST(mo_solution_read_memory("test.sol", text, size, &solution, &err));
    return solution;
}

mo_solution *solution_of_text(const char *text)
{
    return solution_of_bytes(text, strlen(text));
}

double solution_value(const mo_solution *solution, const char *name)
{
    for (int i = 0; i < solution->n; i++)
        if (strcmp(solution->values[i].name, name) == 0)
            return solution->values[i].value;
    return 0;
}
