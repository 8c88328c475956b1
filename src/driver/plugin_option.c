/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/plugin_option.h"

#include <stdlib.h>
#include <string.h>

#include "driver/plugin/plugin.h"

mo_status mo_plugin_option_load(const mo_option_list *files,
                                const mo_output_guard *guard, mo_error *err)
{
    mo_status status = mo_output_guard_check_plugins(guard, files, err);

    if (status == MO_OK)
        status = mo_plugin_load_listed(err);
    for (size_t i = 0; i < files->count && status == MO_OK; i++)
        status =
            mo_plugin_load_named(files->items[i], strlen(files->items[i]), err);
    return status;
}
