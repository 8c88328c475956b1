/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/exec/exec_options.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/generate.h"
#include "driver/exec/request_files.h"

/* Whether the folder is that of a file, or the one around it, where arrays of
 * requests are. */
static bool holds_arrays(const char *folder, const char *file)
{
    char *copy = strdup(file), *at = NULL;
    bool holds;

    if (copy && folder)
        at = realpath(dirname(copy), NULL);
    holds = at && (mo_output_guard_is_above(folder, 0, at) ||
                   mo_output_guard_is_above(folder, 1, at));
    free(at);
    free(copy);
    return holds;
}

/* A report must be none of the arrays in the folders of the run. */
static mo_status check_arrays(const mo_exec_options *o, mo_error *err)
{
    const char *const folders[] = { o->inputs_folder, o->reference, o->output };

    for (int i = 0; i < MO_EXEC_N_OUTPUTS; i++) {
        const char *path = o->outputs[i].path;
        size_t length = path ? strlen(path) : 0;

        if (length < 4 || strcmp(path + length - 4, ".npy") != 0)
            continue;
        for (int f = 0; f < 3; f++)
            if (holds_arrays(folders[f], path))
                return mo_fail(err, MO_E_USAGE,
                               "%s %.200s would be one of the arrays in %.200s;"
                               " name a file that is no .npy",
                               o->outputs[i].option, path, folders[f]);
    }
    return MO_OK;
}

bool mo_exec_options_replans(const mo_exec_options *o)
{
    return o->on_loss && strcmp(o->on_loss, "replan") == 0;
}

mo_output_guard mo_exec_options_guard(const mo_exec_options *o)
{
    return (mo_output_guard){ .outputs = o->outputs,
                              .n = MO_EXEC_N_OUTPUTS,
                              .arrays = o->output,
                              .by_request = mo_exec_requests_wanted(o) };
}

mo_status mo_exec_options_check(const mo_exec_options *o, const char *path,
                                mo_error *err)
{
    const mo_output_guard guard = mo_exec_options_guard(o);
    mo_status status =
        mo_output_guard_check_given(&guard, &o->prepare, o->graph, err);

    if (status == MO_OK)
        status = mo_output_guard_check_input(&guard, path, err);
    if (status == MO_OK)
        status = mo_launch_options_check_outputs(&o->job, &guard, err);
    if (status == MO_OK) {
        /* Outputs must not replace a file of --input: FILE or NAME=FILE, and a
         * name may contain '='. */
        for (size_t i = 0; i < o->inputs.count; i++)
            for (const char *at = o->inputs.items[i]; at && status == MO_OK;
                 at = strchr(at, '='), at = at ? at + 1 : NULL)
                status = mo_output_guard_check_input(&guard, at, err);
    }
    if (status == MO_OK)
        status = check_arrays(o, err);
    if (status == MO_OK && o->prompt)
        status = mo_output_guard_check_input(&guard, o->prompt, err);
    if (status == MO_OK)
        status = mo_exec_requests_check_options(o, err);
    if (status == MO_OK)
        status = mo_generate_check_options(o, err);
    if (status == MO_OK && mo_exec_options_replans(o) &&
        !mo_exec_requests_wanted(o))
        status = mo_fail(err, MO_E_USAGE,
                         "--on-loss goes with --requests or --inputs");
    if (status == MO_OK && o->bundle_weights && !o->bundle)
        status = mo_fail(err, MO_E_USAGE,
                         "--bundle-weights goes with --bundle; give both");
    if (status == MO_OK && o->dry_run && (o->check || o->reference))
        status = mo_fail(err, MO_E_USAGE,
                         "--dry-run computes nothing that --check or "
                         "--reference could compare");
    if (status == MO_OK && o->output && strcmp(o->output, "-") == 0 &&
        !mo_exec_requests_wanted(o))
        status = mo_fail(err, MO_E_USAGE,
                         "--output - writes a stream of requests, without "
                         "--requests outputs are files; name a folder");
    if (status != MO_OK)
        return status;
    /* Outputs and references have the same file names. */
    if (!o->output || !o->reference ||
        !mo_output_guard_same_folder(o->output, o->reference))
        return MO_OK;
    return mo_fail(err, MO_E_USAGE,
                   "--output would replace what --reference reads in %s; name "
                   "another folder",
                   o->reference);
}
