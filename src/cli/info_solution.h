/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_solution.h - moirai-info of solutions and bundles.
 */
#ifndef MO_CLI_INFO_SOLUTION_H
#define MO_CLI_INFO_SOLUTION_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/bundle.h"
#include "driver/log.h"
#include "driver/output_guard.h"
#include "ingest/read.h"

/* Sets *is_solution to whether the file at path begins like a solution rather
 * than like a graph; "-" and what is no regular file do not. */
mo_status mo_cli_info_sniff_solution(const char *path, bool *is_solution,
                                     mo_error *err);

/* Describes the solution at path; of a bundle (else NULL), its members and its
 * solution. Inputs that are not here are no error; MO_E_USAGE: the output,
 * which is open, would replace one that is. */
mo_status mo_cli_info_solution(const char *path, const mo_bundle *bundle,
                               const mo_read_options *read, bool json,
                               const mo_driver_log *logger,
                               const mo_output_file *output, mo_error *err);

#endif
