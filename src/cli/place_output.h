/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_write.h - what moirai-place hands over: the best placement as a
 * solution, and a report of all of them.
 */
#ifndef MO_CLI_PLACE_OUTPUT_H
#define MO_CLI_PLACE_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/output_files.h"
#include "driver/place/compare_methods.h"
#include "driver/prepare.h"

/* Completes the output, or gives it up where there is nothing to write. */
mo_status mo_cli_place_write(const mo_place_comparison *c,
                             const mo_prepared *made, mo_output_file *solution,
                             mo_error *err);

/* On standard output, unless the solution went there. */
mo_status mo_cli_place_report(const mo_place_comparison *c,
                              const mo_output_file *solution, bool json,
                              mo_error *err);

#endif
