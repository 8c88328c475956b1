/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bin_file.h - the .bin file beside an OpenVINO model that holds its
 * constants.
 *
 * It is opened at the first read, so that a model whose shapes need no
 * constants works without it.
 */
#ifndef MO_INGEST_INFER_BIN_FILE_H
#define MO_INGEST_INFER_BIN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_bin_file {
    const char *path; /* or NULL: there is none */
    int file;         /* -1 until it is open */
    int64_t size;
} mo_bin_file;

mo_bin_file mo_bin_file_init(const char *path);
void mo_bin_file_close(mo_bin_file *bin);

/* Reads exactly size bytes from offset on into the caller's buffer. The
 * error's text names the file. */
mo_status mo_bin_file_read(mo_bin_file *bin, int64_t offset, size_t size,
                           void *bytes, mo_error *err);

#endif
