/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped.h - a file whose bytes are looked at where they are.
 */
#ifndef MO_EXEC_TENSOR_MMAP_FILE_H
#define MO_EXEC_TENSOR_MMAP_FILE_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_mmap_file {
    const void *data; /* NULL where the file is empty */
    size_t size;
} mo_mmap_file;

/* Only files can be mapped: no folders, no pipes. */
mo_status mo_mmap_file_open(const char *path, mo_mmap_file *mapped,
                            mo_error *err);
void mo_mmap_file_close(mo_mmap_file *mapped);

#endif
