/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_write.h - what moirai-emit writes, each from the model as it streams by.
 */
#ifndef MO_CLI_EMIT_OUTPUT_H
#define MO_CLI_EMIT_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/out.h"
#include "driver/prepare.h"
#include "driver/log.h"

typedef struct mo_cli_emit {
    const char *graph; /* what the user called it */
    const mo_prepared *prepared;
    const mo_driver_log *talk;
} mo_cli_emit;

mo_status mo_cli_emit_model(const mo_cli_emit *emit, bool mps, mo_out *out,
                            mo_error *err);
mo_status mo_cli_emit_map(const mo_cli_emit *emit, mo_out *out, mo_error *err);

/* The layout is by the ending of path.  There must be a start. */
mo_status mo_cli_emit_start(const mo_cli_emit *emit, const char *path,
                            mo_out *out, mo_error *err);

/* Counts instead of writing, for whoever asks. */
mo_status mo_cli_emit_stats(const mo_cli_emit *emit, bool json, mo_out *out,
                            mo_error *err);

/* Says on stderr how large the model would be and how to get it. */
mo_status mo_cli_emit_hint(const mo_cli_emit *emit, mo_error *err);

#endif
