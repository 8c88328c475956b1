/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/tensor/mmap_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* O_NONBLOCK: opening a pipe of that name returns at once. */
mo_status mo_mmap_file_open(const char *path, mo_mmap_file *mapped,
                            mo_error *err)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    mo_status status = MO_OK;

    *mapped = (mo_mmap_file){ NULL, 0 };
    if (file < 0)
        return mo_fail_errno(err, path, "cannot open");
    if (fstat(file, &info) != 0)
        status = mo_fail_errno(err, path, "cannot read");
    else if (!S_ISREG(info.st_mode))
        status = mo_fail_at(err, MO_E_IO, path, 0,
                            "is no file; give the name of one");
    else if ((uint64_t) info.st_size > SIZE_MAX)
        status = mo_fail_at(err, MO_E_LIMIT, path, 0,
                            "is larger than this machine can address");
    else if (info.st_size > 0) {
        size_t size = (size_t) info.st_size;
        void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);

        if (data == MAP_FAILED)
            status = mo_fail_errno(err, path, "cannot map");
        else
            *mapped = (mo_mmap_file){ data, size };
    }
    close(file);
    return status;
}

/* munmap() takes a pointer without const. */
void mo_mmap_file_close(mo_mmap_file *mapped)
{
    if (mapped->data)
        munmap((void *) (uintptr_t) mapped->data, mapped->size);
    *mapped = (mo_mmap_file){ NULL, 0 };
}
