/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/plugins/cbc_api.h"

#include <stdio.h>

#define SYMBOL(member, entry)                                                  \
    {                                                                          \
        .name = "Cbc_" entry, .offset = offsetof(mo_cbc_api, member)           \
    }

static const mo_dynlib_symbol symbols[] = {
    SYMBOL(version, "getVersion"),
    SYMBOL(create, "newModel"),
    SYMBOL(destroy, "deleteModel"),
    SYMBOL(read_lp, "readLp"),
    SYMBOL(read_mps, "readMps"),
    SYMBOL(set_parameter, "setParameter"),
    SYMBOL(set_start, "setMIPStartI"),
    SYMBOL(solve, "solve"),
    SYMBOL(is_optimal, "isProvenOptimal"),
    SYMBOL(is_infeasible, "isProvenInfeasible"),
    SYMBOL(is_unbounded, "isContinuousUnbounded"),
    SYMBOL(n_columns, "getNumCols"),
    SYMBOL(n_integers, "getNumIntegers"),
    SYMBOL(longest_name, "maxNameLength"),
    SYMBOL(column_name, "getColName"),
    SYMBOL(objective, "getObjValue"),
    SYMBOL(bound, "getBestPossibleObjValue"),
    SYMBOL(best_solution, "bestSolution"),
    SYMBOL(relaxation, "getColSolution"),
    { .name = NULL },
};

/* A build from its source tree has the version "devel" or "trunk"; the symbols
 * show whether it is supported. */
static bool query_version(const mo_dynlib *library, int version[3])
{
    const mo_cbc_api *api = (const mo_cbc_api *) library;

    if (!api->version)
        return false;
    if (sscanf(api->version(), "%d.%d.%d", &version[0], &version[1],
               &version[2]) < 2) {
        version[0] = 2;
        version[1] = 10;
        version[2] = 0;
    }
    return true;
}

const char *const mo_cbc_sonames[] = { "libCbcSolver.so.3", "libCbcSolver.so",
                                       NULL };

const mo_dynlib_spec mo_cbc_dynlib = { .title = "CBC",
                                       .size = sizeof(mo_cbc_api),
                                       .sonames = mo_cbc_sonames,
                                       .symbols = symbols,
                                       .version = query_version,
                                       .min_version = { 2, 10 } };

mo_status mo_cbc_open(const char *path, mo_cbc_api *api, mo_error *err)
{
    return mo_dynlib_open(&mo_cbc_dynlib, path, &api->library, err);
}
