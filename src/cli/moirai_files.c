/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/moirai_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/process/path_util.h"

/* Copies the graph's name without folder and suffix. */
static void stem_of(const char *graph, char *stem, size_t size)
{
    const char *base = mo_path_basename(graph);
    size_t length = strcspn(base, ".");

    if (length == 0 || strcmp(graph, "-") == 0)
        snprintf(stem, size, "model");
    else
        snprintf(stem, size, "%.*s", (int) length, base);
}

mo_status mo_cli_moirai_files_name(const char *graph, const char *keep,
                                   const mo_workdir *folder,
                                   mo_cli_moirai_files *files,
                                   mo_output_file kept[MO_CLI_MOIRAI_KEPT],
                                   mo_error *err)
{
    const char *to = keep ? keep : mo_workdir_path(folder);
    char stem[200];
    mo_status status =
        keep ? mo_output_files_make_folder(keep, 0777, err) : MO_OK;

    if (status != MO_OK)
        return status;
    stem_of(graph, stem, sizeof stem);
    files->model = mo_path_format("%s/%s.lp", to, stem);
    files->start = mo_path_format("%s/%s.start.sol", to, stem);
    files->known = mo_workdir_file(folder, "known.sol");
    files->solution = mo_path_format("%s/%s.sol", to, stem);
    files->schedule = mo_path_format("%s/%s.schedule.json", to, stem);
    if (!files->model || !files->start || !files->known || !files->solution ||
        !files->schedule)
        return mo_fail_memory(err);

    const char *const paths[MO_CLI_MOIRAI_KEPT] = { files->model, files->start,
                                                    files->solution,
                                                    files->schedule };

    for (int i = 0; i < MO_CLI_MOIRAI_KEPT; i++)
        kept[i] = (mo_output_file){ .option = "--keep",
                                    .path = keep ? paths[i] : NULL };
    return MO_OK;
}

void mo_cli_moirai_files_clear(mo_cli_moirai_files *files)
{
    free(files->model);
    free(files->start);
    free(files->known);
    free(files->solution);
    free(files->schedule);
}
