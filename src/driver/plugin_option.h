/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_option.h - the option --plugin of commands.
 */
#ifndef MO_DRIVER_PLUGIN_OPTION_H
#define MO_DRIVER_PLUGIN_OPTION_H

#include "base/error.h"
#include "base/option.h"
#include "driver/output_guard.h"

/* Row of an option table: a list of plug-ins. */
#define MO_PLUGIN_OPTION(list)                                                 \
    {                                                                          \
        0, "plugin", "FILE", "load the methods and solvers of a plug-in",      \
            MO_OPTION_LIST, .to = (list)                                       \
    }

/* Loads those of MOIRAI_PLUGINS, then the files of the option; a name without
 * a slash is a file of the working folder. MO_E_USAGE: an output would replace
 * a plug-in. */
mo_status mo_plugin_option_load(const mo_option_list *files,
                                const mo_output_guard *guard, mo_error *err);

#endif
