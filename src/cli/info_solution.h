/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_solution.h - moirai-info of solutions and bundles.
 */
#ifndef MO_CLI_INFO_SOLUTION_H
#define MO_CLI_INFO_SOLUTION_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"
#include "driver/bundle.h"
#include "driver/log.h"
#include "ingest/read.h"

/* Sets *is_solution to whether the file at path begins like a solution rather
 * than like a graph; "-" and what is no regular file do not. */
mo_status mo_cli_info_sniff_solution(const char *path, bool *is_solution,
                                     mo_error *err);

/* Describes the solution at path; of a bundle (else NULL), its members and its
 * solution. Inputs that are not here are no error. */
mo_status mo_cli_info_solution(const char *path, const mo_bundle *bundle,
                               const mo_read_options *read, bool json,
                               const mo_driver_log *logger, mo_out *out,
                               mo_error *err);

#endif
