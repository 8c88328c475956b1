/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moirai_files.h - intermediate files of moirai, in a private folder or in that
 * of --keep.
 */
#ifndef MO_CLI_MOIRAI_FILES_H
#define MO_CLI_MOIRAI_FILES_H

#include "base/error.h"
#include "driver/output_files.h"
#include "solvers/process/workdir.h"

enum { MO_CLI_MOIRAI_KEPT = 4 };

/* Starts as zeros; all paths are its own. */
typedef struct mo_cli_moirai_files {
    char *model, *start, *known, *solution, *schedule;
} mo_cli_moirai_files;

/* Names the files after the graph and makes the folder keep; keep NULL: they
 * are in folder. Sets kept to those that --keep leaves, borrowed, without paths
 * where keep is NULL. The caller clears *files, whatever the result. */
mo_status mo_cli_moirai_files_name(const char *graph, const char *keep,
                                   const mo_workdir *folder,
                                   mo_cli_moirai_files *files,
                                   mo_output_file kept[MO_CLI_MOIRAI_KEPT],
                                   mo_error *err);
void mo_cli_moirai_files_clear(mo_cli_moirai_files *files);

#endif
