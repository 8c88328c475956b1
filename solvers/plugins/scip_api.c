/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/plugins/scip_api.h"

#define SYMBOL(member, entry)                                                  \
    {                                                                          \
        .name = "SCIP" entry, .offset = offsetof(mo_scip_api, member)          \
    }
#define OPTIONAL(member, entry)                                                \
    {                                                                          \
        .name = "SCIP" entry, .offset = offsetof(mo_scip_api, member),         \
        .optional = true                                                       \
    }

static const mo_dynlib_symbol symbols[] = {
    SYMBOL(version[0], "majorVersion"),
    SYMBOL(version[1], "minorVersion"),
    SYMBOL(version[2], "techVersion"),
    SYMBOL(create, "create"),
    SYMBOL(include_plugins, "includeDefaultPlugins"),
    SYMBOL(free, "free"),
    SYMBOL(set_bool, "setBoolParam"),
    SYMBOL(set_int, "setIntParam"),
    SYMBOL(set_real, "setRealParam"),
    SYMBOL(set_presolving, "setPresolving"),
    SYMBOL(read_problem, "readProb"),
    SYMBOL(solve, "solve"),
    SYMBOL(interrupt, "interruptSolve"),
    SYMBOL(status, "getStatus"),
    SYMBOL(dual_bound, "getDualbound"),
    SYMBOL(n_variables, "getNOrigVars"),
    SYMBOL(variables, "getOrigVars"),
    SYMBOL(variable_name, "varGetName"),
    SYMBOL(best_solution, "getBestSol"),
    SYMBOL(objective, "getSolOrigObj"),
    SYMBOL(value, "getSolVal"),
    SYMBOL(create_solution, "createSol"),
    SYMBOL(set_value, "setSolVal"),
    SYMBOL(add_solution, "addSolFree"),
    OPTIONAL(lp_create, "lpiCreate"),
    OPTIONAL(lp_free, "lpiFree"),
    OPTIONAL(lp_infinity, "lpiInfinity"),
    OPTIONAL(lp_load, "lpiLoadColLP"),
    OPTIONAL(lp_solve, "lpiSolveDual"),
    OPTIONAL(lp_solution, "lpiGetSol"),
    { .name = NULL },
};

static bool query_version(const mo_dynlib *library, int version[3])
{
    const mo_scip_api *api = (const mo_scip_api *) library;

    return mo_dynlib_query_version(api->version[0], api->version[1],
                                   api->version[2], version);
}

const char *const mo_scip_sonames[] = { "libscip.so.10.0", "libscip.so.9.2",
                                        "libscip.so.9.1",  "libscip.so.9.0",
                                        "libscip.so.8.1",  "libscip.so.8.0",
                                        "libscip.so",      NULL };

const mo_dynlib_spec mo_scip_dynlib = { .title = "SCIP",
                                        .size = sizeof(mo_scip_api),
                                        .sonames = mo_scip_sonames,
                                        .symbols = symbols,
                                        .version = query_version,
                                        .min_version = { 8, 0 } };

mo_status mo_scip_open(const char *path, mo_scip_api *api, mo_error *err)
{
    return mo_dynlib_open(&mo_scip_dynlib, path, &api->library, err);
}

mo_solution_status mo_scip_solution_status(int major, int status)
{
    switch (major >= 10 ? status : status - 10) {
    case 1:
        return MO_SOLUTION_STATUS_OPTIMAL;
    case 2:
        return MO_SOLUTION_STATUS_INFEASIBLE;
    case 3:
    case 4:
        return MO_SOLUTION_STATUS_UNBOUNDED;
    default:
        return MO_SOLUTION_STATUS_FEASIBLE;
    }
}
