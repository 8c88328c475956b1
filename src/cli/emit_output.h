/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_output.h - the outputs of moirai-emit, each written from the streamed
 * model.
 */
#ifndef MO_CLI_EMIT_OUTPUT_H
#define MO_CLI_EMIT_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"
#include "driver/prepare.h"
#include "driver/log.h"

typedef struct mo_cli_emit {
    const char *graph; /* as given by the user */
    const mo_problem *problem;
    const mo_model *model;
    const mo_driver_log *logger;
    char *const *files; /* hints, see mo_heading */
} mo_cli_emit;

mo_status mo_cli_emit_model(const mo_cli_emit *emit, bool mps, mo_out *out,
                            mo_error *err);
mo_status mo_cli_emit_map(const mo_cli_emit *emit, mo_out *out, mo_error *err);

/* Writes the MIP start in the format of the path's suffix. There must be a
 * start. */
mo_status mo_cli_emit_start(const mo_cli_emit *emit, const char *path,
                            mo_out *out, mo_error *err);

/* Counts rows and columns instead of writing them, and prints the
 * statistics. */
mo_status mo_cli_emit_stats(const mo_cli_emit *emit, bool json, mo_out *out,
                            mo_error *err);

/* Prints on stderr the size of the model and how to write it. */
mo_status mo_cli_emit_hint(const mo_cli_emit *emit, mo_error *err);

#endif
