/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/plugins/gurobi_api.h"

#define SYMBOL(member, entry)                                                  \
    {                                                                          \
        .name = "GRB" entry, .offset = offsetof(mo_gurobi_api, member)         \
    }
#define OPTIONAL(member, entry)                                                \
    {                                                                          \
        .name = "GRB" entry, .offset = offsetof(mo_gurobi_api, member),        \
        .optional = true                                                       \
    }

static const mo_dynlib_symbol symbols[] = {
    SYMBOL(version, "version"),
    OPTIONAL(empty_environment_for, "emptyenvinternal"),
    SYMBOL(empty_environment, "emptyenv"),
    SYMBOL(start_environment, "startenv"),
    SYMBOL(free_environment, "freeenv"),
    SYMBOL(error_message, "geterrormsg"),
    SYMBOL(set_int, "setintparam"),
    SYMBOL(set_double, "setdblparam"),
    SYMBOL(read_model, "readmodel"),
    OPTIONAL(load_model, "loadmodel"),
    SYMBOL(free_model, "freemodel"),
    SYMBOL(environment_of, "getenv"),
    SYMBOL(optimize, "optimize"),
    SYMBOL(terminate, "terminate"),
    SYMBOL(int_attribute, "getintattr"),
    SYMBOL(double_attribute, "getdblattr"),
    SYMBOL(double_attributes, "getdblattrarray"),
    SYMBOL(set_double_attributes, "setdblattrarray"),
    SYMBOL(text_attribute, "getstrattrelement"),
    { .name = NULL },
};

static bool query_version(const mo_dynlib *library, int version[3])
{
    const mo_gurobi_api *api = (const mo_gurobi_api *) library;

    if (!api->version)
        return false;
    api->version(&version[0], &version[1], &version[2]);
    return true;
}

const char *const mo_gurobi_sonames[] = { "libgurobi130.so", "libgurobi120.so",
                                          "libgurobi110.so", "libgurobi100.so",
                                          NULL };

const mo_dynlib_spec mo_gurobi_dynlib = { .title = "Gurobi",
                                          .size = sizeof(mo_gurobi_api),
                                          .sonames = mo_gurobi_sonames,
                                          .symbols = symbols,
                                          .version = query_version,
                                          .min_version = { 10, 0 } };

mo_status mo_gurobi_open(const char *path, mo_gurobi_api *api, mo_error *err)
{
    return mo_dynlib_open(&mo_gurobi_dynlib, path, &api->library, err);
}
