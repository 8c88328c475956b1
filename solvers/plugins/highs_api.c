/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/plugins/highs_api.h"

#define SYMBOL(member, entry)                                                  \
    {                                                                          \
        .name = "Highs_" entry, .offset = offsetof(mo_highs_api, member)       \
    }

static const mo_dynlib_symbol symbols[] = {
    SYMBOL(version_major, "versionMajor"),
    SYMBOL(version_minor, "versionMinor"),
    SYMBOL(version_patch, "versionPatch"),
    SYMBOL(size_of_int, "getSizeofHighsInt"),
    SYMBOL(create, "create"),
    SYMBOL(destroy, "destroy"),
    SYMBOL(set_bool, "setBoolOptionValue"),
    SYMBOL(set_int, "setIntOptionValue"),
    SYMBOL(set_double, "setDoubleOptionValue"),
    SYMBOL(set_string, "setStringOptionValue"),
    SYMBOL(read_model, "readModel"),
    SYMBOL(pass_lp, "passLp"),
    SYMBOL(run, "run"),
    SYMBOL(model_status, "getModelStatus"),
    SYMBOL(int_info, "getIntInfoValue"),
    SYMBOL(int64_info, "getInt64InfoValue"),
    SYMBOL(double_info, "getDoubleInfoValue"),
    SYMBOL(n_columns, "getNumCol"),
    SYMBOL(n_rows, "getNumRow"),
    SYMBOL(column_name, "getColName"),
    SYMBOL(solution, "getSolution"),
    SYMBOL(set_solution, "setSolution"),
    SYMBOL(set_callback, "setCallback"),
    SYMBOL(start_callback, "startCallback"),
    SYMBOL(callback_item, "getCallbackDataOutItem"),
    SYMBOL(mip, "mipCall"),
    { .name = NULL },
};

static bool query_version(const mo_dynlib *library, int version[3])
{
    const mo_highs_api *api = (const mo_highs_api *) library;

    return mo_dynlib_query_version(api->version_major, api->version_minor,
                                   api->version_patch, version);
}

const char *const mo_highs_sonames[] = { "libhighs.so.1", "libhighs.so", NULL };

static mo_status check_integers(const mo_dynlib *library, mo_error *err)
{
    const mo_highs_api *api = (const mo_highs_api *) library;
    int size = api->size_of_int(NULL);

    if (size == (int) sizeof(int))
        return MO_OK;
    return mo_fail(err, MO_E_SUPPORT,
                   "this HiGHS was built for integers of %d bytes; one with "
                   "the usual %d is needed",
                   size, (int) sizeof(int));
}

const mo_dynlib_spec mo_highs_dynlib = { .title = "HiGHS",
                                         .size = sizeof(mo_highs_api),
                                         .sonames = mo_highs_sonames,
                                         .symbols = symbols,
                                         .version = query_version,
                                         .min_version = { 1, 7 },
                                         .check = check_integers };

mo_status mo_highs_open(const char *path, mo_highs_api *api, mo_error *err)
{
    return mo_dynlib_open(&mo_highs_dynlib, path, &api->library, err);
}
