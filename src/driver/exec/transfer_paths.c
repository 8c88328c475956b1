/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/transfer_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mo_status mo_exec_paths_find(const mo_transport *transport,
                             const mo_transport_world *world,
                             const mo_exec_plan *plan, const char ***paths,
                             mo_error *err)
{
    const char **found = calloc((size_t) plan->n_transfers + 1, sizeof *found);

    if (!found)
        return mo_fail_memory(err);
    for (int t = 0; t < plan->n_transfers; t++)
        found[t] = transport->path ? transport->path(world, t)
                                   : mo_transport_local.name;
    *paths = found;
    return MO_OK;
}

/* "local" is the name of the transport within a process. */
static const char *describe_path(const char *path)
{
    return strcmp(path, mo_transport_local.name) == 0 ? "threads of a process"
                                                      : path;
}

void mo_exec_paths_log(const char *const *paths, const mo_exec_plan *plan,
                       const mo_cluster *cluster, const mo_profile *profile,
                       const mo_driver_log *logger)
{
    for (int t = 0; profile && !logger->quiet && t < plan->n_transfers; t++) {
        const mo_plan_transfer *transfer = &plan->transfers[t];
        const mo_profile_link *row = mo_profile_find_link(
            profile, &cluster->devices[transfer->from],
            &cluster->devices[transfer->to], transfer->bytes);

        if (!row || !row->path || strcmp(row->path, paths[t]) == 0)
            continue;
        fprintf(stderr,
                "%s: %s: the link from '%s' to '%s' was measured by %s, but "
                "values go by %s; run moirai-profile with the same ranks\n",
                logger->command, profile->file, row->from, row->to,
                describe_path(row->path), describe_path(paths[t]));
        return;
    }
}
