/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap_file.h - read-only memory-mapped files.
 *
 * A file may shrink, or its disk fail, while it is mapped: then a read of the
 * mapping raises SIGBUS. The first mapping installs a handler of that signal
 * (earlier ones are called for all other addresses). It replaces the pages
 * that are gone by zeros and marks the mapping as failed: the thread goes on,
 * and mo_mmap_file_check() returns the error. Whatever was computed from a
 * mapping is valid only if a check behind the computation succeeds.
 */
#ifndef MO_EXEC_TENSOR_MMAP_FILE_H
#define MO_EXEC_TENSOR_MMAP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_mmap_region mo_mmap_region;

typedef struct mo_mmap_file {
    const void *data; /* NULL for an empty file */
    size_t size;
    size_t shift;           /* bytes that are mapped before data */
    mo_mmap_region *region; /* of the registry; NULL for an empty file */
} mo_mmap_file;

/* Maps a regular file; fails for folders and pipes. The caller unmaps it with
 * mo_mmap_file_close(), which accepts a zeroed struct. Any thread may open and
 * close files. */
mo_status mo_mmap_file_open(const char *path, mo_mmap_file *mapped,
                            mo_error *err);

/* Maps size bytes from offset on; size -1 maps the rest of the file. Fails if
 * the file is shorter. */
mo_status mo_mmap_file_open_part(const char *path, int64_t offset, int64_t size,
                                 mo_mmap_file *mapped, mo_error *err);

/* The same for the whole of an open file, which path names in errors. Closes
 * the descriptor, whatever the result. */
mo_status mo_mmap_file_open_fd(int fd, const char *path, mo_mmap_file *mapped,
                               mo_error *err);

void mo_mmap_file_close(mo_mmap_file *mapped);

/* Drops the whole pages of data from this process's memory where a file is
 * mapped there, and does nothing elsewhere: later reads fault them in again.
 * Any thread may call it while the file is mapped. */
void mo_mmap_file_release(const void *data, size_t size);

/* Fails if the file was cut, rewritten or unreadable since it was mapped: what
 * was read from it may be wrong. Any thread may call these. */
mo_status mo_mmap_file_check(const mo_mmap_file *mapped, mo_error *err);

/* The same for all files that are mapped now. */
mo_status mo_mmap_file_check_all(mo_error *err);

/* Returns whether a read of a mapping has failed since the process began; takes
 * a few nanoseconds. */
bool mo_mmap_file_has_failed(void);

#endif
