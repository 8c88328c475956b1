/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/plugin_option.h"

#include <stdlib.h>
#include <string.h>

#include "driver/plugin/plugin.h"

static mo_status check_listed(const mo_output_file *outputs, int n,
                              mo_error *err)
{
    const char *list = getenv("MOIRAI_PLUGINS");
    char *files = strdup(list ? list : ""), *rest = NULL;
    mo_status status = MO_OK;

    if (!files)
        return mo_fail_memory(err);
    for (char *file = strtok_r(files, ":", &rest); file && status == MO_OK;
         file = strtok_r(NULL, ":", &rest))
        status = mo_output_files_check_input(outputs, n, file, err);
    free(files);
    return status;
}

mo_status mo_plugin_option_load(const mo_option_list *files,
                                const mo_output_file *outputs, int n,
                                mo_error *err)
{
    mo_status status = check_listed(outputs, n, err);

    if (status == MO_OK)
        status = mo_output_files_check_inputs(
            outputs, n, (const char *const *) files->items, files->count, err);
    if (status == MO_OK)
        status = mo_plugin_load_listed(err);
    for (size_t i = 0; i < files->count && status == MO_OK; i++)
        status =
            mo_plugin_load_named(files->items[i], strlen(files->items[i]), err);
    return status;
}
