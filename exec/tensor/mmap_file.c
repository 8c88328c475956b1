/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/tensor/mmap_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compress.h"

/* Mappings begin at pages: what lies before offset on its page is mapped,
 * too. */
static mo_status map_part(int file, const char *path, int64_t offset,
                          int64_t size, mo_mmap_file *mapped, mo_error *err)
{
    int64_t shift = offset % sysconf(_SC_PAGESIZE);
    char *data;

    if ((uint64_t) size > SIZE_MAX - (uint64_t) shift)
        return mo_fail_at(err, MO_E_LIMIT, path, 0,
                          "is larger than this machine can address");
    if (size == 0)
        return MO_OK;
    data = mmap(NULL, (size_t) (size + shift), PROT_READ, MAP_PRIVATE, file,
                (off_t) (offset - shift));
    if (data == MAP_FAILED)
        return mo_fail_errno(err, path, "cannot map");
    *mapped = (mo_mmap_file){ data + shift, (size_t) size, (size_t) shift };
    return MO_OK;
}

/* O_NONBLOCK: opening a pipe of that name returns at once. */
mo_status mo_mmap_file_open_part(const char *path, int64_t offset, int64_t size,
                                 mo_mmap_file *mapped, mo_error *err)
{
    mo_status status = mo_compress_check_plain(path, err);
    struct stat info;
    int file;

    *mapped = (mo_mmap_file){ NULL, 0, 0 };
    if (status != MO_OK)
        return status;
    file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return mo_fail_errno(err, path, "cannot open");
    if (fstat(file, &info) != 0)
        status = mo_fail_errno(err, path, "cannot read");
    else if (!S_ISREG(info.st_mode))
        status = mo_fail_at(err, MO_E_IO, path, 0,
                            "is no file; give the name of one");
    else if (offset < 0 || offset > info.st_size ||
             size > info.st_size - offset)
        status =
            mo_fail_at(err, MO_E_INPUT, path, 0, "is too short; copy it again");
    else
        status = map_part(file, path, offset,
                          size < 0 ? info.st_size - offset : size, mapped, err);
    close(file);
    return status;
}

mo_status mo_mmap_file_open(const char *path, mo_mmap_file *mapped,
                            mo_error *err)
{
    return mo_mmap_file_open_part(path, 0, -1, mapped, err);
}

/* munmap() takes a pointer without const. */
void mo_mmap_file_close(mo_mmap_file *mapped)
{
    if (mapped->data)
        munmap((char *) (uintptr_t) mapped->data - mapped->shift,
               mapped->size + mapped->shift);
    *mapped = (mo_mmap_file){ NULL, 0, 0 };
}
