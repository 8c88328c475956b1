/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_output.h - outputs of moirai-place: the best placement as a solution,
 * and the report.
 */
#ifndef MO_CLI_PLACE_OUTPUT_H
#define MO_CLI_PLACE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "driver/output_files.h"
#include "driver/place/compare_methods.h"
#include "driver/prepare.h"

/* Writes the solution, or discards the file if there is none.  in_flight is the
 * limit of requests in flight that it is recorded with; 0: none. */
mo_status mo_cli_place_write(const mo_place_comparison *c,
                             const mo_prepared *made, int64_t in_flight,
                             mo_output_file *solution, mo_error *err);

/* Prints the report on standard output, unless the solution went there. */
mo_status mo_cli_place_report(const mo_place_comparison *c,
                              const mo_output_file *solution, bool json,
                              mo_error *err);

#endif
