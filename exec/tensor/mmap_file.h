/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap_file.h - read-only memory-mapped files.
 */
#ifndef MO_EXEC_TENSOR_MMAP_FILE_H
#define MO_EXEC_TENSOR_MMAP_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_mmap_file {
    const void *data; /* NULL for an empty file */
    size_t size;
    size_t shift; /* bytes that are mapped before data */
} mo_mmap_file;

/* Maps a regular file; fails for folders and pipes. The caller unmaps it with
 * mo_mmap_file_close(), which accepts a zeroed struct. */
mo_status mo_mmap_file_open(const char *path, mo_mmap_file *mapped,
                            mo_error *err);

/* Maps size bytes from offset on; size -1 maps the rest of the file. Fails if
 * the file is shorter. */
mo_status mo_mmap_file_open_part(const char *path, int64_t offset, int64_t size,
                                 mo_mmap_file *mapped, mo_error *err);
void mo_mmap_file_close(mo_mmap_file *mapped);

#endif
