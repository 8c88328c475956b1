/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompress.h - decompression of .gz and .zst files.
 */
#ifndef MO_SOLVERS_PROCESS_DECOMPRESS_H
#define MO_SOLVERS_PROCESS_DECOMPRESS_H

#include <stdbool.h>

#include "base/error.h"

/* Sets *needed: the file is .gz or .zst, by its first bytes. */
mo_status mo_decompress_needed(const char *path, bool *needed, mo_error *err);

/* Decompresses path to target. Returns MO_E_SUPPORT when that was not built
 * in; MO_E_SYNTAX when the file is damaged or truncated. */
mo_status mo_decompress_file(const char *path, const char *target,
                             mo_error *err);

#endif
