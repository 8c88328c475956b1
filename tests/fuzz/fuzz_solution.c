/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of solver solutions: any bytes give a valid solution or an error. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "solvers/formats/solution.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_values(const mo_solution *solution)
{
    for (int i = 0; i < solution->n; i++) {
        const mo_solution_value *value = &solution->values[i];

        assert(solution->nameless == !value->name);
        assert(!value->name || value->name[0] != '\0');
        assert(!isnan(value->value));
        assert(value->line >= 0 && (i == 0 || value->line >= value[-1].line));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_solution *solution = NULL;
    mo_error err = { 0 };
    mo_status status = mo_solution_read_memory("fuzz.sol", (const char *) data,
                                               size, &solution, &err);

    assert(status == MO_OK ? solution != NULL
                           : !solution && err.text[0] != '\0');
    if (!solution)
        return 0;
    assert(solution->layout && mo_solution_status_names[solution->claim]);
    assert(!solution->has_objective || isfinite(solution->objective));
    assert(!solution->has_bound || isfinite(solution->bound));
    assert(solution->n == 0 || solution->claim <= MO_SOLUTION_STATUS_FEASIBLE);
    check_values(solution);
    mo_solution_free(solution);
    return 0;
}
