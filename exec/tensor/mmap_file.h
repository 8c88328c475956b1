/*
 * mapped.h - a file whose bytes are looked at where they are.
 */
#ifndef MO_EXEC_TENSOR_MMAP_FILE_H
#define MO_EXEC_TENSOR_MMAP_FILE_H

#include <stddef.h>

#include "base/error.h"

typedef struct mo_mapped {
    const void *data; /* NULL where the file is empty */
    size_t size;
} mo_mapped;

/* Only files can be mapped: no folders, no pipes. */
mo_status mo_mapped_open(const char *path, mo_mapped *mapped, mo_error *err);
void mo_mapped_close(mo_mapped *mapped);

#endif
